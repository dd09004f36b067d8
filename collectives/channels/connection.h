// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_CHANNELS_CONNECTION_H
#define WEIR_COLLECTIVES_CHANNELS_CONNECTION_H

#include "collectives/communicator.h"
#include "collectives/nccl/nccl-settings.h"
#include "fabric/routing/router.h"
#include "fabric/routing/routing.h"
#include "fabric/topology/cluster.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace weir
{

/**
 * The root complex at @p from through which bytes go that may not go directly over PCIe to the GPU
 * @p to of the same node: their path is of a farther kind than @p level (NCCL's paths.cc, which
 * then leads them through the CPU of the sending GPU). Invalid where they go directly, or pass it
 * anyway.
 */
DeviceId HostRelay(
    const Cluster& cluster, Router& router, P2pLevel level, DeviceId from, DeviceId to);

/** The ports a network connection takes, by number within their nodes. */
struct NetworkPorts
{
    uint32_t outNic{0};
    uint32_t inNic{0};
    GpuId proxy; //!< who hands to outNic; the sender itself, or by PXN another GPU of its node
};

/**
 * Finds how bytes get from one GPU to another: over NVLink, over PCIe, or from GPU to NIC to NIC to
 * GPU, and adds the route.
 */
class Connector
{
  public:
    /** Both must outlive it. */
    Connector(const Cluster& cluster, Routing& routing, P2pLevel p2p = P2pLevel::System);

    /**
     * NVLink between GPUs of one node where it exists, else PCIe; through the host's memory where
     * the level of direct copies allows no more.
     */
    Connection InsideNode(GpuId from, GpuId to);

    /**
     * NVLink where it exists, else NVLink relayed by another of @p gpus in the node, the one that
     * joins both by most of it, of equal ones the first (NCCL's NVB paths: the sender writes there,
     * the receiver reads there), else PCIe. No @p gpus: as InsideNode.
     */
    Connection InsideNodeBy(const std::vector<GpuId>& gpus, GpuId from, GpuId to);

    /**
     * Between nodes by given ports: NVLink to the proxy if it is another GPU, PCIe to the NIC,
     * the network as @p queuePair is hashed, PCIe to the GPU.
     * @throws std::runtime_error when the NICs are not joined.
     */
    Connection BetweenNodes(GpuId from, GpuId to, const NetworkPorts& ports, uint32_t queuePair);

    /** The hops of that route, and its segment through the network, added to no table. */
    struct HopsBetweenNodes
    {
        std::vector<LinkId> links;
        RouteSum::Segment segment;
    };

    HopsBetweenNodes FindHopsBetweenNodes(GpuId from,
                                          GpuId to,
                                          const NetworkPorts& ports,
                                          uint32_t queuePair);

    /**
     * The ports that send/recv takes (NCCL_P2P_PXN_LEVEL=2): the receiver's own NIC, and on the
     * sending side the NIC of the same number through the GPU that owns it, over NVLink; the
     * sender's own NIC where there is no such GPU. The @p channel-th takes the next of those in
     * PortsOf.
     */
    NetworkPorts PortsForSendRecv(GpuId from, GpuId to, uint32_t channel);

    const Cluster& GetCluster() const
    {
        return m_cluster;
    }

    /** Over PCIe from a GPU to a NIC of its node, by number, or back. */
    std::vector<LinkId> LinksToNic(GpuId gpu, uint32_t nic);
    std::vector<LinkId> LinksFromNic(GpuId gpu, uint32_t nic);

    /** The fabric's routes, to which it adds its own. */
    Routing& GetRouting()
    {
        return m_routing;
    }

    /** The NICs nearest to a GPU, its own first. */
    const std::vector<uint32_t>& NicsOf(GpuId gpu);

    /**
     * Those of them that send/recv takes in turn: the GPUs that are equally near share them, a
     * NIC for each at least (ncclTopoGetLocalNet).
     */
    const std::vector<uint32_t>& PortsOf(GpuId gpu);

  private:
    RouteRequest RequestOf(GpuId from, GpuId to, const NetworkPorts& ports, uint32_t queuePair);

    const Cluster& m_cluster;
    Routing& m_routing;
    P2pLevel m_p2p;
    std::unordered_map<uint64_t, Connection> m_inside;    //!< by both GPUs
    std::vector<std::vector<uint32_t>> m_nicsOfLocalGpu;  //!< by local GPU; empty until asked for
    std::vector<std::vector<uint32_t>> m_portsOfLocalGpu; //!< as above
};

} // namespace weir

#endif // WEIR_COLLECTIVES_CHANNELS_CONNECTION_H

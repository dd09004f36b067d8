// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_CHANNELS_CONNECTION_H
#define WEIR_COLLECTIVES_CHANNELS_CONNECTION_H

#include "collectives/communicator.h"
#include "fabric/routing/path-table.h"
#include "fabric/routing/router.h"
#include "fabric/topology/cluster.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace weir
{

/** The ports a network connection takes, by number within their nodes. */
struct NetworkPorts
{
    uint32_t outNic{0};
    uint32_t inNic{0};
    GpuId proxy; //!< who hands to outNic; the sender itself, or by PXN another GPU of its node
};

/**
 * Finds how bytes get from one GPU to another: over NVLink, over PCIe, or from GPU to NIC to NIC to
 * GPU, and interns the path. Ways inside a node are kept, those to its NICs too, so each costs one
 * search however many channels and communicators take it.
 */
class Connector
{
  public:
    /** All references must outlive it. */
    Connector(const Cluster& cluster, PathTable& paths, Router& router);

    /** NVLink between GPUs of one node where it exists, else PCIe. */
    Connection InsideNode(GpuId from, GpuId to);

    /**
     * NVLink where it exists, else NVLink by way of another of @p gpus in the node, the one that
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

    /** The links of that way, in order, without a path. */
    std::vector<LinkId> LinksBetweenNodes(GpuId from,
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

    /** Where its ways are interned. */
    PathTable& Paths()
    {
        return m_paths;
    }

    /** The NICs nearest to a GPU, its own first. */
    const std::vector<uint32_t>& NicsOf(GpuId gpu);

    /**
     * Those of them that send/recv takes in turn: the GPUs that are equally near share them, a
     * NIC for each at least (ncclTopoGetLocalNet).
     */
    const std::vector<uint32_t>& PortsOf(GpuId gpu);

  private:
    void Append(std::vector<LinkId>& links, DeviceId from, DeviceId to, uint8_t kinds);

    /** The way between two devices of a node, kept until links fail or come back. */
    const std::vector<LinkId>& WayInside(DeviceId from, DeviceId to, uint8_t kinds);

    const Cluster& m_cluster;
    PathTable& m_paths;
    Router& m_router;
    std::unordered_map<uint64_t, Connection> m_inside;        //!< by both GPUs
    std::unordered_map<uint64_t, std::vector<LinkId>> m_ways; //!< by kinds and both devices
    uint64_t m_waysRevision{0};                               //!< the router's when they were found
    std::vector<std::vector<uint32_t>> m_nicsOfLocalGpu;  //!< by local GPU; empty until asked for
    std::vector<std::vector<uint32_t>> m_portsOfLocalGpu; //!< likewise
};

} // namespace weir

#endif // WEIR_COLLECTIVES_CHANNELS_CONNECTION_H

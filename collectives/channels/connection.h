// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_CHANNELS_CONNECTION_H
#define WEIR_COLLECTIVES_CHANNELS_CONNECTION_H

#include "collectives/communicator.h"
#include "collectives/nccl/nccl-settings.h"
#include "fabric/routing/router.h"
#include "fabric/routing/routing.h"
#include "fabric/topology/cluster.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace weir
{

/** The ranks of a communicator in one node. */
struct NodeRanks
{
    std::vector<uint32_t> ranks; //!< group ranks, in the order of their GPUs
    std::vector<GpuId> gpus;     //!< as above, ascending
};

/** By node, in the order in which the ranks of @p communicator first occur in them. */
std::vector<NodeRanks> RanksByNode(const Communicator& communicator, const Cluster& cluster);

/** The farthest device that the path between a GPU and a NIC passes: NCCL's PXB, PHB and SYS. */
enum class NicReach : uint8_t
{
    Switches,
    Host,
    Sockets
};

/** The reach of a path, link by link. */
NicReach ReachOf(const Topology& topology, const std::vector<LinkId>& path);

/**
 * The farthest path between a GPU and a NIC that NCCL treats as direct: over PCIe switches, from
 * 2.27 on also through the CPU that shares a chip-to-chip link with the GPU (P2C). The release is
 * that of AllowsLl128; 2.28.9 has it for both LL128 and PXN (NCCL_LL128_C2C, NCCL_PXN_C2C).
 */
NicReach DirectReach(const NcclConstants& constants, const NodeSpec& node);

/** Which NICs NCCL may take for traffic to other nodes. */
struct NicRules
{
    NicRules() = default;
    NicRules(const NcclSettings& settings, const NcclConstants& constants, const NodeSpec& node);

    CrossNic crossNic{CrossNic::IfFaster};

    /**
     * Set: a GPU near a NIC may send for others of its node and communicator, over NVLink, if its
     * path to the NIC is within this reach (PXN, NCCL 2.12 and later).
     */
    std::optional<NicReach> pxn{NicReach::Switches};
};

/** The NICs of a network connection, by number of their first port within their nodes. */
struct NetworkPorts
{
    uint32_t outNic{0};
    uint32_t inNic{0};
    GpuId proxy; //!< the GPU that sends to outNic: the sender itself, or by PXN another GPU of its
                 //!< node
};

/** Maximum number of stripes of a connection. */
constexpr uint32_t MAX_STRIPES = 1024;

/** What the bytes of a connection between nodes are divided over. */
struct Striping
{
    uint32_t queuePairs{1}; //!< on each port
    uint32_t ports{1};      //!< of a merged NIC
};

/**
 * Finds the route from one GPU to another and adds it: over NVLink, over PCIe, or from GPU to NIC
 * to NIC to GPU.
 */
class Connector
{
  public:
    /** Both must outlive it. */
    Connector(const Cluster& cluster,
              Routing& routing,
              P2pLevel p2p = P2pLevel::System,
              const Striping& striping = {},
              const NicRules& rules = {});

    /**
     * NVLink between GPUs of one node where it exists, else PCIe, relayed through the host's memory
     * where the P2P level allows no direct copies.
     * @throws std::runtime_error when there is neither.
     */
    Connection InsideNode(GpuId from, GpuId to);

    /**
     * NVLink where it exists, else NVLink relayed by another one of @p gpus in the node, else PCIe.
     * The relay is the GPU with the largest NVLink rate to both, the first at a tie (NCCL's NVB
     * paths: the sender writes to it, the receiver reads from it). Without @p gpus as InsideNode.
     */
    Connection InsideNodeBy(const std::vector<GpuId>& gpus, GpuId from, GpuId to);

    /** As InsideNodeBy; nothing where no path connects them. */
    std::optional<Connection> FindInsideNode(const std::vector<GpuId>& gpus, GpuId from, GpuId to);

    /**
     * Between nodes through given ports: NVLink to the proxy if it is another GPU, PCIe to the NIC,
     * the network on the path that @p queuePair hashes to, PCIe to the GPU. Striped if its queue
     * pairs take different paths; see Stripes.
     * @throws std::runtime_error when no path connects the NICs.
     */
    Connection BetweenNodes(GpuId from, GpuId to, const NetworkPorts& ports, uint32_t queuePair);

    /**
     * Maximum number of stripes of a connection between nodes: the queue pairs that may take
     * different paths, on each port of a merged NIC. NCCL divides each message over the ports;
     * messages take turns on the queue pairs (NCCL_IB_SPLIT_DATA_ON_QPS=0) or are divided over them
     * as well, which loads paths alike, as several messages are in flight.
     */
    uint32_t Stripes() const
    {
        return m_striping.queuePairs * m_striping.ports;
    }

    /**
     * Number of stripes of a connection between given ports: as above, or one on each port where
     * both ends are on one switch, so that its queue pairs share a path.
     */
    uint32_t StripesBetween(GpuId from, GpuId to, const NetworkPorts& ports) const;

    /**
     * The hops of a stripe of such a route, and its segment through the network, without adding the
     * route.
     */
    struct HopsBetweenNodes
    {
        std::vector<LinkId> links;
        RouteSum::Segment segment;
    };

    HopsBetweenNodes FindHopsBetweenNodes(
        GpuId from, GpuId to, const NetworkPorts& ports, uint32_t queuePair, uint32_t stripe);

    /**
     * The ports for send/recv (ncclTopoGetNetDev): those of the receiver and the sender. If @p
     * group has a GPU of the receiver's number on the sender's board, its port is taken instead of
     * the sender's, through the first GPU of the group that owns the port, where GetRules() allow
     * that (NCCL_P2P_PXN_LEVEL=2), else by the sender itself if rings may not cross NICs. A sender
     * without a NIC sends through any GPU of the group in its node. Channel @p channel takes the
     * ports of PortsOf in turn.
     * @throws std::runtime_error when the receiver reaches no NIC, or the sender, with no other GPU
     *         to send for it.
     */
    NetworkPorts PortsForSendRecv(const Communicator& group,
                                  GpuId from,
                                  GpuId to,
                                  uint32_t channel);

    /** Number of ports of a NIC as NCCL sees it. */
    uint32_t PortsPerNic() const
    {
        return m_striping.ports;
    }

    const NicRules& GetRules() const
    {
        return m_rules;
    }

    const Cluster& GetCluster() const
    {
        return m_cluster;
    }

    Routing& GetRouting() const
    {
        return m_routing;
    }

    /** Whether GPUs may copy over NVLink. */
    bool UsesNvLink() const
    {
        return m_p2p >= P2pLevel::NvLink;
    }

    /** The links over PCIe from a GPU to a NIC of its node, by number, or back. */
    std::vector<LinkId> LinksToNic(GpuId gpu, uint32_t nic, bool isBack);

    /**
     * The NICs that are equally near to a GPU and nearer than all others, its own first; of a
     * merged NIC its first port.
     */
    const std::vector<uint32_t>& NicsOf(GpuId gpu);

    /** The first NICs of NicsOf, which channels use in turn. */
    struct Ports
    {
        const std::vector<uint32_t>& nics;
        std::size_t count;

        uint32_t OfChannel(uint32_t channel) const
        {
            return nics[channel % count];
        }

        bool Has(uint32_t nic) const
        {
            return std::find(nics.begin(), nics.begin() + count, nic) != nics.begin() + count;
        }
    };

    /**
     * The NICs that the send/recv channels of a GPU use in turn: GPUs of @p group that are equally
     * near to NICs share them, with at least one NIC each (ncclTopoGetLocalNet).
     */
    Ports PortsOf(const Communicator& group, GpuId gpu);

  private:
    std::optional<Connection> FindDirect(GpuId from, GpuId to);
    [[noreturn]] void ThrowNoNic(GpuId gpu) const;
    bool MayRelay(GpuId from, GpuId proxy, uint32_t nic, NicReach reach);
    NetworkPorts PortsByAnyRelay(const Communicator& group,
                                 GpuId from,
                                 uint32_t inNic,
                                 uint32_t channel);
    const std::vector<uint32_t>& BoardOf(uint32_t local);
    const std::vector<uint32_t>& GpusOf(uint32_t nic);
    RouteRequest RequestOf(
        GpuId from, GpuId to, const NetworkPorts& ports, uint32_t queuePair, uint32_t stripe) const;

    const Cluster& m_cluster;
    Routing& m_routing;
    P2pLevel m_p2p;
    Striping m_striping; //!< as far as queue pairs may differ in path
    std::unordered_map<uint64_t, std::optional<Connection>> m_inside; //!< by both GPUs
    NicRules m_rules;
    std::vector<std::vector<uint32_t>> m_nicsOfLocalGpu;  //!< by local GPU; empty until asked for
    std::vector<std::vector<uint32_t>> m_boardOfLocalGpu; //!< as above: the GPUs of its board
    std::vector<std::vector<uint32_t>>
        m_gpusOfNic; //!< by NIC: local GPUs that may use it; as above
};

} // namespace weir

#endif // WEIR_COLLECTIVES_CHANNELS_CONNECTION_H

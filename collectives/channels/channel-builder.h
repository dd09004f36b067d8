// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_CHANNELS_CHANNEL_BUILDER_H
#define WEIR_COLLECTIVES_CHANNELS_CHANNEL_BUILDER_H

#include "collectives/channels/connection.h"
#include "collectives/channels/ring-search.h"
#include "collectives/channels/tree-graph.h"
#include "collectives/communicator.h"
#include "collectives/nccl/nccl-constants.h"
#include "collectives/nccl/nccl-settings.h"
#include "fabric/ids.h"

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace weir
{

/** The channels that one node carries. */
struct NodeGraphs
{
    RingGraph rings;
    TreeGraph trees;
};

/** The nodes of a group, and the channels that each of them carries. */
struct JoinedNodes
{
    std::vector<NodeRanks> parts;
    std::vector<const NodeGraphs*> graphs; //!< by part
    bool passesGpus{false}; //!< whether GPUs may relay between others without NVLink (NVB)

    /** The GPUs of a part that may relay. */
    std::vector<GpuId> Middles(std::size_t part) const
    {
        return passesGpus ? parts[part].gpus : std::vector<GpuId>();
    }
};

/**
 * Finds the channels of communicators: searches each node once per set of local GPUs (all nodes
 * have the same wiring), takes what all nodes of the group can carry, joins the nodes' rings in
 * node order, and duplicates channels as NCCL does when it connects (src/graph/connect.cc,
 * init.cc).
 */
class ChannelBuilder
{
  public:
    /** All references must outlive it. */
    ChannelBuilder(const Cluster& cluster,
                   Connector& connector,
                   const NcclConstants& constants,
                   const NcclSettings& settings);

    /**
     * Sets the channels of @p communicator and the figures of their search: the order of every
     * channel, and the hops of the first. A group of one GPU gets one channel without hops. @p
     * queuePairSeed makes its network flows differ from other groups'.
     * @throws std::runtime_error when no ring connects its GPUs.
     */
    void Build(Communicator& communicator, uint32_t queuePairSeed);

    /** Connects the first @p channels channels of a built group that have no hops yet. */
    void Connect(Communicator& communicator, uint32_t queuePairSeed, uint32_t channels);

    /**
     * Sets the other graphs of a built group and the figures of their searches, and as many trees
     * as channels, still without neighbors. Sends and receives need none of them. A group of one
     * GPU gets none.
     */
    void BuildTrees(Communicator& communicator);

    /**
     * Connects the first @p channels trees of a group that have no neighbors yet.
     * @throws std::runtime_error when no path connects two of its nodes.
     */
    void ConnectTrees(Communicator& communicator, uint32_t queuePairSeed, uint32_t channels);

  private:
    JoinedNodes JoinedOf(const Communicator& communicator);
    const NodeGraphs& GraphsOf(const NodeRanks& part, bool interNode);
    uint32_t FinalChannels(const Communicator& communicator, double speed) const;

    /** The part of a channel of NCCL's graph in the @p k-th node. */
    static const NodeRing& RingOf(const JoinedNodes& joined, std::size_t k, uint32_t searchChannel);
    static std::vector<uint32_t> OrderOf(const JoinedNodes& joined, uint32_t searchChannel);
    std::vector<Connection> HopsOf(const JoinedNodes& joined,
                                   uint32_t searchChannel,
                                   uint32_t queuePair) const;

    const Cluster& m_cluster;
    Connector& m_connector;
    const NcclConstants& m_constants;
    const NcclSettings& m_settings;
    std::map<std::pair<bool, std::vector<uint32_t>>, std::unique_ptr<NodeGraphs>>
        m_graphs; //!< by interNode, local GPUs
};

} // namespace weir

#endif // WEIR_COLLECTIVES_CHANNELS_CHANNEL_BUILDER_H

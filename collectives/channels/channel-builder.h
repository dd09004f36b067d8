// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_CHANNELS_CHANNEL_BUILDER_H
#define WEIR_COLLECTIVES_CHANNELS_CHANNEL_BUILDER_H

#include "collectives/channels/connection.h"
#include "collectives/channels/ring-search.h"
#include "collectives/channels/tree-search.h"
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

/** The ranks of a communicator that live in one node, in the order of their local GPUs. */
struct NodePart
{
    uint32_t node{0};
    std::vector<uint32_t> localGpus; //!< ascending
    std::vector<uint32_t> ranks;     //!< group ranks, by the same index
    std::vector<GpuId> gpus;         //!< as above
    std::vector<GpuId> middles;      //!< those that may stand between two without NVLink (NVB)
};

/**
 * Gives communicators their channels: searches each node once per set of local GPUs (nodes are
 * wired alike), takes what all nodes of the group can carry, joins the nodes' rings in node order,
 * and duplicates as NCCL does when it connects (src/graph/connect.cc, init.cc).
 */
class ChannelBuilder
{
  public:
    /** All references must outlive it. */
    ChannelBuilder(const Cluster& cluster,
                   Router& router,
                   Connector& connector,
                   const NcclConstants& constants,
                   const NcclSettings& settings);

    /**
     * Sets channels and their search's figures of @p communicator: the order of each, and the hops
     * of the first. A group of one GPU gets one channel without hops. @p queuePairSeed makes its
     * network flows differ from other groups'.
     * @throws std::runtime_error when two of its nodes are not joined.
     */
    void Build(Communicator& communicator, uint32_t queuePairSeed);

    /** Gives the first @p channels of a built group their hops, where they have none yet. */
    void Connect(Communicator& communicator, uint32_t queuePairSeed, uint32_t channels);

    /**
     * Sets what other graphs a built group has and their searches' figures, and as many trees as
     * channels, still without places. Sends and receives need none of it. A group of one GPU gets
     * none.
     */
    void BuildTrees(Communicator& communicator, uint32_t queuePairSeed);

    /**
     * Gives the first @p channels trees of a group their places, where they have none yet.
     * @throws std::runtime_error when two of its nodes are not joined.
     */
    void ConnectTrees(Communicator& communicator, uint32_t queuePairSeed, uint32_t channels);

  private:
    /** What one node carries. */
    struct NodeGraphs
    {
        RingGraph rings;
        TreeGraph trees;
    };

    /** The nodes of a group, and what each of them carries. */
    struct Joined
    {
        std::vector<NodePart> parts;
        std::vector<const NodeGraphs*> graphs; //!< by part
    };

    Joined JoinedOf(const Communicator& communicator);
    static std::vector<const TreeGraph*> TreesOf(const Joined& joined);
    std::vector<NodePart> SplitByNode(const Communicator& communicator) const;
    const NodeGraphs& GraphsOf(const NodePart& part, bool interNode);
    uint32_t FinalChannels(uint32_t found, double speed, bool interNode) const;

    /** What a channel of NCCL's graph does in the @p k-th node. */
    static const NodeRing& RingOf(const Joined& joined, std::size_t k, uint32_t searchChannel);
    static std::vector<uint32_t> OrderOf(const Joined& joined, uint32_t searchChannel);
    std::vector<Connection> HopsOf(const Joined& joined,
                                   uint32_t searchChannel,
                                   uint32_t queuePair) const;

    const Cluster& m_cluster;
    Router& m_router;
    Connector& m_connector;
    const NcclConstants& m_constants;
    const NcclSettings& m_settings;
    std::map<std::pair<bool, std::vector<uint32_t>>, std::unique_ptr<NodeGraphs>>
        m_graphs; //!< by interNode, local GPUs
};

} // namespace weir

#endif // WEIR_COLLECTIVES_CHANNELS_CHANNEL_BUILDER_H

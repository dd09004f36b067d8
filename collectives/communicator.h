// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_COMMUNICATOR_H
#define WEIR_COLLECTIVES_COMMUNICATOR_H

#include "collectives/collective.h"
#include "fabric/ids.h"
#include "fabric/units.h"

#include <cstdint>
#include <vector>

namespace weir
{

/** NCCL's three kinds of way between two GPUs; they differ in latency per hop. */
enum class ConnectionKind : uint8_t
{
    NvLink,
    Pcie,
    Network
};

/** One directed connection of one channel: how bytes get from one GPU to the next. */
struct Connection
{
    RouteId route;
    ConnectionKind kind{ConnectionKind::NvLink};
};

/** The order in which one channel's ring visits the group, and its hops. */
struct RingChannel
{
    std::vector<uint32_t> order;  //!< group ranks; order[i] sends to order[(i + 1) % n]
    std::vector<Connection> hops; //!< hops[i] leaves order[i]; none until calls need them
};

/**
 * Which GPUs of a node's chain talk to other nodes, NCCL's names; a later one is a plainer one. The
 * parent is always on the first GPU.
 */
enum class TreePattern : uint8_t
{
    Balanced, //!< the first child on the second GPU, the second child on the first
    Split,    //!< both children on the second GPU
    Plain     //!< all on the first GPU
};

/** One rank's place in a channel's tree. */
struct TreePlace
{
    static constexpr uint32_t NO_RANK = 0xffffffff;

    uint32_t parent{NO_RANK};       //!< group rank; NO_RANK at the root
    std::vector<uint32_t> children; //!< group ranks, at most three
    Connection toParent;            //!< meaningless at the root
    Connection fromParent;          //!< as above
};

/** One channel's tree over the group. */
struct TreeChannel
{
    std::vector<TreePlace> places; //!< by group rank; none until calls need them
};

/** What NCCL's search found for one kind of graph; its tuning model reckons with it. */
struct GraphSpeed
{
    uint32_t channels{0}; //!< of the search, before duplication; 0: there is no such graph
    double intra{0};      //!< GB/s of one channel inside a node
    double inter{0};      //!< GB/s of one channel between nodes
    bool plainTree{
        false}; //!< a tree whose network neighbors are all attached to its node's first GPU
};

/**
 * A group of GPUs with the channels found for it, as NCCL finds them when a communicator is made:
 * who follows whom on every channel, over which paths.
 */
struct Communicator
{
    std::vector<GpuId> gpus;           //!< by group rank
    uint32_t nodes{1};                 //!< distinct nodes
    uint32_t gpusPerNode{1};           //!< the largest number of its GPUs in one node
    std::vector<RingChannel> channels; //!< at full width; small messages use the first few
    std::vector<RouteId> ringRoutes;   //!< by channel that has hops: the sum of them
    std::vector<TreeChannel> trees;    //!< by channel; of every two rounds of the search's channels
                                       //!< the first is tree 0, the second tree 1
    GraphSpeed treeGraph;              //!< double binary trees
    TreePattern treePattern{TreePattern::Balanced};
    GraphSpeed nvlsGraph;       //!< one channel per head GPU
    GraphSpeed collNetGraph;    //!< chains to the network's reducing switches
    uint32_t searchChannels{1}; //!< channels of NCCL's graph, before it duplicates them
    double searchBandwidth{0};  //!< GB/s of all channels in NCCL's graph, for its tuning model
    bool ll128{false};          //!< whether NCCL enables LL128 on these connections

    uint32_t Size() const
    {
        return static_cast<uint32_t>(gpus.size());
    }
};

} // namespace weir

#endif // WEIR_COLLECTIVES_COMMUNICATOR_H

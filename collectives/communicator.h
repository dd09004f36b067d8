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

/** NCCL's three kinds of connection between two GPUs; they differ in latency per hop. */
enum class ConnectionKind : uint8_t
{
    NvLink,
    Pcie,
    Network
};

/** One directed connection of one channel: the route from one GPU to the next. */
struct Connection
{
    RouteId route;
    ConnectionKind kind{ConnectionKind::NvLink};
};

/** The order in which one channel's ring visits the group, and its hops. */
struct RingChannel
{
    std::vector<uint32_t> order;  //!< group ranks; order[i] sends to order[(i + 1) % n]
    std::vector<Connection> hops; //!< hops[i] leaves order[i]; empty until a call needs them
};

/**
 * Which GPUs of a node's chain connect to other nodes, by NCCL's names, in order of decreasing
 * complexity. The parent is always connected to the first GPU.
 */
enum class TreePattern : uint8_t
{
    Balanced, //!< the first child on the second GPU, the second child on the first
    Split,    //!< both children on the second GPU
    Plain     //!< all on the first GPU
};

/** The neighbors of one rank in a channel's tree, and the connections to its parent. */
struct TreeNeighbors
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
    std::vector<TreeNeighbors> neighbors; //!< by group rank; empty until a call needs them
};

/** What NCCL's search found for one kind of graph; input of NCCL's tuning model. */
struct GraphSpeed
{
    uint32_t channels{0}; //!< of the search, before duplication; 0: no such graph
    double intra{0};      //!< bandwidth of one channel inside a node (GB/s)
    double inter{0};      //!< bandwidth of one channel between nodes (GB/s)
    TreePattern pattern{TreePattern::Balanced}; //!< of trees
};

/**
 * A group of GPUs with the channels that NCCL finds when it creates the communicator: the order of
 * ranks on every channel, and the paths between them.
 */
struct Communicator
{
    std::vector<GpuId> gpus;           //!< by group rank
    std::vector<bool> members;         //!< by GPU of the cluster: whether it has a rank
    uint32_t nodes{1};                 //!< number of distinct nodes
    uint32_t gpusPerNode{1};           //!< the largest number of the group's GPUs in one node
    std::vector<RingChannel> channels; //!< all channels; small messages use the first few
    std::vector<TreeChannel> trees; //!< by channel: groups of as many channels as the search found
                                    //!< alternate between tree 0 and tree 1
    GraphSpeed treeGraph;           //!< double binary trees
    GraphSpeed nvlsGraph;           //!< one channel per head GPU
    GraphSpeed collNetGraph;        //!< chains to the network's reducing switches
    uint32_t searchChannels{1};     //!< channels of NCCL's search graph, before duplication
    double searchBandwidth{0};      //!< GB/s of all channels of NCCL's search graph
    bool ll128{false};              //!< whether NCCL enables LL128 on these connections

    uint32_t Size() const
    {
        return static_cast<uint32_t>(gpus.size());
    }
};

} // namespace weir

#endif // WEIR_COLLECTIVES_COMMUNICATOR_H

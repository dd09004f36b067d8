// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_TREE_SHAPE_H
#define WEIR_COLLECTIVES_ALGORITHMS_TREE_SHAPE_H

#include "collectives/algorithms/algorithm.h"
#include "collectives/algorithms/protocol.h"

#include <cstdint>
#include <vector>

namespace weir
{

/**
 * How a channel's share goes through a tree: one step is one chunk. LL128 halves the chunk while
 * the share has less than 64 s / p of them and they are above 128 KiB, then while less than 16 s /
 * p and above 32 KiB, with s = 1 + floor(log2 N) + p / 10 over N nodes of p ranks (enqueue.cc).
 *
 * A chunk is as many slices as the thread block makes passes over it.
 */
Chunking TreeChunking(const AlgorithmInputs& inputs);

/**
 * What a channel's blocks move each way while chunks follow each other, on the wire: over several
 * nodes KernelTimes::TreeBlockRate. A chunk by itself crosses a hop at ChannelCap, as its block has
 * nothing else to do then.
 */
Rate TreeBlockRate(const AlgorithmInputs& inputs);

/** Latency of a connection of a tree. */
Time TreeHopLatency(const AlgorithmInputs& inputs, const Connection& hop);

/** Bytes that a connection's wire carries per byte of the protocol's (MessageCost::WireFactor). */
double TreeWireFactor(const AlgorithmInputs& inputs, const Connection& hop);

/** The longest path of a chunk: from the deepest rank to the root, and to the deepest down again.
 */
struct TreePath
{
    Time latency;
    uint32_t upHops{0}; //!< the first ones
    std::vector<RouteId> hops;
};

/** O(ranks x depth). */
TreePath SlowestTreePath(const AlgorithmInputs& inputs, const TreeChannel& tree);

/**
 * The hops of a tree by stage, as a chunk with @p path crosses them: up from depth d in stage
 * D - d, down to it in stage D + d - 1, with 2D the hops of the way.
 */
std::vector<std::vector<RouteId>> TreeStages(const TreeChannel& tree, const TreePath& path);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_TREE_SHAPE_H

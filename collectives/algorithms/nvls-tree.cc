// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/algorithm.h"
#include "collectives/algorithms/nvls-chunking.h"
#include "collectives/algorithms/nvls-tree-call.h"
#include "collectives/algorithms/nvls-tree-schedule.h"
#include "collectives/engines/closed-form.h"
#include "collectives/schedule/message-split.h"
#include "fabric/path-sum.h"

#include <algorithm>
#include <cmath>

/**
 * @file
 * NVLSTree all-reduce (NCCL's all_reduce.h, RunWorkColl of NCCL_ALGO_NVLS_TREE): each head reduces
 * its part over its node's NVSwitch, sends the sum up a binary tree over the nodes by its own NIC,
 * and stores what comes back down to all GPUs of its node.
 */
namespace weir
{

namespace
{

bool
Supports(CollectiveOp op, const Communicator& communicator)
{
    return op == CollectiveOp::AllReduce && communicator.nodes > 1 &&
           communicator.nvlsGraph.channels > 1;
}

using Legs = std::vector<StreamLeg>;

Bytes
RoundUp(double bytes)
{
    return Bytes(static_cast<int64_t>(std::ceil(bytes)));
}

/** One leg per head, likewise, on channels that are alike: their trees' edges up or down or both.
 */
void
AppendNetworkLegs(const AlgorithmInputs& in,
                  const NvlsTreeCall& tree,
                  const NvlsTreeWays& ways,
                  double payload,
                  bool up,
                  bool down,
                  Legs& legs)
{
    const auto channels = static_cast<double>(ways.channels.size());
    for (const auto& places : ways.places)
    {
        PathSum sum(in.paths);
        for (const auto& place : places)
        {
            const bool isRoot = place.nodes.parent == BinaryTreePlace::NONE;
            if (up && !isRoot)
            {
                sum.Add(place.toParent.path);
            }
            if (down && !isRoot)
            {
                sum.Add(place.fromParent.path);
            }
        }
        legs.push_back(
            {sum.Intern(), RoundUp(payload * channels), tree.inside.headCap * channels, channels});
    }
}

/** How long the slowest of some legs takes alone. */
Time
Alone(const AlgorithmInputs& in, const Legs& legs)
{
    return AloneRates(legs, in.paths).SlowestLeg().time;
}

/** How long @p payload bytes per head and channel take up or down one level of the slower tree. */
Time
Level(const AlgorithmInputs& in, const NvlsTreeCall& tree, double payload, bool up)
{
    Time slowest;
    for (const auto& ways : tree.ways)
    {
        Time hop;
        for (const auto& place : ways.places.front())
        {
            if (place.nodes.parent != BinaryTreePlace::NONE)
            {
                hop = std::max(hop, NvlsTreeHop(in, up ? place.toParent : place.fromParent));
            }
        }
        Legs legs;
        AppendNetworkLegs(in, tree, ways, payload, up, !up, legs);
        slowest = std::max(slowest, hop + Alone(in, legs));
    }
    return slowest;
}

/**
 * From the first byte copied in to the last one of the same pass stored: a reduction, every level
 * up and down, and a store, each alone on its links.
 */
Time
Way(const AlgorithmInputs& in, const NvlsTreeCall& tree, double payload)
{
    const double levels = DoubleTreeDepth(static_cast<uint32_t>(tree.inside.nodes.size()));
    return Alone(in, tree.inside.Legs(in, payload, true, false)) +
           Alone(in, tree.inside.Legs(in, payload, false, true)) + tree.inside.sync * 2 +
           (Level(in, tree, payload, true) + Level(in, tree, payload, false)) * levels;
}

/** The legs of a whole call. */
Legs
AllLegs(const AlgorithmInputs& in, const NvlsTreeCall& tree, double payload, double passes)
{
    Legs legs = NvlsLegsOf(tree.inside, in, payload, passes);
    for (const auto& ways : tree.ways)
    {
        AppendNetworkLegs(in, tree, ways, payload, true, true, legs);
    }
    return legs;
}

/** Start, copy in, the first pass's way beyond what its legs last, copy out; and the legs. */
StreamShape
Streams(const AlgorithmInputs& in)
{
    const NvlsTreeCall tree(in);
    const Bytes share = SplitOverChannels(in.call.bytes, in.channels).front().bytes;
    const auto loops = SplitIntoLoops(share, tree.chunk, tree.inside.Heads(), 1);
    const double payload = in.call.bytes.ToDouble() / tree.inside.Heads() / in.channels;
    const Bytes first = loops.front().chunks.front();
    const Bytes last = loops.back().chunks.front();

    StreamShape shape;
    shape.legs = AllLegs(in, tree, payload, NvlsPasses(loops));
    const Time pass = Alone(in, shape.legs) * std::min(1.0, first.ToDouble() / payload);
    const Time way = Way(in, tree, first.ToDouble());
    shape.latency = NvlsStartLatency(in.constants, Algorithm::NvlsTree) +
                    first / tree.inside.headCap + last / tree.inside.headCap +
                    std::max(way - pass, Time());
    return shape;
}

} // namespace

const CollectiveAlgorithm NVLS_TREE_ALGORITHM{
    Algorithm::NvlsTree,
    Supports,
    NvlsChannels,
    nullptr,
    Streams,
    BuildNvlsTreeSchedule,
};

} // namespace weir

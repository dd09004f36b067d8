// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/algorithm.h"
#include "collectives/algorithms/nvls/nvls-chunking.h"
#include "collectives/algorithms/nvls/nvls-tree-call.h"
#include "collectives/algorithms/nvls/nvls-tree-schedule.h"
#include "collectives/algorithms/nvls/nvls-tree-time.h"
#include "collectives/schedule/message-split.h"

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
SupportsNvlsTree(CollectiveOp op, const Communicator& communicator)
{
    return op == CollectiveOp::AllReduce && communicator.nodes > 1 &&
           communicator.nvlsGraph.channels > 1;
}

/** Start, copy in, NvlsTreeMoving, copy out; and the legs on NVLink and on the network. */
StreamShape
NvlsTreeStreams(const AlgorithmInputs& in)
{
    const NvlsTreeCall tree(in);
    const Bytes share = SplitOverChannels(in.call.bytes, in.channels).front().bytes;
    const auto loops = SplitIntoLoops(share, tree.chunk, tree.inside.Heads(), 1);
    const double payload = in.call.bytes.ToDouble() / tree.inside.Heads() / in.channels;
    const Bytes first = loops.front().chunks.front();
    const Bytes last = loops.back().chunks.front();

    const NvlsTreeLegs legs(in, tree);
    StreamShape shape;
    shape.legs = legs.Inside(payload, true, true);
    const auto between = legs.Between(payload);
    shape.legs.insert(shape.legs.end(), between.begin(), between.end());
    shape.latency = NvlsStartLatency(in.constants, Algorithm::NvlsTree) +
                    first / tree.inside.headCap + last / tree.inside.headCap;
    shape.moving = NvlsTreeMoving(in, tree, payload, first.ToDouble());
    shape.movingBeside = NvlsTreeMoving(in, tree, payload, first.ToDouble(), 2);
    return shape;
}

} // namespace

const CollectiveAlgorithm NVLS_TREE_ALGORITHM{
    Algorithm::NvlsTree,
    SupportsNvlsTree,
    NvlsChannels,
    nullptr,
    NvlsTreeStreams,
    BuildNvlsTreeSchedule,
};

} // namespace weir

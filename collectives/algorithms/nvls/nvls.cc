// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/nvls/nvls-heads.h"
#include "collectives/engines/closed-form.h"
#include "collectives/schedule/message-split.h"

#include <algorithm>
#include <numeric>

/**
 * @file
 * NVLS on one node (NCCL's all_reduce.h, all_gather.h and reduce_scatter.h, RunWorkColl of
 * NCCL_ALGO_NVLS; transport/nvls.cc). Every GPU (of many, the first 32) is
 * the head of one part of each chunk. A rank's
 * thread groups copy its data to where the NVSwitch reads it; each head reduces its part over the
 * NVSwitch and stores the sum to all; other groups copy what came to the user's buffer. All-gather
 * has the second half of this, reduce-scatter the first.
 */
namespace weir
{

namespace
{

bool
SupportsNvls(CollectiveOp op, const Communicator& communicator)
{
    const uint32_t heads = communicator.nvlsGraph.channels;
    const bool half = op == CollectiveOp::AllGather || op == CollectiveOp::ReduceScatter;
    return heads > 1 && communicator.nodes == 1 &&
           (op == CollectiveOp::AllReduce || (half && heads == communicator.Size()));
}

bool
Reduces(const AlgorithmInputs& in)
{
    return in.call.op != CollectiveOp::AllGather;
}

bool
Stores(const AlgorithmInputs& in)
{
    return in.call.op != CollectiveOp::ReduceScatter;
}

ChannelSchedule
WireNvls(const AlgorithmInputs& in, const NvlsHeads& heads)
{
    const uint32_t n = in.communicator.Size();
    ChannelSchedule channel;
    ScheduleWiring wiring(channel);
    std::vector<uint32_t> sums;       // by head: where its accesses start
    std::vector<uint32_t> multicasts; // and end
    for (uint32_t head = 0; head < heads.Count(); ++head)
    {
        sums.push_back(Reduces(in)
                           ? wiring.AddBlock(n, head, OneStep(PrimitiveKind::RecvReduceSend, n, 1))
                           : wiring.AddBlock(head, head, OneStep(PrimitiveKind::Send, 1, 1)));
        multicasts.push_back(
            Stores(in) ? wiring.AddBlock(n, head, OneStep(PrimitiveKind::RecvCopySend, 1, n))
                       : wiring.AddBlock(head, head, OneStep(PrimitiveKind::Recv, 1, 1)));
        wiring.Join(
            sums.back(), multicasts.back(), heads.Accesses(0, head, Reduces(in), Stores(in)));
    }
    heads.AddCopies(wiring,
                    0,
                    Reduces(in) ? sums : std::vector<uint32_t>(),
                    Stores(in) ? multicasts : std::vector<uint32_t>());
    return channel;
}

CallDescription
DescribeNvlsWith(const AlgorithmInputs& in, const NvlsHeads& heads)
{
    CallDescription description = heads.Describe(Algorithm::Nvls);
    description.AddAll(in.channels, WireNvls(in, heads));
    return description;
}

CallDescription
DescribeNvls(const AlgorithmInputs& in)
{
    return DescribeNvlsWith(in, NvlsHeads(in));
}

/**
 * From the end of the last pass's accesses to that of all copies from the NVSwitch: the last pass's
 * copy, or what is left of the copy of the pass before, which may be larger.
 */
Time
CopiesLeft(const AlgorithmInputs& in,
           const NvlsHeads& heads,
           const std::vector<Loop>& loops,
           const std::vector<StreamLeg>& legs)
{
    const std::vector<Bytes>& last = loops.back().chunks;
    const Bytes bytes = std::accumulate(last.begin(), last.end(), Bytes());
    const double share = bytes.ToDouble() * in.channels / in.call.bytes.ToDouble();
    const Time pass = AloneTime(legs, in.routing) * std::min(1.0, share) + heads.Sync();
    return std::max(last.front() / heads.CopyCap(),
                    loops.front().chunks.front() / heads.CopyCap() - pass);
}

/**
 * start + (copy of the first pass) + passes x sync + CopiesLeft, and each head's part over what its
 * accesses load.
 */
StreamShape
NvlsStreams(const AlgorithmInputs& in)
{
    const NvlsHeads heads(in);
    const CallDescription call = DescribeNvlsWith(in, heads);
    const Bytes share = SplitOverChannels(in.call.bytes, in.channels).front().bytes;
    const auto loops = SplitIntoLoops(share, call.chunk, call.chunks, 1);
    StreamShape shape;
    shape.legs =
        DescribedLoads(in, call).Legs(in.call.bytes.ToDouble() / call.chunks / in.channels);
    shape.latency = call.call.startLatency + heads.Sync() * NvlsPasses(loops);
    if (Reduces(in))
    {
        shape.latency += loops.front().chunks.front() / heads.CopyCap();
    }
    if (Stores(in))
    {
        shape.latency += CopiesLeft(in, heads, loops, shape.legs);
    }
    return shape;
}

} // namespace

const CollectiveAlgorithm NVLS_ALGORITHM{
    Algorithm::Nvls,
    SupportsNvls,
    NvlsChannels,
    DescribeNvls,
    ChannelGraph::None,
    nullptr,
    false,
    NvlsStreams,
};

} // namespace weir

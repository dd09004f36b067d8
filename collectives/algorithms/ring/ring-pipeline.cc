// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/algorithm.h"
#include "collectives/algorithms/protocol.h"
#include "collectives/algorithms/ring/ring-channels.h"
#include "collectives/channels/message-cost.h"
#include "collectives/schedule/message-split.h"
#include "fabric/routing/path-sum.h"

#include <algorithm>

/**
 * @file
 * Ring broadcast and reduce (NCCL's broadcast.h and reduce.h): from the root along the ring to the
 * rank before it, or from the rank behind the root along the ring to it, slice after slice, so that
 * all hops work at once when the pipeline is full.
 */
namespace weir
{

namespace
{

bool
Supports(CollectiveOp op, const Communicator& communicator)
{
    return op == CollectiveOp::Broadcast || op == CollectiveOp::Reduce;
}

/** The place in a channel's order where the chain begins. */
uint32_t
FirstPlace(const AlgorithmInputs& in, const RingChannel& ring)
{
    const auto it = std::find(ring.order.begin(), ring.order.end(), in.call.root);
    const auto root = static_cast<std::size_t>(it - ring.order.begin());
    const std::size_t behind = in.call.op == CollectiveOp::Reduce ? 1 : 0;
    return static_cast<uint32_t>((root + behind) % ring.order.size());
}

/** All links of the n - 1 hops that leave @p first and the places behind it. */
PathId
ChainPath(const AlgorithmInputs& in, const RingChannel& ring, uint32_t first)
{
    PathSum sum(in.paths);
    const std::size_t n = ring.order.size();
    for (std::size_t i = 0; i + 1 < n; ++i)
    {
        sum.Add(ring.hops[(first + i) % n].path);
    }
    return sum.Intern();
}

/**
 * What a rank's call takes longer than its kernel's start and end, besides its bytes: its process
 * hands over the messages of its channels one after the other, and under Simple a block that stores
 * over PCIe itself ends a slice with a fence, for which it waits.
 */
Time
HandingOver(const AlgorithmInputs& in, Bytes slice)
{
    Time longest;
    const auto served = RingConnections(in.communicator, in.channels);
    const MessageCost cost(in.times.Costs());
    const bool fits = DivideUp(in.call.bytes, in.channels) <= slice * NCCL_STEPS;
    for (uint32_t c = 0; c < in.channels; ++c)
    {
        const RingChannel& ring = in.communicator.channels[c];
        for (std::size_t i = 0; i < ring.hops.size(); ++i)
        {
            const ServedConnections& here = served[ring.order[i]];
            const bool fences =
                ring.hops[i].kind == ConnectionKind::Pcie && in.protocol == Protocol::Simple;
            longest = std::max(
                longest,
                ring.hops[i].kind == ConnectionKind::Network
                    ? cost.Busy(in.protocol, {slice, here.out, here.in, fits})
                : fences ? in.times.Of(Algorithm::Ring, in.protocol, ring.hops[i].kind).fixed
                         : Time());
        }
    }
    return longest;
}

/** Latency: base plus the n - 1 hops of the chain, plus the pipeline's fill. */
StreamShape
Streams(const AlgorithmInputs& in)
{
    const uint32_t n = in.communicator.Size();
    const Bytes payload = DivideUp(in.call.bytes, in.channels);
    const Bytes slice = std::min(PipelineChunking(in.protocol).chunk, payload);
    const Rate cap = ChannelCap(in);
    StreamShape shape;
    Time slowest;
    for (uint32_t c = 0; c < in.channels; ++c)
    {
        const auto& ring = in.communicator.channels[c];
        const uint32_t first = FirstPlace(in, ring);
        const PathId path = ChainPath(in, ring, first);
        const std::size_t legs = shape.legs.size();
        AddLeg(shape.legs, path, WireBytes(in.protocol, payload), cap);
        if (shape.legs.size() == legs)
        {
            continue; // the same hops as an earlier channel
        }
        Pipeline pipeline;
        pipeline.slice = WireBytes(in.protocol, slice);
        pipeline.bytes = WireBytes(in.protocol, payload);
        pipeline.cap = cap;
        const auto latencies = HopLatencies(in, ring, pipeline.slice);
        Time way;
        for (uint32_t i = 0; i + 1 < n; ++i)
        {
            way += latencies[(first + i) % n];
            pipeline.way.push_back(ring.hops[(first + i) % n].path);
            pipeline.stages.push_back({pipeline.way.back()});
        }
        slowest = std::max(slowest, way);
        shape.pipelines.push_back(std::move(pipeline));
    }
    CountEqualChannels(shape);
    shape.latency = CallLatency(in, Algorithm::Ring) + slowest;
    // A rank need not wait for those behind it.
    shape.call = CallLatency(in, Algorithm::Ring) + HandingOver(in, WireBytes(in.protocol, slice));
    return shape;
}

/** Of the first place of the chain, those between, and the last. */
std::vector<Program>
Programs(CollectiveOp op)
{
    const bool reduce = op == CollectiveOp::Reduce;
    const auto between = reduce ? PrimitiveKind::RecvReduceSend : PrimitiveKind::RecvCopySend;
    const auto last = reduce ? PrimitiveKind::RecvReduceCopy : PrimitiveKind::Recv;
    return {{{{PrimitiveKind::Send, 0}}}, {{{between, 0}}}, {{{last, 0}}}};
}

Schedule
BuildSchedule(const AlgorithmInputs& in)
{
    const uint32_t n = in.communicator.Size();
    const Chunking chunking = PipelineChunking(in.protocol);
    Schedule schedule = EmptySchedule(in, Algorithm::Ring);
    for (const auto& share : SplitOverChannels(in.call.bytes, in.channels))
    {
        const auto loops = SplitIntoLoops(share.bytes, chunking.chunk, 1, chunking.slices);
        for (uint32_t c = share.firstChannel; c < share.firstChannel + share.channels; ++c)
        {
            const auto& ring = in.communicator.channels[c];
            const uint32_t first = FirstPlace(in, ring);
            if (AddCopyOf(schedule, ring, loops, first))
            {
                continue;
            }
            ChannelSchedule channel;
            channel.loops = loops;
            channel.programs = Programs(in.call.op);
            AddRingConnections(
                channel, in, ring, first, n - 1, chunking, FirstSlice(in.protocol, loops));
            for (uint32_t i = 0; i < n; ++i)
            {
                ThreadBlock block{ring.order[(first + i) % n], i, 1, {}, {}};
                block.program = i == 0 ? 0 : i + 1 == n ? 2 : 1;
                if (i > 0)
                {
                    block.recv.push_back(i - 1);
                }
                if (i + 1 < n)
                {
                    block.send.push_back(i);
                }
                channel.blocks.push_back(std::move(block));
            }
            schedule.channels.push_back({std::move(channel), 1});
        }
    }
    return schedule;
}

} // namespace

const CollectiveAlgorithm RING_PIPELINE_ALGORITHM{
    Algorithm::Ring,
    Supports,
    RingMaxChannels,
    nullptr,
    Streams,
    BuildSchedule,
};

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithm.h"
#include "collectives/message-split.h"
#include "collectives/nccl-tuning.h"
#include "collectives/protocol.h"
#include "collectives/ring-channels.h"

#include <algorithm>
#include <cmath>

/**
 * @file
 * Ring all-reduce, all-gather and reduce-scatter (NCCL's all_reduce.h, all_gather.h and
 * reduce_scatter.h): every rank sends to its successor only; a chunk goes round once to be summed
 * and once to be spread.
 */
namespace weir
{

namespace
{

bool
Supports(CollectiveOp op)
{
    return op == CollectiveOp::AllReduce || op == CollectiveOp::AllGather ||
           op == CollectiveOp::ReduceScatter;
}

/**
 * Latency of the slowest chunk's way: 2(n - 1) consecutive hops for all-reduce, n - 1 for the
 * others, from the worst place to start. With E network hops among them this is NCCL's
 * (steps - E) x inner + E x network; NCCL counts E = 2(N - 1) over N nodes, the slowest chunk
 * really crosses 2N (1 less if the nodes are pairs).
 */
Time
SlowestWay(const AlgorithmInputs& in)
{
    Time slowest;
    const auto& channels = in.communicator.channels;
    for (uint32_t c = 0; c < in.channels; ++c)
    {
        if (c > 0 && in.communicator.ringPaths[c] == in.communicator.ringPaths[0])
        {
            continue; // the same hops again
        }
        const auto hops = HopLatencies(in, channels[c]);
        const std::size_t n = hops.size();
        Time round;
        for (Time hop : hops)
        {
            round += hop;
        }
        for (std::size_t i = 0; i < n; ++i)
        {
            const Time left = hops[i];
            const Time way = in.call.op == CollectiveOp::AllReduce
                                 ? round + round - left - hops[(i + 1) % n]
                                 : round - left;
            slowest = std::max(slowest, way);
        }
    }
    return slowest;
}

StreamShape
Streams(const AlgorithmInputs& in)
{
    StreamShape shape;
    shape.latency = in.constants.BaseLatency(in.protocol) + SlowestWay(in);
    const double payload = in.call.bytes.ToDouble() *
                           BusBandwidthFactor(in.call.op, in.communicator.Size()) / in.channels;
    const Bytes bytes = WireBytes(in.protocol, Bytes(static_cast<int64_t>(std::ceil(payload))));
    const Rate cap = ChannelCap(in);
    for (uint32_t c = 0; c < in.channels; ++c)
    {
        AddLeg(shape.legs, in.communicator.ringPaths[c], bytes, cap);
    }
    return shape;
}

/** 2n - 1 primitives: send, n - 2 reducing hops, the final sum, n - 2 spreading hops, receive. */
Program
AllReduceProgram(int32_t n)
{
    Program program;
    auto& steps = program.primitives;
    steps.push_back({PrimitiveKind::Send, n - 1});
    for (int32_t j = 2; j < n; ++j)
    {
        steps.push_back({PrimitiveKind::RecvReduceSend, n - j});
    }
    steps.push_back({PrimitiveKind::RecvReduceCopySend, 0});
    for (int32_t j = 1; j < n - 1; ++j)
    {
        steps.push_back({PrimitiveKind::RecvCopySend, n - j});
    }
    steps.push_back({PrimitiveKind::Recv, 1});
    return program;
}

Program
AllGatherProgram(int32_t n)
{
    Program program;
    program.primitives.push_back({PrimitiveKind::Send, 0});
    for (int32_t j = 1; j < n - 1; ++j)
    {
        program.primitives.push_back({PrimitiveKind::RecvCopySend, n - j});
    }
    program.primitives.push_back({PrimitiveKind::Recv, 1});
    return program;
}

Program
ReduceScatterProgram(int32_t n)
{
    Program program;
    program.primitives.push_back({PrimitiveKind::Send, n - 1});
    for (int32_t j = 2; j < n; ++j)
    {
        program.primitives.push_back({PrimitiveKind::RecvReduceSend, n - j});
    }
    program.primitives.push_back({PrimitiveKind::RecvReduceCopy, 0});
    return program;
}

Program
ProgramOf(CollectiveOp op, int32_t n)
{
    return op == CollectiveOp::AllReduce   ? AllReduceProgram(n)
           : op == CollectiveOp::AllGather ? AllGatherProgram(n)
                                           : ReduceScatterProgram(n);
}

Schedule
BuildSchedule(const AlgorithmInputs& in)
{
    const uint32_t n = in.communicator.Size();
    const Chunking chunking = RingChunking(in.protocol);
    Schedule schedule = EmptySchedule(in, Algorithm::Ring);
    for (const auto& share : SplitOverChannels(in.call.bytes, in.channels))
    {
        ChannelSchedule model;
        model.programs.push_back(ProgramOf(in.call.op, static_cast<int32_t>(n)));
        model.loops = SplitIntoLoops(share.bytes, chunking.chunk, n, chunking.slices);
        for (uint32_t c = share.firstChannel; c < share.firstChannel + share.channels; ++c)
        {
            if (AddCopyOf(schedule, in.communicator.channels[c], model.loops))
            {
                continue;
            }
            ChannelSchedule channel = model;
            const auto& ring = in.communicator.channels[c];
            AddRingConnections(channel, in, ring, 0, n, chunking);
            for (uint32_t place = 0; place < n; ++place)
            {
                channel.blocks.push_back(
                    {ring.order[place], place, 0, {(place + n - 1) % n}, {place}});
            }
            schedule.channels.push_back({std::move(channel), 1});
        }
    }
    return schedule;
}

} // namespace

const CollectiveAlgorithm RING_ALGORITHM{
    Algorithm::Ring,
    Supports,
    RingMaxChannels,
    ChooseRing,
    Streams,
    BuildSchedule,
};

} // namespace weir

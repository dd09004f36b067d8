// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/algorithm.h"
#include "collectives/algorithms/protocol.h"
#include "collectives/algorithms/ring/ring-channels.h"
#include "collectives/channels/message-cost.h"
#include "collectives/schedule/message-split.h"

#include <algorithm>

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
SupportsRing(CollectiveOp op, const Communicator& communicator)
{
    return op == CollectiveOp::AllReduce || op == CollectiveOp::AllGather ||
           op == CollectiveOp::ReduceScatter;
}

/** Chunks that each rank sends in one round. */
uint32_t
RingSteps(const AlgorithmInputs& in)
{
    const uint32_t n = in.communicator.Size();
    return in.call.op == CollectiveOp::AllReduce ? 2 * (n - 1) : n - 1;
}

/** NCCL's outer loop over one channel's share, as the closed form sees it. */
std::vector<RingRounds::Round>
RoundsOf(const AlgorithmInputs& in, Bytes share)
{
    const Chunking chunking = RingChunking(in.protocol, in.settings.simpleBuffer);
    std::vector<RingRounds::Round> rounds;
    for (const auto& loop :
         SplitIntoLoops(share, chunking.chunk, in.communicator.Size(), chunking.slices))
    {
        const Bytes slice = DivideUp(loop.chunks.front(), loop.slices);
        rounds.push_back({loop.repeat, WireBytes(in.protocol, slice), loop.slices});
    }
    return rounds;
}

/**
 * The least time between two messages of one channel over the network: its sender's and its
 * receiver's process handle those of all connections that they serve, one after the other.
 */
class MessageTurns
{
  public:
    explicit MessageTurns(const AlgorithmInputs& in)
        : m_protocol(in.protocol),
          m_cost(in.times.Costs()),
          m_fits(MessagesOf(in) <= RingChunking(in.protocol, in.settings.simpleBuffer).slots)
    {
        if (in.communicator.nodes > 1)
        {
            m_served = RingConnections(in.communicator, in.channels);
        }
    }

    Time Interval(const RingChannel& channel, std::size_t place, Bytes slice) const
    {
        if (channel.hops[place].kind != ConnectionKind::Network)
        {
            return {};
        }
        const auto busy = [&](std::size_t at) {
            const ServedConnections& served = m_served[channel.order[at]];
            return m_cost.Busy(m_protocol, {slice, served.out, served.in, m_fits});
        };
        return std::max(busy(place), busy((place + 1) % channel.hops.size()));
    }

  private:
    /** Of a connection of the first channel. */
    static uint64_t MessagesOf(const AlgorithmInputs& in)
    {
        uint64_t messages = 0;
        for (const auto& round :
             RoundsOf(in, SplitOverChannels(in.call.bytes, in.channels).front().bytes))
        {
            messages += uint64_t{round.repeat} * round.slices * RingSteps(in);
        }
        return messages;
    }

    Protocol m_protocol;
    MessageCost m_cost;
    bool m_fits;
    std::vector<ServedConnections> m_served; //!< by rank; empty within a node
};

RingRounds
RingOf(const AlgorithmInputs& in, const RingChannel& channel, const MessageTurns& turns, Rate cap)
{
    RingRounds ring;
    const auto shares = SplitOverChannels(in.call.bytes, in.channels);
    ring.rounds = RoundsOf(in, shares.front().bytes);
    const Bytes slice = ring.rounds.front().slice;
    const auto latencies = HopLatencies(in, channel, slice);
    for (std::size_t i = 0; i < latencies.size(); ++i)
    {
        const bool stores = channel.hops[i].kind != ConnectionKind::Network;
        const Time pause = stores ? BlockTimesOf(in).Pause(in.call.op) : Time();
        ring.hops.push_back(
            {channel.hops[i].route, latencies[i], pause, turns.Interval(channel, i, slice)});
    }
    ring.steps = RingSteps(in);
    ring.cap = cap;
    ring.block = BlockTimesOf(in);
    ring.last = in.call.op == CollectiveOp::ReduceScatter ? PrimitiveKind::RecvReduceCopy
                                                          : PrimitiveKind::Recv;
    return ring;
}

StreamShape
RingStreams(const AlgorithmInputs& in)
{
    StreamShape shape;
    shape.latency = CallLatency(in, Algorithm::Ring);
    const MessageTurns turns(in);
    const double payload = in.call.bytes.ToDouble() *
                           BusBandwidthFactor(in.call.op, in.communicator.Size()) / in.channels;
    const Bytes bytes = WireBytes(in.protocol, RoundedUp(payload));
    const Rate cap = ChannelCap(in);
    for (uint32_t c = 0; c < in.channels; ++c)
    {
        const std::size_t legs = shape.legs.size();
        AddLeg(in, shape.legs, in.communicator.ringRoutes[c], bytes, cap);
        if (shape.legs.size() > legs)
        {
            shape.rings.push_back(RingOf(in, in.communicator.channels[c], turns, SliceCap(in)));
        }
    }
    CountEqualChannels(shape);
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
BuildRingSchedule(const AlgorithmInputs& in)
{
    const uint32_t n = in.communicator.Size();
    const Chunking chunking = RingChunking(in.protocol, in.settings.simpleBuffer);
    Schedule schedule = EmptySchedule(in, Algorithm::Ring);
    schedule.block = BlockTimesOf(in);
    schedule.channelCap = SliceCap(in);
    const MessageTurns turns(in);
    for (const auto& share : SplitOverChannels(in.call.bytes, in.channels))
    {
        ChannelSchedule model;
        model.programs.push_back(ProgramOf(in.call.op, static_cast<int32_t>(n)));
        model.loops = SplitIntoLoops(share.bytes, chunking.chunk, n, chunking.slices);
        for (uint32_t c = share.firstChannel; c < share.firstChannel + share.channels; ++c)
        {
            if (AddCopyOf(in, schedule, in.communicator.channels[c], model.loops))
            {
                continue;
            }
            ChannelSchedule channel = model;
            const auto& ring = in.communicator.channels[c];
            const Bytes slice = FirstSlice(in.protocol, model.loops);
            const auto latencies = HopLatencies(in, ring, slice);
            for (uint32_t place = 0; place < n; ++place)
            {
                channel.connections.push_back(MakeConnection(
                    place, (place + 1) % n, ring.hops[place], chunking, latencies[place]));
                channel.connections.back().interval = turns.Interval(ring, place, slice);
            }
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
    SupportsRing,
    RingMaxChannels,
    nullptr,
    ChannelGraph::Rings,
    RingSenders,
    true,
    RingStreams,
    BuildRingSchedule,
};

} // namespace weir

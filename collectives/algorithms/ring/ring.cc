// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/call-description.h"
#include "collectives/algorithms/protocol.h"
#include "collectives/channels/message-cost.h"
#include "collectives/schedule/message-split.h"
#include "collectives/schedule/schedule-wiring.h"

#include <algorithm>
#include <utility>

/**
 * @file
 * Ring all-reduce, all-gather and reduce-scatter (NCCL's all_reduce.h, all_gather.h and
 * reduce_scatter.h). Every rank sends only to its successor. A chunk travels around the ring once
 * to be summed and once to be spread.
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

/** Number of chunks that each rank sends in one round. */
uint32_t
RingSteps(const AlgorithmInputs& in)
{
    const uint32_t n = in.communicator.Size();
    return in.call.op == CollectiveOp::AllReduce ? 2 * (n - 1) : n - 1;
}

/**
 * How long slices keep a ring's blocks busy. One primitive of a round moves no bytes over NVLink:
 * the last one, which copies out of the rank's own buffer. On Ampere blocks load from the previous
 * rank what blocks store elsewhere. There it is the first primitive, which copies into that buffer,
 * and a round takes equally long. With one process for all GPUs senders store into the output
 * itself, so that receiving takes no time.
 */
BlockTimes
RingBlockTimes(const AlgorithmInputs& in)
{
    BlockTimes times = BlockTimesOf(in);
    const auto& hops = in.communicator.channels.front().hops;
    if (!std::all_of(hops.begin(), hops.end(), [](const Connection& hop) {
            return hop.kind == ConnectionKind::NvLink;
        }))
    {
        return times;
    }
    const bool reduces = in.call.op == CollectiveOp::ReduceScatter;
    BlockTimes::Cost& last =
        times.Of(reduces ? PrimitiveKind::RecvReduceCopy : PrimitiveKind::Recv);
    if (in.constants.ReadsFromPeers())
    {
        last = times.Of(PrimitiveKind::Send);
    }
    else if (!reduces && SharesAddressSpace(in.settings.launch))
    {
        last = {};
    }
    return times;
}

/** The rounds of NCCL's outer loop over the first channel's share. */
std::vector<RingRounds::Round>
RoundsOf(const AlgorithmInputs& in, const CallDescription& description)
{
    std::vector<RingRounds::Round> rounds;
    for (const Loop& loop : LoopsOf(in, description))
    {
        const Bytes slice = DivideUp(loop.chunks.front(), loop.slices);
        rounds.push_back({loop.repeat, WireBytes(in.protocol, slice), loop.slices});
    }
    return rounds;
}

/** The messages of a call over the network. A process serves its connections one after another. */
class RingMessages
{
  public:
    RingMessages(const AlgorithmInputs& in,
                 const std::vector<RingRounds::Round>& rounds,
                 uint32_t slots)
        : m_protocol(in.protocol),
          m_cost(in.times.Costs()),
          m_served(RingConnections(in.communicator, in.channels)),
          m_senders(MaxOut(m_served))
    {
        uint64_t messages = 0; // of a connection of the first channel
        for (const RingRounds::Round& round : rounds)
        {
            messages += uint64_t{round.repeat} * round.slices * RingSteps(in);
        }
        m_fits = messages <= slots;
    }

    /** The largest number of connections on which one process sends. */
    uint32_t Senders() const
    {
        return m_senders;
    }

    /**
     * Minimum time between two messages of one channel, by the processes of its sender and of its
     * receiver.
     */
    Time Interval(const RingChannel& channel, std::size_t position, Bytes slice) const
    {
        if (channel.hops[position].kind != ConnectionKind::Network)
        {
            return {};
        }
        const auto busy = [&](std::size_t at) {
            const ServedConnections& served = m_served[channel.order[at]];
            return m_cost.Busy(m_protocol, {slice, served.out, served.in, m_fits});
        };
        return std::max(busy(position), busy((position + 1) % channel.hops.size()));
    }

  private:
    Protocol m_protocol;
    MessageCost m_cost;
    std::vector<ServedConnections> m_served; //!< by rank
    uint32_t m_senders;
    bool m_fits{false};
};

/**
 * A reduce-scatter is a send, n - 2 reducing hops and the final sum; an all-gather a send, n - 2
 * forwarding hops and a receive. In an all-reduce the final sum is the second one's send.
 */
Program
ProgramOf(CollectiveOp op, int32_t n)
{
    const bool reduces = op != CollectiveOp::AllGather;
    const bool gathers = op != CollectiveOp::ReduceScatter;
    Program program;
    auto& steps = program.primitives;
    steps.push_back({PrimitiveKind::Send, reduces ? n - 1 : 0});
    for (int32_t j = 2; reduces && j < n; ++j)
    {
        steps.push_back({PrimitiveKind::RecvReduceSend, n - j});
    }
    if (reduces)
    {
        steps.push_back(
            {gathers ? PrimitiveKind::RecvReduceCopySend : PrimitiveKind::RecvReduceCopy, 0});
    }
    for (int32_t j = 1; gathers && j < n - 1; ++j)
    {
        steps.push_back({PrimitiveKind::RecvCopySend, n - j});
    }
    if (gathers)
    {
        steps.push_back({PrimitiveKind::Recv, 1});
    }
    return program;
}

ChannelSchedule
WireRing(const AlgorithmInputs& in,
         const RingChannel& ring,
         const Chunking& chunking,
         const RingMessages& messages,
         Bytes slice)
{
    const auto n = static_cast<uint32_t>(ring.order.size());
    ChannelSchedule channel;
    channel.programs.push_back(ProgramOf(in.call.op, static_cast<int32_t>(n)));
    channel.blocks.reserve(n);
    channel.connections.reserve(n);
    for (uint32_t position = 0; position < n; ++position)
    {
        channel.blocks.push_back({ring.order[position], position, 0, {}, {}});
    }
    ScheduleWiring wiring(channel);
    for (uint32_t position = 0; position < n; ++position)
    {
        const Connection& hop = ring.hops[position];
        ScheduleConnection pipe = MakeConnection(
            hop, chunking, HopLatency(in, Algorithm::Ring, hop, slice, messages.Senders()));
        pipe.interval = messages.Interval(ring, position, slice);
        wiring.Join(position, (position + 1) % n, pipe);
    }
    return channel;
}

CallDescription
DescribeRing(const AlgorithmInputs& in)
{
    const Chunking chunking = RingChunking(in.protocol, in.settings.simpleBuffer);
    CallDescription description;
    description.call = EmptySchedule(in, Algorithm::Ring);
    description.call.block = RingBlockTimes(in);
    description.call.channelCap = SliceCap(in);
    description.chunk = chunking.chunk;
    description.chunks = in.communicator.Size();
    description.slices = chunking.slices;
    const auto rounds = RoundsOf(in, description);
    const RingMessages messages(in, rounds, chunking.slots);
    const Bytes slice = rounds.front().slice;
    for (uint32_t channel = 0; channel < in.channels; ++channel)
    {
        const RingChannel& ring = in.communicator.channels[channel];
        description.Add(channel, WireRing(in, ring, chunking, messages, slice), in.routing);
    }
    return description;
}

/** The legs of the rings, and their rounds for RingsTime. */
StreamShape
RingStreams(const AlgorithmInputs& in)
{
    const CallDescription call = DescribeRing(in);
    const BlockTimes& block = call.call.block;
    StreamShape shape;
    shape.latency = call.call.startLatency;
    shape.legs = LegsOf(in, call, ChannelCap(in));
    for (const auto& [steps, channels] : call.channels)
    {
        RingRounds ring;
        for (const ScheduleConnection& hop : steps.connections)
        {
            const bool stores = hop.connection.kind != ConnectionKind::Network;
            ring.hops.push_back({hop.connection.route,
                                 hop.latency,
                                 stores ? block.Pause(in.call.op) : Time(),
                                 hop.interval});
        }
        ring.rounds = RoundsOf(in, call);
        ring.steps = RingSteps(in);
        ring.cap = call.call.channelCap;
        ring.weight = static_cast<double>(channels.size());
        ring.block = block;
        ring.last = steps.programs.front().primitives.back().kind;
        shape.rings.push_back(std::move(ring));
    }
    return shape;
}

} // namespace

const CollectiveAlgorithm RING_ALGORITHM{
    Algorithm::Ring,
    SupportsRing,
    RingMaxChannels,
    DescribeRing,
    RingStreams,
    ChannelGraph::Rings,
    true,
};

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/ring/ring-channels.h"

#include "collectives/channels/message-cost.h"
#include "collectives/schedule/message-split.h"

namespace weir
{

uint32_t
RingMaxChannels(const AlgorithmInputs& inputs)
{
    return static_cast<uint32_t>(inputs.communicator.channels.size());
}

uint32_t
RingSenders(const AlgorithmInputs& inputs)
{
    return inputs.protocol == Protocol::Ll
               ? MaxOut(RingConnections(inputs.communicator, inputs.channels))
               : 1;
}

std::vector<Time>
HopLatencies(const AlgorithmInputs& inputs, const RingChannel& channel, Bytes slice)
{
    std::vector<Time> latencies;
    latencies.reserve(channel.hops.size());
    for (const auto& hop : channel.hops)
    {
        latencies.push_back(HopLatency(inputs, Algorithm::Ring, hop, slice));
    }
    return latencies;
}

Schedule
EmptySchedule(const AlgorithmInputs& inputs, Algorithm algorithm)
{
    Schedule schedule;
    schedule.op = inputs.call.op;
    schedule.algorithm = algorithm;
    schedule.protocol = inputs.protocol;
    schedule.startLatency = CallLatency(inputs, algorithm);
    schedule.channelCap = ChannelCap(inputs);
    return schedule;
}

uint32_t
ConnectionSlots(const Connection& hop, const Chunking& chunking)
{
    const uint32_t buffers = hop.kind == ConnectionKind::Network ? 2 : 1;
    return buffers * chunking.slots;
}

ScheduleConnection
MakeConnection(uint32_t fromBlock,
               uint32_t toBlock,
               const Connection& hop,
               const Chunking& chunking,
               Time latency)
{
    return {fromBlock, toBlock, hop, ConnectionSlots(hop, chunking), latency};
}

Bytes
FirstSlice(Protocol protocol, const std::vector<Loop>& loops)
{
    return WireBytes(protocol, DivideUp(loops.front().chunks.front(), loops.front().slices));
}

bool
AddCopyOf(const AlgorithmInputs& in,
          Schedule& schedule,
          const RingChannel& ring,
          const std::vector<Loop>& loops,
          uint32_t first)
{
    if (schedule.channels.empty())
    {
        return false;
    }
    auto& last = schedule.channels.back();
    const auto& there = last.schedule;
    const std::size_t n = ring.order.size();
    bool same = there.loops.size() == loops.size();
    for (std::size_t i = 0; same && i < loops.size(); ++i)
    {
        same = there.loops[i].repeat == loops[i].repeat && there.loops[i].chunks == loops[i].chunks;
    }
    for (std::size_t i = 0; same && i < there.blocks.size(); ++i)
    {
        same = there.blocks[i].rank == ring.order[(first + i) % n];
    }
    for (std::size_t i = 0; same && i < there.connections.size(); ++i)
    {
        same = in.routing.HaveSameLinks(there.connections[i].connection.route,
                                        ring.hops[(first + i) % n].route);
    }
    last.copies += same;
    return same;
}

} // namespace weir

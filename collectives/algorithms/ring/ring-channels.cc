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

} // namespace weir

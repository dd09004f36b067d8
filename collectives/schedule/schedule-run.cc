// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/schedule/schedule-run.h"

#include "collectives/algorithms/protocol.h"

#include <algorithm>

namespace weir
{

namespace
{

/** Queue entries of a connection: all queued slices but the front one need one. */
uint32_t
QueueEntriesOf(const ScheduleConnection& connection)
{
    return std::max(connection.slots, 1U) - 1;
}

} // namespace

ScheduleRun::ScheduleRun(const Schedule& schedule)
    : m_protocol(schedule.protocol),
      m_times(schedule.block.IsNothing() ? nullptr : &schedule.block),
      m_pause(schedule.block.Pause(schedule.op))
{
    Reserve(schedule);
    for (const auto& [channel, copies] : schedule.channels)
    {
        AddChannel(channel, copies);
    }
}

ScheduleRun::ScheduleRun(Schedule&& schedule)
    : m_protocol(schedule.protocol),
      m_times(schedule.block.IsNothing() ? nullptr : &schedule.block),
      m_pause(schedule.block.Pause(schedule.op))
{
    Reserve(schedule);
    for (auto& [channel, copies] : schedule.channels)
    {
        AddChannel(channel, copies);
        channel.blocks = {};
        channel.connections = {};
    }
}

void
ScheduleRun::Reserve(const Schedule& schedule)
{
    std::size_t blocks = 0;
    std::size_t connections = 0;
    std::size_t slots = 0;
    std::size_t listed = 0;
    for (const auto& [channel, copies] : schedule.channels)
    {
        blocks += channel.blocks.size();
        connections += channel.connections.size();
        for (const ScheduleConnection& each : channel.connections)
        {
            slots += QueueEntriesOf(each);
        }
        for (const ThreadBlock& each : channel.blocks)
        {
            listed += each.recv.size() == 1 ? 0 : each.recv.size();
            listed += each.send.size() == 1 ? 0 : each.send.size();
        }
    }
    m_blocks.reserve(blocks);
    m_connections.reserve(connections);
    m_queues.reserve(slots);
    m_lists.reserve(listed);
}

void
ScheduleRun::AddChannel(const ChannelSchedule& channel, uint32_t copies)
{
    const uint32_t firstBlock = BlockCount();
    const uint32_t firstConnection = ConnectionCount();
    for (const auto& each : channel.connections)
    {
        Pipe pipe{};
        pipe.route = each.connection.route;
        pipe.figures = NumberOf({each, each.connection.kind, copies});
        pipe.fromBlock = firstBlock + each.fromBlock;
        pipe.toBlock = firstBlock + each.toBlock;
        pipe.firstSlot = static_cast<uint32_t>(m_queues.size());
        pipe.slots = static_cast<uint16_t>(QueueEntriesOf(each));
        pipe.free = static_cast<uint16_t>(each.slots);
        m_queues.resize(m_queues.size() + QueueEntriesOf(each));
        m_connections.push_back(pipe);
    }
    for (const auto& each : channel.blocks)
    {
        const auto& primitives = channel.programs[each.program].primitives;
        Block block{};
        block.channel = &channel;
        block.primitives = primitives.data();
        block.primitiveCount = static_cast<uint32_t>(primitives.size());
        block.rank = each.rank;
        block.position = each.position;
        block.hasOneIn = each.recv.size() == 1;
        block.hasOneOut = each.send.size() == 1;
        block.firstIn = AddList(each.recv, firstConnection);
        block.firstOut = AddList(each.send, firstConnection);
        block.stores = std::any_of(each.send.begin(), each.send.end(), [&](uint32_t connection) {
            return channel.connections[connection].connection.kind != ConnectionKind::Network;
        });
        const bool works = !channel.loops.empty() && !primitives.empty();
        block.loop = works ? 0 : static_cast<uint32_t>(channel.loops.size());
        m_blocksLeft += works;
        m_blocks.push_back(block);
    }
}

uint32_t
ScheduleRun::NumberOf(const PipeFigures& figures)
{
    const auto [known, isNew] =
        m_numbersOfFigures.emplace(figures, static_cast<uint32_t>(m_figures.size()));
    if (isNew)
    {
        m_figures.push_back(figures);
    }
    return known->second;
}

/** The connection if there is only one; else the index in m_lists of the first. */
uint32_t
ScheduleRun::AddList(const std::vector<uint32_t>& connections, uint32_t firstConnection)
{
    if (connections.size() == 1)
    {
        return firstConnection + connections.front();
    }
    const auto first = static_cast<uint32_t>(m_lists.size());
    for (const uint32_t each : connections)
    {
        m_lists.push_back(firstConnection + each);
    }
    return first;
}

void
ScheduleRun::Advance(uint32_t block, std::vector<uint32_t>& started, Time now)
{
    m_ready.push_back(block);
    while (!m_ready.empty())
    {
        Block& next = m_blocks[m_ready.back()];
        m_ready.pop_back();
        while (RunSlice(next, started, now))
        {
        }
    }
}

bool
ScheduleRun::RunSlice(Block& block, std::vector<uint32_t>& started, Time now)
{
    if (block.loop == block.channel->loops.size())
    {
        return false;
    }
    const Primitive& primitive = block.primitives[block.primitive];
    const bool receives = Receives(primitive.kind);
    const bool sends = Sends(primitive.kind);
    if ((receives && !HaveArrived(block, primitive)) || (sends && !HaveRoom(block, primitive)))
    {
        return false;
    }
    if (block.freeAt > now)
    {
        if (!block.sleeps)
        {
            block.sleeps = true;
            m_wakes.push_back({static_cast<uint32_t>(&block - m_blocks.data()), block.freeAt});
        }
        return false;
    }
    block.sleeps = false;
    if (m_times && !now.IsInfinite())
    {
        const bool isLocal = !sends && m_times->Of(primitive.kind).floor > Time();
        if (isLocal && !HasStored(block))
        {
            return false;
        }
        const Loop& loop = block.channel->loops[block.loop];
        const Bytes bytes(SliceBytes(block, loop, primitive.chunk));
        if (bytes > Bytes()) // a message of no bytes is only a signal
        {
            const Time pause = sends && block.stores ? m_pause : Time();
            block.freeAt = now + m_times->Of(primitive.kind, bytes, pause);
            m_end = isLocal ? std::max(m_end, block.freeAt) : m_end;
        }
    }
    if (sends)
    {
        Send(block, primitive, started);
    }
    if (receives)
    {
        Receive(block, primitive);
    }
    if (!Step(block))
    {
        --m_blocksLeft;
        m_ended.push_back(static_cast<uint32_t>(&block - m_blocks.data()));
        return false;
    }
    return true;
}

bool
ScheduleRun::HaveArrived(const Block& block, const Primitive& primitive) const
{
    for (uint32_t i = 0; i < primitive.recvs; ++i)
    {
        if (m_connections[In(block, primitive.recvFrom + i)].arrived == 0)
        {
            return false;
        }
    }
    return true;
}

bool
ScheduleRun::HaveRoom(const Block& block, const Primitive& primitive)
{
    for (uint32_t i = 0; i < primitive.sends; ++i)
    {
        Pipe& out = m_connections[Out(block, primitive.sendTo + i)];
        if (out.free == 0)
        {
            out.senderWaits = true;
            return false;
        }
    }
    return true;
}

/** Whether a block's own stores have left; not checked for a block with several receivers. */
bool
ScheduleRun::HasStored(const Block& block)
{
    if (!block.stores || !block.hasOneOut)
    {
        return true;
    }
    Pipe& out = m_connections[block.firstOut];
    out.holdsSender = out.queued > 0;
    return !out.holdsSender;
}

void
ScheduleRun::Send(const Block& block, const Primitive& primitive, std::vector<uint32_t>& started)
{
    const int64_t bytes = SliceBytes(block, block.channel->loops[block.loop], primitive.chunk);
    for (uint32_t i = 0; i < primitive.sends; ++i)
    {
        const uint32_t connection = Out(block, primitive.sendTo + i);
        Pipe& out = m_connections[connection];
        --out.free;
        if (out.queued++ == 0)
        {
            out.front = bytes;
            started.push_back(connection);
        }
        else
        {
            const uint32_t entry = out.head + out.queued - 2U;
            m_queues[out.firstSlot + (entry >= out.slots ? entry - out.slots : entry)] = bytes;
        }
    }
}

void
ScheduleRun::Receive(const Block& block, const Primitive& primitive)
{
    for (uint32_t i = 0; i < primitive.recvs; ++i)
    {
        Pipe& in = m_connections[In(block, primitive.recvFrom + i)];
        --in.arrived;
        ++in.free;
        if (in.senderWaits)
        {
            in.senderWaits = false;
            m_ready.push_back(in.fromBlock);
        }
    }
}

bool
ScheduleRun::Step(Block& block)
{
    const ChannelSchedule& channel = *block.channel;
    const Loop& loop = channel.loops[block.loop];
    if (++block.slice < loop.slices)
    {
        return true;
    }
    block.slice = 0;
    if (++block.primitive < block.primitiveCount)
    {
        return true;
    }
    block.primitive = 0;
    if (++block.pass < loop.repeat)
    {
        return true;
    }
    block.pass = 0;
    return ++block.loop < channel.loops.size();
}

int64_t
ScheduleRun::SliceBytes(const Block& block, const Loop& loop, int32_t chunk) const
{
    const auto chunks = static_cast<uint32_t>(loop.chunks.size());
    uint32_t index = block.position + static_cast<uint32_t>(chunk);
    if (index >= chunks)
    {
        index %= chunks;
    }
    int64_t bytes = loop.chunks[index].Count();
    if (loop.slices > 1)
    {
        const int64_t equal = (bytes + loop.slices - 1) / loop.slices;
        const int64_t share = loop.slice > Bytes() ? loop.slice.Count() : equal;
        bytes = std::clamp<int64_t>(bytes - share * block.slice, 0, share);
    }
    return WireBytes(m_protocol, Bytes(bytes)).Count();
}

std::string
ScheduleRun::DescribeWait() const
{
    for (const auto& block : m_blocks)
    {
        if (block.loop < block.channel->loops.size())
        {
            return "rank " + std::to_string(block.rank) + " waits in primitive " +
                   std::to_string(block.primitive) + " of loop " + std::to_string(block.loop);
        }
    }
    return "no block waits";
}

std::string
CheckProgress(const Schedule& schedule)
{
    ScheduleRun run(schedule);
    std::vector<uint32_t> sending;
    for (uint32_t block = 0; block < run.BlockCount(); ++block)
    {
        run.Advance(block, sending);
    }
    while (!sending.empty())
    {
        const uint32_t connection = sending.back();
        sending.pop_back();
        if (run.PopFront(connection))
        {
            sending.push_back(connection);
        }
        run.Arrive(connection, sending);
    }
    return run.BlocksLeft() == 0 ? "" : run.DescribeWait() + " forever";
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "schedule-check.h"

#include "collectives/schedule/schedule-run.h"

#include "symbolic-channel.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace weir
{

namespace
{

/** Chunks by connection, in the order in which the programs of one side name them. */
using ChunkLists = std::vector<std::vector<int32_t>>;

/** Bytes of all chunks that one rank sends to another, by (sender, receiver). */
using PairBytes = std::map<std::pair<uint32_t, uint32_t>, Bytes>;

std::string
Pair(uint32_t from, uint32_t to)
{
    return "rank " + std::to_string(from) + " to rank " + std::to_string(to);
}

std::string
CheckBlock(const ChannelSchedule& channel,
           const ThreadBlock& block,
           ChunkLists& sent,
           ChunkLists& received)
{
    const auto chunks = static_cast<int32_t>(channel.loops.front().chunks.size());
    for (const auto& p : channel.programs[block.program].primitives)
    {
        const bool sends = p.kind == PrimitiveKind::Send;
        const auto& pipes = sends ? block.send : block.recv;
        const uint16_t pipe = sends ? p.sendTo : p.recvFrom;
        if ((!sends && p.kind != PrimitiveKind::Recv) || pipe >= pipes.size() || p.chunk < 0 ||
            p.chunk >= chunks)
        {
            return "rank " + std::to_string(block.rank) +
                   " has a primitive that is not a send or a receive of one of its chunks";
        }
        (sends ? sent : received)[pipes[pipe]].push_back(p.chunk);
    }
    return "";
}

std::string
CheckChannel(const ChannelSchedule& channel, uint32_t copies, PairBytes& carried)
{
    if (channel.loops.size() != 1 || channel.loops[0].repeat != 1 || channel.loops[0].slices != 1)
    {
        return "its messages are not sent once and in whole chunks";
    }
    ChunkLists sent(channel.connections.size());
    ChunkLists received(channel.connections.size());
    for (const auto& block : channel.blocks)
    {
        if (auto fault = CheckBlock(channel, block, sent, received); !fault.empty())
        {
            return fault;
        }
    }
    for (std::size_t i = 0; i < channel.connections.size(); ++i)
    {
        const uint32_t from = channel.blocks[channel.connections[i].fromBlock].rank;
        const uint32_t to = channel.blocks[channel.connections[i].toBlock].rank;
        if (sent[i] != received[i])
        {
            return Pair(from, to) + ": what is received is not what is sent";
        }
        Bytes bytes;
        for (const int32_t chunk : sent[i])
        {
            bytes += channel.loops[0].chunks[chunk] * copies;
        }
        if (bytes > Bytes())
        {
            carried[{from, to}] += bytes;
        }
    }
    return "";
}

/**
 * Proves that a schedule of sends and receives delivers @p messages: the bytes that a rank sends to
 * another are those of their message, and no other ranks communicate; the chunks of every
 * connection are received in the order and the sizes in which they are sent; with the given slots
 * no block waits forever.
 *
 * @return a description of the first fault, empty if there is none. O(primitives).
 */
std::string
CheckPointToPoint(const Schedule& schedule, const std::vector<Message>& messages)
{
    PairBytes carried;
    for (const auto& [channel, copies] : schedule.channels)
    {
        if (auto fault = CheckChannel(channel, copies, carried); !fault.empty())
        {
            return fault;
        }
    }
    for (const auto& message : messages)
    {
        const auto it = carried.find({message.from, message.to});
        const Bytes bytes = it == carried.end() ? Bytes() : it->second;
        if (bytes != message.bytes)
        {
            return Pair(message.from, message.to) + ": " + std::to_string(bytes.Count()) +
                   " bytes go, the message has " + std::to_string(message.bytes.Count());
        }
    }
    if (carried.size() != messages.size())
    {
        return "bytes go between ranks that have no message for each other";
    }
    return CheckProgress(schedule);
}

std::string
CheckOnSymbols(const Schedule& schedule, const ScheduleClaim& claim)
{
    Bytes total;
    for (const auto& [channel, copies] : schedule.channels)
    {
        for (const auto& loop : channel.loops)
        {
            for (Bytes chunk : loop.chunks)
            {
                total += chunk * loop.repeat * copies;
            }
        }
        if (auto fault = SymbolicChannel(schedule.op, channel, claim.ranks, claim.root).Run();
            !fault.empty())
        {
            return fault;
        }
    }
    if (total != claim.bytes)
    {
        return "its chunks are " + std::to_string(total.Count()) + " bytes in all, the call " +
               std::to_string(claim.bytes.Count());
    }
    return "";
}

} // namespace

std::string
CheckSchedule(const Schedule& schedule, const ScheduleClaim& claim)
{
    switch (schedule.algorithm)
    {
    case Algorithm::PointToPoint:
        return CheckPointToPoint(
            schedule, MessagesOf(schedule.op, claim.ranks, claim.bytes, claim.root, claim.traffic));
    case Algorithm::Imported:      // CheckImportedProgram checks its data flow
    case Algorithm::DimensionWise: // its bytes follow the closed form (dimension-wise-test.cc)
        return CheckProgress(schedule);
    default:
        return CheckOnSymbols(schedule, claim);
    }
}

} // namespace weir

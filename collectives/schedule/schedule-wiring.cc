// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/schedule/schedule-wiring.h"

#include "fabric/routing/flow-hash.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

namespace weir
{

namespace
{

/** A count or index of a block's connections. @throws std::invalid_argument above 65535 */
uint16_t
CountOf(std::size_t connections)
{
    constexpr std::size_t MAX_CONNECTIONS = std::numeric_limits<uint16_t>::max();
    if (connections > MAX_CONNECTIONS)
    {
        throw std::invalid_argument("found " + std::to_string(connections) +
                                    " connections of a block, expected at most " +
                                    std::to_string(MAX_CONNECTIONS));
    }
    return static_cast<uint16_t>(connections);
}

} // namespace

Program
EachChunk(PrimitiveKind kind, const std::vector<int32_t>& chunks)
{
    Program program;
    for (std::size_t i = 0; i < chunks.size(); ++i)
    {
        Primitive step{kind, chunks[i]};
        step.recvFrom = CountOf(i);
        step.sendTo = step.recvFrom;
        program.primitives.push_back(step);
    }
    return program;
}

uint32_t
ScheduleWiring::AddBlock(uint32_t rank, uint32_t position, Program program)
{
    auto& programs = m_channel.programs;
    uint64_t hash = program.primitives.size();
    for (const Primitive& p : program.primitives)
    {
        hash = SplitMix64(hash ^ (static_cast<uint64_t>(p.kind) << 48 ^ uint64_t{p.recvFrom} << 32 ^
                                  static_cast<uint32_t>(p.chunk)));
    }
    const auto [first, last] = m_programs.equal_range(hash);
    const auto same = std::find_if(
        first, last, [&](const auto& known) { return programs[known.second] == program; });
    const uint32_t index = same != last ? same->second : static_cast<uint32_t>(programs.size());
    if (same == last)
    {
        programs.push_back(std::move(program));
        m_programs.emplace(hash, index);
    }
    m_channel.blocks.push_back({rank, position, index, {}, {}});
    return static_cast<uint32_t>(m_channel.blocks.size() - 1);
}

uint32_t
ScheduleWiring::AddBlock(
    uint32_t rank, uint32_t position, PrimitiveKind kind, uint32_t recvs, uint32_t sends)
{
    Primitive step{kind, 0};
    step.recvs = CountOf(recvs);
    step.sends = CountOf(sends);
    return AddBlock(rank, position, Program{{step}});
}

std::pair<uint16_t, uint16_t>
ScheduleWiring::Join(uint32_t from, uint32_t to, ScheduleConnection connection)
{
    const auto index = static_cast<uint32_t>(m_channel.connections.size());
    connection.fromBlock = from;
    connection.toBlock = to;
    m_channel.connections.push_back(connection);
    auto& send = m_channel.blocks[from].send;
    auto& recv = m_channel.blocks[to].recv;
    send.push_back(index);
    recv.push_back(index);
    return {static_cast<uint16_t>(send.size() - 1), static_cast<uint16_t>(recv.size() - 1)};
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/schedule/schedule-wiring.h"

#include <algorithm>

namespace weir
{

namespace
{

bool
AreEqual(const Primitive& a, const Primitive& b)
{
    return a.kind == b.kind && a.chunk == b.chunk && a.recvFrom == b.recvFrom &&
           a.sendTo == b.sendTo && a.recvs == b.recvs && a.sends == b.sends &&
           a.fromKept == b.fromKept;
}

} // namespace

Program
OneStep(PrimitiveKind kind, uint32_t recvs, uint32_t sends)
{
    Primitive step{kind, 0};
    step.recvs = static_cast<uint16_t>(recvs);
    step.sends = static_cast<uint16_t>(sends);
    return {{step}};
}

Program
EachChunk(PrimitiveKind kind, const std::vector<int32_t>& chunks)
{
    Program program;
    for (std::size_t i = 0; i < chunks.size(); ++i)
    {
        Primitive step{kind, chunks[i]};
        step.recvFrom = static_cast<uint16_t>(i);
        step.sendTo = static_cast<uint16_t>(i);
        program.primitives.push_back(step);
    }
    return program;
}

uint32_t
ScheduleWiring::AddBlock(uint32_t rank, uint32_t place, const Program& program)
{
    auto& programs = m_channel.programs;
    const auto same = std::find_if(programs.begin(), programs.end(), [&](const Program& each) {
        return std::equal(each.primitives.begin(),
                          each.primitives.end(),
                          program.primitives.begin(),
                          program.primitives.end(),
                          AreEqual);
    });
    const auto index = static_cast<uint32_t>(same - programs.begin());
    if (same == programs.end())
    {
        programs.push_back(program);
    }
    m_channel.blocks.push_back({rank, place, index, {}, {}});
    return static_cast<uint32_t>(m_channel.blocks.size() - 1);
}

void
ScheduleWiring::Join(uint32_t from, uint32_t to, ScheduleConnection connection)
{
    const auto index = static_cast<uint32_t>(m_channel.connections.size());
    connection.fromBlock = from;
    connection.toBlock = to;
    m_channel.connections.push_back(connection);
    m_channel.blocks[from].send.push_back(index);
    m_channel.blocks[to].recv.push_back(index);
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/schedule/schedule.h"

#include <algorithm>

namespace weir
{

bool
Receives(PrimitiveKind kind)
{
    return kind != PrimitiveKind::Send && kind != PrimitiveKind::Copy;
}

bool
Sends(PrimitiveKind kind)
{
    return kind == PrimitiveKind::Send || kind == PrimitiveKind::RecvReduceSend ||
           kind == PrimitiveKind::RecvReduceCopySend || kind == PrimitiveKind::RecvCopySend;
}

bool
Reduces(PrimitiveKind kind)
{
    return kind == PrimitiveKind::RecvReduceSend || kind == PrimitiveKind::RecvReduceCopySend ||
           kind == PrimitiveKind::RecvReduceCopy;
}

namespace
{

/** What a program sends, by index in ThreadBlock::send; chunks are relative to the position. */
std::vector<ConnectionUse>
UsesBy(const Program& program, const std::vector<uint32_t>& merged)
{
    std::vector<ConnectionUse> uses;
    for (const Primitive& p : program.primitives)
    {
        const auto chunk = static_cast<uint32_t>(p.chunk);
        for (uint32_t i = p.sendTo; Sends(p.kind) && i < uint32_t{p.sendTo} + p.sends; ++i)
        {
            uses.resize(std::max<std::size_t>(uses.size(), i + 1));
            uses[i].first = uses[i].chunks == 0 ? chunk : uses[i].first;
            uses[i].chunks += merged.empty() ? 1 : merged[chunk];
        }
    }
    return uses;
}

} // namespace

std::vector<ConnectionUse>
UsesOf(const ChannelSchedule& channel, const std::vector<uint32_t>& merged)
{
    std::vector<std::vector<ConnectionUse>> byProgram;
    for (const Program& program : channel.programs)
    {
        byProgram.push_back(UsesBy(program, merged));
    }
    std::vector<ConnectionUse> uses(channel.connections.size());
    for (const ThreadBlock& block : channel.blocks)
    {
        const std::vector<ConnectionUse>& sent = byProgram[block.program];
        for (std::size_t i = 0; i < std::min(sent.size(), block.send.size()); ++i)
        {
            uses[block.send[i]] = {sent[i].chunks, block.position + sent[i].first};
        }
    }
    return uses;
}

double
SliceCount(const Schedule& schedule)
{
    double slices = 0;
    for (const auto& channel : schedule.channels)
    {
        double perPass = 0;
        for (const ConnectionUse& use : UsesOf(channel.schedule))
        {
            perPass += use.chunks;
        }
        for (const Loop& loop : channel.schedule.loops)
        {
            slices += perPass * loop.repeat * loop.slices;
        }
    }
    return slices;
}

Schedule
WithPasses(Schedule schedule, uint32_t passes)
{
    for (auto& [channel, copies] : schedule.channels)
    {
        for (Loop& loop : channel.loops)
        {
            loop.repeat = std::min(loop.repeat, passes);
        }
    }
    return schedule;
}

} // namespace weir

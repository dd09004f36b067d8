// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/schedule/symbolic-channel.h"

/**
 * @file
 * What is checked before a channel is run on symbols, and after.
 */
namespace weir
{

namespace
{

bool
IsWithin(uint32_t first, uint32_t count, const std::vector<uint32_t>& connections)
{
    return count > 0 && first + count <= connections.size();
}

} // namespace

std::string
SymbolicChannel::CheckShape() const
{
    for (const auto& block : m_channel.blocks)
    {
        if (block.program >= m_channel.programs.size())
        {
            return Name(block) + "runs program " + std::to_string(block.program) +
                   ", and there is no such program";
        }
        for (const auto& p : m_channel.programs[block.program].primitives)
        {
            if ((Receives(p.kind) && !IsWithin(p.recvFrom, p.recvs, block.recv)) ||
                (Sends(p.kind) && !IsWithin(p.sendTo, p.sends, block.send)))
            {
                return Name(block) + "uses a connection that it does not have";
            }
        }
    }
    return "";
}

std::string
SymbolicChannel::CheckEnd() const
{
    for (uint32_t i = 0; i < m_positions.size(); ++i)
    {
        const ThreadBlock& block = m_channel.blocks[i];
        const bool works = !m_channel.programs[block.program].primitives.empty();
        if (works && m_positions[i].loop != m_channel.loops.size())
        {
            return Name(block, m_positions[i]) + "waits for ever";
        }
    }
    for (uint32_t i = 0; i < m_pipes.size(); ++i)
    {
        if (!m_pipes[i].empty())
        {
            return "connection " + std::to_string(i) + " is left with unreceived chunks";
        }
    }
    for (const auto& block : m_channel.blocks)
    {
        if (auto fault = CheckOutput(block); !fault.empty())
        {
            return fault;
        }
    }
    return "";
}

std::string
SymbolicChannel::CheckOutput(const ThreadBlock& block) const
{
    Position at;
    for (at.loop = 0; at.loop < m_channel.loops.size(); ++at.loop)
    {
        const Loop& loop = m_channel.loops[at.loop];
        for (uint32_t chunk = 0; chunk < loop.chunks.size(); ++chunk)
        {
            const RankSet expected = m_postcondition.Output(block, chunk);
            if (expected.IsEmpty())
            {
                continue;
            }
            for (at.pass = 0; at.pass < Passes(loop); ++at.pass)
            {
                for (at.slice = 0; at.slice < loop.slices; ++at.slice)
                {
                    const RankSet* kept = KeptBy(block.rank, Key(at, chunk));
                    if (!kept || !(*kept == expected))
                    {
                        return Name(block) + "ends without what " + ToString(m_op) +
                               " requires in chunk " + std::to_string(chunk) + " of loop " +
                               std::to_string(at.loop);
                    }
                }
            }
        }
    }
    return "";
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "symbolic-channel.h"

#include <algorithm>
#include <utility>

namespace weir
{

namespace
{

bool
Keeps(PrimitiveKind kind)
{
    return kind != PrimitiveKind::Send && kind != PrimitiveKind::RecvReduceSend;
}

bool
IsWithin(uint32_t first, uint32_t count, const std::vector<uint32_t>& connections)
{
    return count > 0 && first + count <= connections.size();
}

} // namespace

OperationPostcondition::OperationPostcondition(CollectiveOp op,
                                               const ChannelSchedule& channel,
                                               uint32_t ranks,
                                               uint32_t root)
    : m_op(op),
      m_ranks(ranks),
      m_root(root),
      m_rankAt(ranks, 0)
{
    for (const auto& block : channel.blocks)
    {
        if (block.rank < ranks && block.position < ranks)
        {
            m_rankAt[block.position] = block.rank;
        }
    }
}

RankSet
OperationPostcondition::Input(const ThreadBlock& block, uint32_t chunk) const
{
    bool has = block.rank < m_ranks;
    switch (m_op)
    {
    case CollectiveOp::AllReduce:
    case CollectiveOp::ReduceScatter:
    case CollectiveOp::Reduce:
    case CollectiveOp::AllToAll:
    case CollectiveOp::SendRecv:
        break;
    case CollectiveOp::AllGather:
    case CollectiveOp::Gather:
        has = has && chunk == block.position;
        break;
    case CollectiveOp::Broadcast:
    case CollectiveOp::Scatter:
        has = has && block.rank == m_root;
        break;
    case CollectiveOp::Send:
        has = has && block.rank == 0;
        break;
    }
    return has ? RankSet::Only(block.rank, m_ranks) : RankSet();
}

RankSet
OperationPostcondition::PartOf(uint32_t position) const
{
    return position < m_ranks ? RankSet::Only(m_rankAt[position], m_ranks) : RankSet();
}

RankSet
OperationPostcondition::Output(const ThreadBlock& block, uint32_t chunk) const
{
    const bool own = chunk == block.position; // its own part is already in position or copied
    const bool isRoot = block.rank == m_root;
    if (block.rank >= m_ranks)
    {
        return {};
    }
    switch (m_op)
    {
    case CollectiveOp::AllReduce:
        return RankSet::All(m_ranks);
    case CollectiveOp::Reduce:
        return isRoot ? RankSet::All(m_ranks) : RankSet();
    case CollectiveOp::ReduceScatter:
        return own ? RankSet::All(m_ranks) : RankSet();
    case CollectiveOp::AllGather:
        return own ? RankSet() : PartOf(chunk);
    case CollectiveOp::Gather:
        return isRoot && !own ? PartOf(chunk) : RankSet();
    case CollectiveOp::Broadcast:
        return isRoot ? RankSet() : RankSet::Only(m_root, m_ranks);
    case CollectiveOp::Scatter:
        return own && !isRoot ? RankSet::Only(m_root, m_ranks) : RankSet();
    case CollectiveOp::SendRecv:
        return RankSet::Only((block.rank + m_ranks - 1) % m_ranks, m_ranks);
    case CollectiveOp::Send:
        return block.rank == 1 ? RankSet::Only(0, m_ranks) : RankSet();
    case CollectiveOp::AllToAll:
        break;
    }
    return {};
}

SymbolicChannel::SymbolicChannel(CollectiveOp op,
                                 const ChannelSchedule& channel,
                                 uint32_t ranks,
                                 uint32_t root)
    : m_op(op),
      m_channel(channel),
      m_ranks(ranks),
      m_postcondition(op, channel, ranks, root),
      m_pipes(channel.connections.size()),
      m_positions(channel.blocks.size()),
      m_outputs(ranks)
{
}

std::string
SymbolicChannel::Run()
{
    if (auto fault = CheckShape(); !fault.empty())
    {
        return fault;
    }
    bool moved = true;
    while (moved && m_fault.empty())
    {
        moved = false;
        for (uint32_t block = 0; block < m_positions.size(); ++block)
        {
            while (m_fault.empty() && Step(block))
            {
                moved = true;
            }
        }
    }
    return m_fault.empty() ? CheckEnd() : m_fault;
}

uint32_t
SymbolicChannel::Passes(const Loop& loop)
{
    return std::min<uint32_t>(loop.repeat, 2);
}

uint64_t
SymbolicChannel::Key(const Position& at, uint32_t chunk)
{
    return (static_cast<uint64_t>(at.loop) << 1 | at.pass) << 40 |
           static_cast<uint64_t>(chunk) << 8 | at.slice;
}

bool
SymbolicChannel::IsSwitch(const ThreadBlock& block) const
{
    return block.rank >= m_ranks;
}

std::string
SymbolicChannel::Name(const ThreadBlock& block) const
{
    return (IsSwitch(block) ? "switch " : "rank ") + std::to_string(block.rank) + " ";
}

std::string
SymbolicChannel::Name(const ThreadBlock& block, const Position& at) const
{
    return Name(block) + "(loop " + std::to_string(at.loop) + ", primitive " +
           std::to_string(at.primitive) + ") ";
}

bool
SymbolicChannel::CanRun(const ThreadBlock& block, const Primitive& primitive) const
{
    for (uint32_t i = 0; Receives(primitive.kind) && i < primitive.recvs; ++i)
    {
        if (m_pipes[block.recv[primitive.recvFrom + i]].empty())
        {
            return false;
        }
    }
    for (uint32_t i = 0; Sends(primitive.kind) && i < primitive.sends; ++i)
    {
        const uint32_t connection = block.send[primitive.sendTo + i];
        if (m_pipes[connection].size() >= m_channel.connections[connection].slots)
        {
            return false;
        }
    }
    return true;
}

bool
SymbolicChannel::Step(uint32_t index)
{
    Position& at = m_positions[index];
    const ThreadBlock& block = m_channel.blocks[index];
    const auto& primitives = m_channel.programs[block.program].primitives;
    if (at.loop == m_channel.loops.size() || primitives.empty())
    {
        return false;
    }
    const Loop& loop = m_channel.loops[at.loop];
    const Primitive& p = primitives[at.primitive];
    if (!CanRun(block, p))
    {
        return false;
    }
    const auto chunks = static_cast<uint32_t>(loop.chunks.size());
    const uint32_t chunk = (block.position + static_cast<uint32_t>(p.chunk)) % chunks;
    RankSet data;
    if ((Receives(p.kind) && !Receive(data, index, p, chunk)) ||
        ((!Receives(p.kind) || Reduces(p.kind)) && !AddOwn(data, index, p, chunk)) ||
        (Keeps(p.kind) && !Keep(data, index, chunk)))
    {
        return false;
    }
    for (uint32_t i = 0; Sends(p.kind) && i < p.sends; ++i)
    {
        m_pipes[block.send[p.sendTo + i]].push_back({chunk, at.slice, data});
    }
    Next(at, loop, primitives.size());
    return true;
}

void
SymbolicChannel::Next(Position& at, const Loop& loop, std::size_t primitives)
{
    if (++at.slice < loop.slices)
    {
        return;
    }
    at.slice = 0;
    if (++at.primitive < primitives)
    {
        return;
    }
    at.primitive = 0;
    if (++at.pass < Passes(loop))
    {
        return;
    }
    at.pass = 0;
    ++at.loop;
}

bool
SymbolicChannel::Fail(uint32_t index, const std::string& what, uint32_t chunk)
{
    m_fault = Name(m_channel.blocks[index], m_positions[index]) + what + std::to_string(chunk);
    return false;
}

bool
SymbolicChannel::Receive(RankSet& data, uint32_t index, const Primitive& primitive, uint32_t chunk)
{
    const ThreadBlock& block = m_channel.blocks[index];
    for (uint32_t i = 0; i < primitive.recvs; ++i)
    {
        auto& in = m_pipes[block.recv[primitive.recvFrom + i]];
        const Message message = std::move(in.front());
        in.pop_front();
        if (message.chunk != chunk || message.slice != m_positions[index].slice)
        {
            return Fail(index,
                        "expects chunk " + std::to_string(chunk) + ", receives chunk ",
                        message.chunk);
        }
        if (!data.Add(message.data))
        {
            return Fail(index, "counts a rank twice in chunk ", chunk);
        }
    }
    return true;
}

bool
SymbolicChannel::AddOwn(RankSet& data, uint32_t index, const Primitive& primitive, uint32_t chunk)
{
    const ThreadBlock& block = m_channel.blocks[index];
    if (IsSwitch(block) && Receives(primitive.kind))
    {
        return true;
    }
    RankSet own = m_postcondition.Input(block, chunk);
    if (primitive.fromKept)
    {
        const RankSet* kept =
            IsSwitch(block) ? nullptr : KeptBy(block.rank, Key(m_positions[index], chunk));
        own = kept ? *kept : RankSet();
    }
    if (own.IsEmpty())
    {
        return Fail(index, "has no data of its own for chunk ", chunk);
    }
    return data.Add(own) || Fail(index, "counts a rank twice in chunk ", chunk);
}

bool
SymbolicChannel::Keep(const RankSet& data, uint32_t index, uint32_t chunk)
{
    const ThreadBlock& block = m_channel.blocks[index];
    if (IsSwitch(block))
    {
        return true;
    }
    const auto [it, isNew] =
        m_outputs[block.rank].try_emplace(Key(m_positions[index], chunk), Kept{index, data});
    if (!isNew && it->second.block != index)
    {
        return Fail(index, "overwrites what another block of the rank kept of chunk ", chunk);
    }
    it->second.data = data;
    return true;
}

const RankSet*
SymbolicChannel::KeptBy(uint32_t rank, uint64_t key) const
{
    const auto it = m_outputs[rank].find(key);
    return it == m_outputs[rank].end() ? nullptr : &it->second.data;
}

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

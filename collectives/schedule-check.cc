// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/schedule-check.h"

#include "collectives/rank-set.h"

#include <algorithm>
#include <deque>
#include <map>
#include <vector>

namespace weir
{

namespace
{

struct Message
{
    uint32_t chunk;
    uint32_t slice;
    RankSet data;
};

/** One channel of a schedule, run on symbols. */
class SymbolicChannel
{
  public:
    SymbolicChannel(CollectiveOp op, const ChannelSchedule& channel, const ScheduleClaim& claim)
        : m_op(op),
          m_channel(channel),
          m_claim(claim),
          m_pipes(channel.connections.size()),
          m_positions(channel.blocks.size())
    {
    }

    /** @return the first fault, or nothing. */
    std::string Run()
    {
        if (const auto fault = CheckShape(); !fault.empty())
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

  private:
    /** Where a block stands, and what it has put out: by loop, pass, chunk, slice. */
    struct Position
    {
        uint32_t loop{0};
        uint32_t pass{0};
        uint32_t primitive{0};
        uint32_t slice{0};
        std::map<uint64_t, RankSet> output;
    };

    static uint32_t Passes(const Loop& loop)
    {
        return std::min<uint32_t>(loop.repeat, 2);
    }

    static uint64_t Key(uint32_t loop, uint32_t pass, uint32_t chunk, uint32_t slice)
    {
        return (static_cast<uint64_t>(loop) << 1 | pass) << 40 | static_cast<uint64_t>(chunk) << 8 |
               slice;
    }

    std::string CheckShape() const
    {
        for (const auto& block : m_channel.blocks)
        {
            if (block.rank >= m_claim.ranks || block.program >= m_channel.programs.size())
            {
                return "a block of rank " + std::to_string(block.rank) + " runs program " +
                       std::to_string(block.program) + ", and there is no such rank or program";
            }
            for (const auto& p : m_channel.programs[block.program].primitives)
            {
                if ((Receives(p.kind) && p.recvFrom >= block.recv.size()) ||
                    (Sends(p.kind) && p.sendTo >= block.send.size()))
                {
                    return "rank " + std::to_string(block.rank) +
                           " uses a connection that it does not have";
                }
            }
        }
        return "";
    }

    /** What the block's own data for a chunk is; empty when it has none. */
    RankSet OwnData(const ThreadBlock& block, uint32_t chunk) const
    {
        const bool gather = m_op == CollectiveOp::AllGather;
        const bool fromRoot = m_op == CollectiveOp::Broadcast || m_op == CollectiveOp::SendRecv;
        const uint32_t root = m_op == CollectiveOp::SendRecv ? 0 : m_claim.root;
        if ((gather && chunk != block.place) || (fromRoot && block.rank != root))
        {
            return {};
        }
        return RankSet::Only(block.rank, m_claim.ranks);
    }

    std::string Name(const ThreadBlock& block, const Position& at) const
    {
        return "rank " + std::to_string(block.rank) + ", loop " + std::to_string(at.loop) +
               ", primitive " + std::to_string(at.primitive) + ": ";
    }

    bool Step(uint32_t index)
    {
        Position& at = m_positions[index];
        if (at.loop == m_channel.loops.size())
        {
            return false;
        }
        const ThreadBlock& block = m_channel.blocks[index];
        const Loop& loop = m_channel.loops[at.loop];
        const auto& primitives = m_channel.programs[block.program].primitives;
        const Primitive& p = primitives[at.primitive];
        const auto chunks = static_cast<uint32_t>(loop.chunks.size());
        const uint32_t chunk = (block.place + static_cast<uint32_t>(p.chunk)) % chunks;
        std::deque<Message>* in = Receives(p.kind) ? &m_pipes[block.recv[p.recvFrom]] : nullptr;
        if (in && in->empty())
        {
            return false;
        }
        std::deque<Message>* out = nullptr;
        if (Sends(p.kind))
        {
            const uint32_t connection = block.send[p.sendTo];
            out = &m_pipes[connection];
            if (out->size() >= m_channel.connections[connection].slots)
            {
                return false;
            }
        }
        RankSet data;
        if (in)
        {
            const Message message = std::move(in->front());
            in->pop_front();
            if (message.chunk != chunk || message.slice != at.slice)
            {
                m_fault = Name(block, at) + "expects chunk " + std::to_string(chunk) +
                          ", receives chunk " + std::to_string(message.chunk);
                return false;
            }
            data = message.data;
        }
        if (!in || Reduces(p.kind))
        {
            const RankSet own = OwnData(block, chunk);
            if (own.IsEmpty())
            {
                m_fault =
                    Name(block, at) + "has no data of its own for chunk " + std::to_string(chunk);
                return false;
            }
            if (in && !data.Add(own))
            {
                m_fault = Name(block, at) + "counts a rank twice in chunk " + std::to_string(chunk);
                return false;
            }
            data = in ? data : own;
        }
        if (p.kind != PrimitiveKind::Send && p.kind != PrimitiveKind::RecvReduceSend)
        {
            at.output[Key(at.loop, at.pass, chunk, at.slice)] = data;
        }
        if (out)
        {
            out->push_back({chunk, at.slice, std::move(data)});
        }
        Next(at, loop, primitives.size());
        return true;
    }

    static void Next(Position& at, const Loop& loop, std::size_t primitives)
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

    std::string CheckEnd() const
    {
        for (uint32_t i = 0; i < m_positions.size(); ++i)
        {
            if (m_positions[i].loop != m_channel.loops.size())
            {
                return Name(m_channel.blocks[i], m_positions[i]) + "waits for ever";
            }
        }
        for (uint32_t i = 0; i < m_pipes.size(); ++i)
        {
            if (!m_pipes[i].empty())
            {
                return "connection " + std::to_string(i) + " is left with unreceived chunks";
            }
        }
        for (uint32_t i = 0; i < m_positions.size(); ++i)
        {
            if (const auto fault = CheckOutput(m_channel.blocks[i], m_positions[i]); !fault.empty())
            {
                return fault;
            }
        }
        return "";
    }

    /** What a rank must have of a chunk in the end; empty when nothing is promised. */
    RankSet Promised(const ThreadBlock& block, uint32_t chunk) const
    {
        switch (m_op)
        {
        case CollectiveOp::AllReduce:
            return RankSet::All(m_claim.ranks);
        case CollectiveOp::ReduceScatter:
            return chunk == block.place ? RankSet::All(m_claim.ranks) : RankSet();
        case CollectiveOp::AllGather:
            // Its own part is where it belongs already (in place) or copied by the first send.
            return chunk == block.place ? RankSet() : RankSet::Only(RankAt(chunk), m_claim.ranks);
        case CollectiveOp::Broadcast:
            return block.rank == m_claim.root ? RankSet()
                                              : RankSet::Only(m_claim.root, m_claim.ranks);
        case CollectiveOp::SendRecv:
            return block.rank == 1 ? RankSet::Only(0, m_claim.ranks) : RankSet();
        }
        return {};
    }

    uint32_t RankAt(uint32_t place) const
    {
        for (const auto& block : m_channel.blocks)
        {
            if (block.place == place)
            {
                return block.rank;
            }
        }
        return 0;
    }

    std::string CheckOutput(const ThreadBlock& block, const Position& at) const
    {
        for (uint32_t l = 0; l < m_channel.loops.size(); ++l)
        {
            const Loop& loop = m_channel.loops[l];
            for (uint32_t chunk = 0; chunk < loop.chunks.size(); ++chunk)
            {
                const RankSet promised = Promised(block, chunk);
                if (promised.IsEmpty())
                {
                    continue;
                }
                for (uint32_t pass = 0; pass < Passes(loop); ++pass)
                {
                    for (uint32_t slice = 0; slice < loop.slices; ++slice)
                    {
                        const auto it = at.output.find(Key(l, pass, chunk, slice));
                        if (it == at.output.end() || !(it->second == promised))
                        {
                            return "rank " + std::to_string(block.rank) + " ends without what " +
                                   ToString(m_op) + " promises in chunk " + std::to_string(chunk) +
                                   " of loop " + std::to_string(l);
                        }
                    }
                }
            }
        }
        return "";
    }

    CollectiveOp m_op;
    const ChannelSchedule& m_channel;
    const ScheduleClaim& m_claim;
    std::vector<std::deque<Message>> m_pipes;
    std::vector<Position> m_positions;
    std::string m_fault;
};

} // namespace

std::string
CheckSchedule(const Schedule& schedule, const ScheduleClaim& claim)
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
        if (auto fault = SymbolicChannel(schedule.op, channel, claim).Run(); !fault.empty())
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

} // namespace weir

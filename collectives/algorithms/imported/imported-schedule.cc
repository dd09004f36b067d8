// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/imported/imported-schedule.h"

#include "collectives/algorithms/imported/imported-pipes.h"
#include "collectives/algorithms/point-to-point/point-to-point.h"
#include "collectives/algorithms/ring/ring-channels.h"
#include "collectives/schedule/message-split.h"

#include <algorithm>
#include <map>

namespace weir
{

namespace
{

/** Writes a program as a schedule. */
class ImportedWriter
{
  public:
    ImportedWriter(const AlgorithmInputs& in, const ImportedProgram& program)
        : m_in(in),
          m_program(program),
          m_chunking(RingChunking(in.protocol, in.settings.simpleBuffer)),
          m_loops(
              SplitIntoLoops(in.call.bytes, m_chunking.chunk, program.chunks, m_chunking.slices)),
          m_together(std::max<int64_t>(
              1, m_chunking.chunk.Count() / m_loops.front().chunks.front().Count())),
          m_nowhere(in.routing.Nowhere())
    {
    }

    /** Once. */
    ChannelSchedule Write()
    {
        AddBlocks();
        for (const auto& pipe : PipesOf(m_program))
        {
            Connect(pipe);
        }
        CollectDependencies();
        for (uint32_t rank = 0; rank < m_program.ranks.size(); ++rank)
        {
            for (uint32_t block = 0; block < m_program.ranks[rank].blocks.size(); ++block)
            {
                WriteBlock(rank, block);
            }
        }
        SetLoops();
        return std::move(m_channel);
    }

  private:
    /** Messages of no bytes: the step that waits for one and the step that sends it. */
    using StepName = std::pair<uint32_t, uint32_t>; //!< block of the schedule, step

    uint32_t BlockOf(uint32_t rank, uint32_t block) const
    {
        return m_firstBlock[rank] + block;
    }

    void AddBlocks()
    {
        for (uint32_t rank = 0; rank < m_program.ranks.size(); ++rank)
        {
            m_firstBlock.push_back(static_cast<uint32_t>(m_channel.blocks.size()));
            for (std::size_t i = 0; i < m_program.ranks[rank].blocks.size(); ++i)
            {
                ThreadBlock block;
                block.rank = rank;
                block.program = static_cast<uint32_t>(m_channel.blocks.size());
                m_channel.blocks.push_back(std::move(block));
            }
        }
        m_channel.programs.resize(m_channel.blocks.size());
    }

    /** A block's pipes to and from its peers come first in its lists. */
    void Connect(const ImportedPipe& pipe)
    {
        const Message between{pipe.fromRank, pipe.toRank, {}};
        const Connection path = PathOf(m_in, between, pipe.channel);
        const Bytes slice = FirstSlice(m_in.protocol, m_loops);
        AddPipe(MakeConnection(BlockOf(pipe.fromRank, pipe.fromBlock),
                               BlockOf(pipe.toRank, pipe.toBlock),
                               path,
                               m_chunking,
                               HopLatency(m_in, Algorithm::Ring, path, slice)));
    }

    /** @return its places in the sender's and the receiver's lists. */
    std::pair<uint16_t, uint16_t> AddPipe(const ScheduleConnection& pipe)
    {
        auto& send = m_channel.blocks[pipe.fromBlock].send;
        auto& recv = m_channel.blocks[pipe.toBlock].recv;
        const auto id = static_cast<uint32_t>(m_channel.connections.size());
        m_channel.connections.push_back(pipe);
        send.push_back(id);
        recv.push_back(id);
        return {static_cast<uint16_t>(send.size() - 1), static_cast<uint16_t>(recv.size() - 1)};
    }

    std::pair<uint16_t, uint16_t> AddLocalPipe(uint32_t from, uint32_t to, uint32_t slots)
    {
        return AddPipe({from, to, {m_nowhere, ConnectionKind::NvLink}, slots, Time()});
    }

    /** One pipe for each step that waits for another block's. */
    void CollectDependencies()
    {
        for (uint32_t rank = 0; rank < m_program.ranks.size(); ++rank)
        {
            const auto& blocks = m_program.ranks[rank].blocks;
            for (uint32_t b = 0; b < blocks.size(); ++b)
            {
                for (uint32_t s = 0; s < blocks[b].steps.size(); ++s)
                {
                    const ImportedStep& step = blocks[b].steps[s];
                    if (step.block < 0 || static_cast<uint32_t>(step.block) == b)
                    {
                        continue; // nothing, or in order anyway
                    }
                    const uint32_t from = BlockOf(rank, static_cast<uint32_t>(step.block));
                    const auto [sent, received] = AddLocalPipe(from, BlockOf(rank, b), NCCL_STEPS);
                    m_waits[{BlockOf(rank, b), s}] = received;
                    m_tells[{from, step.after}].push_back(sent);
                }
            }
        }
    }

    void WriteBlock(uint32_t rank, uint32_t b)
    {
        const uint32_t block = BlockOf(rank, b);
        auto& primitives = m_channel.programs[block].primitives;
        const auto& steps = m_program.ranks[rank].blocks[b].steps;
        for (uint32_t s = 0; s < steps.size(); ++s)
        {
            if (const auto wait = m_waits.find({block, s}); wait != m_waits.end())
            {
                primitives.push_back({PrimitiveKind::Recv, ClassOf(0), wait->second, 0});
            }
            if (steps[s].kind != ImportedStepKind::Nothing)
            {
                WriteStep(block, steps[s]);
            }
            for (const uint16_t pipe : m_tells[{block, s}])
            {
                primitives.push_back({PrimitiveKind::Send, ClassOf(0), 0, pipe});
            }
        }
    }

    void WriteStep(uint32_t block, const ImportedStep& step)
    {
        auto& primitives = m_channel.programs[block].primitives;
        for (uint32_t done = 0; done < step.count; done += m_together)
        {
            const int32_t chunk = ClassOf(std::min<uint32_t>(m_together, step.count - done));
            primitives.push_back({KindOf(step.kind), chunk, 0, 0});
        }
    }

    static PrimitiveKind KindOf(ImportedStepKind kind)
    {
        switch (kind)
        {
        case ImportedStepKind::Send:
            return PrimitiveKind::Send;
        case ImportedStepKind::Recv:
            return PrimitiveKind::Recv;
        case ImportedStepKind::RecvCopySend:
            return PrimitiveKind::RecvCopySend;
        case ImportedStepKind::RecvReduceSend:
            return PrimitiveKind::RecvReduceSend;
        case ImportedStepKind::RecvReduceCopy:
            return PrimitiveKind::RecvReduceCopy;
        case ImportedStepKind::RecvReduceCopySend:
            return PrimitiveKind::RecvReduceCopySend;
        default:
            return PrimitiveKind::Copy;
        }
    }

    /** The chunk of the loops that is @p count chunks of the program. */
    int32_t ClassOf(uint32_t count)
    {
        const auto it = std::find(m_counts.begin(), m_counts.end(), count);
        const auto index = static_cast<int32_t>(it - m_counts.begin());
        if (it == m_counts.end())
        {
            m_counts.push_back(count);
        }
        return index;
    }

    void SetLoops()
    {
        for (auto& loop : m_loops)
        {
            const Bytes one = loop.chunks.front();
            loop.chunks.clear();
            for (const uint32_t count : m_counts)
            {
                loop.chunks.push_back(one * count);
            }
        }
        m_channel.loops = std::move(m_loops);
    }

    const AlgorithmInputs& m_in;
    const ImportedProgram& m_program;
    Chunking m_chunking;
    std::vector<Loop> m_loops;
    uint32_t m_together; //!< chunks that go as one
    RouteId m_nowhere;
    ChannelSchedule m_channel;
    std::vector<uint32_t> m_firstBlock;                //!< by rank
    std::vector<uint32_t> m_counts;                    //!< by chunk of the loops
    std::map<StepName, uint16_t> m_waits;              //!< place of the pipe in the block's list
    std::map<StepName, std::vector<uint16_t>> m_tells; //!< as above
};

} // namespace

ChannelSchedule
ImportedSchedule(const AlgorithmInputs& inputs, const ImportedProgram& program)
{
    return ImportedWriter(inputs, program).Write();
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/imported/imported-program.h"

#include "collectives/schedule/rank-set.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weir
{

namespace
{

/** The content of a chunk of a buffer: one chunk of the call's data, summed over some ranks. */
struct ChunkData
{
    uint32_t chunk{0};
    RankSet ranks; //!< empty: the chunk has no content

    friend bool operator==(const ChunkData& a, const ChunkData& b)
    {
        return a.chunk == b.chunk && a.ranks == b.ranks;
    }
};

/**
 * All buffers of all ranks of an imported program, with their initial content and the postcondition
 * of its operation.
 *
 * The call's data are numbered chunks: in all-gather and gather those of rank 0, then of rank 1,
 * and so on; in the others every rank's input (the root's) has all. An in-place call has its input
 * and output in one buffer, as NCCL lays them out: all-gather's input is its own part of the
 * output, reduce-scatter's output its own part of the input.
 */
class ImportedBuffers
{
  public:
    /** @p program must outlive it and have a valid shape. */
    ImportedBuffers(const ImportedProgram& program, bool inPlace)
        : m_program(program),
          m_inPlace(inPlace),
          m_ranks(static_cast<uint32_t>(program.ranks.size())),
          m_cells(program.ranks.size())
    {
        for (uint32_t rank = 0; rank < m_ranks; ++rank)
        {
            m_cells[rank].resize(
                std::size_t{2} * program.chunks +
                program.ranks[rank].chunks[static_cast<std::size_t>(ImportedBuffer::Scratch)]);
            for (uint32_t chunk = 0; chunk < InputChunks(program, rank); ++chunk)
            {
                const ChunkData data = InputOf(rank, chunk);
                if (!data.ranks.IsEmpty())
                {
                    At(rank, ImportedBuffer::Input, chunk) = data;
                }
            }
        }
    }

    ChunkData& At(uint32_t rank, ImportedBuffer buffer, uint32_t chunk)
    {
        return m_cells[rank][CellOf(rank, buffer, chunk)];
    }

    /** The first violation of the postcondition, in words; empty if there is none. */
    std::string CheckOutputs()
    {
        for (uint32_t rank = 0; rank < m_ranks; ++rank)
        {
            for (uint32_t chunk = 0; chunk < OutputChunks(m_program, rank); ++chunk)
            {
                const ChunkData expected = OutputOf(rank, chunk);
                const ChunkData& found = At(rank, ImportedBuffer::Output, chunk);
                if (expected.ranks.IsEmpty() || found == expected)
                {
                    continue;
                }
                return m_program.file + ": rank " + std::to_string(rank) + " ends: found " +
                       (found.ranks.IsEmpty() ? "nothing" : Name(found.chunk, found.ranks)) +
                       " in chunk " + std::to_string(chunk) + " of its output, expected " +
                       Name(expected.chunk, expected.ranks);
            }
        }
        return "";
    }

  private:
    uint32_t CellOf(uint32_t rank, ImportedBuffer buffer, uint32_t chunk) const
    {
        if (buffer == ImportedBuffer::Scratch)
        {
            return 2 * m_program.chunks + chunk;
        }
        const uint32_t inputs = InputChunks(m_program, rank);
        const uint32_t outputs = OutputChunks(m_program, rank);
        if (!m_inPlace)
        {
            return buffer == ImportedBuffer::Input ? chunk : m_program.chunks + chunk;
        }
        const bool isSmaller =
            buffer == ImportedBuffer::Input ? inputs < outputs : outputs < inputs;
        return isSmaller ? rank * std::min(inputs, outputs) + chunk : chunk;
    }

    ChunkData InputOf(uint32_t rank, uint32_t chunk) const
    {
        const RankSet own = RankSet::Only(rank, m_ranks);
        switch (m_program.op)
        {
        case CollectiveOp::AllGather:
        case CollectiveOp::Gather:
            return {rank * InputChunks(m_program, rank) + chunk, own};
        case CollectiveOp::Broadcast:
        case CollectiveOp::Scatter:
            return {chunk, rank == m_program.root ? own : RankSet()};
        default:
            return {chunk, own};
        }
    }

    ChunkData OutputOf(uint32_t rank, uint32_t chunk) const
    {
        const uint32_t part = m_program.chunks / m_ranks; // of one rank
        switch (m_program.op)
        {
        case CollectiveOp::AllGather:
        case CollectiveOp::Gather:
            return {chunk, RankSet::Only(chunk / part, m_ranks)};
        case CollectiveOp::ReduceScatter:
            return {rank * part + chunk, RankSet::All(m_ranks)};
        case CollectiveOp::AllToAll:
            return {rank * part + chunk % part, RankSet::Only(chunk / part, m_ranks)};
        case CollectiveOp::Broadcast:
            return {chunk, RankSet::Only(m_program.root, m_ranks)};
        case CollectiveOp::Scatter:
            return {rank * part + chunk, RankSet::Only(m_program.root, m_ranks)};
        case CollectiveOp::Reduce:
            return {chunk, rank == m_program.root ? RankSet::All(m_ranks) : RankSet()};
        default:
            return {chunk, RankSet::All(m_ranks)};
        }
    }

    std::string Name(uint32_t chunk, const RankSet& ranks) const
    {
        if (ranks == RankSet::All(m_ranks))
        {
            return "chunk " + std::to_string(chunk) + " summed over all ranks";
        }
        const bool gathers =
            m_program.op == CollectiveOp::AllGather || m_program.op == CollectiveOp::Gather;
        const uint32_t part = m_program.chunks / m_ranks;
        std::string of;
        for (uint32_t rank = 0; rank < m_ranks; ++rank)
        {
            RankSet rest = ranks;
            if (!rest.Add(RankSet::Only(rank, m_ranks)))
            {
                of += (of.empty() ? " of rank " : ", ") + std::to_string(rank);
            }
        }
        return "chunk " + std::to_string(gathers ? chunk % part : chunk) + of;
    }

    const ImportedProgram& m_program;
    bool m_inPlace;
    uint32_t m_ranks;
    std::vector<std::vector<ChunkData>> m_cells; //!< by rank: input, output, scratch
};

/**
 * Finds unordered accesses to one chunk (races): two steps of different blocks, at least one of
 * which writes, without a chain of program order, dependencies and messages from one to the other.
 * Vector clocks (Fidge 1988, Mattern 1989): every block knows how many steps of every other block
 * are done for certain. Messages order only by their arrival: a sender that waits for a free slot
 * might not wait with more slots.
 *
 * O(blocks) memory for each block, message in flight and step that others depend on; O(blocks) time
 * per step.
 */
class ImportedOrder
{
  public:
    using Clock = std::vector<uint32_t>; //!< by block, numbered across all ranks

    /** A step, with its block numbered across all ranks. */
    struct StepId
    {
        uint32_t block;
        uint32_t step;
    };

    /** @param firstBlock by rank */
    ImportedOrder(const ImportedProgram& program, const std::vector<uint32_t>& firstBlock)
    {
        std::size_t blocks = 0;
        for (std::size_t rank = 0; rank < program.ranks.size(); rank++)
        {
            blocks += program.ranks[rank].blocks.size();
            for (const ImportedBlock& block : program.ranks[rank].blocks)
            {
                for (const ImportedStep& step : block.steps)
                {
                    if (step.block >= 0)
                    {
                        const uint32_t other = firstBlock[rank] + static_cast<uint32_t>(step.block);
                        m_kept[{other, step.after}];
                    }
                }
            }
        }
        m_clocks.assign(blocks, Clock(blocks, 0));
    }

    /** @p block continues after everything in @p clock, that of a message. */
    void Await(uint32_t block, const Clock& clock)
    {
        Clock& own = m_clocks[block];
        for (std::size_t i = 0; i < own.size(); i++)
        {
            own[i] = std::max(own[i], clock[i]);
        }
    }

    /** @p block continues after a step of another block of its rank. */
    void AwaitStep(uint32_t block, const StepId& earlier)
    {
        Await(block, m_kept.at({earlier.block, earlier.step}));
    }

    /** The clock of a message of a block: everything before it, including the current step. */
    Clock Told(const StepId& step) const
    {
        Clock clock = m_clocks[step.block];
        clock[step.block] = step.step + 1;
        return clock;
    }

    /** To be called when a step is done. */
    void Finish(const StepId& step)
    {
        m_clocks[step.block][step.block] = step.step + 1;
        const auto kept = m_kept.find({step.block, step.step});
        if (kept != m_kept.end())
        {
            kept->second = m_clocks[step.block];
        }
    }

    /** @return the earlier write that nothing orders before this read, if there is one. */
    std::optional<StepId> Read(const ChunkData& chunk, const StepId& step)
    {
        Uses& uses = m_uses[&chunk];
        if (uses.write && !IsBefore(*uses.write, step.block))
        {
            return uses.write;
        }
        uses.reads.push_back(step);
        return std::nullopt;
    }

    /** @return the earlier read or write that nothing orders before this write, if there is one. */
    std::optional<StepId> Write(const ChunkData& chunk, const StepId& step)
    {
        Uses& uses = m_uses[&chunk];
        if (uses.write && !IsBefore(*uses.write, step.block))
        {
            return uses.write;
        }
        for (const StepId& read : uses.reads)
        {
            if (!IsBefore(read, step.block))
            {
                return read;
            }
        }
        uses.write = step;
        uses.reads.clear();
        return std::nullopt;
    }

  private:
    /** The last write of a chunk, and the reads since. */
    struct Uses
    {
        std::optional<StepId> write;
        std::vector<StepId> reads;
    };

    bool IsBefore(const StepId& earlier, uint32_t block) const
    {
        return earlier.block == block || m_clocks[block][earlier.block] > earlier.step;
    }

    std::vector<Clock> m_clocks;                           //!< by block
    std::map<std::pair<uint32_t, uint32_t>, Clock> m_kept; //!< of steps that others depend on
    std::unordered_map<const ChunkData*, Uses> m_uses;     //!< only looked up, never iterated
};

constexpr std::size_t MAX_ORDERED_BLOCKS = 4096; //!< clocks take 64 MiB

/** One symbolic execution of a program. */
class SymbolicRun
{
  public:
    SymbolicRun(const ImportedProgram& program, bool inPlace)
        : m_program(program),
          m_buffers(program, inPlace)
    {
        for (uint32_t rank = 0; rank < program.ranks.size(); ++rank)
        {
            m_firstBlock.push_back(static_cast<uint32_t>(m_blocks.size()));
            for (uint32_t block = 0; block < program.ranks[rank].blocks.size(); ++block)
            {
                m_blocks.push_back({rank, block, 0, NONE, NONE});
            }
        }
        for (const auto& pipe : PipesOf(program))
        {
            const auto id = static_cast<uint32_t>(m_pipes.size());
            const uint32_t from = m_firstBlock[pipe.fromRank] + pipe.fromBlock;
            m_blocks[from].out = id;
            m_blocks[m_firstBlock[pipe.toRank] + pipe.toBlock].in = id;
            m_pipes.push_back({from, {}});
        }
    }

    std::string Run(bool descending)
    {
        if (!descending && m_blocks.size() <= MAX_ORDERED_BLOCKS)
        {
            m_order.emplace(m_program, m_firstBlock);
        }
        std::vector<uint32_t> order(m_blocks.size());
        descending ? std::iota(order.rbegin(), order.rend(), 0)
                   : std::iota(order.begin(), order.end(), 0);
        for (bool moved = true; moved;)
        {
            moved = false;
            for (const uint32_t block : order)
            {
                while (Step(m_blocks[block]))
                {
                    moved = true;
                }
                if (!m_fault.empty())
                {
                    return m_fault;
                }
            }
        }
        for (uint32_t block = 0; block < m_blocks.size(); ++block)
        {
            if (!IsDone(m_blocks[block]))
            {
                return DescribeWait(block);
            }
        }
        return m_buffers.CheckOutputs();
    }

  private:
    static constexpr uint32_t NONE = 0xffffffff;

    struct Block
    {
        uint32_t rank;
        uint32_t block;
        uint32_t step;
        uint32_t in;  //!< index of the connection
        uint32_t out; //!< index of the connection
    };

    struct Message
    {
        std::vector<ChunkData> data;
        ImportedOrder::Clock told; //!< empty where order is not checked
    };

    struct Pipe
    {
        uint32_t from; //!< the sending block
        std::deque<Message> messages;
    };

    const std::vector<ImportedStep>& StepsOf(const Block& block) const
    {
        return m_program.ranks[block.rank].blocks[block.block].steps;
    }

    bool IsDone(const Block& block) const
    {
        return block.step == StepsOf(block).size();
    }

    /**
     * The block that a block's next step waits for, by dependency or by message; NONE if it can
     * run.
     */
    uint32_t WaitsFor(const Block& block) const
    {
        const ImportedStep& step = StepsOf(block)[block.step];
        if (step.block >= 0)
        {
            const uint32_t other = m_firstBlock[block.rank] + static_cast<uint32_t>(step.block);
            if (m_blocks[other].step <= step.after)
            {
                return other;
            }
        }
        if (Receives(step.kind) && m_pipes[block.in].messages.empty())
        {
            return m_pipes[block.in].from;
        }
        return NONE;
    }

    std::string LocationOfNext(const Block& block) const
    {
        return LocationOf(m_program, block.rank, block.block, block.step);
    }

    bool Fail(const Block& block, const std::string& what)
    {
        m_fault = LocationOfNext(block) + ": " + what;
        return false;
    }

    /** Runs the next step if it can run. @return whether it did */
    bool Step(Block& block)
    {
        if (!m_fault.empty() || IsDone(block) || WaitsFor(block) != NONE)
        {
            return false;
        }
        const ImportedStep& step = StepsOf(block)[block.step];
        std::vector<ChunkData> data(step.count);
        const ImportedOrder::StepId current = CurrentStep(block);
        if (m_order && step.block >= 0)
        {
            m_order->AwaitStep(
                current.block,
                {m_firstBlock[block.rank] + static_cast<uint32_t>(step.block), step.after});
        }
        if (Receives(step.kind))
        {
            Message message = std::move(m_pipes[block.in].messages.front());
            m_pipes[block.in].messages.pop_front();
            data = std::move(message.data);
            if (m_order)
            {
                m_order->Await(current.block, message.told);
            }
            if (data.size() != step.count)
            {
                return Fail(block,
                            "receives " + std::to_string(step.count) +
                                " chunks at once, expected the number sent, " +
                                std::to_string(data.size()));
            }
        }
        for (uint32_t i = 0; i < step.count && step.kind != ImportedStepKind::Nothing; ++i)
        {
            if (!Work(block, step, i, data[i]))
            {
                return false;
            }
        }
        if (Sends(step.kind))
        {
            m_pipes[block.out].messages.push_back(
                {std::move(data), m_order ? m_order->Told(current) : ImportedOrder::Clock()});
        }
        if (m_order)
        {
            m_order->Finish(current);
        }
        ++block.step;
        return true;
    }

    /** The current step, with its block numbered across all ranks. */
    ImportedOrder::StepId CurrentStep(const Block& block) const
    {
        return {m_firstBlock[block.rank] + block.block, block.step};
    }

    /** Whether the access of the current step to @p chunk is ordered; otherwise sets the fault. */
    bool IsOrdered(const Block& block, const ChunkData& chunk, bool isWrite)
    {
        if (!m_order)
        {
            return true;
        }
        const ImportedOrder::StepId current = CurrentStep(block);
        const auto other = isWrite ? m_order->Write(chunk, current) : m_order->Read(chunk, current);
        return !other || Fail(block,
                              std::string(isWrite ? "writes" : "reads") + " a chunk that block " +
                                  std::to_string(other->block - m_firstBlock[block.rank]) +
                                  ", step " + std::to_string(other->step) +
                                  " uses, expected a dependency or message that orders them");
    }

    /** As IsOrdered, for all accesses of a step to its @p i-th chunk in its rank's buffers. */
    bool IsAccessOrdered(const Block& block, const ImportedStep& step, uint32_t i)
    {
        const auto at = [&](const ImportedChunk& first) -> const ChunkData& {
            return m_buffers.At(block.rank, first.buffer, first.chunk + i);
        };
        return (!Reads(step.kind) || IsOrdered(block, at(step.source), false)) &&
               (!Writes(step.kind) || IsOrdered(block, at(step.destination), true));
    }

    /** Executes a step on its @p i-th chunk, except for the connections. */
    bool Work(const Block& block, const ImportedStep& step, uint32_t i, ChunkData& data)
    {
        if (!IsAccessOrdered(block, step, i))
        {
            return false;
        }
        if (step.kind == ImportedStepKind::Reduce)
        {
            data = m_buffers.At(block.rank, step.destination.buffer, step.destination.chunk + i);
            if (data.ranks.IsEmpty())
            {
                return Fail(block, "reduces into a chunk that holds no data");
            }
        }
        if (Reads(step.kind))
        {
            const ChunkData own =
                m_buffers.At(block.rank, step.source.buffer, step.source.chunk + i);
            if (own.ranks.IsEmpty())
            {
                return Fail(block, "reads a chunk that holds no data");
            }
            if (!Reduces(step.kind))
            {
                data = own;
            }
            else if (own.chunk != data.chunk || !data.ranks.Add(own.ranks))
            {
                return Fail(block,
                            own.chunk != data.chunk
                                ? "reduces chunk " + std::to_string(own.chunk) + " into chunk " +
                                      std::to_string(data.chunk)
                                : "reduces the data of a rank twice into chunk " +
                                      std::to_string(data.chunk));
            }
        }
        if (Writes(step.kind))
        {
            m_buffers.At(block.rank, step.destination.buffer, step.destination.chunk + i) = data;
        }
        return true;
    }

    /** Follows the blocks that wait for each other until the cycle closes. */
    std::string DescribeWait(uint32_t block) const
    {
        std::vector<uint32_t> chain;
        while (std::find(chain.begin(), chain.end(), block) == chain.end())
        {
            chain.push_back(block);
            const uint32_t next = WaitsFor(m_blocks[block]);
            if (next == NONE || IsDone(m_blocks[next]))
            {
                return LocationOfNext(m_blocks[block]) + " waits forever";
            }
            block = next;
        }
        std::string text = LocationOfNext(m_blocks[block]) + " waits forever for ";
        for (auto it = std::find(chain.begin(), chain.end(), block) + 1; it != chain.end(); ++it)
        {
            const Block& each = m_blocks[*it];
            text += "rank " + std::to_string(each.rank) + ", block " + std::to_string(each.block) +
                    ", step " + std::to_string(each.step) + ", which waits for ";
        }
        return text + "it";
    }

    const ImportedProgram& m_program;
    ImportedBuffers m_buffers;
    std::vector<uint32_t> m_firstBlock; //!< by rank
    std::vector<Block> m_blocks;
    std::vector<Pipe> m_pipes;
    std::optional<ImportedOrder> m_order; //!< only where order is checked
    std::string m_fault;
};

} // namespace

std::string
CheckImportedProgram(const ImportedProgram& program)
{
    if (auto fault = CheckImportedShape(program); !fault.empty())
    {
        return fault;
    }
    for (const bool inPlace : {false, true})
    {
        if (inPlace ? !program.inPlace : !program.outOfPlace)
        {
            continue;
        }
        for (const bool descending : {false, true})
        {
            if (auto fault = SymbolicRun(program, inPlace).Run(descending); !fault.empty())
            {
                return fault;
            }
        }
    }
    return "";
}

} // namespace weir

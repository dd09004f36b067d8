// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/algorithm.h"
#include "collectives/algorithms/call-description.h"
#include "collectives/algorithms/imported/imported-program.h"
#include "collectives/algorithms/point-to-point/point-to-point.h"
#include "collectives/schedule/message-split.h"
#include "collectives/schedule/schedule-run.h"
#include "collectives/schedule/schedule-wiring.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

/**
 * @file
 * Imported programs as an algorithm: the selection of the program for a call, and its execution by
 * MSCCL's interpreter (msccl_interpreter.h), with all of its blocks on one channel and the
 * connections that they name.
 *
 * The call's bytes are divided into the program's chunks, and these into passes where they are
 * longer than the protocol's chunks. Short neighboring chunks of one step move as one. A step that
 * depends on another block's step waits for a message of zero bytes from it. A local copy or sum
 * takes the block's time for a copy.
 */
namespace weir
{

namespace
{

bool
Supports(CollectiveOp op, const Communicator& communicator)
{
    return true; // whether there is a program is checked when a call asks for it
}

bool
IsRooted(CollectiveOp op)
{
    return op == CollectiveOp::Broadcast || op == CollectiveOp::Reduce ||
           op == CollectiveOp::Gather || op == CollectiveOp::Scatter;
}

/** " with root R" for an operation with a root, else empty. */
std::string
RootText(CollectiveOp op, uint32_t root)
{
    return IsRooted(op) ? " with root " + std::to_string(root) : "";
}

const ImportedProgram&
ProgramOf(const AlgorithmInputs& in)
{
    std::string others;
    for (const auto& program : *in.programs)
    {
        const CollectiveCall& call = in.call;
        if (program.op == call.op && program.ranks.size() == in.communicator.Size() &&
            program.smallest <= call.bytes && call.bytes <= program.largest &&
            (!IsRooted(call.op) || program.root == call.root))
        {
            return program;
        }
        others += (others.empty() ? std::string() : " or ") + ToString(program.op) + " of " +
                  std::to_string(program.smallest.Count()) + " to " +
                  std::to_string(program.largest.Count()) + " bytes over " +
                  std::to_string(program.ranks.size()) + " ranks" +
                  RootText(program.op, program.root) + " (" + program.file + ")";
    }
    throw std::invalid_argument(std::string("found ") + ToString(in.call.op) + " of " +
                                std::to_string(in.call.bytes.Count()) + " bytes over " +
                                std::to_string(in.communicator.Size()) + " ranks" +
                                RootText(in.call.op, in.call.root) + ", expected " + others);
}

uint32_t
MaxChannels(const AlgorithmInputs& in)
{
    return ProgramOf(in).channels;
}

void
Choose(AlgorithmInputs& in)
{
    const ImportedProgram& program = ProgramOf(in);
    const auto& overrides = in.call.overrides;
    if (overrides.channels && *overrides.channels != program.channels)
    {
        throw std::invalid_argument(program.file + " has " + std::to_string(program.channels) +
                                    " channels, found " + std::to_string(*overrides.channels));
    }
    in.channels = program.channels;
    in.protocol = overrides.protocol.value_or(program.protocol);
}

/** Writes the description of a program. */
class ProgramWriter
{
  public:
    ProgramWriter(const AlgorithmInputs& in, const ImportedProgram& program)
        : m_in(in),
          m_program(program),
          m_chunking(RingChunking(in.protocol, in.settings.simpleBuffer)),
          m_first(SplitIntoLoops(in.call.bytes, m_chunking.chunk, program.chunks, m_chunking.slices)
                      .front()),
          m_maxMerged(std::max<int64_t>(1, m_chunking.chunk.Count() / Chunk().Count())),
          m_wiring(m_channel)
    {
    }

    /** To be called once. */
    CallDescription Write()
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
        CallDescription description;
        description.call = EmptySchedule(m_in, Algorithm::Imported);
        description.call.block = BlockTimesOf(m_in);
        description.call.channelCap = SliceCap(m_in);
        description.chunk = m_chunking.chunk;
        description.chunks = m_program.chunks;
        description.mergedChunks = std::move(m_counts);
        description.slices = m_chunking.slices;
        description.AddAll(1, std::move(m_channel));
        return description;
    }

  private:
    /** A step that waits for messages of zero bytes, or sends them. */
    using StepName = std::pair<uint32_t, uint32_t>; //!< block of the schedule, step

    /** Payload of the largest chunk. */
    Bytes Chunk() const
    {
        return m_first.chunks.front();
    }

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
                const auto program = static_cast<uint32_t>(m_channel.blocks.size());
                m_channel.blocks.push_back({rank, 0, program, {}, {}});
            }
        }
        m_channel.programs.resize(m_channel.blocks.size());
    }

    /** Connects a block with its peers; these connections come first in its lists. */
    void Connect(const ImportedPipe& pipe)
    {
        const Message between{pipe.fromRank, pipe.toRank, {}};
        const Connection path = PathOf(m_in, between, pipe.channel, pipe.channel);
        const Bytes slice = WireBytes(m_in.protocol, DivideUp(Chunk(), m_first.slices));
        m_wiring.Join(
            BlockOf(pipe.fromRank, pipe.fromBlock),
            BlockOf(pipe.toRank, pipe.toBlock),
            MakeConnection(path, m_chunking, HopLatency(m_in, Algorithm::Ring, path, slice)));
    }

    /** Adds one connection for each step that depends on a step of another block. */
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
                        continue; // no dependency, or ordered by the block itself
                    }
                    const uint32_t from = BlockOf(rank, static_cast<uint32_t>(step.block));
                    const auto [sent, received] =
                        m_wiring.Join(from, BlockOf(rank, b), WithinDevice(m_in));
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
        for (uint32_t done = 0; done < step.count; done += m_maxMerged)
        {
            const int32_t chunk = ClassOf(std::min<uint32_t>(m_maxMerged, step.count - done));
            primitives.push_back({PrimitiveOf(step.kind), chunk, 0, 0});
        }
    }

    /** The chunk of the description that stands for @p count chunks of the program. */
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

    const AlgorithmInputs& m_in;
    const ImportedProgram& m_program;
    Chunking m_chunking;
    Loop m_first;
    uint32_t m_maxMerged; //!< maximum number of chunks that move as one
    ChannelSchedule m_channel;
    ScheduleWiring m_wiring;
    std::vector<uint32_t> m_firstBlock;   //!< by rank
    std::vector<uint32_t> m_counts;       //!< by chunk of the description: chunks of the program
    std::map<StepName, uint16_t> m_waits; //!< index of the connection in the block's list
    std::map<StepName, std::vector<uint16_t>> m_tells; //!< as above
};

CallDescription
Describe(const AlgorithmInputs& in)
{
    const ImportedProgram& program = ProgramOf(in);
    CallDescription description = ProgramWriter(in, program).Write();
    // A pass that ends leaves all slots as it found them, so the next pass ends too.
    const Schedule onePass = WithPasses(ScheduleOf(in, description), 1);
    if (const auto fault = CheckProgress(onePass); !fault.empty())
    {
        throw std::invalid_argument(program.file + ": deadlock with the buffer slots of protocol " +
                                    ToString(in.protocol) + ": " + fault);
    }
    return description;
}

StreamShape
Streams(const AlgorithmInputs& in)
{
    return StepsOf(in, Describe(in));
}

} // namespace

const CollectiveAlgorithm IMPORTED_ALGORITHM{
    Algorithm::Imported,
    Supports,
    MaxChannels,
    Describe,
    Streams,
    ChannelGraph::None,
    true,
    Choose,
};

} // namespace weir

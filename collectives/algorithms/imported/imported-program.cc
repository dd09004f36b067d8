// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/imported/imported-program.h"

#include <map>
#include <tuple>

namespace weir
{

PrimitiveKind
PrimitiveOf(ImportedStepKind kind)
{
    using Kind = PrimitiveKind;
    constexpr Kind KINDS[]{Kind::Send,
                           Kind::Recv,
                           Kind::RecvCopySend,
                           Kind::RecvReduceSend,
                           Kind::RecvReduceCopy,
                           Kind::RecvReduceCopySend,
                           Kind::Copy,
                           Kind::Copy,
                           Kind::Copy}; // by ImportedStepKind
    return KINDS[static_cast<std::size_t>(kind)];
}

bool
Receives(ImportedStepKind kind)
{
    return Receives(PrimitiveOf(kind));
}

bool
Sends(ImportedStepKind kind)
{
    return Sends(PrimitiveOf(kind));
}

bool
Reduces(ImportedStepKind kind)
{
    return kind == ImportedStepKind::Reduce || Reduces(PrimitiveOf(kind));
}

bool
Reads(ImportedStepKind kind)
{
    return kind == ImportedStepKind::Send || kind == ImportedStepKind::Copy || Reduces(kind);
}

bool
Writes(ImportedStepKind kind)
{
    return kind != ImportedStepKind::Send && kind != ImportedStepKind::RecvReduceSend &&
           kind != ImportedStepKind::Nothing;
}

std::string
Located(const ImportedProgram& program, uint32_t line)
{
    return program.file + ":" + std::to_string(line) + ": ";
}

namespace
{

constexpr const char* BUFFER_NAMES[]{"input", "output", "scratch"};

bool
IsRank(const ImportedProgram& program, int32_t peer)
{
    return peer >= 0 && static_cast<std::size_t>(peer) < program.ranks.size();
}

std::string
CheckChunks(const ImportedRank& rank, const ImportedChunk& first, uint32_t count)
{
    const auto buffer = static_cast<std::size_t>(first.buffer);
    const uint32_t chunks = rank.chunks[buffer];
    if (count <= chunks && first.chunk <= chunks - count)
    {
        return "";
    }
    return ": " + std::string(count > 1 ? "chunks " : "chunk ") + std::to_string(first.chunk) +
           (count > 1 ? " to " + std::to_string(uint64_t{first.chunk} + count - 1) : "") +
           " of the " + BUFFER_NAMES[buffer] + " buffer, which has " + std::to_string(chunks);
}

std::string
CheckStep(const ImportedRank& rank, const ImportedBlock& block, const ImportedStep& step)
{
    if (step.count == 0)
    {
        return ": moves no chunks";
    }
    if (Sends(step.kind) && block.sendTo == ImportedBlock::NOBODY)
    {
        return ": sends, but its block has no peer to send to";
    }
    if (Receives(step.kind) && block.recvFrom == ImportedBlock::NOBODY)
    {
        return ": receives, but its block has no peer to receive from";
    }
    if (step.block >= 0 && (static_cast<std::size_t>(step.block) >= rank.blocks.size() ||
                            step.after >= rank.blocks[step.block].steps.size()))
    {
        return ": waits for step " + std::to_string(step.after) + " of block " +
               std::to_string(step.block) + ", which does not exist";
    }
    std::string fault = Reads(step.kind) ? CheckChunks(rank, step.source, step.count) : "";
    if (fault.empty() && Writes(step.kind))
    {
        fault = CheckChunks(rank, step.destination, step.count);
    }
    return fault;
}

std::string
CheckBlock(const ImportedProgram& program, uint32_t r, uint32_t b)
{
    const ImportedRank& rank = program.ranks[r];
    const ImportedBlock& block = rank.blocks[b];
    const std::string here =
        Located(program, block.line) + "rank " + std::to_string(r) + ", block " + std::to_string(b);
    for (const int32_t peer : {block.sendTo, block.recvFrom})
    {
        if (peer != ImportedBlock::NOBODY &&
            (!IsRank(program, peer) || peer == static_cast<int32_t>(r)))
        {
            return here + ": its peer is rank " + std::to_string(peer) +
                   ", expected another of the " + std::to_string(program.ranks.size()) + " ranks";
        }
    }
    if (block.channel >= program.channels)
    {
        return here + ": channel " + std::to_string(block.channel) + ", expected an index below " +
               std::to_string(program.channels);
    }
    for (uint32_t s = 0; s < block.steps.size(); ++s)
    {
        if (auto fault = CheckStep(rank, block, block.steps[s]); !fault.empty())
        {
            return LocationOf(program, r, b, s) + fault;
        }
    }
    return "";
}

std::string
CheckBuffers(const ImportedProgram& program, uint32_t r)
{
    const ImportedRank& rank = program.ranks[r];
    const uint32_t expected[]{InputChunks(program, r), OutputChunks(program, r)};
    for (std::size_t buffer = 0; buffer < 2; ++buffer)
    {
        if (rank.chunks[buffer] > expected[buffer])
        {
            return Located(program, rank.line) + "rank " + std::to_string(r) + ": " +
                   std::to_string(rank.chunks[buffer]) + " chunks in the " + BUFFER_NAMES[buffer] +
                   " buffer, expected at most " + std::to_string(expected[buffer]) + " for " +
                   ToString(program.op) + " with " + std::to_string(program.chunks) + " chunks";
        }
    }
    return "";
}

/** Identifies a connection by sender, receiver and channel. */
using PipeKey = std::tuple<uint32_t, uint32_t, uint32_t>;

/** One end of a connection. */
struct PipeEnd
{
    uint32_t rank;
    uint32_t block;
    uint64_t chunks; //!< number of chunks that pass
};

using PipeEnds = std::map<PipeKey, PipeEnd>;

/** Finds both ends of all connections. @return a fault if one has two equal ends, else empty */
std::string
FindEnds(const ImportedProgram& program, PipeEnds& senders, PipeEnds& receivers)
{
    for (uint32_t r = 0; r < program.ranks.size(); ++r)
    {
        for (uint32_t b = 0; b < program.ranks[r].blocks.size(); ++b)
        {
            const auto& block = program.ranks[r].blocks[b];
            for (const bool sends : {true, false})
            {
                const int32_t peer = sends ? block.sendTo : block.recvFrom;
                if (peer == ImportedBlock::NOBODY)
                {
                    continue;
                }
                const auto other = static_cast<uint32_t>(peer);
                const PipeKey key{sends ? r : other, sends ? other : r, block.channel};
                PipeEnd end{r, b, 0};
                for (const auto& step : block.steps)
                {
                    end.chunks += (sends ? Sends(step.kind) : Receives(step.kind)) ? step.count : 0;
                }
                if (!(sends ? senders : receivers).emplace(key, end).second)
                {
                    return Located(program, block.line) + "rank " + std::to_string(r) +
                           " has a second block that " +
                           (sends ? "sends to rank " : "receives from rank ") +
                           std::to_string(other) + " on channel " + std::to_string(block.channel);
                }
            }
        }
    }
    return "";
}

/**
 * Checks that every pair of ranks has at most one block at each end of a channel, and that both
 * ends move equally many chunks.
 */
std::string
CheckPipes(const ImportedProgram& program)
{
    PipeEnds senders;
    PipeEnds receivers;
    if (auto fault = FindEnds(program, senders, receivers); !fault.empty())
    {
        return fault;
    }
    const auto describe =
        [&](const PipeEnd& end, uint32_t peer, const char* does, uint32_t channel) {
            return Located(program, program.ranks[end.rank].blocks[end.block].line) + "rank " +
                   std::to_string(end.rank) + does + std::to_string(peer) + " on channel " +
                   std::to_string(channel);
        };
    for (const auto& [key, end] : senders)
    {
        const auto [from, to, channel] = key;
        const auto other = receivers.find(key);
        const uint64_t received = other == receivers.end() ? 0 : other->second.chunks;
        if (received != end.chunks)
        {
            return describe(end, to, " sends to rank ", channel) + ": found " +
                   std::to_string(end.chunks) + " chunks, expected the number received, " +
                   std::to_string(received);
        }
    }
    for (const auto& [key, end] : receivers)
    {
        const auto [from, to, channel] = key;
        if (end.chunks > 0 && senders.count(key) == 0)
        {
            return describe(end, from, " receives from rank ", channel) +
                   ", which sends nothing to it on that channel";
        }
    }
    return "";
}

} // namespace

std::string
LocationOf(const ImportedProgram& program, uint32_t rank, uint32_t block, uint32_t step)
{
    return Located(program, program.ranks[rank].blocks[block].steps[step].line) + "rank " +
           std::to_string(rank) + ", block " + std::to_string(block) + ", step " +
           std::to_string(step);
}

uint32_t
InputChunks(const ImportedProgram& program, uint32_t rank)
{
    const auto ranks = static_cast<uint32_t>(program.ranks.size());
    switch (program.op)
    {
    case CollectiveOp::AllGather:
    case CollectiveOp::Gather:
        return program.chunks / ranks;
    case CollectiveOp::Scatter:
        return rank == program.root ? program.chunks : 0;
    default:
        return program.chunks;
    }
}

uint32_t
OutputChunks(const ImportedProgram& program, uint32_t rank)
{
    const auto ranks = static_cast<uint32_t>(program.ranks.size());
    switch (program.op)
    {
    case CollectiveOp::ReduceScatter:
    case CollectiveOp::Scatter:
        return program.chunks / ranks;
    case CollectiveOp::Gather:
        return rank == program.root ? program.chunks : 0;
    default:
        return program.chunks;
    }
}

std::string
CheckImportedShape(const ImportedProgram& program)
{
    const auto ranks = static_cast<uint32_t>(program.ranks.size());
    const bool perRank = program.op != CollectiveOp::AllReduce &&
                         program.op != CollectiveOp::Broadcast &&
                         program.op != CollectiveOp::Reduce;
    if (ranks == 0 || program.chunks == 0 || program.root >= ranks ||
        (perRank && program.chunks % ranks != 0))
    {
        return Located(program, 1) + std::to_string(program.chunks) + " chunks for " +
               std::to_string(ranks) + " ranks and root " + std::to_string(program.root) +
               (perRank ? ", expected a multiple of the number of ranks" : "");
    }
    for (uint32_t r = 0; r < ranks; ++r)
    {
        if (auto fault = CheckBuffers(program, r); !fault.empty())
        {
            return fault;
        }
        for (uint32_t b = 0; b < program.ranks[r].blocks.size(); ++b)
        {
            if (auto fault = CheckBlock(program, r, b); !fault.empty())
            {
                return fault;
            }
        }
    }
    return CheckPipes(program);
}

std::vector<ImportedPipe>
PipesOf(const ImportedProgram& program)
{
    PipeEnds senders;
    PipeEnds receivers;
    FindEnds(program, senders, receivers);
    std::vector<ImportedPipe> pipes;
    for (const auto& [key, end] : senders)
    {
        const auto other = receivers.find(key);
        if (other != receivers.end())
        {
            pipes.push_back(
                {end.rank, end.block, other->second.rank, other->second.block, std::get<2>(key)});
        }
    }
    return pipes;
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/imported/imported-program.h"

#include <map>
#include <tuple>

namespace weir
{

bool
Receives(ImportedStepKind kind)
{
    return kind != ImportedStepKind::Send && kind != ImportedStepKind::Copy &&
           kind != ImportedStepKind::Reduce && kind != ImportedStepKind::Nothing;
}

bool
Sends(ImportedStepKind kind)
{
    return kind == ImportedStepKind::Send || kind == ImportedStepKind::RecvCopySend ||
           kind == ImportedStepKind::RecvReduceSend || kind == ImportedStepKind::RecvReduceCopySend;
}

bool
Reduces(ImportedStepKind kind)
{
    return kind == ImportedStepKind::RecvReduceSend || kind == ImportedStepKind::RecvReduceCopy ||
           kind == ImportedStepKind::RecvReduceCopySend || kind == ImportedStepKind::Reduce;
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
    for (const int32_t peer : {block.sendTo, block.recvFrom})
    {
        if (peer != ImportedBlock::NOBODY &&
            (!IsRank(program, peer) || peer == static_cast<int32_t>(r)))
        {
            return Located(program, block.line) + "rank " + std::to_string(r) + ", block " +
                   std::to_string(b) + ": its peer is rank " + std::to_string(peer) +
                   ", expected another of the " + std::to_string(program.ranks.size()) + " ranks";
        }
    }
    if (block.channel >= program.channels)
    {
        return Located(program, block.line) + "rank " + std::to_string(r) + ", block " +
               std::to_string(b) + ": channel " + std::to_string(block.channel) +
               ", expected an index below " + std::to_string(program.channels);
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

/** Adds an end. @return a fault if the connection already has one, else empty */
std::string
AddEnd(const ImportedProgram& program,
       PipeEnds& ends,
       const PipeKey& key,
       uint32_t r,
       uint32_t b,
       bool sends)
{
    const ImportedBlock& block = program.ranks[r].blocks[b];
    uint64_t chunks = 0;
    for (const auto& step : block.steps)
    {
        chunks += (sends ? Sends(step.kind) : Receives(step.kind)) ? step.count : 0;
    }
    if (!ends.emplace(key, PipeEnd{r, b, chunks}).second)
    {
        return Located(program, block.line) + "rank " + std::to_string(r) +
               " has a second block that " +
               (sends ? "sends to rank " + std::to_string(std::get<1>(key))
                      : "receives from rank " + std::to_string(std::get<0>(key))) +
               " on channel " + std::to_string(std::get<2>(key));
    }
    return "";
}

std::string
FindEnds(const ImportedProgram& program, PipeEnds& senders, PipeEnds& receivers)
{
    for (uint32_t r = 0; r < program.ranks.size(); ++r)
    {
        for (uint32_t b = 0; b < program.ranks[r].blocks.size(); ++b)
        {
            const auto& block = program.ranks[r].blocks[b];
            std::string fault;
            if (block.sendTo != ImportedBlock::NOBODY)
            {
                const auto to = static_cast<uint32_t>(block.sendTo);
                fault = AddEnd(program, senders, {r, to, block.channel}, r, b, true);
            }
            if (fault.empty() && block.recvFrom != ImportedBlock::NOBODY)
            {
                const auto from = static_cast<uint32_t>(block.recvFrom);
                fault = AddEnd(program, receivers, {from, r, block.channel}, r, b, false);
            }
            if (!fault.empty())
            {
                return fault;
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
    const auto describe = [&](const PipeEnd& end, const PipeKey& key, const char* what) {
        return Located(program, program.ranks[end.rank].blocks[end.block].line) + "rank " +
               std::to_string(std::get<0>(key)) + " sends to rank " +
               std::to_string(std::get<1>(key)) + " on channel " +
               std::to_string(std::get<2>(key)) + what;
    };
    for (const auto& [key, end] : senders)
    {
        const auto other = receivers.find(key);
        const uint64_t received = other == receivers.end() ? 0 : other->second.chunks;
        if (received != end.chunks)
        {
            return describe(end, key, "") + ": found " + std::to_string(end.chunks) +
                   " chunks, expected the number received, " + std::to_string(received);
        }
    }
    for (const auto& [key, end] : receivers)
    {
        if (end.chunks > 0 && senders.count(key) == 0)
        {
            return Located(program, program.ranks[end.rank].blocks[end.block].line) + "rank " +
                   std::to_string(std::get<1>(key)) + " receives from rank " +
                   std::to_string(std::get<0>(key)) + " on channel " +
                   std::to_string(std::get<2>(key)) + ", which sends nothing to it on that channel";
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
    std::map<PipeKey, PipeEnd> senders;
    std::map<PipeKey, PipeEnd> receivers;
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

// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/imported/imported-pipes.h"

#include <map>
#include <tuple>

namespace weir
{

namespace
{

/** What one end of a pipe is known by: sender, receiver, channel. */
using PipeKey = std::tuple<uint32_t, uint32_t, uint32_t>;

/** One end of a pipe. */
struct PipeEnd
{
    uint32_t rank;
    uint32_t block;
    uint64_t chunks; //!< that pass
};

using PipeEnds = std::map<PipeKey, PipeEnd>;

/** Adds an end; a second one of the same pipe is a fault. */
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

} // namespace

std::string
CheckImportedPipes(const ImportedProgram& program)
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
            return describe(end, key, "") + " " + std::to_string(end.chunks) +
                   " chunks, which receives " + std::to_string(received);
        }
    }
    for (const auto& [key, end] : receivers)
    {
        if (end.chunks > 0 && senders.count(key) == 0)
        {
            return Located(program, program.ranks[end.rank].blocks[end.block].line) + "rank " +
                   std::to_string(std::get<1>(key)) + " receives from rank " +
                   std::to_string(std::get<0>(key)) + " on channel " +
                   std::to_string(std::get<2>(key)) + ", which sends it nothing there";
        }
    }
    return "";
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

// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/imported/imported-buffers.h"

#include "collectives/algorithms/imported/imported-shape.h"

#include <algorithm>

namespace weir
{

ImportedBuffers::ImportedBuffers(const ImportedProgram& program, bool inPlace)
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

ChunkData&
ImportedBuffers::At(uint32_t rank, ImportedBuffer buffer, uint32_t chunk)
{
    return m_cells[rank][CellOf(rank, buffer, chunk)];
}

uint32_t
ImportedBuffers::CellOf(uint32_t rank, ImportedBuffer buffer, uint32_t chunk) const
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
    const bool isSmaller = buffer == ImportedBuffer::Input ? inputs < outputs : outputs < inputs;
    return isSmaller ? rank * std::min(inputs, outputs) + chunk : chunk;
}

ChunkData
ImportedBuffers::InputOf(uint32_t rank, uint32_t chunk) const
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

ChunkData
ImportedBuffers::OutputOf(uint32_t rank, uint32_t chunk) const
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

std::string
ImportedBuffers::Name(uint32_t chunk, const RankSet& ranks) const
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

std::string
ImportedBuffers::CheckOutputs()
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

} // namespace weir

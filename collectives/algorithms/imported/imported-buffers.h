// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_IMPORTED_BUFFERS_H
#define WEIR_COLLECTIVES_ALGORITHMS_IMPORTED_BUFFERS_H

#include "collectives/algorithms/imported/imported-program.h"
#include "collectives/schedule/rank-set.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weir
{

/** What a chunk of a buffer holds: one chunk of the call's data, summed over some ranks. */
struct ChunkData
{
    uint32_t chunk{0};
    RankSet ranks; //!< empty: nothing is in it

    friend bool operator==(const ChunkData& a, const ChunkData& b)
    {
        return a.chunk == b.chunk && a.ranks == b.ranks;
    }
};

/**
 * All buffers of all ranks as an imported program sees them, with what its operation puts there
 * and its postcondition.
 *
 * The call's data are numbered chunks: of all-gather and gather those of rank 0, then of rank 1;
 * of the others every rank's input (the root's) has all. An in-place call has its input and output
 * in one buffer, as NCCL lays them out: all-gather's input is its own part of the output,
 * reduce-scatter's output its own part of the input.
 */
class ImportedBuffers
{
  public:
    /** @p program must outlive it and have a sound shape. */
    ImportedBuffers(const ImportedProgram& program, bool inPlace);

    ChunkData& At(uint32_t rank, ImportedBuffer buffer, uint32_t chunk);

    /** The first postcondition that does not hold, in words. */
    std::string CheckOutputs();

  private:
    uint32_t CellOf(uint32_t rank, ImportedBuffer buffer, uint32_t chunk) const;
    ChunkData InputOf(uint32_t rank, uint32_t chunk) const;
    ChunkData OutputOf(uint32_t rank, uint32_t chunk) const;
    std::string Name(uint32_t chunk, const RankSet& ranks) const;

    const ImportedProgram& m_program;
    bool m_inPlace;
    uint32_t m_ranks;
    std::vector<std::vector<ChunkData>> m_cells; //!< by rank: input, output, scratch
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_IMPORTED_BUFFERS_H

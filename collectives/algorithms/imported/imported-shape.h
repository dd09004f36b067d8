// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_IMPORTED_SHAPE_H
#define WEIR_COLLECTIVES_ALGORITHMS_IMPORTED_SHAPE_H

#include "collectives/algorithms/imported/imported-program.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weir
{

/**
 * Checks everything about a program that needs no execution: ranks, channels, blocks and steps that
 * exist, chunks within their buffers, buffers that fit the operation, one sender and one receiver
 * for each pair of ranks on a channel, and equally many chunks at both ends.
 *
 * @return the first fault as "FILE:LINE: words", empty if there is none. O(steps + blocks log
 *         blocks).
 */
std::string CheckImportedShape(const ImportedProgram& program);

/** A directed connection between two thread blocks of an imported program that name each other. */
struct ImportedPipe
{
    uint32_t fromRank;
    uint32_t fromBlock; //!< index in that rank
    uint32_t toRank;
    uint32_t toBlock;
    uint32_t channel;
};

/** The connections of a program: one for every sending block, in order of rank and block. */
std::vector<ImportedPipe> PipesOf(const ImportedProgram& program);

/** "FILE:LINE: rank R, block B, step S", the prefix of messages about a step. */
std::string LocationOf(const ImportedProgram& program,
                       uint32_t rank,
                       uint32_t block,
                       uint32_t step);

/** Number of the call's chunks in a rank's input (output). */
uint32_t InputChunks(const ImportedProgram& program, uint32_t rank);
uint32_t OutputChunks(const ImportedProgram& program, uint32_t rank);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_IMPORTED_SHAPE_H

// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_IMPORTED_PIPES_H
#define WEIR_COLLECTIVES_ALGORITHMS_IMPORTED_PIPES_H

#include "collectives/algorithms/imported/imported-program.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weir
{

/** A directed pipe between the two thread blocks of an imported program that name each other. */
struct ImportedPipe
{
    uint32_t fromRank;
    uint32_t fromBlock; //!< of that rank
    uint32_t toRank;
    uint32_t toBlock;
    uint32_t channel;
};

/** The pipes of a program: every sending block has one, in order of rank and block. */
std::vector<ImportedPipe> PipesOf(const ImportedProgram& program);

/**
 * Checks that every pair of ranks has one sending and one receiving block on a channel at most, and
 * that these move equally many chunks; its peers exist.
 * @return the first fault as "FILE:LINE: words", empty when there is none.
 */
std::string CheckImportedPipes(const ImportedProgram& program);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_IMPORTED_PIPES_H

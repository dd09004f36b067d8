// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_IMPORTED_CHECK_H
#define WEIR_COLLECTIVES_ALGORITHMS_IMPORTED_CHECK_H

#include "collectives/algorithms/imported/imported-program.h"

#include <string>

namespace weir
{

/**
 * Checks that a program can run and meets its operation's postcondition. First its shape
 * (CheckImportedShape). Then, by symbolic execution: no step waits forever, nothing is read before
 * it is written, sums include every rank once and one chunk only, and every output is as required.
 * Finally no two steps access one chunk, one of them writing, without an order between them
 * (ImportedOrder; beyond 4096 blocks only a second run, which tries the blocks in the opposite
 * order, shows a missing dependency, and only where it changes what a step finds). Programs that
 * may run both in place and out of place are checked for both. Slots are unlimited here; whether
 * the protocol's slots suffice is checked when a schedule is made.
 *
 * @return the first fault as "FILE:LINE: words", empty if there is none. O(chunks moved x ranks /
 *         64).
 */
std::string CheckImportedProgram(const ImportedProgram& program);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_IMPORTED_CHECK_H

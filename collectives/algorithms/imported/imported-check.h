// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_IMPORTED_CHECK_H
#define WEIR_COLLECTIVES_ALGORITHMS_IMPORTED_CHECK_H

#include "collectives/algorithms/imported/imported-program.h"

#include <string>

namespace weir
{

/**
 * Checks that a program can be run and meets its operation's postcondition: its shape
 * (CheckImportedShape); then, run on symbols, that no step waits for ever, that nothing is read
 * before it is there, that sums take every rank once and one chunk only, and that every output is
 * as required; and that no two steps use one chunk, one of them writing, without something that
 * orders them (ImportedOrder; beyond 4096 blocks a second run, the blocks tried in the opposite
 * order, shows a missing dependency only where it changes what a step finds). Programs
 * that may run in place and not are tried both ways. Slots are without limit here: whether the
 * protocol's are enough is checked when a schedule is made.
 *
 * @return the first fault as "FILE:LINE: words", empty when there is none. O(chunks moved x ranks
 * / 64).
 */
std::string CheckImportedProgram(const ImportedProgram& program);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_IMPORTED_CHECK_H

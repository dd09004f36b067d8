// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_IMPORTED_SCHEDULE_H
#define WEIR_COLLECTIVES_ALGORITHMS_IMPORTED_SCHEDULE_H

#include "collectives/algorithms/algorithm.h"
#include "collectives/algorithms/imported/imported-program.h"
#include "collectives/schedule/schedule.h"

namespace weir
{

/**
 * An imported program as a schedule (MSCCL's interpreter, msccl_interpreter.h): all of its blocks
 * on one channel, connected as they name each other.
 *
 * The call's bytes are cut into the program's chunks and these, where they are longer than the
 * protocol's, into passes. Short neighboring chunks of one step go together. A step that waits for
 * another block's does so by a message of no bytes; a local copy or sum takes the block's time
 * for a copy. O(steps).
 */
ChannelSchedule ImportedSchedule(const AlgorithmInputs& inputs, const ImportedProgram& program);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_IMPORTED_SCHEDULE_H

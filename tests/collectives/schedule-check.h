// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_TESTS_COLLECTIVES_SCHEDULE_CHECK_H
#define WEIR_TESTS_COLLECTIVES_SCHEDULE_CHECK_H

#include "collectives/algorithms/traffic.h"
#include "collectives/schedule/schedule.h"
#include "fabric/units.h"

#include <cstdint>
#include <string>

namespace weir
{

/** The call that a schedule must implement. */
struct ScheduleClaim
{
    uint32_t ranks{0};
    Bytes bytes;                     //!< of the call, as CollectiveCall::bytes
    uint32_t root{0};                //!< for broadcast, reduce, gather and scatter
    const Traffic* traffic{nullptr}; //!< for an all-to-all with unequal parts
};

/**
 * Proves by symbolic execution that a schedule meets its operation's postcondition: every buffer is
 * the set of ranks whose data it sums, every primitive moves such sets, and in the end
 * - all-reduce: every rank has every chunk, with each rank summed once;
 * - all-gather: every rank has at each position the data of the rank of that position;
 * - reduce-scatter: every rank has at its own position the sum of each rank once;
 * - broadcast, send: every rank (the second) has the data of the root (the first);
 * - reduce, gather: the root has every chunk with each rank summed once, or every rank's part;
 * - scatter, send-recv: every rank has its part of the root's data, or the data of the previous
 *   rank
 * (OperationPostcondition). It also proves that every message is received by the primitive that
 * expects its chunk, that no connection is left with data, that the sizes add up to the call, and
 * that the slots cannot block it. Repeated loops are run twice: passes are equal, and two show what
 * leaks from one into the next. For grouped sends and receives it proves that they deliver their
 * messages; for imported and dimension-wise schedules only that they end.
 *
 * @return a description of the first fault, empty if there is none. O(primitives x ranks / 64).
 */
std::string CheckSchedule(const Schedule& schedule, const ScheduleClaim& claim);

} // namespace weir

#endif // WEIR_TESTS_COLLECTIVES_SCHEDULE_CHECK_H

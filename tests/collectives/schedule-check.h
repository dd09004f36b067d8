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

/** What a schedule is compared with. */
struct ScheduleClaim
{
    uint32_t ranks{0};
    Bytes bytes;                     //!< of the call; sizes as CollectiveCall::bytes
    uint32_t root{0};                //!< for broadcast, reduce, gather and scatter
    const Traffic* traffic{nullptr}; //!< for an all-to-all of unequal parts
};

/**
 * Proves by running it on symbols that a schedule meets its operation's postcondition: every buffer
 * is the set of ranks whose data is summed in it, every primitive moves such sets, and in the end
 *  - all-reduce: every rank has every chunk with all ranks in it, once;
 *  - all-gather: every rank has at each place the data of the rank of that place;
 *  - reduce-scatter: every rank has at its own place all ranks, once;
 *  - broadcast, send: every rank (the second) has what the root (the first) gave;
 *  - reduce, gather: the root has every chunk with all ranks in it, once, or every rank's part;
 *  - scatter, send-recv: every rank has its part of the root's, or the data of the rank before it;
 * (OperationPostcondition); that every message is received by the primitive that expects that
 * chunk, that nothing is left in a pipe, that the sizes add up to the call, and that it cannot
 * block with its slots. Loops that repeat are run twice: the passes are alike, and two show what
 * leaks from one to the next. Grouped sends and receives deliver their messages instead; of
 * imported and dimension-wise schedules it proves only that they end.
 *
 * @return the first fault in words, empty when there is none. O(primitives x ranks / 64).
 */
std::string CheckSchedule(const Schedule& schedule, const ScheduleClaim& claim);

} // namespace weir

#endif // WEIR_TESTS_COLLECTIVES_SCHEDULE_CHECK_H

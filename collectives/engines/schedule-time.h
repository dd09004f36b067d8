// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ENGINES_SCHEDULE_TIME_H
#define WEIR_COLLECTIVES_ENGINES_SCHEDULE_TIME_H

#include "collectives/planner.h"
#include "collectives/schedule/schedule.h"
#include "fabric/units.h"

#include <cstdint>
#include <optional>

namespace weir
{

/** A schedule over the links of a planner's cluster. */
struct PlayedSchedule
{
    const Schedule& schedule;
    uint32_t ranks{0}; //!< blocks of further ones are of switches
    Planner& planner;
};

/**
 * How long the blocks of a schedule take on an idle fabric, without its start latency, whatever
 * order its primitives have: FlowEngine plays it, what is alike once (FoldAlike). Passes of a loop
 * are played until twice as many have the same period (to a thousandth) as the first half of them;
 * those that are left take that period each. Loops of several channels must repeat alike.
 *
 * @param calls that share the links, those beside the call itself being averages
 * @return infinite where a link has no rate
 */
Time ScheduleTime(const PlayedSchedule& played, double calls = 1);

/**
 * The same of passes that fill a pipeline of so many @p levels, whose hops may share links as they
 * will: twice as many passes are played, or fewer where these would be more than half a million
 * slices. Those that are left take the period of the second half of these each, at least what their
 * bytes take the slowest link.
 *
 * @param wire what all bytes take the slowest link
 * @return nothing where so few slices say nothing
 */
std::optional<Time> TimeByFirstPasses(const PlayedSchedule& played, uint32_t levels, Time wire);

} // namespace weir

#endif // WEIR_COLLECTIVES_ENGINES_SCHEDULE_TIME_H

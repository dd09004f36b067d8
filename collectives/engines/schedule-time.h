// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ENGINES_SCHEDULE_TIME_H
#define WEIR_COLLECTIVES_ENGINES_SCHEDULE_TIME_H

#include "collectives/schedule/schedule.h"
#include "fabric/routing/routing.h"
#include "fabric/units.h"

namespace weir
{

/**
 * How long the blocks of a schedule take on an idle fabric, without its start latency, whatever
 * order its primitives have. Primitive p of a block and slice s of it begin
 *
 *   start = max(end of the slice before in the block, arrival of what it receives, a free slot)
 *
 * and a slice arrives bytes / rate + latency after its connection is free, rates being the max-min
 * shares (SharingSolver) of all connections that move a slice at that time. So dependency chains,
 * fill, block times and shared links all count as FlowEngine has them. It differs from that in two
 * things: rates of links that switches load by choice are those of all connections at once, and
 * passes of a loop are followed until twice as many have the same period (to a thousandth) as the
 * first half of them; those that are left take that period each. Loops of several channels must
 * repeat alike.
 *
 * @param calls that share the links, those beside the call itself being averages
 * @return infinite where a link has no rate
 *
 * O(slices of some passes x connections that move at once).
 */
Time ScheduleTime(const Schedule& schedule, Routing& routing, double calls = 1);

} // namespace weir

#endif // WEIR_COLLECTIVES_ENGINES_SCHEDULE_TIME_H

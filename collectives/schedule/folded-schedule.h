// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_SCHEDULE_FOLDED_SCHEDULE_H
#define WEIR_COLLECTIVES_SCHEDULE_FOLDED_SCHEDULE_H

#include "collectives/schedule/schedule.h"
#include "fabric/routing/routing.h"

#include <cstdint>

namespace weir
{

/**
 * A schedule in which each block and connection stands for a class of equivalent ones of a larger
 * schedule.
 */
struct FoldedSchedule
{
    Schedule schedule;
    uint32_t ranks{0}; //!< classes of ranks; blocks of a larger rank are switches
};

/**
 * Folds ranks, blocks, connections and links which provably behave the same at every instant while
 * the call is uncontended.
 *
 * A link is redundant if every connection that crosses it also crosses one other link, at least as
 * often relative to the links' rates: it can be saturated only where the other one is. Redundant
 * links are left out of all paths. Ranks, blocks, connections and the remaining links are split
 * into classes until all members of a class have equally many neighbors of each class in the same
 * role. The neighbors of a block are its rank and, by index in its lists, its connections; those of
 * a connection are its two blocks and, by number of crossings, the links that it crosses; those of
 * a link are the connections that cross it. This is the coarsest equitable partition (color
 * refinement; Paige and Tarjan, SIAM J. Comput. 1987) that refines the nodes' own properties:
 * program and bytes of a block, all parameters of a connection, the rate of a link. Every event
 * reaches all members of a class at the same instant. Max-min rates are unique, so they are equal
 * within a class, and equal to those of the folded schedule: it has one link of each class of
 * links, which a class of connections crosses as often as all its members cross that link in total.
 * So the times are those of @p schedule up to rounding. Where more than half of the connections
 * would remain, @p schedule is returned with all of them, only without the redundant links. A
 * schedule over striped routes is returned as it is.
 *
 * Time about O(n log n) in the links of all connections.
 *
 * @param ranks of the schedule; blocks of a larger rank are switches
 * @param routing gets the routes of the classes; its policy IsFixed, and all links are up
 */
FoldedSchedule FoldSchedule(Schedule schedule, uint32_t ranks, Routing& routing);

} // namespace weir

#endif // WEIR_COLLECTIVES_SCHEDULE_FOLDED_SCHEDULE_H

// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_SCHEDULE_FOLDED_SCHEDULE_H
#define WEIR_COLLECTIVES_SCHEDULE_FOLDED_SCHEDULE_H

#include "collectives/schedule/schedule.h"
#include "fabric/routing/routing.h"

#include <cstdint>

namespace weir
{

/** A schedule that stands for a larger one: each block and connection for all that are alike. */
struct FoldedSchedule
{
    Schedule schedule;
    uint32_t ranks{0}; //!< classes of ranks; blocks of an index past them are of switches
};

/**
 * Folds what provably does the same at every instant while the call is alone on its fabric.
 *
 * A link that can only be full where another is, because whatever crosses it crosses the other as
 * often for its rate, limits nobody and is left out of all paths. Ranks, blocks, connections and
 * the links that are left are split into classes until all of a class have as many neighbors of
 * each class in the same role: a block its rank and, by place in its lists, its connections; a
 * connection its two blocks and the links that it crosses, as often; a link the connections that
 * cross it. That is the coarsest equitable partition (color refinement; Paige and Tarjan, SIAM J.
 * Comput. 1987) from what each is by itself: program and bytes of a block, all figures of a
 * connection, the rate of a link. Events that come to all of a class come at one instant, and the
 * max-min rates, being unique, are equal within a class and those of the classes: one link of
 * each, crossed by a connection of a class as often as by all of that class together. So times are
 * those of @p schedule, but for rounding. Where more than half of the connections would be left,
 * all are, in @p schedule itself.
 *
 * Time about O(n log n) in the links of all connections.
 *
 * @param ranks of the schedule; blocks of further ones are of switches
 * @param routing gets the routes of the classes; its policy IsFixed, and all links are up
 */
FoldedSchedule FoldAlike(Schedule schedule, uint32_t ranks, Routing& routing);

} // namespace weir

#endif // WEIR_COLLECTIVES_SCHEDULE_FOLDED_SCHEDULE_H

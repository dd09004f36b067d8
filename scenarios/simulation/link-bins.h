// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_SIMULATION_LINK_BINS_H
#define WEIR_SCENARIOS_SIMULATION_LINK_BINS_H

#include "collectives/planner.h"
#include "scenarios/simulation/simulation.h"

namespace weir
{

/** Bins of @p width in which links have traffic of a call of @p plan, at least. */
double LeastLinkBins(const CollectivePlan& plan, const Routing& routing, Time width);

/**
 * Bins of @p width in which links have traffic of the work of @p simulation that is certain, at
 * least: the steps of training jobs, the calls of collectives and the flows of traffic that nothing
 * ends early. Calls that may be closed forms (analytical, auto) load no links. O(operations of the
 * programs + ranks x operations that differ + flows).
 */
double LeastLinkBins(Simulation& simulation, Time width);

} // namespace weir

#endif // WEIR_SCENARIOS_SIMULATION_LINK_BINS_H

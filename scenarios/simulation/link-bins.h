// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_SIMULATION_LINK_BINS_H
#define WEIR_SCENARIOS_SIMULATION_LINK_BINS_H

#include "collectives/planner.h"
#include "scenarios/simulation/simulation.h"

namespace weir
{

/** Lower bound on the number of bins of @p width with link traffic of a call of @p plan. */
double MinLinkBins(const CollectivePlan& plan, const Routing& routing, Time width);

/**
 * Lower bound on the number of bins of @p width with link traffic of the work of @p simulation that
 * is certain to run: the steps of training jobs, the calls of collectives, and the flows of traffic
 * that other work does not end early. Calls that may be computed in closed form (analytical, auto)
 * put no traffic on links. Complexity O(operations of the programs + ranks x distinct operations +
 * flows).
 */
double MinLinkBins(Simulation& simulation, Time width);

} // namespace weir

#endif // WEIR_SCENARIOS_SIMULATION_LINK_BINS_H

// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_BOUND_CONCURRENT_POSITION_H
#define WEIR_SCENARIOS_BOUND_CONCURRENT_POSITION_H

#include "scenarios/bound/regime-position.h"
#include "scenarios/scenario.h"
#include "scenarios/simulation/simulation.h"

namespace weir
{

/**
 * Where the mean time of a call of the first job stands in a scenario of jobs that are collectives.
 * Features are those of CallPositions. The path is the shortcut, "jobs", and whether the call is
 * "contended", which is so where calls of another job slow it (CallClasses::Met) or where a call by
 * itself is, or "uncontended". Scenarios of more than two jobs, of several calls in turn, with
 * traffic, events or pauses, are unsampled.
 */
RegimePosition PositionOfCalls(const Scenario& scenario, Simulation& simulation);

} // namespace weir

#endif // WEIR_SCENARIOS_BOUND_CONCURRENT_POSITION_H

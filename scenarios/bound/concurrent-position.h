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
 * Features are those of CallPositions. The path is the shortcut, "jobs", whether calls of another
 * job slow the call ("concurrent", CallClasses::Met) or not ("isolated"), whether all calls are
 * sends and receives ("exchange") or some pass chunks on ("pipelined"), and whether it is contended
 * by itself. Scenarios of more than two jobs, of several calls in turn, with traffic, events or
 * pauses, are unsampled, and against `packet` those whose packets are not the defaults'.
 */
RegimePosition PositionOfCalls(const Scenario& scenario,
                               Simulation& simulation,
                               Fidelity reference);

} // namespace weir

#endif // WEIR_SCENARIOS_BOUND_CONCURRENT_POSITION_H

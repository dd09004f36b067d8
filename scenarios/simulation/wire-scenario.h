// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_SIMULATION_WIRE_SCENARIO_H
#define WEIR_SCENARIOS_SIMULATION_WIRE_SCENARIO_H

#include "scenarios/scenario.h"
#include "scenarios/simulation/simulation.h"

#include <memory>

namespace weir
{

/**
 * A scenario's simulation, ready to run. Packed placement: jobs take GPUs in their order, each the
 * next ones, node after node.
 * @throws InputError (with the scenario's file and the job) when the fabric cannot be wired, a
 *         plan cannot run or does not fit, the jobs need more GPUs than there are, or an event
 *         names what does not exist.
 */
std::unique_ptr<Simulation> WireScenario(const Scenario& scenario);

} // namespace weir

#endif // WEIR_SCENARIOS_SIMULATION_WIRE_SCENARIO_H

// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_SIMULATION_WIRE_SCENARIO_H
#define WEIR_SCENARIOS_SIMULATION_WIRE_SCENARIO_H

#include "scenarios/scenario.h"
#include "scenarios/simulation/simulation.h"

#include <memory>

namespace weir
{

/**
 * Creates the simulation of a scenario, ready to run. JobPlacer assigns GPUs to the jobs in their
 * order.
 * @throws InputError (with the scenario's file and the job) when the fabric cannot be wired, a plan
 *         cannot run or does not fit, the jobs need more GPUs than there are, or an event names
 *         something that does not exist.
 */
std::unique_ptr<Simulation> WireScenario(const Scenario& scenario);

} // namespace weir

#endif // WEIR_SCENARIOS_SIMULATION_WIRE_SCENARIO_H

// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_COMMAND_SIMULATION_LOOP_H
#define WEIR_SCENARIOS_COMMAND_SIMULATION_LOOP_H

#include "collectives/fidelity.h"
#include "scenarios/simulation/run-scenario.h"

#include <memory>

namespace weir
{

/**
 * Makes the loop that drives a run of @p fidelity: ns-3's simulator for fluid transports in builds
 * with ns-3, the plain loop otherwise. Results are the same.
 */
std::unique_ptr<EngineLoop> MakeEngineLoop(Fidelity fidelity);

} // namespace weir

#endif // WEIR_SCENARIOS_COMMAND_SIMULATION_LOOP_H

// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_COMMAND_SIMULATION_LOOP_H
#define WEIR_SCENARIOS_COMMAND_SIMULATION_LOOP_H

#include "collectives/fidelity.h"
#include "scenarios/simulation/run-scenario.h"

#include <memory>

namespace weir
{

/**
 * What drives a run of @p fidelity: ns-3's simulator where traffic moves and Weir was built with
 * ns-3, the plain loop elsewhere. Results are the same.
 */
std::unique_ptr<EngineLoop> MakeEngineLoop(Fidelity fidelity);

} // namespace weir

#endif // WEIR_SCENARIOS_COMMAND_SIMULATION_LOOP_H

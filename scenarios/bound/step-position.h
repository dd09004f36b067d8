// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_BOUND_STEP_POSITION_H
#define WEIR_SCENARIOS_BOUND_STEP_POSITION_H

#include "scenarios/bound/regime-position.h"
#include "scenarios/scenario.h"
#include "scenarios/simulation/run-result.h"

#include <string>
#include <vector>

namespace weir
{

/** What the features of a step's position are the logarithms of, base 2. */
std::vector<std::string> StepFeatureNames();

/**
 * Where the steady step of the first job of @p scenario stands that a shortcut has run. Its path is
 * the shortcut, whether other traffic decides its times ("contended": oversubscription, routing by
 * load or several jobs), and how much of the step is exposed communication. Steps of layer tables,
 * and those with events or stragglers, have a first class of their own, which no calibration knows.
 */
RegimePosition PositionOf(const Scenario& scenario, const RunResult& result);

} // namespace weir

#endif // WEIR_SCENARIOS_BOUND_STEP_POSITION_H

// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RESULTS_SUMMARY_H
#define WEIR_SCENARIOS_RESULTS_SUMMARY_H

#include "scenarios/scenario.h"
#include "scenarios/simulation/run-result.h"

#include <string>

namespace weir
{

/**
 * A run for the terminal, at most 25 lines of 100 columns: title, step time, its bound, tokens and
 * model operations per second, where the step's time went by pipeline stage, the busiest links,
 * what the run cost. Of many stages or jobs the first and the last are shown.
 */
std::string Summarize(const Scenario& scenario, const RunResult& result);

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_SUMMARY_H

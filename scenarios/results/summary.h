// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RESULTS_SUMMARY_H
#define WEIR_SCENARIOS_RESULTS_SUMMARY_H

#include "scenarios/scenario.h"
#include "scenarios/simulation/run-result.h"

#include <string>

namespace weir
{

/**
 * Summary of a run for the terminal, at most 25 lines of 100 columns: title, step time, its error
 * bound, tokens and model FLOPs per second, the step's breakdown by pipeline stage, the busiest
 * links, and the cost of the run. Of many stages, the first and last are shown; of many jobs, the
 * first ones.
 */
std::string Summarize(const Scenario& scenario, const RunResult& result);

/** The table of the busiest links in it; empty if no link carried bytes. */
std::string BusiestLinkLines(const RunResult& result);

/**
 * Its line on packets and fluid that shared links, with the most that a link has carried beyond its
 * rate; empty if none did.
 */
std::string CouplingLine(const RunResult& result);

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_SUMMARY_H

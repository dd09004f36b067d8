// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_BOUND_SCENARIO_POSITION_H
#define WEIR_SCENARIOS_BOUND_SCENARIO_POSITION_H

#include "scenarios/bound/calibration.h"
#include "scenarios/scenario.h"
#include "scenarios/simulation/run-result.h"
#include "scenarios/simulation/simulation.h"

#include <string>
#include <vector>

namespace weir
{

/** Names of the features of a step's position, whose logarithms to base 2 it holds. */
std::vector<std::string> StepFeatureNames();

/**
 * Whether anything besides the jobs' own sequential calls may affect their duration:
 * oversubscription, load-aware routing, another job, traffic or events on links.
 */
bool IsContended(const Scenario& scenario);

/**
 * The position of the steady step of training job @p job of @p scenario, run by a shortcut. Its
 * path is the shortcut and "contended" (by oversubscription, load-aware routing, another job,
 * traffic or events on links) or "uncontended". The time feature is per layer and micro-batch, so
 * that models with more layers and steps with more micro-batches are similar. Unsampled are steps
 * of layer tables, of imported workloads or with stragglers, and scenarios with other jobs, events,
 * fabrics, NCCL versions or NCCL settings that no sample contains.
 */
RegimePosition PositionOf(const Scenario& scenario, const RunResult& result, std::size_t job = 0);

/**
 * The position of the mean call time of the first job in a scenario of collective jobs. Features
 * are those of CallPositions. The path consists of
 * - the shortcut, and "jobs";
 * - the class of the largest group;
 * - "concurrent" where calls of another job slow the call (CallClasses::Met), else "isolated";
 * - "exchange" where all calls are sends and receives, or "pipelined" where some forward chunks;
 * - of concurrent calls, whether latency or bytes dominate the time;
 * - what limits the time, as in CallPositions; concurrent calls on an oversubscribed fabric are
 *   contended.
 *
 * Unsampled are scenarios of more than two jobs, of jobs that do more than repeat one call, with
 * traffic or events, and, compared with `packet`, with packet parameters that are not the defaults.
 */
RegimePosition PositionOfCalls(const Scenario& scenario,
                               Simulation& simulation,
                               Fidelity reference);

/** Whether @p position, from PositionOfCalls, is of a call slowed by calls of another job. */
bool IsConcurrent(const RegimePosition& position);

} // namespace weir

#endif // WEIR_SCENARIOS_BOUND_SCENARIO_POSITION_H

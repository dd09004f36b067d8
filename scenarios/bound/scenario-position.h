// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_BOUND_SCENARIO_POSITION_H
#define WEIR_SCENARIOS_BOUND_SCENARIO_POSITION_H

#include "scenarios/bound/regime-position.h"
#include "scenarios/scenario.h"
#include "scenarios/simulation/run-result.h"
#include "scenarios/simulation/simulation.h"

#include <string>
#include <vector>

namespace weir
{

/** What the features of a step's position are the logarithms of, base 2. */
std::vector<std::string> StepFeatureNames();

/** Whether anything but the jobs' own calls in turn may decide how long these take:
 * oversubscription, routing by load, another job, traffic or events on links. */
bool IsContended(const Scenario& scenario);

/**
 * Where the steady step of training job @p job of @p scenario stands that a shortcut has run. Its
 * path is the shortcut and whether links are "contended" (by oversubscription, routing by load,
 * another job, traffic or events on links) or "uncontended". Features of size are per pass through
 * a layer, so that a model of twice the layers or a step of twice the micro-batches is alike. Steps
 * of layer tables, with stragglers, beside what no sample has, or on fabrics or with NCCL versions
 * or settings that no sample has, are unsampled.
 */
RegimePosition PositionOf(const Scenario& scenario, const RunResult& result, std::size_t job = 0);

/**
 * Where the mean time of a call of the first job stands in a scenario of jobs that are collectives.
 * Features are those of CallPositions. The path is the shortcut, "jobs", how large the largest
 * group is, whether calls of another job slow the call ("concurrent", CallClasses::Met) or not
 * ("isolated"), whether all calls are sends and receives ("exchange") or some pass chunks on
 * ("pipelined"), of concurrent ones whether latency or bytes make up the call's time, and what
 * decides it, as CallPositions says; calls that others slow on an oversubscribed fabric are
 * contended.
 * Scenarios of more than two jobs, of several calls in turn, with traffic, events or pauses, are
 * unsampled, and against `packet` those whose packets are not the defaults'.
 */
RegimePosition PositionOfCalls(const Scenario& scenario,
                               Simulation& simulation,
                               Fidelity reference);

/** Whether @p position, of PositionOfCalls, is of a call that calls of another job slow. */
bool IsConcurrent(const RegimePosition& position);

} // namespace weir

#endif // WEIR_SCENARIOS_BOUND_SCENARIO_POSITION_H

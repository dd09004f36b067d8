// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_SWEEP_PLAN_SEARCH_H
#define WEIR_SCENARIOS_SWEEP_PLAN_SEARCH_H

#include "scenarios/scenario.h"
#include "scenarios/sweep/case-processes.h"
#include "scenarios/sweep/sweep.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weir
{

/**
 * The parallel plans of a training job on its GPUs, as a sweep of the command @p words: every
 * division of the GPUs into tensor ranks (within a node), pipeline stages and replicas, with
 * each micro-batch of 1 to 8 samples that divides the batch of a replica, one, two or four chunks
 * of layers a stage, with and without recomputation; tensor parallelism divides the sequence, too.
 * What else the plan has stays: its global batch, context and expert parallelism, attention,
 * optimizer, framework. Plans that the model or a GPU's memory does not allow are among them: their
 * runs are refused.
 * @param job of the scenario's training jobs
 * @throws InputError where the job's place in its file is not known
 */
Sweep PlansOf(const Scenario& scenario, std::size_t job, const std::vector<std::string>& words);

/**
 * The divisions of @p gpus GPUs into tensor ranks of a node, pipeline stages and replicas (beside
 * the context ranks of the job's plan), as settings of its plan with one sample a micro-batch.
 * @throws InputError as PlansOf
 */
std::vector<std::vector<std::string>> DivisionsOf(const Scenario& scenario,
                                                  std::size_t job,
                                                  uint32_t gpus);

/** The cases that have ended with a step of @p job, the fastest first, and how they ended. */
void RankBySteps(std::size_t job, Sweep& sweep, std::vector<EndedCase>& ended);

} // namespace weir

#endif // WEIR_SCENARIOS_SWEEP_PLAN_SEARCH_H

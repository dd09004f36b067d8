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
 * factorization of the GPUs into tensor ranks (within a node), pipeline stages and replicas; with
 * each micro-batch of 1 to 8 samples that divides the batch of a replica; with one, two or four
 * model chunks per stage; with and without recomputation. With tensor parallelism, sequence
 * parallelism is on, except with a grid of tensor ranks, which does not support it. Other values of
 * the plan are unchanged: global batch, tensor grid, context and expert parallelism, attention,
 * optimizer, framework. Plans that the model or a GPU's memory does not allow are included: their
 * runs are refused.
 * @param job index of the training job in the scenario
 * @param settings `--set` of the command for all plans, with which @p scenario was loaded: a value
 *        of the plan that one of them sets is kept, too, and only the others vary
 * @throws InputError where the location of the job's plan in its file is unknown, or no plan has
 *         the values of @p settings
 */
Sweep PlansOf(const Scenario& scenario,
              std::size_t job,
              const std::vector<std::string>& words,
              const std::vector<std::string>& settings = {});

/**
 * The factorizations of @p gpus GPUs into tensor ranks within a node, pipeline stages and replicas
 * (in addition to the context ranks of the job's plan), as settings of its plan with micro-batches
 * of one sample, or of as many as a grid of tensor ranks needs.
 * @throws InputError where the location of the job's plan in its file is unknown
 */
std::vector<std::vector<std::string>> DivisionsOf(const Scenario& scenario,
                                                  std::size_t job,
                                                  uint32_t gpus);

/** Whether the `--set` @p setting gives a value of a plan that a search else varies. */
bool SetsVaried(const std::string& setting);

/**
 * Keeps only the cases that have ended with a step time of @p job, the fastest first, in @p sweep
 * and @p ended.
 */
void RankBySteps(std::size_t job, Sweep& sweep, std::vector<EndedCase>& ended);

} // namespace weir

#endif // WEIR_SCENARIOS_SWEEP_PLAN_SEARCH_H

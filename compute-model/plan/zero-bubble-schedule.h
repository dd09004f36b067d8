// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_PLAN_ZERO_BUBBLE_SCHEDULE_H
#define WEIR_COMPUTE_MODEL_PLAN_ZERO_BUBBLE_SCHEDULE_H

#include "compute-model/plan/pipeline-schedule.h"

#include <vector>

namespace weir
{

/**
 * Schedule of a stage whose backward pass is split into gradients of activations (B) and of weights
 * (W), with W deferred to where the stage would idle (Qi et al. 2023, Zero Bubble Pipeline
 * Parallelism, arXiv 2401.10241).
 *
 * ZB-H1 (section 2.2) keeps 1F1B's order with p - stage forward passes ahead, and runs W `stage`
 * micro-batches after its B. With equal times F, B, W its bubble is (p - 1)(F + B - W), against
 * 1F1B's (p - 1)(F + B + W).
 *
 * ZB-1p (section 3.1) is built from position.times by a simulation of the passes of all stages. The
 * earliest pass runs first, and B before F. At most min(p, 2 (p - stage) - 1) forward passes
 * precede the first backward pass. W runs where it fits into the gap before the next pass, and
 * where memory is full. The greedy order of ZB-1p may be up to one percent slower than ZB-H1.
 *
 * ZB-H1 and ZB-1p hold at most p micro-batches, as the first stage of 1F1B does (for B or for W;
 * LayerHeldForWeights may be the larger). ZB-2p holds up to 2 p, so that 2 (p - stage) - 1 forward
 * passes come first, as in ZB-H2. With equal times no stage then idles once it has begun: stages
 * begin F apart and end F apart, which ParallelPlan::postValidation exploits.
 *
 * Exchanges are detached. Complexity O(m) for ZB-H1, O(m p^2) for ZB-1p and ZB-2p.
 */
std::vector<PipelineStep> ZeroBubbleSchedule(const PipelinePosition& position);

/**
 * Peak number of micro-batches of a stage between their B and their W: min(stage + 1, m) under
 * ZB-H1; otherwise the upper bound MicroBatchesHeld, since the order depends on the times.
 */
uint32_t MicroBatchesBeforeWeights(const PipelinePosition& position);

/**
 * Peak number of micro-batches that a stage has begun without finishing their W: min(p, m), under
 * ZB-2p min(2 p, m).
 */
uint32_t MicroBatchesHeld(const PipelinePosition& position);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_PLAN_ZERO_BUBBLE_SCHEDULE_H

// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_PLAN_ZERO_BUBBLE_SCHEDULE_H
#define WEIR_COMPUTE_MODEL_PLAN_ZERO_BUBBLE_SCHEDULE_H

#include "compute-model/plan/pipeline-schedule.h"

#include <vector>

namespace weir
{

/**
 * What a stage does under a schedule that splits the backward pass into gradients of activations
 * (B) and of weights (W) and puts W off to where the stage would idle (Qi et al. 2023, Zero Bubble
 * Pipeline Parallelism, arXiv 2401.10241).
 *
 * ZB-H1 (section 2.2) has 1F1B's order with p - stage forward passes ahead, and runs W `stage`
 * micro-batches behind its B: with times F, B, W alike its bubble is (p - 1)(F + B - W), against
 * 1F1B's (p - 1)(F + B + W). ZB-1p (section 3.1) is made by place.times: the passes of all stages
 * are played, the earliest first, B before F; as many forward passes come before the first backward
 * pass as fit, min(p, 2 (p - stage) - 1); W is run where the gap to the next pass holds it, and
 * where memory is full. Either holds p micro-batches at most, as 1F1B's first stage (for B or for
 * W: see LayerHeldForWeights, which may be the larger); ZB-2p of 2 p of them, so that 2 (p - stage)
 * - 1 forward passes come first, as in ZB-H2, and with times alike no stage idles once it has
 * begun: stages begin F after one another and end so, which ParallelPlan::postValidation makes use
 * of. The greedy order of ZB-1p may lose up to a per cent to ZB-H1's.
 *
 * Exchanges are detached. Complexity O(m) and O(m p^2).
 */
std::vector<PipelineStep> ZeroBubbleSchedule(const PipelinePlace& place);

/**
 * Micro-batches whose gradients of activations a stage has while those of its weights are still to
 * come, at the worst moment: min(stage + 1, m) under ZB-H1, and at most MicroBatchesHeld
 * under schedules made by times, which decide.
 */
uint32_t MicroBatchesBeforeWeights(const PipelinePlace& place);

/** Micro-batches that a stage has begun and not done with W: min(p, m), under ZB-2p min(2 p, m). */
uint32_t MicroBatchesHeld(const PipelinePlace& place);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_PLAN_ZERO_BUBBLE_SCHEDULE_H

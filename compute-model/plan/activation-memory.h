// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_PLAN_ACTIVATION_MEMORY_H
#define WEIR_COMPUTE_MODEL_PLAN_ACTIVATION_MEMORY_H

#include "compute-model/models/transformer.h"
#include "compute-model/plan/parallel-plan.h"
#include "fabric/units.h"

#include <cstdint>

namespace weir
{

/**
 * Activations that one layer keeps of one micro-batch until its backward pass, on one rank, under
 * the plan's recomputation (Korthikanti et al. 2022, table 2): for a GPT layer in 16 bits
 * s b h (10 + 24/t + 5as/(ht)) without sequence parallelism, s b h (34/t + 5as/(ht)) with it,
 * without the last term when it is recomputed or never stored (fused attention), and the 2 s b h
 * of the layer's input (over t with sequence parallelism) under full recomputation. A layer with
 * experts keeps in place of an MLP's the rows that its experts get, their insides, and the rows
 * that come back.
 */
Bytes LayerActivations(const Transformer& model, const ParallelPlan& plan, bool hasExperts = false);

/**
 * What one layer keeps of one micro-batch for the gradients of its weights where those have a pass
 * of their own: of every product its input and its output's gradient. For a GPT layer without
 * tensor parallelism 32 s b h (Qi et al. 2023, table 1: M_W): inputs of 2 + 2 + 2 + 8, gradients
 * of 6 + 2 + 8 + 2 bytes. With sequence parallelism the inputs of QKV and of the first product of
 * the MLP are gathered again, gradients behind the other two stay gathered.
 */
Bytes LayerHeldForWeights(const Transformer& model,
                          const ParallelPlan& plan,
                          bool hasExperts = false);

/**
 * Activations of all micro-batches in flight on one rank of @p stage: those of its warm-up passes
 * and one more, which on the first stage of an interleaved schedule gives Korthikanti et al.'s
 * factor 1 + (p - 1) / (p v); what recomputation brings back of one layer; the embedding's dropout
 * mask on the first stage, and norm, logits input and what the loss keeps of the logits on the
 * last, of as many micro-batches as wait for the backward pass of the chunk that they belong to.
 * The loss at work holds more of its logits than it keeps, but before any layer is recomputed: the
 * larger of both counts. Under a zero-bubble schedule a micro-batch holds what its layers keep
 * until its B and LayerHeldForWeights from then until its W, recomputed or not: the worst mix of
 * both that MicroBatchesInFlight and MicroBatchesBeforeWeights allow.
 */
Bytes StageActivations(const Transformer& model, const ParallelPlan& plan, uint32_t stage);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_PLAN_ACTIVATION_MEMORY_H

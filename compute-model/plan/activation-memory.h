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
 * Activation bytes that one rank keeps of one layer and micro-batch until the backward pass, under
 * the plan's recomputation (Korthikanti et al. 2022, table 2). For a GPT layer in 16 bits:
 *     s b h (10 + 24/t + 5as/(ht))   without sequence parallelism,
 *     s b h (34/t + 5as/(ht))        with sequence parallelism.
 * The last term vanishes when the attention scores are recomputed or never stored (fused
 * attention). Full recomputation keeps only the layer's input: 2 s b h, over t with sequence
 * parallelism. A layer with experts keeps, instead of the MLP's activations, the rows that its
 * experts receive, their intermediate activations and the returned rows.
 */
double LayerActivations(const Transformer& model,
                        const ParallelPlan& plan,
                        bool hasExperts = false);

/**
 * Bytes that one rank keeps of one layer and micro-batch until the pass for weight gradients (W),
 * under a schedule that splits the backward pass: the input and the output gradient of every GEMM.
 * For a GPT layer without tensor parallelism: 32 s b h (Qi et al. 2023, table 1: M_W), with inputs
 * of 2 + 2 + 2 + 8 and gradients of 6 + 2 + 8 + 2 bytes. With sequence parallelism the inputs of
 * QKV and of the first MLP GEMM are kept sharded and gathered again; the output gradients of the
 * other two GEMMs stay gathered.
 */
double LayerHeldForWeights(const Transformer& model,
                           const ParallelPlan& plan,
                           bool hasExperts = false);

/**
 * Peak activation bytes of one rank of @p stage over all micro-batches in flight. The sum of:
 * - the activations of the warm-up passes and of one more pass; on the first stage of an
 *   interleaved schedule this gives Korthikanti et al.'s factor 1 + (p - 1) / (p v);
 * - the activations of one layer that recomputation restores;
 * - on the first stage the dropout mask of the embedding, and on the last stage the norm, the input
 *   of the logits GEMM and what the loss keeps of the logits, for each micro-batch that awaits the
 *   backward pass of that model chunk.
 *
 * While the loss runs, it holds more of its logits than it keeps. It runs before any layer is
 * recomputed, so only the larger of the two temporaries counts. Under a zero-bubble schedule a
 * micro-batch holds the activations of its layers until its B, and LayerHeldForWeights from B to W,
 * with or without recomputation. The estimate takes the worst mix of both that MicroBatchesInFlight
 * and MicroBatchesBeforeWeights allow.
 */
Bytes StageActivations(const Transformer& model, const ParallelPlan& plan, uint32_t stage);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_PLAN_ACTIVATION_MEMORY_H

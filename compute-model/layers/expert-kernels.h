// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_EXPERT_KERNELS_H
#define WEIR_COMPUTE_MODEL_LAYERS_EXPERT_KERNELS_H

#include "compute-model/layers/segment-writer.h"
#include "compute-model/models/transformer.h"

namespace weir
{

/**
 * Indices into StepGraph::traffics of the rows sent to unbalanced experts, and of the rows
 * returned.
 */
constexpr uint16_t TO_EXPERTS = 0;
constexpr uint16_t FROM_EXPERTS = 1;

/**
 * Writes the forward kernels of a mixture of experts, which replaces a layer's MLP, as
 * Megatron-LM's all-to-all dispatcher runs it (megatron/core/transformer/moe; MoE Parallel Folding,
 * arXiv 2504.14960, figure 2), from the norm's output to the residual's input:
 *
 * router, top-k, permutation of the (token, expert) rows by expert, all-to-all over the expert
 * ranks, all-gather over the expert-tensor ranks, sort of the rows by local expert, one grouped
 * GEMM per matrix with the rows of each local expert, and the return: sort, reduce-scatter,
 * all-to-all, sum of the rows by token with the router's weights. Shared experts form a separate
 * MLP, split over the tensor ranks.
 *
 * Without a capacity the CPU must learn the number of rows of each rank, so that it waits for the
 * GPU once per layer. With a capacity all sizes are known.
 */
void WriteExpertsForward(SegmentWriter& writer, const Transformer& model);

/**
 * Writes the recomputation before the backward pass: everything whose result that pass reads, up to
 * the returned rows, but not their sum by token.
 */
void WriteExpertsRecompute(SegmentWriter& writer, const Transformer& model);

/**
 * Writes the backward kernels, from the gradient of the residual's input to that of the norm's
 * output.
 * @param defersWeightGradients leaves the gradients of the experts' weights, routed and shared, to
 *        WriteExpertsWeights
 */
void WriteExpertsBackward(SegmentWriter& writer,
                          const Transformer& model,
                          bool defersWeightGradients = false);

/** Writes the weight gradients that WriteExpertsBackward deferred. */
void WriteExpertsWeights(SegmentWriter& writer, const Transformer& model);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_EXPERT_KERNELS_H

// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_EXPERT_KERNELS_H
#define WEIR_COMPUTE_MODEL_LAYERS_EXPERT_KERNELS_H

#include "compute-model/layers/segment-writer.h"
#include "compute-model/models/transformer.h"

namespace weir
{

/** Places in StepGraph::traffics of the rows that go to unbalanced experts, and back. */
constexpr uint16_t TO_EXPERTS = 0;
constexpr uint16_t FROM_EXPERTS = 1;

/**
 * A mixture of experts in place of a layer's MLP, forward, as Megatron-LM's all-to-all dispatcher
 * runs it (megatron/core/transformer/moe; MoE Parallel Folding, arXiv 2504.14960, figure 2), from
 * the norm's output to what the residual takes:
 *
 * router, top-k, permutation of the (token, expert) rows by expert, all-to-all over the expert
 * ranks, all-gather over the expert-tensor ranks, rows sorted by local expert, one grouped GEMM a
 * matrix with the rows of each local expert, and the way back: sort, reduce-scatter, all-to-all,
 * rows summed by token with the router's weights. Experts that every token goes to are an MLP of
 * their own beside it, split over the tensor ranks.
 *
 * Without a capacity the CPU must learn how many rows each rank gets, so that it waits for the GPU
 * once a layer; with one all sizes are known.
 */
void WriteExpertsForward(SegmentWriter& writer, const Transformer& model, const ParallelPlan& plan);

/**
 * What is run again of it before its backward pass: all whose outcome that reads, up to the rows
 * that come back; their sum by token is not.
 */
void WriteExpertsRecompute(SegmentWriter& writer,
                           const Transformer& model,
                           const ParallelPlan& plan);

/**
 * Its backward pass, from the gradient of what the residual took to that of the norm's output.
 * @param putsOffWeights whether the gradients of the experts' weights, routed and shared, are left
 *        for WriteExpertsWeights.
 */
void WriteExpertsBackward(SegmentWriter& writer,
                          const Transformer& model,
                          const ParallelPlan& plan,
                          bool putsOffWeights = false);

/** The gradients that WriteExpertsBackward has put off. */
void WriteExpertsWeights(SegmentWriter& writer, const Transformer& model, const ParallelPlan& plan);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_EXPERT_KERNELS_H

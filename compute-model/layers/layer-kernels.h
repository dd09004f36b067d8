// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_LAYER_KERNELS_H
#define WEIR_COMPUTE_MODEL_LAYERS_LAYER_KERNELS_H

#include "compute-model/layers/transformer-writer.h"

#include <cstdint>

namespace weir
{

/** Pass of a layer. */
enum class LayerPass : uint8_t
{
    Forward,

    /**
     * Recomputation of a layer before its backward pass: nothing, the whole layer, all that the
     * backward pass reads (not the last GEMM), or of this all but attention and every second GEMM.
     * A mixture of experts is recomputed as a whole (torchtitan's "op" does not keep grouped
     * GEMMs), up to the returned rows.
     */
    Recompute,

    /**
     * An input-gradient and a weight-gradient GEMM for each linear layer. The all-reduce (or
     * reduce-scatter) of a column-parallel layer's input gradient overlaps its weight gradient, and
     * with sequence parallelism the all-gather of its saved input overlaps the input gradient
     * (LinearWithGradAccumulationAndAsyncCommunication, megatron/core/tensor_parallel). Selective
     * recomputation recomputes the attention core before its backward pass, whether fused or not
     * (Megatron Core: attention.py, _checkpointed_attention_forward). Earlier Megatron-LM excluded
     * flash attention, whose backward pass recomputes by itself; that corresponds to no
     * recomputation.
     */
    Backward,
    BackwardInput,  //!< the part of Backward for gradients of activations, norms and biases (Qi et
                    //!< al. 2023, B)
    BackwardWeights //!< the part of Backward for gradients of linear layers' weights (W), for which
                    //!< nothing waits
};

/**
 * Writes one transformer layer on one tensor rank, as Megatron-LM runs it (Shoeybi et al. 2019;
 * with sequence parallelism Korthikanti et al. 2022, 4.2): norm, QKV, attention core, projection,
 * all-reduce, bias-dropout-add, norm, MLP, all-reduce, bias-dropout-add. With sequence parallelism
 * each all-reduce becomes a reduce-scatter, and an all-gather precedes QKV and the MLP. In a tensor
 * grid the GEMMs are SUMMA's (linear-kernels.cc) and norms sum over rows of ranks. No other part of
 * a layer communicates, since a rank has whole heads of whole samples.
 * @param hasExperts a mixture of experts replaces the MLP, see WriteExperts
 */
SegmentSequence WriteLayer(KernelTable& kernels,
                           const Transformer& model,
                           const ParallelPlan& plan,
                           bool hasExperts,
                           LayerPass pass);

/**
 * Writes the kernels of one layer's attention core: forward, from Q, K, V to the attention output;
 * backward, from the gradient of that output to those of Q, K and V. Unfused attention follows
 * Megatron-LM of 2021 and 2022: QK^T over all s x s scores, fused scale-mask-softmax, dropout, PV,
 * and a copy that makes the output contiguous. Fused attention is one flash-attention kernel. The
 * fused softmax reads only the lower triangle of the scores and writes whole rows
 * (megatron/fused_kernels, scaled_upper_triang_masked_softmax); all other kernels process all s x s
 * scores.
 */
void WriteAttention(TransformerWriter& writer, bool isBackward);

/**
 * Indices into StepGraph::traffics of the rows sent to unbalanced experts, and of the rows
 * returned.
 */
constexpr uint16_t TO_EXPERTS = 0;
constexpr uint16_t FROM_EXPERTS = 1;

/**
 * Writes one pass of a mixture of experts, which replaces a layer's MLP, as
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
 *
 * The recomputation covers everything whose result the backward pass reads, up to the returned
 * rows, but not their sum by token. LayerPass::BackwardWeights has the gradients of the experts'
 * weights, routed and shared.
 */
void WriteExperts(TransformerWriter& writer, LayerPass pass);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_LAYER_KERNELS_H

// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_LAYER_KERNELS_H
#define WEIR_COMPUTE_MODEL_LAYERS_LAYER_KERNELS_H

#include "compute-model/layers/segment-writer.h"
#include "compute-model/models/transformer.h"

#include <cstdint>

namespace weir
{

/** What stands behind a layer's attention. */
enum class LayerKind : uint8_t
{
    Mlp,
    Experts //!< a mixture of experts, see WriteExpertsForward
};

/** What is run of a layer. */
enum class LayerPass : uint8_t
{
    Forward,

    /**
     * What is run again of a layer before its backward pass: nothing, all of it, all that the
     * backward pass reads (the last product is not), or of this all but attention and every other
     * product. A mixture of experts is run again whole (torchtitan's "op" does not keep grouped
     * products), up to the rows that come back.
     */
    Recompute,

    /**
     * For each linear layer an input-gradient and a weight-gradient GEMM; the all-reduce (or
     * reduce-scatter) of a column-parallel layer's input gradient runs beside its weight gradient,
     * and with sequence parallelism the all-gather of its saved input runs beside the input
     * gradient (LinearWithGradAccumulationAndAsyncCommunication, megatron/core/tensor_parallel).
     * Selective recomputation runs the attention core again before its backward pass, whatever its
     * kernels (Megatron Core: attention.py, _checkpointed_attention_forward); Megatron-LM before it
     * left flash attention out, whose backward pass recomputes by itself: that is no recomputation.
     */
    Backward,
    BackwardInput,  //!< of that the gradients of activations, norms and biases (Qi et al. 2023, B)
    BackwardWeights //!< of that those of the linear layers' weights (W), which nothing waits for
};

/**
 * One transformer layer on one tensor rank, as Megatron-LM runs it (Shoeybi et al. 2019; with
 * sequence parallelism Korthikanti et al. 2022, 4.2): norm, QKV, attention core, projection,
 * all-reduce, bias-dropout-add, norm, MLP, all-reduce, bias-dropout-add. With sequence parallelism
 * each all-reduce becomes a reduce-scatter, and an all-gather stands before QKV and before the MLP.
 * In a tensor grid the products are SUMMA's (linear-kernels.cc) and norms sum over rows of ranks;
 * nothing else of a layer communicates, as a rank has whole heads of whole samples.
 */
SegmentSequence WriteLayer(KernelTable& kernels,
                           const Transformer& model,
                           const ParallelPlan& plan,
                           LayerKind kind,
                           LayerPass pass);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_LAYER_KERNELS_H

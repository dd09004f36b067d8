// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_LAYER_KERNELS_H
#define WEIR_COMPUTE_MODEL_LAYERS_LAYER_KERNELS_H

#include "compute-model/layers/segment-writer.h"
#include "compute-model/models/transformer.h"

#include <cstdint>

namespace weir
{

/** Block that follows a layer's attention. */
enum class LayerKind : uint8_t
{
    Mlp,
    Experts //!< a mixture of experts, see WriteExpertsForward
};

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
 */
SegmentSequence WriteLayer(KernelTable& kernels,
                           const Transformer& model,
                           const ParallelPlan& plan,
                           LayerKind kind,
                           LayerPass pass);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_LAYER_KERNELS_H

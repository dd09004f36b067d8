// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_ATTENTION_KERNELS_H
#define WEIR_COMPUTE_MODEL_LAYERS_ATTENTION_KERNELS_H

#include "compute-model/layers/segment-writer.h"
#include "compute-model/plan/rank-shape.h"

namespace weir
{

/**
 * The attention core of one layer forward, from Q, K, V to the context: unfused as Megatron-LM had
 * it in 2021 and 2022 (QK^T over all s x s scores, fused scale-mask-softmax, dropout, PV, the
 * context made contiguous), or one flash-attention kernel. The fused softmax reads the lower
 * triangle of the scores only and writes whole rows (megatron/fused_kernels,
 * scaled_upper_triang_masked_softmax); all else works on all s x s scores.
 */
void WriteAttentionForward(SegmentWriter& writer,
                           const Transformer& model,
                           const ParallelPlan& plan);

/** Its backward pass: gradients of Q, K and V from that of the context. */
void WriteAttentionBackward(SegmentWriter& writer,
                            const Transformer& model,
                            const ParallelPlan& plan);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_ATTENTION_KERNELS_H

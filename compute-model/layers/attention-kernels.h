// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_ATTENTION_KERNELS_H
#define WEIR_COMPUTE_MODEL_LAYERS_ATTENTION_KERNELS_H

#include "compute-model/layers/segment-writer.h"
#include "compute-model/plan/rank-shape.h"

namespace weir
{

/**
 * Writes the kernels of one layer's attention core: forward, from Q, K, V to the attention output;
 * backward, from the gradient of that output to those of Q, K and V. Unfused attention follows
 * Megatron-LM of 2021 and 2022: QK^T over all s x s scores, fused scale-mask-softmax, dropout, PV,
 * and a copy that makes the output contiguous. Fused attention is one flash-attention kernel. The
 * fused softmax reads only the lower triangle of the scores and writes whole rows
 * (megatron/fused_kernels, scaled_upper_triang_masked_softmax); all other kernels process all s x s
 * scores.
 */
void WriteAttention(SegmentWriter& writer, const Transformer& model, bool isBackward);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_ATTENTION_KERNELS_H

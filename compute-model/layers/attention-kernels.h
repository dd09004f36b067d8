// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_ATTENTION_KERNELS_H
#define WEIR_COMPUTE_MODEL_LAYERS_ATTENTION_KERNELS_H

#include "compute-model/layers/segment-writer.h"
#include "compute-model/plan/rank-shape.h"

namespace weir
{

/**
 * Writes the forward kernels of one layer's attention core, from Q, K, V to the attention output.
 * Unfused attention follows Megatron-LM of 2021 and 2022: QK^T over all s x s scores, fused
 * scale-mask-softmax, dropout, PV, and a copy that makes the output contiguous. Fused attention is
 * one flash-attention kernel. The fused softmax reads only the lower triangle of the scores and
 * writes whole rows (megatron/fused_kernels, scaled_upper_triang_masked_softmax); all other kernels
 * process all s x s scores.
 */
void WriteAttentionForward(SegmentWriter& writer, const Transformer& model);

/** Writes the backward kernels: gradients of Q, K and V from that of the attention output. */
void WriteAttentionBackward(SegmentWriter& writer, const Transformer& model);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_ATTENTION_KERNELS_H

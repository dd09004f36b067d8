// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_GRADIENT_ACCUMULATION_H
#define WEIR_COMPUTE_MODEL_LAYERS_GRADIENT_ACCUMULATION_H

#include "compute-model/layers/segment-writer.h"

#include <cstdint>
#include <string>

/**
 * @file
 * The accumulation of a micro-batch's weight gradients onto those of the earlier micro-batches.
 *
 * - Megatron-LM and Transformer Engine (KernelFusion::Kernels) keep a buffer, in fp32 or the
 *   weights' own precision. Every pass accumulates into it: within the GEMM that computes a
 *   gradient, or by a kernel that reads the gradient and reads and writes the buffer.
 * - PyTorch casts a gradient to fp32 where gradients are kept in fp32 (the backward pass of
 *   autocast). In all micro-batches but the first it adds the gradient to the earlier ones, which
 *   reads both and writes one. The kernel that is written is the mean over micro-batches.
 * - Where every pass reduces gradients and a rank keeps its part (ZeRO-2), they are copied, and
 *   cast, into the bucket that is reduced.
 * - Under full sharding the unit's reduction takes gradients as they are.
 */
namespace weir
{

/** Writes the accumulation of a gradient of rows x columns. */
void WriteGradientAdd(SegmentWriter& writer,
                      const std::string& name,
                      uint64_t rows,
                      uint64_t columns);

/**
 * Writes the GEMM of a weight gradient, and WriteGradientAdd where the GEMM does not accumulate.
 */
void WriteGradientGemm(SegmentWriter& writer, const std::string& name, GemmShape gemm);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_GRADIENT_ACCUMULATION_H

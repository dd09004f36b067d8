// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_MIXED_PRECISION_H
#define WEIR_COMPUTE_MODEL_LAYERS_MIXED_PRECISION_H

#include "compute-model/layers/segment-writer.h"
#include "compute-model/plan/parallel-plan.h"

#include <cstdint>
#include <string>

/**
 * @file
 * What mixed precision adds to the GEMMs of a layer: casts of operands to fp8, and the accumulation
 * of a micro-batch's weight gradients onto those of the earlier micro-batches.
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

/** Uses of an operand in one pass. */
enum class Fp8Use : uint8_t
{
    Once,          //!< one GEMM of this pass
    Twice,         //!< two GEMMs of this pass, one of which takes it transposed
    NowAndBackward //!< one GEMM now, and one of the backward pass, which takes it transposed
};

/**
 * Writes the cast of an operand to fp8; nothing in other precisions. Transformer Engine reads it in
 * 16 bits and writes the fp8 operand and its transpose in one kernel, with scales of earlier steps.
 * torchao (without Transformer Engine's kernels) first reads it for its maximum, and keeps it in 16
 * bits for the backward pass, which casts it again (matmul_with_hp_or_float8_args).
 */
void WriteFp8Cast(SegmentWriter& writer,
                  const std::string& name,
                  uint64_t rows,
                  uint64_t columns,
                  Fp8Use use,
                  const ParallelPlan& plan);

/**
 * Writes the second, transposed cast of a forward operand, where the forward pass kept it in 16
 * bits.
 */
void WriteFp8Recast(SegmentWriter& writer,
                    const std::string& name,
                    uint64_t rows,
                    uint64_t columns,
                    const ParallelPlan& plan);

/** Writes the transpose of an fp8 operand; nothing in other precisions. */
void WriteFp8Transpose(SegmentWriter& writer,
                       const std::string& name,
                       uint64_t rows,
                       uint64_t columns,
                       const ParallelPlan& plan);

/** Writes the accumulation of a gradient of rows x columns. */
void WriteGradientAdd(SegmentWriter& writer,
                      const ParallelPlan& plan,
                      const std::string& name,
                      uint64_t rows,
                      uint64_t columns);

/**
 * Writes the GEMM of a weight gradient, and WriteGradientAdd where the GEMM does not accumulate.
 */
void WriteGradientGemm(SegmentWriter& writer,
                       const ParallelPlan& plan,
                       const std::string& name,
                       GemmShape gemm);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_MIXED_PRECISION_H

// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_GRADIENT_ADD_H
#define WEIR_COMPUTE_MODEL_LAYERS_GRADIENT_ADD_H

#include "compute-model/layers/segment-writer.h"
#include "compute-model/plan/parallel-plan.h"

#include <cstdint>
#include <string>

/**
 * @file
 * How a micro-batch's gradients of weights come to those of the micro-batches before.
 *
 * - Megatron-LM and Transformer Engine (KernelFusion::Kernels) keep a buffer, in fp32 or the
 *   weights' own precision, to which every pass adds: within the product that gives a gradient, or
 *   else by a pass that reads it and reads and writes the buffer.
 * - PyTorch turns a gradient to fp32 where it is kept so (the backward pass of autocast), and in
 * all micro-batches but the first adds it to that of the ones before, which reads both and writes
 * one: of the micro-batches the mean is written.
 * - Where every pass reduces gradients and a rank keeps its part (ZeRO-2), they are copied, and
 *   cast, into the bucket that is reduced.
 * - Under full sharding the unit's reduction takes gradients as they are.
 */
namespace weir
{

/** Brings a gradient of rows x columns to those before. */
void WriteGradientAdd(SegmentWriter& writer,
                      const ParallelPlan& plan,
                      const std::string& name,
                      uint64_t rows,
                      uint64_t columns);

/** A product that is a gradient of weights, and WriteGradientAdd where the product does not add. */
void WriteGradientProduct(SegmentWriter& writer,
                          const ParallelPlan& plan,
                          const std::string& name,
                          GemmShape gemm);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_GRADIENT_ADD_H

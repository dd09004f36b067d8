// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_FP8_OPERANDS_H
#define WEIR_COMPUTE_MODEL_LAYERS_FP8_OPERANDS_H

#include "compute-model/layers/segment-writer.h"
#include "compute-model/plan/parallel-plan.h"

#include <cstdint>
#include <string>

namespace weir
{

/** What one pass takes an operand for. */
enum class Fp8Use : uint8_t
{
    Once,          //!< a product of this pass
    Twice,         //!< two products of this pass, one of which takes it transposed
    NowAndBackward //!< one now, and one of the backward pass, which takes it transposed
};

/**
 * An operand turned to fp8; nothing in other formats. Transformer Engine reads it in 16 bits and
 * writes it in 8 both ways at once, with scales of steps before. torchao (without that library's
 * kernels) reads it for its largest value first, and keeps it in 16 bits for the backward pass,
 * which casts it once more (matmul_with_hp_or_float8_args).
 */
void WriteFp8Cast(SegmentWriter& writer,
                  const std::string& name,
                  uint64_t rows,
                  uint64_t columns,
                  Fp8Use use,
                  const ParallelPlan& plan);

/** An operand of the forward pass once more, transposed, where that pass has kept it wide. */
void WriteFp8Recast(SegmentWriter& writer,
                    const std::string& name,
                    uint64_t rows,
                    uint64_t columns,
                    const ParallelPlan& plan);

/** An operand in fp8 written once more, transposed; nothing in other formats. */
void WriteFp8Transpose(SegmentWriter& writer,
                       const std::string& name,
                       uint64_t rows,
                       uint64_t columns,
                       const ParallelPlan& plan);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_FP8_OPERANDS_H

// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_FP8_CASTS_H
#define WEIR_COMPUTE_MODEL_LAYERS_FP8_CASTS_H

#include "compute-model/layers/segment-writer.h"

#include <cstdint>
#include <string>

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
void WriteFp8Cast(
    SegmentWriter& writer, const std::string& name, uint64_t rows, uint64_t columns, Fp8Use use);

/**
 * Writes the second, transposed cast of a forward operand, where the forward pass kept it in 16
 * bits.
 */
void WriteFp8Recast(SegmentWriter& writer,
                    const std::string& name,
                    uint64_t rows,
                    uint64_t columns);

/** Writes the transpose of an fp8 operand; nothing in other precisions. */
void WriteFp8Transpose(SegmentWriter& writer,
                       const std::string& name,
                       uint64_t rows,
                       uint64_t columns);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_FP8_CASTS_H

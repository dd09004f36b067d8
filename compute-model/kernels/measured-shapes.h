// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_KERNELS_MEASURED_SHAPES_H
#define WEIR_COMPUTE_MODEL_KERNELS_MEASURED_SHAPES_H

#include "compute-model/models/precision.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace weir
{

/** Operand layouts of C[m,n] = A[m,k] B[k,n], as BLAS names them. */
enum class GemmLayout : uint8_t
{
    Tn, //!< forward: x W^T
    Nn, //!< input gradient
    Nt  //!< weight gradient
};

/** Measured range of one feature of a kernel; outside of it an estimate extrapolates. */
struct MeasuredRange
{
    double min{0};
    double max{0};

    bool Contains(double value) const
    {
        return value >= min && value <= max;
    }

    bool Contains(uint64_t value) const
    {
        return Contains(static_cast<double>(value));
    }
};

/** Measured GEMMs of one precision and layout. */
struct MeasuredGemms
{
    Precision precision{Precision::Bf16};
    GemmLayout layout{GemmLayout::Tn};
    bool isWordAligned{true}; //!< all rows are multiples of 16 bytes
    MeasuredRange m;
    MeasuredRange n;
    MeasuredRange k;
    MeasuredRange batch;
    MeasuredRange flops;
};

/** Measured fused attention under one mask, with as many keys as queries. */
struct MeasuredAttention
{
    Precision precision{Precision::Bf16};
    bool isCausal{true};
    MeasuredRange batch;
    MeasuredRange heads;
    MeasuredRange group; //!< query heads that share keys and values
    MeasuredRange sequence;
    MeasuredRange headDim;
    MeasuredRange flops; //!< forward, not halved for a causal mask
};

/** Measured memory-bound kernels of one kind. */
struct MeasuredMemory
{
    MeasuredRange bytes;
    std::optional<MeasuredRange> row; //!< bytes, of kinds whose time depends on the row length
};

/** Measured look-ups in one table in one direction. */
struct MeasuredLookups
{
    Precision precision{Precision::Fp32};
    bool isBackward{false};
    MeasuredRange rows; //!< of the table
    MeasuredRange dim;
    MeasuredRange bags;
    MeasuredRange pooling;
    MeasuredRange zipf; //!< exponent
};

/** Boxes of the kernels measured on a GPU: each feature from its minimum to its maximum. */
struct MeasuredShapes
{
    std::vector<MeasuredGemms> gemms;
    std::vector<MeasuredAttention> attention;
    std::vector<std::optional<MeasuredMemory>> memory; //!< by MemoryKernel; none: never measured
    std::vector<MeasuredLookups> lookups;
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_KERNELS_MEASURED_SHAPES_H

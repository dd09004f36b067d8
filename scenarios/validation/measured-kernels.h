// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_MEASURED_KERNELS_H
#define WEIR_SCENARIOS_VALIDATION_MEASURED_KERNELS_H

#include "compute-model/kernels/embedding-time.h"
#include "compute-model/kernels/kernel-time.h"
#include "scenarios/catalog.h"
#include "scenarios/yaml/yaml-node.h"

#include <string>
#include <variant>
#include <vector>

namespace weir
{

/** A fused attention kernel. */
struct AttentionCall
{
    AttentionShape shape;
    bool isBackward{false};
};

/** A memory-bound kernel. */
struct MemoryCall
{
    MemoryKernel kernel{MemoryKernel::Elementwise};
    Bytes bytes;
    Bytes rowBytes;
};

/** A table-batched embedding lookup, or its backward pass with plain gradient descent. */
struct EmbeddingCall
{
    IndexDistribution indices;
    EmbeddingShape shape;
    bool isBackward{false};
};

/** A kernel and its measured time. */
struct MeasuredKernel
{
    std::string name;
    std::vector<std::string> classes;
    std::variant<GemmShape, AttentionCall, MemoryCall, EmbeddingCall> call;
    double measured{0}; //!< seconds
};

/** Kernels measured on one GPU. */
struct MeasuredKernels
{
    Gpu gpu;
    ClockRegime clock{ClockRegime::Burst};
    std::vector<MeasuredKernel> kernels;
};

/**
 * Reads the map `kernels` of a suite: {gpu, clock, gemm, attention, memory, embedding}. `gpu` is a
 * GPU of the catalog; `clock` is `burst` (the default: a few calls after a pause) or `sustained`;
 * the others are CSV files next to the suite with these columns in the first line:
 *  - gemm: set, m, n, k, batch, layout, precision, output, time_us
 *  - attention: phase, mask, batch, heads, kvHeads, sequence, headDim, time_us
 *  - memory: kernel, bytes, rowBytes, time_us
 *  - embedding: phase, precision, rows, dim, bags, pooling, zipf, time_us
 *
 * Shapes are those of GemmShape, AttentionShape and KernelTimer::Memory; errors are grouped by
 * `set` and the kind of kernel.
 * @throws InputError with the location of what is missing, unknown or out of range.
 */
MeasuredKernels ReadMeasuredKernels(const YamlNode& node, const Catalog& catalog);

/** The GPU model's estimate of @p kernel in isolation, without launch gaps. */
KernelEstimate Predict(const KernelTimer& timer, const MeasuredKernel& kernel);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_MEASURED_KERNELS_H

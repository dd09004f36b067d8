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

/** A call of fused attention. */
struct AttentionCall
{
    AttentionShape shape;
    bool isBackward{false};
};

/** A kernel whose time is memory traffic. */
struct MemoryCall
{
    MemoryKernel kernel{MemoryKernel::Elementwise};
    Bytes bytes;
    Bytes rowBytes;
};

/** A table-batched look-up, or its backward pass with plain gradient descent. */
struct EmbeddingCall
{
    IndexDistribution indices;
    EmbeddingShape shape;
    bool isBackward{false};
};

/** One kernel and how long it was measured to take. */
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
 * The map `kernels` of a suite: {gpu, clock, gemm, attention, memory, embedding}, a GPU of the
 * catalogue, `burst` (the default: a few calls after a pause) or `sustained`, and up to four files
 * of comma-separated values beside the suite, each with these columns in its first line: gemm: set,
 * m, n, k, batch, layout, precision, output, time_us attention: phase, mask, batch, heads, kvHeads,
 * sequence, headDim, time_us memory:    kernel, bytes, rowBytes, time_us embedding: phase,
 * precision, rows, dim, bags, pooling, zipf, time_us Shapes are those of GemmShape, AttentionShape
 * and KernelTimer::Memory; `set` and the kind of kernel are the classes that errors are grouped by.
 * @throws InputError with the place of what is missing, unknown or out of range.
 */
MeasuredKernels ReadMeasuredKernels(const YamlNode& node, const Catalog& catalog);

/** What the GPU's kernel model says to @p kernel: the kernel alone, without gaps. */
KernelEstimate Predict(const KernelTimer& timer, const MeasuredKernel& kernel);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_MEASURED_KERNELS_H

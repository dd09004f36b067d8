// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_DESCRIBE_DESCRIBE_KERNEL_H
#define WEIR_SCENARIOS_DESCRIBE_DESCRIBE_KERNEL_H

#include "compute-model/kernels/embedding-time.h"
#include "compute-model/kernels/gpu.h"
#include "compute-model/kernels/kernel-time.h"

#include <string>

namespace weir
{

/** Time, rate and clock of a matrix multiplication in both clock regimes, and how it is cut. */
std::string DescribeGemm(const Gpu& gpu, const GemmShape& shape);

/** Time and rate of fused attention, forward and backward, in both clock regimes. */
std::string DescribeAttention(const Gpu& gpu, const AttentionShape& shape);

/** Time and rate of a memory-bound kernel, which has one regime. */
std::string DescribeMemoryKernel(const Gpu& gpu, MemoryKernel kernel, Bytes bytes, Bytes rowBytes);

/** What look-ups in an embedding table meet in caches, and their time forward and backward. */
std::string DescribeEmbedding(const Gpu& gpu,
                              const IndexDistribution& indices,
                              const EmbeddingShape& shape);

} // namespace weir

#endif // WEIR_SCENARIOS_DESCRIBE_DESCRIBE_KERNEL_H

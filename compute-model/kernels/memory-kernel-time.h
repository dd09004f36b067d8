// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_KERNELS_MEMORY_KERNEL_TIME_H
#define WEIR_COMPUTE_MODEL_KERNELS_MEMORY_KERNEL_TIME_H

#include "compute-model/kernels/kernel-time.h"

namespace weir
{

/**
 * Time of one kernel that moves @p bytes and computes little:
 *     t = floor + (stream^2 + latency^2)^(1/2)
 *     stream  = bytes / min(HBM rate e, SMs f b(row))
 *     latency = of one thread block, plus so much per KiB of a row
 * Memory limits most kernels; random numbers, conversions and passes over a row limit some by
 * instructions, b bytes per SM and clock, which carries over by SMs and clock instead. Between two
 * measured row lengths log b is linear in the log of the row length; beyond them it is constant.
 * Such kernels run at the boost clock in both regimes (measured on an H200).
 * @throws std::invalid_argument when @p bytes or @p rowBytes is negative.
 */
KernelEstimate MemoryKernelTime(const Gpu& gpu, MemoryKernel kernel, Bytes bytes, Bytes rowBytes);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_KERNELS_MEMORY_KERNEL_TIME_H

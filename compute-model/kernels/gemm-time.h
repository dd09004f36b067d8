// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_KERNELS_GEMM_TIME_H
#define WEIR_COMPUTE_MODEL_KERNELS_GEMM_TIME_H

#include "compute-model/kernels/kernel-time.h"

namespace weir
{

/** Partition of a GEMM over the SMs. */
struct GemmPlan
{
    GemmTile tile;
    uint32_t splits{1}; //!< parts of the inner dimension, each with its own thread blocks (split-K)
    uint64_t waves{0};  //!< tiles that the busiest SM computes
    double clockHz{0};  //!< SM clock while it runs
};

/**
 * Width of the widest load, in bytes. Rows that are not multiples of it cannot use the fast
 * kernels.
 */
constexpr uint32_t WORD_BYTES = 16;

/**
 * Partition that KernelTimer::Gemm uses for @p shape.
 * @throws std::invalid_argument as KernelTimer::Gemm.
 */
GemmPlan PlanGemm(const Gpu& gpu, ClockRegime regime, const GemmShape& shape);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_KERNELS_GEMM_TIME_H

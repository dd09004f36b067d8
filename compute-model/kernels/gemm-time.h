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
    double utilization{0}; //!< tensor clocks over all clocks
    double clockHz{0};     //!< SM clock while it runs
};

/**
 * Time of one GEMM C[m,n] = A[m,k] B[k,n] in a library that has the GPU's tiles and chooses well
 * among them.
 *
 * For a tile of r x c elements and the inner dimension split into s parts:
 *     W      = ceil(ceil(m/r) ceil(n/c) batch s / SMs)            tiles of the busiest SM
 *     clocks = k/s (tensor^p + load^p)^(1/p),  tensor = 2 max(r,c,64) min(r,c) / (rate e),
 *                                              load = (r + c) bytes / operand rate
 *     t_sm   = W (clocks / f + overhead) + epilogue (1 + (W - 1) exposed)
 *     t_hbm  = operand and output bytes / (HBM rate e_hbm)
 *     t      = floor + (t_sm^p + t_hbm^p)^(1/p) [+ split floor + 4 m n s / (HBM rate e_hbm)]
 * The tile and split with the least t at the boost clock are used; then f follows from the tensor
 * utilization (TensorClock). Rows that are not multiples of 128-byte cache lines multiply the cost
 * of loads and stores by a factor. Rows that are not multiples of 16 bytes run on older kernels
 * with few tiles, whose math waits for loads of single words. With L loads per SM and clock, of the
 * widest words (w bytes) that divide all rows, clocks = k/s (tensor + (r + c) bytes / (L w)).
 * `accumulateFp32` reads and writes C in four bytes, `accumulate` in its own precision. fp8 GEMMs
 * for gradients (Nn, Nt) accumulate in full precision, forward ones in the tensor cores' short
 * accumulators, as in Transformer Engine and torchao.
 *
 * @throws std::invalid_argument when a dimension is zero or the GPU has no matrix rate for the
 *         precision.
 * Complexity: tiles times splits, about a hundred evaluations at most.
 */
KernelEstimate GemmTime(const Gpu& gpu, ClockRegime regime, const GemmShape& shape);

/**
 * Width of the widest load, in bytes. Rows that are not multiples of it cannot use the fast
 * kernels.
 */
constexpr uint32_t WORD_BYTES = 16;

/** Partition that GemmTime uses for @p shape. @throws std::invalid_argument as GemmTime. */
GemmPlan PlanGemm(const Gpu& gpu, ClockRegime regime, const GemmShape& shape);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_KERNELS_GEMM_TIME_H

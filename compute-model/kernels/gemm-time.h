// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_KERNELS_GEMM_TIME_H
#define WEIR_COMPUTE_MODEL_KERNELS_GEMM_TIME_H

#include "compute-model/kernels/kernel-time.h"

namespace weir
{

/** How a matrix multiplication is cut over the SMs. */
struct GemmPlan
{
    GemmTile tile;
    uint32_t splits{1};    //!< parts of the inner dimension, each with thread blocks of its own
    uint64_t waves{0};     //!< tiles that the busiest SM computes
    double utilization{0}; //!< tensor clocks over all clocks
    double clockHz{0};     //!< SM clock while it runs
};

/**
 * Time of one matrix multiplication C[m,n] = A[m,k] B[k,n], as a library that has the GPU's tiles
 * and chooses well among them would need.
 *
 * For a tile of r x c elements and the inner dimension split in s parts:
 *     W      = ceil(ceil(m/r) ceil(n/c) batch s / SMs)            tiles of the busiest SM
 *     clocks = k/s (tensor^p + load^p)^(1/p),  tensor = 2 max(r,c,64) min(r,c) / (rate e),
 *                                              load = (r + c) bytes / operand rate
 *     t_sm   = W (clocks / f + overhead) + epilogue (1 + (W - 1) exposed)
 *     t_hbm  = operand and output bytes / (HBM rate e_hbm)
 *     t      = floor + (t_sm^p + t_hbm^p)^(1/p) [+ split floor + 4 m n s / (HBM rate e_hbm)]
 * The tile and split of least t at the boost clock are taken, then f follows from the tensor
 * utilization (TensorClock). Rows that are not whole 128-byte lines cost loads and stores a
 * factor. Rows that are not whole 16-byte words run on older kernels of few tiles, whose products
 * wait for loads of single words: with L of them an SM and clock, each of the w bytes that all rows
 * are whole multiples of, clocks = k/s (tensor + (r + c) bytes / (L w)).
 * `accumulateFp32` reads and writes C in four bytes, `accumulate` in its own. fp8 products of
 * gradients (Nn, Nt) sum in full, forward ones in the tensor cores' short accumulators, as
 * Transformer Engine and torchao have it.
 *
 * @throws std::invalid_argument when a dimension is zero or the GPU has no such precision.
 * Complexity: tiles times splits, about a hundred evaluations at most.
 */
KernelEstimate GemmTime(const Gpu& gpu, ClockRegime regime, const GemmShape& shape);

/** The widest load, in bytes: rows that are not multiples of it leave the fast kernels. */
constexpr uint32_t WORD_BYTES = 16;

/** Bytes of a row of each matrix as it lies in memory; fp8 products give 16 bits. */
struct GemmRows
{
    explicit GemmRows(const GemmShape& shape);

    uint64_t a{0};
    uint64_t b{0};
    uint64_t c{0};
};

/** How GemmTime cuts @p shape. @throws std::invalid_argument as GemmTime. */
GemmPlan PlanGemm(const Gpu& gpu, ClockRegime regime, const GemmShape& shape);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_KERNELS_GEMM_TIME_H

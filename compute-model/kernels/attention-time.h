// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_KERNELS_ATTENTION_TIME_H
#define WEIR_COMPUTE_MODEL_KERNELS_ATTENTION_TIME_H

#include "compute-model/kernels/kernel-time.h"

namespace weir
{

/**
 * Time of one fused attention forward over s queries and as many keys and values, or more or fewer.
 *
 * A thread block takes a tile of q query rows of one head (Dao 2023, FlashAttention-2, section
 * 3.1) past all key blocks of q columns, under a causal mask only those up to its own. One pair
 * of blocks takes
 *     u = 4 q^2 ((d / e)^2 + w^2)^(1/2) / tensor rate
 * clocks: products of head dim d (padded) at efficiency e, beside a softmax worth w columns that
 * partly hides behind them. With N = ceil(s/q) tiles per head and o the tile overhead, the
 * longest tile takes L = N u + o, the mean one M = (N + 1)/2 u + o if causal, else L (with K key
 * blocks L = K u + o and M = (K - (N - 1)/2) u + o, the last queries seeing all keys). Tiles are
 * assigned to SMs in order, so over T = N heads batch tiles
 *     causal: max(L / alone, T M / SMs + tail L),     else: max(L / alone, ceil(T / SMs) L).
 * The memory traffic of the operands over the HBM rate, and the floor, add to it; the clock
 * follows from the tensor utilization (TensorClock).
 *
 * FLOPs are the useful ones: 4 b h s^2 d, half of it if causal. With fewer kvHeads than heads
 * only the traffic shrinks.
 * @throws std::invalid_argument when a dimension is zero or the GPU has no such precision.
 */
KernelEstimate AttentionForwardTime(const Gpu& gpu,
                                    ClockRegime regime,
                                    const AttentionShape& shape);

/**
 * Time of one fused attention backward, its helper kernels included: as the forward with tiles of
 * key rows, five products instead of two (2.5 times the FLOPs) and twice the operands.
 * @throws std::invalid_argument as AttentionForwardTime.
 */
KernelEstimate AttentionBackwardTime(const Gpu& gpu,
                                     ClockRegime regime,
                                     const AttentionShape& shape);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_KERNELS_ATTENTION_TIME_H

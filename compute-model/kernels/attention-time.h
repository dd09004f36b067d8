// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_KERNELS_ATTENTION_TIME_H
#define WEIR_COMPUTE_MODEL_KERNELS_ATTENTION_TIME_H

#include "compute-model/kernels/kernel-time.h"

namespace weir
{

/**
 * Time of one fused attention forward pass over s queries and s keys and values, or another number
 * of keys.
 *
 * A thread block processes a tile of q query rows of one head (Dao 2023, FlashAttention-2, section
 * 3.1) against all key blocks of q columns, or under a causal mask those up to its own. One pair of
 * blocks takes
 *     u = 4 q^2 ((d / e)^2 + w^2)^(1/2) / tensor rate
 * clocks: GEMMs of head dim d (padded) at efficiency e, and a softmax equivalent to w columns that
 * the GEMMs partly hide. With N = ceil(s/q) tiles per head and tile overhead o, the longest tile
 * takes L = N u + o, the mean tile M = (N + 1)/2 u + o if causal, else L. With K key blocks these
 * are
 *     L = K u + o,     M = (K - (N - 1)/2) u + o,
 * since the last queries see all keys. Tiles are assigned to SMs in order. The T = N heads batch
 * tiles form W = ceil(T / SMs) waves. A lone tile reaches the share r of an SM's rate. All tiles
 * take
 *     causal: max(L / r, min(W L, T M / SMs + tail L)),     else: max(L / r, W L).
 * The memory traffic of the operands over the HBM rate, and the floor, are added. The clock follows
 * from the tensor utilization (TensorClock).
 *
 * FLOPs are the useful ones: 4 b h s^2 d, half of it if causal. Fewer kvHeads than heads reduce
 * only the traffic.
 * @throws std::invalid_argument when a dimension is zero, a causal mask has fewer keys than
 *         queries, or the GPU has no matrix rate for the precision.
 */
KernelEstimate AttentionForwardTime(const Gpu& gpu,
                                    ClockRegime regime,
                                    const AttentionShape& shape);

/**
 * Time of one fused attention backward pass, its helper kernels included. It follows the forward
 * pass with tiles of key rows, five GEMMs instead of two (2.5 times the FLOPs) and twice the
 * operands.
 * @throws std::invalid_argument as AttentionForwardTime.
 */
KernelEstimate AttentionBackwardTime(const Gpu& gpu,
                                     ClockRegime regime,
                                     const AttentionShape& shape);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_KERNELS_ATTENTION_TIME_H

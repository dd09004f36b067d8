// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_KERNELS_EMBEDDING_TIME_H
#define WEIR_COMPUTE_MODEL_KERNELS_EMBEDDING_TIME_H

#include "compute-model/kernels/index-distribution.h"
#include "compute-model/kernels/kernel-time.h"

#include <cstdint>
#include <vector>

namespace weir
{

/** A batch of bags, each the sum of some rows of one table (torch.nn.EmbeddingBag). */
struct EmbeddingShape
{
    uint64_t bags{0};    //!< samples
    uint64_t pooling{1}; //!< rows per bag
    uint64_t dim{0};     //!< elements per row
    Precision precision{Precision::Fp32};
    uint32_t shards{1}; //!< GPUs that each hold an equal part of the rows; figures are per GPU,
                        //!< which sums the rows of each bag that it holds
};

/** A batch of bags of one table. */
struct EmbeddingLookup
{
    IndexDistribution indices;
    EmbeddingShape shape;
    double rowState{0}; //!< bytes of optimizer state per row
};

/** Traffic and cache hits of a look-up. */
struct EmbeddingTraffic
{
    double lookups{0};
    double uniqueRows{0};
    double l1Hits{0}; //!< share of look-ups that hit in an SM's L1
    double l2Hits{0}; //!< share of L1 misses that hit in the L2
    double dramBytes{0};
    double l2Bytes{0};
    double l1Bytes{0};
};

/**
 * Traffic of a look-up on one GPU. The shards split the rows, and each has its own caches: a shard
 * has its part of the misses that the whole stream would have with caches `shards` times as large.
 * @throws std::invalid_argument when a dimension is zero.
 */
EmbeddingTraffic EmbeddingTrafficOf(const Gpu& gpu,
                                    const IndexDistribution& indices,
                                    const EmbeddingShape& shape);

/**
 * Time of one table-batched forward look-up (one warp per bag and 16-byte loads, as in FBGEMM).
 *
 * Rows are read in sectors of 32 bytes from an SM's L1, the L2 or memory. IndexDistribution::Misses
 * gives the misses of caches of these sizes, which the tables of a batch use one after another.
 * Indices are read and sums are written once. The three streams overlap:
 *     stream = (dram^p + l2^p + l1^p)^(1/p),
 *     t = floor + (stream^2 + latency^2)^(1/2).
 * The latency is that of a bag's rows, which are looked up one after another, for a limited number
 * of concurrent bags per SM. Sums of 16-bit rows access the L2 three times (half sectors are
 * stored). Measured on an H200 with one table; the rates scale with SMs, clock and memory
 * bandwidth.
 * @throws std::invalid_argument as EmbeddingTrafficOf, or without tables.
 */
KernelEstimate EmbeddingForwardTime(const Gpu& gpu, const std::vector<EmbeddingLookup>& batch);

/**
 * Time of the backward pass fused with plain gradient descent: each look-up subtracts its bag's
 * gradient from its row by 16-byte atomic additions in the L2. Rows are read from memory and
 * written back. Additions to one row are serialized, so the most used row of all tables can be the
 * bottleneck:
 *     stream = (dram^p + l2^p + hottest^p)^(1/p),
 *     t = floor + (stream^2 + latency^2)^(1/2).
 * @throws std::invalid_argument as EmbeddingForwardTime.
 */
KernelEstimate EmbeddingBackwardTime(const Gpu& gpu, const std::vector<EmbeddingLookup>& batch);

/**
 * Time of a backward pass that updates each row once with the sum of its gradients, after a sort of
 * the look-ups by row (FBGEMM's exact optimizers). The bags' gradients are read once per look-up,
 * from memory where they miss in the L2. Rows and their optimizer state are read and written once
 * per distinct row. Uses the rates of the forward kernel; not measured.
 * @throws std::invalid_argument as EmbeddingForwardTime.
 */
KernelEstimate EmbeddingExactUpdateTime(const Gpu& gpu, const std::vector<EmbeddingLookup>& batch);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_KERNELS_EMBEDDING_TIME_H

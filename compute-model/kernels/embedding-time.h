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
    uint64_t pooling{1}; //!< rows of a bag
    uint64_t dim{0};     //!< elements of a row
    Precision precision{Precision::Fp32};
    uint32_t shards{1}; //!< GPUs that each have so many a part of the rows; figures are of one of
                        //!< them, which sums for every bag what it has
};

/** A batch of bags of one table. */
struct EmbeddingLookup
{
    IndexDistribution indices;
    EmbeddingShape shape;
    double rowState{0}; //!< bytes that an optimizer keeps of each row
};

/** What a look-up moves, and how often caches save it. */
struct EmbeddingTraffic
{
    double lookups{0};
    double uniqueRows{0};
    double l1Hits{0}; //!< look-ups whose row an SM still holds
    double l2Hits{0}; //!< of all look-ups, those that reach the L2 and find their row there
    double dramBytes{0};
    double l2Bytes{0};
    double l1Bytes{0};
};

/**
 * Of one GPU. A shard of the rows with its own caches misses what the whole stream would with
 * caches so many times as large, its part of it.
 * @throws std::invalid_argument when a dimension is zero.
 */
EmbeddingTraffic EmbeddingTrafficOf(const Gpu& gpu,
                                    const IndexDistribution& indices,
                                    const EmbeddingShape& shape);

/**
 * Time of one table-batched forward look-up (one warp a bag and 16-byte loads, as FBGEMM has it).
 *
 * Rows come in sectors of 32 bytes from an SM's L1, the L2 or memory, as IndexDistribution::Misses
 * says of caches of their sizes, which the tables of a batch have one after another; indices are
 * read and sums written once. The three streams overlap:
 *     stream = (dram^p + l2^p + l1^p)^(1/p),
 *     t = floor + (stream^2 + latency^2)^(1/2),
 * latency being that of a bag's rows, met one after another by so many bags an SM at a time.
 * Sums of 16-bit rows go through the L2 three times (half sectors are stored).
 * Measured on an H200 with one table; rates carry over by SMs, clock and memory bandwidth.
 * @throws std::invalid_argument as EmbeddingTrafficOf, or without tables.
 */
KernelEstimate EmbeddingForwardTime(const Gpu& gpu, const std::vector<EmbeddingLookup>& batch);

/** ... of one table. */
KernelEstimate EmbeddingForwardTime(const Gpu& gpu,
                                    const IndexDistribution& indices,
                                    const EmbeddingShape& shape);

/**
 * Time of the backward pass fused with plain gradient descent: each look-up subtracts its bag's
 * gradient from its row by 16-byte atomic additions in the L2. Rows come from memory and go back;
 * additions to one row follow one another, so that the most used row of all tables can take
 * longest: t = floor + (stream^2 + latency^2)^(1/2), stream = (dram^p + l2^p + hottest^p)^(1/p).
 * @throws std::invalid_argument as EmbeddingForwardTime.
 */
KernelEstimate EmbeddingBackwardTime(const Gpu& gpu, const std::vector<EmbeddingLookup>& batch);

/** ... of one table. */
KernelEstimate EmbeddingBackwardTime(const Gpu& gpu,
                                     const IndexDistribution& indices,
                                     const EmbeddingShape& shape);

/**
 * Time of a backward pass that updates each row once with the sum of its gradients, the look-ups
 * sorted by row before (FBGEMM's exact optimizers): gradients of the bags are read per look-up, as
 * often from memory as an L2 misses them, rows and what the optimizer keeps of them are read and
 * written once per distinct row. Carried from the rates of the other two; not measured.
 * @throws std::invalid_argument as EmbeddingForwardTime.
 */
KernelEstimate EmbeddingExactUpdateTime(const Gpu& gpu, const std::vector<EmbeddingLookup>& batch);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_KERNELS_EMBEDDING_TIME_H

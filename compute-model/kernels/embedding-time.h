// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_KERNELS_EMBEDDING_TIME_H
#define WEIR_COMPUTE_MODEL_KERNELS_EMBEDDING_TIME_H

#include "compute-model/kernels/index-distribution.h"
#include "compute-model/kernels/kernel-time.h"

#include <cstdint>

namespace weir
{

/** A batch of bags, each the sum of some rows of one table (torch.nn.EmbeddingBag). */
struct EmbeddingShape
{
    uint64_t bags{0};    //!< samples
    uint64_t pooling{1}; //!< rows of a bag
    uint64_t dim{0};     //!< elements of a row
    Precision precision{Precision::Fp32};
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

/** @throws std::invalid_argument when a dimension is zero. */
EmbeddingTraffic EmbeddingTrafficOf(const Gpu& gpu,
                                    const IndexDistribution& indices,
                                    const EmbeddingShape& shape);

/**
 * Time of a table-batched forward look-up (one warp a bag and 16-byte loads, as FBGEMM has it).
 *
 * Rows come in sectors of 32 bytes from an SM's L1, the L2 or memory, as IndexDistribution::Misses
 * says of caches of their sizes; indices are read and sums written once. The three streams overlap:
 *     stream = (dram^p + l2^p + l1^p)^(1/p),
 *     t = floor + (stream^2 + latency^2)^(1/2),
 * latency being that of a bag's rows, met one after another by so many bags an SM at a time.
 * Measured on an H200; rates carry over by SMs, clock and memory bandwidth.
 * @throws std::invalid_argument as EmbeddingTrafficOf.
 */
KernelEstimate EmbeddingForwardTime(const Gpu& gpu,
                                    const IndexDistribution& indices,
                                    const EmbeddingShape& shape);

/**
 * Time of the backward pass fused with plain gradient descent: each look-up subtracts its bag's
 * gradient from its row by 16-byte atomic additions in the L2. Rows come from memory and go back;
 * additions to one row follow one another, so that the most used row can take longest:
 *     t = floor + (stream^2 + latency^2)^(1/2), stream = (dram^p + l2^p + hottest^p)^(1/p).
 * @throws std::invalid_argument as EmbeddingTrafficOf.
 */
KernelEstimate EmbeddingBackwardTime(const Gpu& gpu,
                                     const IndexDistribution& indices,
                                     const EmbeddingShape& shape);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_KERNELS_EMBEDDING_TIME_H

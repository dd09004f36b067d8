// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_PLAN_EMBEDDING_SHARDING_H
#define WEIR_COMPUTE_MODEL_PLAN_EMBEDDING_SHARDING_H

#include "fabric/units.h"

#include <cstdint>
#include <limits>

namespace weir
{

/** How the embedding tables of a recommendation model lie on its ranks. */
enum class EmbeddingPlacement : uint8_t
{
    Tables, //!< each table on one rank (Mudigere et al. 2022, arXiv 2104.05158, table-wise)
    Rows,   //!< each table on all ranks, every rank a part of its rows (row-wise)
    Columns //!< each table in parts of some columns, each part on one rank (column-wise)
};

/** What whole tables are distributed by, largest first, each to the rank that has least so far. */
enum class EmbeddingBalance : uint8_t
{
    Lookups, //!< elements looked up per sample: pooling times width
    Size     //!< bytes of the table
};

/** Which update the look-ups' gradients lead to. */
enum class EmbeddingOptimizer : uint8_t
{
    Sgd,            //!< subtracted where they fall, nothing else kept
    RowwiseAdagrad, //!< one number kept per row (FBGEMM's EXACT_ROWWISE_ADAGRAD)
    Adagrad         //!< one number kept per element
};

/** How embedding tables are spread over replicas of the dense part, and updated. */
struct EmbeddingSharding
{
    EmbeddingPlacement placement{EmbeddingPlacement::Tables};
    EmbeddingBalance balance{EmbeddingBalance::Lookups};
    Bytes splitAbove{std::numeric_limits<int64_t>::max()}; //!< larger tables go by rows whatever
                                                           //!< the placement
    Bytes splitColumnsAbove{std::numeric_limits<int64_t>::max()}; //!< larger tables go by columns
                                                                  //!< whatever the placement, but
                                                                  //!< those that go by rows
    uint32_t columnWidth{128}; //!< of a part (TorchRec's MIN_CW_DIM, planner/constants.py); the
                               //!< last one of a table can be narrower
    EmbeddingOptimizer optimizer{EmbeddingOptimizer::RowwiseAdagrad};
    bool exchangeIndices{true}; //!< each rank reads its own samples and sends their indices to
                                //!< where the rows are, one step ahead (TorchRec's pipeline); else
                                //!< each rank reads the indices of its tables itself
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_PLAN_EMBEDDING_SHARDING_H

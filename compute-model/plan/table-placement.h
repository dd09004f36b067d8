// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_PLAN_TABLE_PLACEMENT_H
#define WEIR_COMPUTE_MODEL_PLAN_TABLE_PLACEMENT_H

#include "compute-model/models/layer-table.h"
#include "compute-model/plan/parallel-plan.h"

#include <cstdint>
#include <vector>

namespace weir
{

/** Placement of a model's embedding tables, as indices into LayerTable::embeddings. */
struct TablePlacement
{
    std::vector<std::vector<uint32_t>>
        whole;                   //!< by rank: tables that the rank holds whole, ascending
    std::vector<uint32_t> split; //!< tables split by rows over all ranks
};

/**
 * Copies @p table with each embedding table that @p plan splits by columns replaced by parts of
 * EmbeddingSharding::columnWidth columns. Each part is then a table of its own with the same
 * look-ups (Mudigere et al. 2022, column-wise; TorchRec also sends the indices to every part).
 */
LayerTable SplitByColumns(const LayerTable& table, const ParallelPlan& plan);

/** Bytes of a table's rows, in 32 bits. */
Bytes TableBytes(const EmbeddingTable& table);

/** Bytes of optimizer state per row of @p table. */
double RowStateBytes(const EmbeddingTable& table, EmbeddingOptimizer optimizer);

/**
 * Assigns the embedding tables of @p table (from SplitByColumns) to the replicas of @p plan. Tables
 * that are split go to all ranks. Whole tables go, largest first, to the rank with the least load
 * so far (Graham 1969, longest processing time first: at most 4/3 of the optimal maximum load).
 * Ties are broken by index. Complexity O(tables x ranks).
 */
TablePlacement AssignTables(const LayerTable& table, const ParallelPlan& plan);

/** Total elements of the pooled rows of @p tables, per sample. */
uint64_t PooledElements(const LayerTable& table, const std::vector<uint32_t>& tables);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_PLAN_TABLE_PLACEMENT_H

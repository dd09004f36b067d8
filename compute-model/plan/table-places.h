// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_PLAN_TABLE_PLACES_H
#define WEIR_COMPUTE_MODEL_PLAN_TABLE_PLACES_H

#include "compute-model/models/layer-table.h"
#include "compute-model/plan/parallel-plan.h"

#include <cstdint>
#include <vector>

namespace weir
{

/** Where a model's embedding tables lie; tables are numbers into LayerTable::embeddings. */
struct TablePlaces
{
    std::vector<std::vector<uint32_t>> whole; //!< by rank: tables that it holds all of, ascending
    std::vector<uint32_t> split;              //!< tables of which every rank holds so many a row
};

/**
 * @p table with the embedding tables that @p plan cuts by columns in parts of EmbeddingSharding::
 * columnWidth: each part is a table of its own from there on, with the same look-ups (Mudigere et
 * al. 2022, column-wise; TorchRec sends its indices to every part similarly).
 */
LayerTable InColumnParts(const LayerTable& table, const ParallelPlan& plan);

/** Bytes of a table's rows, which are kept in 32 bits. */
Bytes TableBytes(const EmbeddingTable& table);

/** Bytes that the plan's optimizer keeps of each row of @p table. */
double RowStateBytes(const EmbeddingTable& table, EmbeddingOptimizer optimizer);

/**
 * Deals the embedding tables of @p table (InColumnParts) out over the replicas of @p plan: those to
 * be split to all, the others whole, the largest first, each to the rank that has least so far
 * (Graham 1969, longest processing time first: at most 4/3 of the best balance); ties go by number.
 * O(tables x ranks)
 */
TablePlaces PlaceTables(const LayerTable& table, const ParallelPlan& plan);

/** Elements that the pooled rows of @p tables have together. */
uint64_t PooledElements(const LayerTable& table, const std::vector<uint32_t>& tables);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_PLAN_TABLE_PLACES_H

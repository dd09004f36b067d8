// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/plan/table-placement.h"

#include <algorithm>

namespace weir
{

namespace
{

bool
IsSplit(const EmbeddingTable& table, const ParallelPlan& plan)
{
    return plan.data > 1 && (plan.embeddings.placement == EmbeddingPlacement::Rows ||
                             TableBytes(table) > plan.embeddings.splitAbove);
}

bool
IsCut(const EmbeddingTable& table, const ParallelPlan& plan)
{
    return plan.data > 1 && !IsSplit(table, plan) &&
           (plan.embeddings.placement == EmbeddingPlacement::Columns ||
            TableBytes(table) > plan.embeddings.splitColumnsAbove);
}

/** Load of a table in the assignment of tables to ranks. */
double
WeightOf(const EmbeddingTable& table, EmbeddingBalance balance)
{
    return balance == EmbeddingBalance::Size ? TableBytes(table).ToDouble()
                                             : static_cast<double>(table.LookedUp());
}

} // namespace

LayerTable
SplitByColumns(const LayerTable& table, const ParallelPlan& plan)
{
    LayerTable parts = table;
    parts.embeddings.clear();
    for (const EmbeddingTable& whole : table.embeddings)
    {
        uint32_t left = whole.dim;
        while (IsCut(whole, plan) && left > plan.embeddings.columnWidth)
        {
            parts.embeddings.push_back(whole);
            parts.embeddings.back().dim = plan.embeddings.columnWidth;
            left -= plan.embeddings.columnWidth;
        }
        parts.embeddings.push_back(whole);
        parts.embeddings.back().dim = left;
    }
    return parts;
}

Bytes
TableBytes(const EmbeddingTable& table)
{
    return Bytes::Nearest(table.Parameters() * FP32_BYTES);
}

double
RowStateBytes(const EmbeddingTable& table, EmbeddingOptimizer optimizer)
{
    switch (optimizer)
    {
    case EmbeddingOptimizer::Sgd:
        return 0;
    case EmbeddingOptimizer::RowwiseAdagrad:
        return FP32_BYTES;
    case EmbeddingOptimizer::Adagrad:
        return FP32_BYTES * table.dim;
    }
    return 0;
}

TablePlacement
AssignTables(const LayerTable& table, const ParallelPlan& plan)
{
    TablePlacement placement;
    placement.whole.resize(plan.data);
    std::vector<uint32_t> whole;
    for (uint32_t i = 0; i < table.embeddings.size(); i++)
    {
        (IsSplit(table.embeddings[i], plan) ? placement.split : whole).push_back(i);
    }
    const auto weight = [&](uint32_t i) {
        return WeightOf(table.embeddings[i], plan.embeddings.balance);
    };
    std::stable_sort(
        whole.begin(), whole.end(), [&](uint32_t a, uint32_t b) { return weight(a) > weight(b); });
    std::vector<double> held(plan.data, 0);
    for (const uint32_t i : whole)
    {
        const auto lightest = std::min_element(held.begin(), held.end());
        *lightest += weight(i);
        placement.whole[static_cast<std::size_t>(lightest - held.begin())].push_back(i);
    }
    for (auto& tables : placement.whole)
    {
        std::sort(tables.begin(), tables.end());
    }
    return placement;
}

uint64_t
PooledElements(const LayerTable& table, const std::vector<uint32_t>& tables)
{
    uint64_t sum = 0;
    for (const uint32_t i : tables)
    {
        sum += table.embeddings[i].dim;
    }
    return sum;
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/embedding-exchange.h"

#include "compute-model/layers/segment-writer.h"

#include <algorithm>

namespace weir
{

namespace
{

/** Which side of an all-to-all a rank's figure stands for. */
enum class Side : uint8_t
{
    Gives,
    Takes
};

/** Every rank gives, or takes from, every other as much as its entry of @p perRank says. */
ReplicaExchange
Exchange(const std::vector<Bytes>& perRank, Side side, StepGraph& graph)
{
    const std::size_t ranks = perRank.size();
    ReplicaExchange exchange;
    const Bytes most = *std::max_element(perRank.begin(), perRank.end());
    if (ranks < 2 || most == Bytes())
    {
        return exchange;
    }
    if (std::all_of(perRank.begin(), perRank.end(), [&](Bytes one) { return one == most; }))
    {
        exchange.bytes = most * static_cast<int64_t>(ranks);
        return exchange;
    }
    TrafficParts parts(ranks);
    for (std::size_t from = 0; from < ranks; from++)
    {
        parts[from] = side == Side::Gives ? std::vector<Bytes>(ranks, perRank[from]) : perRank;
        Bytes row;
        for (const Bytes part : parts[from])
        {
            row += part;
        }
        exchange.bytes = std::max(exchange.bytes, row);
    }
    exchange.traffic = static_cast<uint16_t>(graph.traffics.size());
    graph.traffics.push_back(std::move(parts));
    return exchange;
}

/** Rows that a sample looks up in @p tables. */
double
LookupsOf(const LayerTable& table, const std::vector<uint32_t>& tables)
{
    double lookups = 0;
    for (const uint32_t i : tables)
    {
        lookups += table.embeddings[i].pooling;
    }
    return lookups;
}

} // namespace

EmbeddingExchange
ExchangeOf(const LayerTable& table,
           const TablePlaces& places,
           const ParallelPlan& plan,
           StepGraph& graph)
{
    constexpr double INDEX_BYTES = 8;  // int64
    constexpr double LENGTH_BYTES = 4; // int32: rows of a bag
    const double samples = plan.microBatch;
    const double element = ActivationBytes(plan.precision);
    std::vector<Bytes> pooled;
    std::vector<Bytes> indices;
    for (const auto& whole : places.whole)
    {
        pooled.push_back(
            Bytes::Nearest(samples * static_cast<double>(PooledElements(table, whole)) * element));
        const double lookups = LookupsOf(table, whole) + LookupsOf(table, places.split) / plan.data;
        const double bags = static_cast<double>(whole.size() + places.split.size());
        indices.push_back(Bytes::Nearest(samples * (lookups * INDEX_BYTES + bags * LENGTH_BYTES)));
    }
    EmbeddingExchange exchange;
    exchange.pooled = Exchange(pooled, Side::Gives, graph);
    exchange.gradients = Exchange(pooled, Side::Takes, graph);
    if (plan.embeddings.exchangeIndices)
    {
        exchange.indices = Exchange(indices, Side::Takes, graph);
    }
    exchange.split = Bytes::Nearest(samples * plan.data * element *
                                    static_cast<double>(PooledElements(table, places.split)));
    return exchange;
}

} // namespace weir

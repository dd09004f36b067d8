// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/embedding-bag-kernels.h"

#include "compute-model/kernels/embedding-time.h"

#include <cmath>
#include <string>
#include <vector>

namespace weir
{

namespace
{

/** Look-ups of some tables of a rank in one kernel. */
struct LookupBatch
{
    std::string name;
    std::vector<EmbeddingLookup> tables;

    double Lookups() const
    {
        double sum = 0;
        for (const EmbeddingLookup& one : tables)
        {
            sum += static_cast<double>(one.shape.bags) * static_cast<double>(one.shape.pooling) /
                   one.shape.shards;
        }
        return sum;
    }

    double Rows() const
    {
        double sum = 0;
        for (const EmbeddingLookup& one : tables)
        {
            sum += one.indices.Rows() / one.shape.shards;
        }
        return sum;
    }
};

LookupBatch
BatchOf(const char* name,
        const LayerTable& table,
        const std::vector<uint32_t>& tables,
        const ParallelPlan& plan,
        uint32_t shards)
{
    LookupBatch batch{name, {}};
    for (const uint32_t i : tables)
    {
        const EmbeddingTable& one = table.embeddings[i];
        EmbeddingShape shape;
        shape.bags = uint64_t{plan.microBatch} * plan.data;
        shape.pooling = one.pooling;
        shape.dim = one.dim;
        shape.shards = shards;
        batch.tables.push_back(
            {IndexDistribution::Of(one), shape, RowStateBytes(one, plan.embeddings.optimizer)});
    }
    return batch;
}

/** Those of a rank that are not empty. */
std::vector<LookupBatch>
BatchesOf(const LayerTable& table,
          const TablePlaces& places,
          uint32_t rank,
          const ParallelPlan& plan)
{
    std::vector<LookupBatch> batches;
    for (const LookupBatch& batch :
         {BatchOf("embedding tables", table, places.whole[rank], plan, 1),
          BatchOf("embedding row shards", table, places.split, plan, plan.data)})
    {
        if (!batch.tables.empty())
        {
            batches.push_back(batch);
        }
    }
    return batches;
}

/**
 * Sorts look-ups by row: a radix sort of 8 bits a pass (CUB), a 64-bit key and a 32-bit place of
 * each look-up read and written.
 */
void
WriteSort(KernelTable& kernels, const LookupBatch& batch)
{
    constexpr double PASS_BITS = 8;
    constexpr double KEY_BYTES = 8;
    constexpr double PLACE_BYTES = 4;
    const double scatter = kernels.GetGpu().kernels.operators.sortPass;
    const auto lookups = static_cast<uint64_t>(std::ceil(batch.Lookups()));
    const auto passes =
        static_cast<uint32_t>(std::ceil(std::log2(std::max(2.0, batch.Rows())) / PASS_BITS));
    for (uint32_t pass = 0; pass < passes; pass++)
    {
        kernels.Memory(batch.name + " sort counts", MemoryKernel::Elementwise, lookups, 1, 0, 0);
        kernels.Memory(batch.name + " sort offsets", MemoryKernel::Elementwise, 1, 1, 0, 0);
        kernels.Memory(batch.name + " sort",
                       MemoryKernel::Elementwise,
                       lookups,
                       1,
                       2 * (KEY_BYTES + PLACE_BYTES) * scatter,
                       0);
    }
}

} // namespace

SegmentSequence
LookupForward(KernelTable& kernels,
              const LayerTable& table,
              const TablePlaces& places,
              uint32_t rank,
              const ParallelPlan& plan)
{
    SegmentWriter writer(kernels, plan);
    writer.Section("embedding look-up");
    for (const LookupBatch& batch : BatchesOf(table, places, rank, plan))
    {
        kernels.EmbeddingForward(batch.name, batch.tables);
    }
    return writer.Take();
}

SegmentSequence
LookupBackward(KernelTable& kernels,
               const LayerTable& table,
               const TablePlaces& places,
               uint32_t rank,
               const ParallelPlan& plan)
{
    const bool isExact = plan.embeddings.optimizer != EmbeddingOptimizer::Sgd;
    SegmentWriter writer(kernels, plan);
    writer.Section("embedding update");
    for (const LookupBatch& batch : BatchesOf(table, places, rank, plan))
    {
        if (isExact)
        {
            WriteSort(kernels, batch);
        }
        kernels.EmbeddingUpdate(batch.name + " update", batch.tables, isExact);
    }
    return writer.Take();
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/step-builder.h"
#include "compute-model/kernels/embedding-time.h"
#include "compute-model/plan/table-placement.h"

#include "graph-run.h"
#include "replicas.h"
#include "transformer-samples.h"

#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace weir
{
namespace
{

constexpr uint32_t WIDTH = 64;
constexpr double FP32 = 4;

EmbeddingTable
Table(uint64_t rows, uint32_t pooling, uint32_t dim = WIDTH)
{
    EmbeddingTable table;
    table.rows = rows;
    table.pooling = pooling;
    table.dim = dim;
    return table;
}

/** A bottom MLP 13-64, embedding tables, an interaction, and a top MLP with one output. */
LayerTable
Recommender(const std::vector<EmbeddingTable>& tables,
            TableOp interaction = TableOp::DotInteraction)
{
    LayerTableBuilder builder({13, 1, 1});
    builder.Linear(WIDTH, true);
    builder.Keep(TableOp::Relu);
    builder.Embeddings(tables);
    interaction == TableOp::Cross ? builder.Cross(16) : builder.DotInteraction();
    builder.Linear(256, true);
    builder.Keep(TableOp::Relu);
    builder.Linear(1, true);
    builder.Keep(TableOp::Loss);
    return {"recommender", "", builder.Take(), tables};
}

std::vector<StepOp>
Communications(const StepGraph& graph, uint32_t rank, CollectiveOp op)
{
    std::vector<StepOp> found;
    for (const auto& ops : graph.programs[graph.rankProgram[rank]].streams)
    {
        for (const StepOp& one : ops)
        {
            if (one.kind == StepOpKind::Collective && one.collective == op)
            {
                found.push_back(one);
            }
        }
    }
    return found;
}

// Four vectors of 64 have six pairwise dot products, appended to the first vector; their matrix
// takes 4 x 4 x 64 multiply-adds. A cross layer of rank r over n elements has 2 n r weights and n
// biases.
TEST(LayerTable, InteractionsHaveTheirSizes)
{
    const std::vector<EmbeddingTable> tables(3, Table(1000, 1));
    const LayerTable dot = Recommender(tables);
    EXPECT_EQ(dot.layers[2].out.Elements(), 4U * WIDTH);
    EXPECT_EQ(dot.layers[3].out.Elements(), WIDTH + 6U);
    EXPECT_EQ(dot.layers[3].MultiplyAdds(), 4.0 * 4 * WIDTH);
    EXPECT_EQ(dot.JoinPosition(), 2U);
    EXPECT_EQ(dot.EmbeddingParameters(), 3.0 * 1000 * WIDTH);
    const LayerTable cross = Recommender(tables, TableOp::Cross);
    EXPECT_EQ(cross.layers[3].Parameters(), 4.0 * WIDTH * (2 * 16 + 1));
    EXPECT_EQ(cross.layers[3].MultiplyAdds(), 2.0 * 4 * WIDTH * 16);
    // Tables of another width are appended to the vector; pairwise products are then refused.
    LayerTableBuilder builder({13, 1, 1});
    builder.Embeddings({Table(10, 1, 32)});
    EXPECT_EQ(builder.Shape().Elements(), 13U + 32U);
    EXPECT_THROW(builder.DotInteraction(), std::invalid_argument);
}

// Weights 9, 7, 4, 3, 1 on two ranks, largest first to the rank with less load: 9 + 3 and 7 + 4 +
// 1.
TEST(TablePlacement, LargestFirst)
{
    const LayerTable table =
        Recommender({Table(10, 4), Table(10, 9), Table(10, 1), Table(10, 7), Table(10, 3)});
    const TablePlacement placement = AssignTables(table, Replicas(2, 8));
    EXPECT_EQ(placement.whole[0], (std::vector<uint32_t>{1, 4}));
    EXPECT_EQ(placement.whole[1], (std::vector<uint32_t>{0, 2, 3}));
    EXPECT_TRUE(placement.split.empty());
}

// Balance by size uses the number of rows. A table larger than splitAbove is split over all ranks,
// and a single rank holds all tables whole.
TEST(TablePlacement, SizeAndSplit)
{
    const LayerTable table = Recommender({Table(1000, 1), Table(10, 50), Table(900, 1)});
    ParallelPlan plan = Replicas(2, 8);
    plan.embeddings.balance = EmbeddingBalance::Size;
    EXPECT_EQ(AssignTables(table, plan).whole[0], (std::vector<uint32_t>{0}));
    plan.embeddings.splitAbove = Bytes(900 * WIDTH * 4);
    EXPECT_EQ(AssignTables(table, plan).split, (std::vector<uint32_t>{0}));
    plan.embeddings.placement = EmbeddingPlacement::Rows;
    EXPECT_EQ(AssignTables(table, plan).split.size(), 3U);
    plan.data = 1;
    EXPECT_EQ(AssignTables(table, plan).whole[0].size(), 3U);
}

// A table of 64 columns in parts of 24 becomes three tables with the same rows and lookups, of 24,
// 24 and 16 columns, with the same number of elements in total. Not cut are tables split by rows,
// tables below splitColumnsAbove, and tables on a single rank.
TEST(ColumnParts, CutTablesOnly)
{
    const LayerTable table = Recommender({Table(1000, 3), Table(10, 5), Table(5000, 1)});
    ParallelPlan plan = Replicas(4, 8);
    plan.embeddings.columnWidth = 24;
    EXPECT_EQ(SplitByColumns(table, plan).embeddings.size(), 3U);
    plan.embeddings.splitColumnsAbove = Bytes(999 * WIDTH * 4);
    plan.embeddings.splitAbove = Bytes(1000 * WIDTH * 4);
    const LayerTable parts = SplitByColumns(table, plan);
    ASSERT_EQ(parts.embeddings.size(), 5U);
    EXPECT_EQ(parts.embeddings[1].dim, 24U);
    EXPECT_EQ(parts.embeddings[2].dim, 16U);
    EXPECT_EQ(parts.embeddings[2].rows, 1000U);
    EXPECT_EQ(parts.embeddings[2].pooling, 3U);
    EXPECT_EQ(parts.EmbeddingParameters(), table.EmbeddingParameters());
    EXPECT_EQ(AssignTables(parts, plan).split, (std::vector<uint32_t>{4}));
    plan.data = 1;
    EXPECT_EQ(SplitByColumns(table, plan).embeddings.size(), 3U);
}

// One table of 64 columns in four parts of 16 on four ranks: each rank looks up the rows of all
// samples at a quarter of the width and sends every rank 16 sums per sample; indices go to all
// four.
TEST(EmbeddingStep, ColumnPartsMoveAsMuchAndMoreIndices)
{
    constexpr uint32_t SAMPLES = 8;
    constexpr uint32_t POOLING = 3;
    const LayerTable table = Recommender({Table(1000, POOLING)});
    ParallelPlan plan = Replicas(4, SAMPLES);
    plan.embeddings.placement = EmbeddingPlacement::Columns;
    plan.embeddings.columnWidth = 16;
    const StepGraph graph = BuildTableStep(table, plan, SampleGpu());
    const auto exchanges = Communications(graph, 0, CollectiveOp::AllToAll);
    ASSERT_EQ(exchanges.size(), 3U); // indices, sums, gradients
    EXPECT_EQ(exchanges[0].bytes, Bytes(4 * SAMPLES * (POOLING * 8 + 4)));
    EXPECT_EQ(exchanges[1].bytes, Bytes(4 * SAMPLES * 16 * 4));
    EXPECT_EQ(exchanges[2].bytes, exchanges[1].bytes);
    const Execution run(graph);
    EXPECT_GT(run.StepTime(), Time());
}

// Equal tables, one per rank: rank i sends every rank the sums of its table for that rank's
// samples. So the all-to-alls have ranks x samples x 64 x 4 bytes (as nccl-tests counts), forward
// and backward.
TEST(EmbeddingStep, EqualTablesExchangeEqualParts)
{
    const uint32_t ranks = 4;
    const uint32_t samples = 128;
    ParallelPlan plan = Replicas(ranks, samples);
    const LayerTable table = Recommender(std::vector<EmbeddingTable>(ranks, Table(5000, 20)));
    const StepGraph graph = BuildTableStep(table, plan, SampleGpu());
    EXPECT_EQ(graph.programs.size(), 1U);
    EXPECT_TRUE(graph.traffics.empty());
    const auto exchanges = Communications(graph, 0, CollectiveOp::AllToAll);
    ASSERT_EQ(exchanges.size(), 3U); // indices, sums, gradients
    EXPECT_EQ(exchanges[0].bytes.Count(), int64_t{ranks} * samples * (20 * 8 + 4));
    EXPECT_EQ(exchanges[1].bytes.Count(), int64_t{ranks} * samples * WIDTH * 4);
    EXPECT_EQ(exchanges[2].bytes, exchanges[1].bytes);
    plan.embeddings.exchangeIndices = false;
    EXPECT_EQ(
        Communications(BuildTableStep(table, plan, SampleGpu()), 0, CollectiveOp::AllToAll).size(),
        2U);
}

// Three tables on two ranks: rank 0, with the heavy table, sends 64 elements per sample, rank 1
// sends 128; backward each receives what it sent. Every sample's vectors arrive once.
TEST(EmbeddingStep, UnequalTablesExchangeTheirParts)
{
    const uint32_t samples = 100;
    const LayerTable table = Recommender({Table(5000, 90), Table(5000, 10), Table(5000, 10)});
    const StepGraph graph = BuildTableStep(table, Replicas(2, samples), SampleGpu());
    EXPECT_EQ(graph.programs.size(), 2U);
    const auto exchanges = Communications(graph, 0, CollectiveOp::AllToAll);
    ASSERT_EQ(exchanges.size(), 3U);
    const TrafficParts& forward = graph.traffics.at(exchanges[1].traffic);
    const TrafficParts& backward = graph.traffics.at(exchanges[2].traffic);
    double arrived = 0;
    for (uint32_t from = 0; from < 2; from++)
    {
        for (uint32_t to = 0; to < 2; to++)
        {
            const int64_t elements = from == 0 ? WIDTH : 2 * WIDTH;
            EXPECT_EQ(forward[from][to].Count(), samples * elements * 4);
            EXPECT_EQ(backward[to][from], forward[from][to]);
            arrived += forward[from][to].ToDouble();
        }
    }
    EXPECT_EQ(arrived, 2.0 * samples * 3 * WIDTH * FP32);
    EXPECT_EQ(exchanges[1].bytes.Count(),
              2 * samples * 2 * WIDTH * 4); // of the rank that sends most
    const Execution run(graph, [](const CollectiveCall&) { return Time::Microseconds(50); });
    ASSERT_EQ(run.Breakdown().size(), 2U);
    for (const RankBreakdown& rank : run.Breakdown())
    {
        EXPECT_EQ(std::accumulate(rank.spent.begin(), rank.spent.end(), Time()), run.StepTime());
    }
}

// Tables split by rows: every rank sums its rows for all samples, so there is a reduce-scatter
// forward and an all-gather backward with the vectors of all samples; all ranks run the same
// program.
TEST(EmbeddingStep, SplitTablesReduceTheirSums)
{
    ParallelPlan plan = Replicas(8, 32);
    plan.embeddings.placement = EmbeddingPlacement::Rows;
    const LayerTable table = Recommender({Table(5000, 4), Table(800, 2)});
    const StepGraph graph = BuildTableStep(table, plan, SampleGpu());
    EXPECT_EQ(graph.programs.size(), 1U);
    const int64_t bytes = 8 * 32 * 2 * WIDTH * 4;
    const auto sums = Communications(graph, 0, CollectiveOp::ReduceScatter);
    const auto gradients = Communications(graph, 0, CollectiveOp::AllGather);
    ASSERT_EQ(sums.size(), 1U);
    ASSERT_EQ(gradients.size(), 1U);
    EXPECT_EQ(sums[0].bytes.Count(), bytes);
    EXPECT_EQ(gradients[0].bytes.Count(), bytes);
    EXPECT_EQ(Communications(graph, 0, CollectiveOp::AllToAll).size(), 1U); // indices
}

// Dense gradients are all-reduced once, every weight in one bucket, for any number of
// micro-batches; the vectors are exchanged once per micro-batch.
TEST(EmbeddingStep, DenseGradientsOnceVectorsEachPass)
{
    ParallelPlan plan = Replicas(4, 64);
    plan.globalBatch *= 3;
    plan.bucket = Bytes::KiB(16);
    const LayerTable table = Recommender(std::vector<EmbeddingTable>(4, Table(5000, 20)));
    const StepGraph graph = BuildTableStep(table, plan, SampleGpu());
    double reduced = 0;
    for (const StepOp& op : Communications(graph, 0, CollectiveOp::AllReduce))
    {
        reduced += op.bytes.ToDouble();
    }
    EXPECT_EQ(reduced, FP32 * table.Parameters());
    EXPECT_EQ(Communications(graph, 0, CollectiveOp::AllToAll).size(), 3U * 3U);
}

// Buckets that are full before the gradients of pooled rows are sent precede them on their stream;
// the layers below the tables fill the remaining buckets.
TEST(EmbeddingStep, StreamKeepsTheOrderOfIssue)
{
    ParallelPlan plan = Replicas(4, 64);
    plan.bucket = Bytes(1); // one bucket per layer
    const LayerTable table = Recommender(std::vector<EmbeddingTable>(4, Table(5000, 20)));
    const StepGraph graph = BuildTableStep(table, plan, SampleGpu());
    const auto& ops = graph.programs[0].streams[static_cast<std::size_t>(StreamKind::DataComm)];
    std::vector<CollectiveOp> order;
    for (const StepOp& op : ops)
    {
        order.push_back(op.collective);
    }
    const auto all = CollectiveOp::AllToAll;
    const auto reduce = CollectiveOp::AllReduce;
    EXPECT_EQ(order, (std::vector<CollectiveOp>{all, all, reduce, reduce, all, reduce}));
}

// The FLOPs of a step are three forward passes of the dense part, without the first layer's input
// gradient, plus the additions of the lookups: once forward, once backward.
TEST(EmbeddingStep, FlopsOfCrossNetwork)
{
    const LayerTable table =
        Recommender(std::vector<EmbeddingTable>(4, Table(5000, 20)), TableOp::Cross);
    const ParallelPlan plan = Replicas(4, 64);
    const double samples = plan.globalBatch;
    const double first = 2.0 * 13 * WIDTH;
    const double added = 2.0 * 4 * 20 * WIDTH;
    EXPECT_EQ(GemmFlops(BuildTableStep(table, plan, SampleGpu())),
              samples * (6 * table.MultiplyAdds() - first + added));
}

// 10^6 rows of 64 elements on the rank with most rows, 4 bytes each; the optimizer adds one number
// per row or per element.
TEST(EmbeddingStep, MemoryOfTables)
{
    const LayerTable table = Recommender({Table(1'000'000, 2), Table(1000, 1)});
    ParallelPlan plan = Replicas(2, 8);
    const auto held = [&](EmbeddingOptimizer optimizer) {
        plan.embeddings.optimizer = optimizer;
        return EstimateTableMemory(table, plan).embeddings.Count();
    };
    EXPECT_EQ(held(EmbeddingOptimizer::Sgd), 1'000'000 * 64 * 4);
    EXPECT_EQ(held(EmbeddingOptimizer::RowwiseAdagrad), 1'000'000 * 65 * 4);
    EXPECT_EQ(held(EmbeddingOptimizer::Adagrad), 1'000'000 * 128 * 4);
    plan.embeddings.placement = EmbeddingPlacement::Rows;
    EXPECT_EQ(held(EmbeddingOptimizer::Sgd), 1'001'000 * 64 * 4 / 2);
}

// With more ranks than whole tables some ranks would have no work.
TEST(EmbeddingStep, RefusesMoreRanksThanTables)
{
    const LayerTable table = Recommender({Table(5000, 4), Table(800, 2)});
    ParallelPlan plan = Replicas(4, 32);
    try
    {
        CheckTablePlan(table, plan);
        FAIL() << "should have refused";
    }
    catch (const std::invalid_argument& error)
    {
        EXPECT_EQ(std::string(error.what()),
                  "data: found 4, expected at most the 2 embedding tables of recommender, or "
                  "embeddings split by rows or columns");
    }
    plan.embeddings.splitAbove = Bytes(1000 * WIDTH * 4);
    EXPECT_NO_THROW(CheckTablePlan(table, plan));
}

// A batch of tables in one kernel takes longer than any of them and at most their sum; a shard of
// the rows takes less than the whole table.
TEST(EmbeddingTime, BatchesAndShards)
{
    const Gpu gpu = SampleGpu();
    EmbeddingShape shape;
    shape.bags = 16384;
    shape.pooling = 20;
    shape.dim = 128;
    const EmbeddingLookup skewed{IndexDistribution::Zipf(1'000'000, 1.0), shape};
    const EmbeddingLookup even{IndexDistribution::Uniform(50'000'000), shape};
    for (const auto time :
         {&EmbeddingForwardTime, &EmbeddingBackwardTime, &EmbeddingExactUpdateTime})
    {
        const Time a = time(gpu, {skewed}).time;
        const Time b = time(gpu, {even}).time;
        const Time both = time(gpu, {skewed, even}).time;
        EXPECT_GT(both, std::max(a, b));
        EXPECT_LE(both, a + b);
        EmbeddingLookup part = even;
        part.shape.shards = 8;
        EXPECT_LT(time(gpu, {part}).time, b);
        EXPECT_THROW(time(gpu, {}), std::invalid_argument);
    }
}

// An eighth of the rows of a uniformly used table has an eighth of the lookups and of the distinct
// rows.
TEST(EmbeddingTime, ShardsShareTheTraffic)
{
    EmbeddingShape shape;
    shape.bags = 4096;
    shape.pooling = 16;
    shape.dim = 64;
    const IndexDistribution even = IndexDistribution::Uniform(100'000'000);
    const EmbeddingTraffic all = EmbeddingTrafficOf(SampleGpu(), even, shape);
    shape.shards = 8;
    const EmbeddingTraffic part = EmbeddingTrafficOf(SampleGpu(), even, shape);
    EXPECT_DOUBLE_EQ(part.lookups, all.lookups / 8);
    EXPECT_DOUBLE_EQ(part.uniqueRows, all.uniqueRows / 8);
}

} // namespace
} // namespace weir

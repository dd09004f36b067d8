// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/gradient-buckets.h"

#include "compute-model/graph/step-builder.h"

#include "graph-run.h"
#include "replicas.h"
#include "transformer-samples.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace weir
{
namespace
{

/** Buckets that only record what they would reduce. */
class RecordedBuckets : public GradientBuckets
{
  public:
    using GradientBuckets::GradientBuckets;

    std::vector<Gradients> reduced;

  private:
    void Reduce(const Gradients& bucket) override
    {
        reduced.push_back(bucket);
    }
};

std::vector<Gradients>
PackGradients(const std::vector<Gradients>& pieces, Bytes bucket)
{
    RecordedBuckets buckets(bucket);
    for (const Gradients& piece : pieces)
    {
        const std::size_t before = buckets.reduced.size();
        const bool isFull = buckets.Add(piece);
        EXPECT_EQ(isFull, buckets.reduced.size() > before);
    }
    buckets.ReduceRest();
    return buckets.reduced;
}

// Pieces of 3, 4, 10, 1 and 2 bytes with buckets of 5: closed at 3 + 4 and at 10, rest 1 + 2.
TEST(GradientBuckets, CloseOnceFullAndEndWithTheRest)
{
    const std::vector<Gradients> pieces = {
        {1, Bytes(3)}, {2, Bytes(4)}, {5, Bytes(10)}, {6, Bytes(1)}, {8, Bytes(2)}};
    const std::vector<Gradients> buckets = PackGradients(pieces, Bytes(5));
    ASSERT_EQ(buckets.size(), 3U);
    EXPECT_EQ(buckets[0].bytes, Bytes(7));
    EXPECT_EQ(buckets[0].position, 2U);
    EXPECT_EQ(buckets[1].bytes, Bytes(10));
    EXPECT_EQ(buckets[1].position, 5U);
    EXPECT_EQ(buckets[2].bytes, Bytes(3));
    EXPECT_EQ(buckets[2].position, 8U);
}

TEST(GradientBuckets, NothingGivesNothing)
{
    EXPECT_TRUE(PackGradients({}, Bytes(5)).empty());
}

constexpr uint32_t LAYERS = 4;
const Transformer MODEL = SampleGpt(LAYERS, 1024, 16);

/** Bytes of rank 0's communications with label @p label. */
double
Named(const StepGraph& graph, const std::string& label)
{
    return BytesOf(graph, graph.programs[0], label);
}

// Once the replicas have scattered the gradients (ZeRO-2 and 3), later sums are over shards: of the
// 51200 h word weights that both end stages hold, and of the weights that each tensor rank holds
// whole, 2 x 2 h of norms and 2 h of biases after row-parallel GEMMs per layer, and 2048 h of
// positions. Otherwise (none, ZeRO-1) the whole gradients are summed.
TEST(GradientSums, AreOfPartsWhereReplicasHaveScattered)
{
    const double h = MODEL.hidden;
    for (const auto& [state, parts] : {std::pair(ShardedState::None, 1),
                                       std::pair(ShardedState::Optimizer, 1),
                                       std::pair(ShardedState::Gradients, 4),
                                       std::pair(ShardedState::Full, 4)})
    {
        ParallelPlan plan = Sharded(state, 4, 2);
        plan.pipeline = 2;
        EXPECT_EQ(Named(BuildTransformerStep(MODEL, plan, SampleGpu()), "tied embedding gradient"),
                  4 * 51200 * h / parts);
        plan.tensor = 2;
        plan.sequenceParallel = true;
        EXPECT_EQ(
            Named(BuildTransformerStep(MODEL, plan, SampleGpu()), "norm gradients all-reduce"),
            4 * (LAYERS / 2 * 6 * h + 2048 * h) / parts);
    }
}

/** Gradient buckets that rank 0 reduces. */
std::vector<Bytes>
BucketsOf(const StepGraph& graph)
{
    std::vector<Bytes> buckets;
    for (const StepOp& op :
         graph.programs[0].streams[static_cast<std::size_t>(StreamKind::DataComm)])
    {
        if (graph.labels[op.label] == "gradient bucket")
        {
            buckets.push_back(op.bytes);
        }
    }
    return buckets;
}

// A bucket that one matrix fills is reduced after that matrix's gradient, not jointly with the
// next one: 4 (4 h h) = 16.8 MB for each GEMM of an MLP, 4 (3 h h) = 12.6 MB for QKV. Only the pass
// that reduces is split for it, and the split kernels take the same total time.
TEST(GradientBuckets, SmallBucketsHoldOneMatrix)
{
    ParallelPlan plan = Sharded(ShardedState::None, 4, 3);
    plan.bucket = Bytes::GiB(8);
    const StepGraph whole = BuildTransformerStep(MODEL, plan, SampleGpu());
    plan.bucket = Bytes::MiB(8);
    const StepGraph parted = BuildTransformerStep(MODEL, plan, SampleGpu());
    EXPECT_EQ(BucketsOf(whole).size(), 1U);
    EXPECT_GE(BucketsOf(parted).size(), 3 * LAYERS);
    Bytes sum;
    uint32_t large = 0;
    for (const Bytes bucket : BucketsOf(parted))
    {
        sum += bucket;
        large += bucket.ToDouble() > 1.5 * 4 * 4 * 1024 * 1024 ? 1 : 0;
    }
    EXPECT_EQ(sum, BucketsOf(whole).front());
    EXPECT_LE(large, 2U); // the vocabulary, as output layer and as embedding
    const auto kernels = [](const StepGraph& graph) {
        return graph.programs[0].streams[static_cast<std::size_t>(StreamKind::Compute)].size();
    };
    EXPECT_GT(kernels(parted), kernels(whole));
    EXPECT_LE(kernels(parted), kernels(whole) + 3 * LAYERS + 2);
    EXPECT_EQ(Execution(parted).StepTime(), Execution(whole).StepTime());
}

// A bucket may be filled by one matrix of a layer after gradients of the layer before: 16.8 MB of
// attention and 16.8 MB of an MLP's second GEMM fill 20 MB. The bucket is then sent without waiting
// for the MLP's first GEMM: the excess over its size is less than the piece that filled it.
TEST(GradientBuckets, GoWhenTheyAreFullWhateverFilledThem)
{
    ParallelPlan plan = Sharded(ShardedState::None, 4, 2);
    plan.bucket = Bytes(20'000'000);
    const StepGraph graph = BuildTransformerStep(MODEL, plan, SampleGpu());
    const double gemmBytes = 4 * 4 * 1024 * 1024 + 4 * 4 * 1024; // with its bias
    uint32_t larger = 0;
    for (const Bytes bucket : BucketsOf(graph))
    {
        larger += bucket.ToDouble() >= plan.bucket.ToDouble() + gemmBytes ? 1 : 0;
    }
    EXPECT_LE(larger, 2U); // the vocabulary
    plan.bucket = Bytes::GiB(8);
    EXPECT_EQ(GemmFlops(graph), GemmFlops(BuildTransformerStep(MODEL, plan, SampleGpu())));
}

} // namespace
} // namespace weir

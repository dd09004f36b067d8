// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/plan/rank-shape.h"

#include "compute-model/plan/memory-estimate.h"
#include "compute-model/plan/stage-layers.h"

#include "mixture-samples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

namespace weir
{
namespace
{

// 46.7 billion parameters (Jiang et al. 2024, table 1) in closed form: 32 layers of attention 2 h^2
// (1 + 8/32), router 8 h, 8 experts of 3 h f and two norms; the vocabulary twice, one norm.
TEST(Transformer, MixtralHasItsParameters)
{
    const Transformer model = SampleMixtral();
    const double h = 4096;
    const double layer = 2.5 * h * h + 8 * h + 8 * 3 * h * 14336 + 2 * h;
    EXPECT_EQ(model.ExpertLayerParameters(), layer);
    EXPECT_EQ(model.Parameters(), 32 * layer + 2 * h * 32000 + h);
    EXPECT_NEAR(model.Parameters(), 46.7e9, 0.05e9);
}

// 16.4 billion parameters (Dai et al. 2024, arXiv 2401.06066, 5.1.2); the first layer is dense.
TEST(Transformer, DeepSeekMoeHasItsParameters)
{
    const Transformer model = SampleDeepSeekMoe();
    EXPECT_EQ(model.ExpertLayersOf(0, 28), 27U);
    EXPECT_FALSE(model.IsExpertLayer(0));
    EXPECT_TRUE(model.IsExpertLayer(1));
    EXPECT_NEAR(model.Parameters(), 16.4e9, 0.05e9);
}

// Experts in every second layer, as in GShard: layers 1, 3, 5, ... of a stack.
TEST(Transformer, ExpertsInEverySecondLayer)
{
    Transformer model = SampleMixtral();
    model.moe.every = 2;
    EXPECT_FALSE(model.IsExpertLayer(0));
    EXPECT_TRUE(model.IsExpertLayer(1));
    EXPECT_EQ(model.ExpertLayersOf(0, 32), 16U);
    EXPECT_EQ(model.ExpertLayersOf(3, 3), 2U); // 3 and 5
}

// Balanced: s b topK / T rows leave a rank; the rows that arrive are multiplied by the ranks that
// share an expert.
TEST(ExpertShape, RowsOfABalancedLayer)
{
    const Transformer model = SampleMixtral();
    for (const auto& [expert, expertTensor] :
         {std::pair(1U, 2U), std::pair(4U, 1U), std::pair(8U, 1U), std::pair(4U, 2U)})
    {
        const ExpertShape shape(model, MixturePlan(2, 4, expert, expertTensor));
        EXPECT_EQ(shape.tokens, 4096U / 2);
        EXPECT_EQ(shape.sent, 4096U);
        EXPECT_EQ(shape.received, 4096U * expertTensor);
        EXPECT_EQ(shape.expertRows.size(), 8U / expert);
        EXPECT_EQ(shape.ffn, 14336U / expertTensor);
        EXPECT_EQ(shape.exchanged.Count(), 4096 * 4096 * 2);
        EXPECT_EQ(shape.gathered.Count(), 4096 * 4096 * 2 * int64_t{expertTensor});
    }
}

// A capacity factor c sends every expert c times its mean load, including empty rows.
TEST(ExpertShape, CapacityPadsEveryExpert)
{
    ParallelPlan plan = MixturePlan(1, 8, 8, 1);
    plan.expertLoad.capacityFactor = 1.25;
    const ExpertShape shape(SampleMixtral(), plan);
    EXPECT_EQ(shape.sent, 8192U * 5 / 4);
    EXPECT_EQ(shape.received, 8192U * 5 / 4);
}

// Shares have a mean of one; the largest equals the requested imbalance; a seed only reorders them.
TEST(ExpertShares, ImbalanceIsOfTheBusiest)
{
    for (const double imbalance : {1.0, 1.2, 3.0, 7.9})
    {
        ExpertLoad load;
        load.imbalance = imbalance;
        std::vector<double> shares = ExpertShares(load, 8);
        EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 8, 1e-9);
        EXPECT_NEAR(*std::max_element(shares.begin(), shares.end()), imbalance, 1e-6);
        load.seed = 2;
        std::vector<double> others = ExpertShares(load, 8);
        std::sort(shares.begin(), shares.end());
        std::sort(others.begin(), others.end());
        EXPECT_EQ(shares, others);
    }
}

// Given shares: of four expert ranks with two experts each, the one with 5 + 1 of 16 is the
// busiest. Every rank sends it the same number of rows, those of its own tokens, and it returns
// what it received.
TEST(ExpertShape, TheBusiestRankCounts)
{
    ParallelPlan plan = MixturePlan(1, 8, 4, 1);
    plan.expertLoad.shares = {1, 1, 5, 1, 2, 2, 2, 2};
    const ExpertShape shape(SampleMixtral(), plan);
    const uint64_t pairs = 4096 * 2;
    EXPECT_EQ(shape.expertRows, (std::vector<uint64_t>{pairs * 4 * 5 / 16, pairs * 4 * 1 / 16}));
    constexpr int64_t ROW = 4096 * 2;
    EXPECT_EQ(shape.exchanged.Count(), static_cast<int64_t>(pairs) * ROW);
    EXPECT_EQ(shape.returned.Count(), static_cast<int64_t>(shape.received) * ROW);
    std::vector<Bytes> row;
    for (const int64_t share : {2, 6, 4, 4})
    {
        row.emplace_back(static_cast<int64_t>(pairs) * share / 16 * ROW);
    }
    EXPECT_EQ(ExpertTraffic(SampleMixtral(), plan), std::vector(4, row));
    plan.expertLoad = {};
    EXPECT_TRUE(ExpertTraffic(SampleMixtral(), plan).empty());
}

// For any mapping, the ranks of a stage hold all experts once per replica, and all dense weights
// once per tensor group, except those held whole by every rank.
TEST(StageParameters, ExpertsAreAllHeld)
{
    const Transformer model = SampleDeepSeekMoe();
    for (const ParallelPlan& plan : {MixturePlan(1, 8, 8, 1),
                                     MixturePlan(2, 4, 4, 2),
                                     MixturePlan(2, 4, 8, 1),
                                     MixturePlan(1, 4, 1, 1)})
    {
        const double held = RankExpertParameters(model, plan, 0) * plan.Ranks();
        EXPECT_EQ(held, 27.0 * 64 * model.MlpParameters(1408) * plan.ExpertReplicas());
        const double whole = WholeStageParameters(model, plan, 0);
        const double dense = (RankStageParameters(model, plan, 0) - whole) * plan.tensor + whole;
        // 102400 words are a multiple of 128 times either tensor size: no padding.
        EXPECT_EQ(dense + 27.0 * 64 * model.MlpParameters(1408), model.Parameters());
    }
}

// Expert parallelism makes the experts fit: each of eight ranks holds an eighth of them.
TEST(MemoryEstimate, ExpertRanksShareExperts)
{
    const Transformer model = SampleMixtral();
    const MemoryEstimate unsharded = EstimateMemory(model, MixturePlan(1, 8, 1, 1));
    const MemoryEstimate sharded = EstimateMemory(model, MixturePlan(1, 8, 8, 1));
    const double experts = 32.0 * 8 * model.MlpParameters(14336);
    EXPECT_NEAR((unsharded.weights - sharded.weights).ToDouble() / (experts * 2 * 7 / 8), 1, 1e-9);
}

void
ExpectRefusal(ParallelPlan plan, const Transformer& model, const std::string& message)
{
    try
    {
        CheckPlan(model, plan);
        FAIL() << "expected: " << message;
    }
    catch (const std::invalid_argument& error)
    {
        EXPECT_EQ(error.what(), message);
    }
}

TEST(CheckPlan, RefusesExpertsThatDoNotDivide)
{
    const Transformer model = SampleMixtral();
    ExpectRefusal(
        MixturePlan(1, 9, 3, 1), model, "expert: found 3, expected a divisor of experts = 8");
    ExpectRefusal(
        MixturePlan(1, 4, 8, 1),
        model,
        "expert * expertTensor: found 8, expected a divisor of tensor * context * data = 4");
    ExpectRefusal(MixturePlan(1, 3, 1, 3),
                  model,
                  "expertTensor: found 3, expected a divisor of the experts' ffn = 14336");
    ParallelPlan plan = MixturePlan(2, 4, 4, 1);
    plan.sequenceParallel = false;
    ExpectRefusal(plan,
                  model,
                  "sequenceParallel: found false, expected true with experts and tensor above 1");
    plan = MixturePlan(1, 8, 8, 1);
    plan.sharding.state = ShardedState::Full;
    plan.sharding.ranks = 4;
    ExpectRefusal(
        plan,
        model,
        "dataSharding: found ranks = 4, expected groups whose 4 GPUs (tensor * ranks) are a "
        "multiple of the 8 that hold a layer's experts");
    plan = MixturePlan(1, 8, 8, 1);
    plan.expertLoad.shares = {1, 2, 3};
    ExpectRefusal(plan, model, "expertLoad: found 3 shares, expected one for each of 8 experts");
    // A token goes to two different experts of the eight, so one expert gets at most every token.
    plan.expertLoad.shares = {4, 1, 1, 1, 1, 0, 0, 0};
    CheckPlan(model, plan);
    plan.expertLoad.shares = {4, 1, 1, 1, 0.9, 0, 0, 0};
    ExpectRefusal(plan,
                  model,
                  "expertLoad: found a share of 4 of 7.9, expected at most 1 / topK of the sum "
                  "(every token goes to that expert)");
    plan.expertLoad = {};
    plan.expertLoad.imbalance = 4;
    CheckPlan(model, plan);
    plan.expertLoad.imbalance = 4.5;
    ExpectRefusal(plan,
                  model,
                  "expertLoad: found imbalance 4.5, expected 1 (balanced load) to experts / "
                  "topK = 4 (every token goes to the same expert)");
    plan.expertLoad = {};
    plan.expertLoad.capacityFactor = -0.5;
    ExpectRefusal(
        plan, model, "expertLoad: found capacityFactor -0.5, expected at least 0 (dropless)");
    ExpectRefusal(MixturePlan(1, 4, 2, 0),
                  SampleLlama70b(),
                  "expert: found 2, expected 1 for a model without experts");
}

} // namespace
} // namespace weir

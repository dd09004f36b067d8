// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/step-builder.h"
#include "compute-model/plan/memory-estimate.h"
#include "compute-model/plan/shard-units.h"
#include "compute-model/plan/stage-layers.h"

#include "graph-run.h"
#include "mixture-samples.h"

#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace weir
{
namespace
{

constexpr double WEIGHT = 2;   // bytes
constexpr double GRADIENT = 4; // bytes

/** Two replicas of every expert, eight of the dense weights. */
ParallelPlan
Sharded(ShardedState state, uint32_t microBatches)
{
    ParallelPlan plan = MixturePlan(1, 8, 4, 1);
    plan.globalBatch = 8 * microBatches;
    plan.sharding.state = state;
    return plan;
}

/** Bytes that rank 0 moves under @p label. */
double
Moved(const StepGraph& graph, const std::string& label)
{
    return BytesOf(graph, graph.programs[0], label);
}

// The units of a mixture-of-experts model: a dense layer, layers with a router and shared experts
// in place of the MLP, and the root; experts are counted separately. They sum to the parameters of
// the stage.
TEST(ExpertUnits, SumToTheStage)
{
    const Transformer model = SmallMixture();
    for (const uint32_t pipeline : {1U, 2U, 4U})
    {
        ParallelPlan plan = Sharded(ShardedState::Full, 4);
        plan.pipeline = pipeline;
        for (uint32_t stage = 0; stage < pipeline; stage++)
        {
            const auto units = WeightsOf(model, plan, stage)[0].units;
            const auto experts = WeightsOf(model, plan, stage)[1].units;
            EXPECT_NEAR(std::accumulate(units.begin(), units.end(), 0.0),
                        RankStageParameters(model, plan, stage),
                        0.5);
            EXPECT_EQ(std::accumulate(experts.begin(), experts.end(), 0.0),
                      RankExpertParameters(model, plan, stage));
            EXPECT_EQ(units.size(), experts.size());
        }
    }
}

// FSDP: every micro-batch gathers each layer's weights for its forward and its backward pass,
// except for the last layer, whose passes are adjacent, and scatters all gradients; expert weights
// and gradients among the two ranks that hold the same experts.
TEST(ExpertSharding, FullGathersTwiceAndReducesOnce)
{
    const Transformer model = SmallMixture();
    for (const uint32_t microBatches : {1U, 3U})
    {
        const ParallelPlan plan = Sharded(ShardedState::Full, microBatches);
        const StepGraph graph = BuildTransformerStep(model, plan, SampleGpu());
        const auto units = WeightsOf(model, plan, 0)[0].units;
        const auto experts = WeightsOf(model, plan, 0)[1].units;
        const double dense = std::accumulate(units.begin(), units.end(), 0.0);
        const double all = std::accumulate(experts.begin(), experts.end(), 0.0);
        // Bytes are rounded per unit.
        EXPECT_NEAR(Moved(graph, "unit weights all-gather"),
                    microBatches * WEIGHT * (2 * dense - units.back() - units[3]),
                    1.0 * microBatches);
        EXPECT_EQ(Moved(graph, "unit experts all-gather"),
                  microBatches * WEIGHT * (2 * all - experts[3]));
        EXPECT_NEAR(Moved(graph, "unit gradients reduce-scatter"),
                    microBatches * GRADIENT * dense,
                    1.0 * microBatches);
        EXPECT_EQ(Moved(graph, "unit experts reduce-scatter"), microBatches * GRADIENT * all);
        const Execution run(graph); // no rank waits forever
        EXPECT_GT(run.StepTime(), Time());
    }
}

// ZeRO-2 scatters the buckets of every micro-batch, those of experts among their replicas.
TEST(ExpertSharding, GradientsAreScatteredEveryPass)
{
    const Transformer model = SmallMixture();
    const ParallelPlan plan = Sharded(ShardedState::Gradients, 3);
    const StepGraph graph = BuildTransformerStep(model, plan, SampleGpu());
    EXPECT_EQ(Moved(graph, "gradient bucket"), 3 * GRADIENT * RankStageParameters(model, plan, 0));
    EXPECT_EQ(Moved(graph, "expert gradient bucket"),
              3 * GRADIENT * RankExpertParameters(model, plan, 0));
}

// A rank without model parallelism holds each parameter of the model once, and its buckets carry
// each gradient once. Experts replace the MLP and the biases of its two GEMMs, of which a shared
// expert has its own.
TEST(ExpertSharding, BiasesAreHeldAndReducedOnce)
{
    for (const uint32_t sharedFfn : {0U, 2816U})
    {
        Transformer model = SmallMixture();
        model.biases = true;
        model.moe.sharedFfn = sharedFfn;
        const ParallelPlan plan = MixturePlan(1, 2, 1, 1);
        const double dense = RankStageParameters(model, plan, 0);
        EXPECT_EQ(dense + RankExpertParameters(model, plan, 0), model.Parameters());
        const StepGraph graph = BuildTransformerStep(model, plan, SampleGpu());
        EXPECT_EQ(Moved(graph, "gradient bucket"), GRADIENT * dense);
        EXPECT_EQ(Moved(graph, "expert gradient bucket"),
                  GRADIENT * RankExpertParameters(model, plan, 0));
    }
}

// Megatron-LM's --overlap-param-gather gathers every updated weight once, including the experts'.
TEST(ExpertSharding, OverlappedGatherHasTheExperts)
{
    const Transformer model = SmallMixture();
    ParallelPlan plan = Sharded(ShardedState::Optimizer, 2);
    plan.sharding.overlapGather = true;
    const StepGraph graph = BuildTransformerStep(model, plan, SampleGpu());
    EXPECT_EQ(Moved(graph, "unit experts all-gather"),
              WEIGHT * RankExpertParameters(model, plan, 0));
}

// Each of two tensor ranks holds all experts: they are replicas for the experts, although the dense
// weights have none.
TEST(ExpertSharding, ExpertsHaveReplicasInATensorGroup)
{
    const Transformer model = SmallMixture();
    ParallelPlan plan = MixturePlan(2, 1, 1, 1);
    ASSERT_EQ(plan.ExpertReplicas(), 2U);
    const StepGraph graph = BuildTransformerStep(model, plan, SampleGpu());
    EXPECT_EQ(Moved(graph, "expert gradient bucket"),
              GRADIENT * RankExpertParameters(model, plan, 0));
    EXPECT_EQ(Moved(graph, "gradient bucket"), 0);
    plan.overlapGradients = false;
    const StepGraph late = BuildTransformerStep(model, plan, SampleGpu());
    EXPECT_EQ(Moved(late, "expert gradients"), GRADIENT * RankExpertParameters(model, plan, 0));
    EXPECT_EQ(Moved(late, "gradients"), 0);
}

// Each replica keeps its shard of the state, dense weights over eight ranks, experts over two: 4
// bytes of weight and of gradient, 8 of moments.
TEST(ExpertSharding, StateIsSharedOut)
{
    const Transformer model = SmallMixture();
    const ParallelPlan plan = Sharded(ShardedState::Full, 1);
    const MemoryEstimate memory = EstimateMemory(model, plan);
    const double part =
        RankStageParameters(model, plan, 0) / 8 + RankExpertParameters(model, plan, 0) / 2;
    EXPECT_EQ(memory.weights, Bytes::Nearest(4 * part));
    EXPECT_EQ(memory.gradients, Bytes::Nearest(4 * part));
    EXPECT_EQ(memory.optimizer, Bytes::Nearest(8 * part));
}

/** Sixteen replicas of the dense weights, four of every expert, in sharding groups of @p ranks. */
ParallelPlan
Hybrid(ShardedState state, uint32_t ranks)
{
    ParallelPlan plan = MixturePlan(1, 16, 4, 1);
    plan.sharding.state = state;
    plan.sharding.ranks = ranks;
    return plan;
}

/** Bytes that rank 0 receives in ring collectives of the groups in @p slot. */
double
Received(const StepGraph& graph, GroupSlot slot)
{
    double bytes = 0;
    for (const auto& ops : graph.programs[0].streams)
    {
        for (const StepOp& op : ops)
        {
            if (op.kind == StepOpKind::Collective && op.group == static_cast<uint16_t>(slot))
            {
                const double n = MembersOf(graph, 0, slot).size();
                const double rounds = op.collective == CollectiveOp::AllReduce ? 2 : 1;
                bytes += rounds * (n - 1) / n * op.bytes.ToDouble();
            }
        }
    }
    return bytes;
}

// A group of eight ranks holds one copy of the model: two of its ranks hold the same experts, and a
// rank with the same shard is in each copy.
TEST(HybridExperts, CopiesOfExpertsAreThoseOfTheDenseWeights)
{
    const StepGraph graph =
        BuildTransformerStep(SmallMixture(), Hybrid(ShardedState::Full, 8), SampleGpu());
    const auto members = [&](uint32_t rank, GroupSlot slot) {
        return MembersOf(graph, rank, slot);
    };
    using Ranks = std::vector<uint32_t>;
    EXPECT_EQ(members(9, GroupSlot::Shard), (Ranks{8, 9, 10, 11, 12, 13, 14, 15}));
    EXPECT_EQ(members(9, GroupSlot::Replicas), (Ranks{1, 9}));
    EXPECT_EQ(members(9, GroupSlot::ExpertData), (Ranks{1, 5, 9, 13}));
    EXPECT_EQ(members(9, GroupSlot::ExpertShard), (Ranks{9, 13}));
    EXPECT_EQ(members(9, GroupSlot::ExpertCopies), (Ranks{1, 9}));
}

// With s ranks per copy and c copies, a rank with E expert parameters, e of them in the last layer,
// receives w (2 E - e)(s - 1) / s bytes of gathered weights, g E (s - 1) / s of scattered
// gradients, and 2 g E / s (c - 1) / c of shards summed over the copies. If each copy has an expert
// once (s = 1), all of its gradients are summed over the copies.
TEST(HybridExperts, MoveWhatTheClosedFormSays)
{
    const Transformer model = SmallMixture();
    for (const auto& [ranks, s, c] : {std::tuple(8U, 2.0, 2.0), std::tuple(4U, 1.0, 4.0)})
    {
        const ParallelPlan plan = Hybrid(ShardedState::Full, ranks);
        EXPECT_EQ(plan.ExpertShardRanks(), s);
        const StepGraph graph = BuildTransformerStep(model, plan, SampleGpu());
        const auto units = WeightsOf(model, plan, 0)[0].units;
        const auto experts = WeightsOf(model, plan, 0)[1].units;
        const double dense = std::accumulate(units.begin(), units.end(), 0.0);
        const double all = std::accumulate(experts.begin(), experts.end(), 0.0);
        if (s > 1)
        {
            EXPECT_NEAR(Received(graph, GroupSlot::ExpertShard),
                        (WEIGHT * (2 * all - experts[3]) + GRADIENT * all) * (s - 1) / s,
                        1);
        }
        EXPECT_NEAR(
            Received(graph, GroupSlot::ExpertCopies), 2 * GRADIENT * all / s * (c - 1) / c, 1);
        EXPECT_NEAR(
            Received(graph, GroupSlot::Replicas), 2 * GRADIENT * dense / ranks * (c - 1) / c, 1);
        EXPECT_EQ(Received(graph, GroupSlot::ExpertData), 0);
        const Execution run(graph); // no rank waits forever
        EXPECT_GT(run.StepTime(), Time());
        const double part = dense / ranks + all / s;
        EXPECT_EQ(EstimateMemory(model, plan).optimizer, Bytes::Nearest(8 * part));
    }
}

// ZeRO-1 and ZeRO-2 with sharding groups scatter gradients within a copy, sum shards over the
// copies, and gather updated weights within the copy.
TEST(HybridExperts, SharedOptimizersAreHybridLikewise)
{
    const Transformer model = SmallMixture();
    for (const ShardedState state : {ShardedState::Optimizer, ShardedState::Gradients})
    {
        const ParallelPlan plan = Hybrid(state, 8);
        const StepGraph graph = BuildTransformerStep(model, plan, SampleGpu());
        const double all = RankExpertParameters(model, plan, 0);
        EXPECT_NEAR(
            Received(graph, GroupSlot::ExpertShard), (WEIGHT + GRADIENT) * all * (2 - 1) / 2, 1);
        EXPECT_NEAR(Received(graph, GroupSlot::ExpertCopies), GRADIENT * all / 2, 1);
        const Execution run(graph);
        EXPECT_GT(run.StepTime(), Time());
    }
}

TEST(HybridExperts, ACopyHoldsEveryExpert)
{
    try
    {
        CheckPlan(SmallMixture(), Hybrid(ShardedState::Full, 2));
        FAIL() << "accepted";
    }
    catch (const std::invalid_argument& refusal)
    {
        EXPECT_STREQ(refusal.what(),
                     "dataSharding: found ranks = 2, expected groups whose 2 GPUs (tensor * ranks) "
                     "are a multiple of the 4 that hold a layer's experts");
    }
}

// Zero-bubble schedules move weight gradients without changing the work; every gradient is reduced
// once, and no rank waits forever. The step is shorter.
TEST(ExpertZeroBubble, DoesTheSameWork)
{
    const Transformer model = SmallMixture();
    ParallelPlan plan = MixturePlan(2, 4, 4, 1);
    plan.pipeline = 2;
    plan.globalBatch = 4 * 4;
    plan.distributedOptimizer = true;
    const StepGraph plain = BuildTransformerStep(model, plan, SampleGpu());
    for (const auto schedule :
         {PipelineScheduleKind::ZeroBubbleH1, PipelineScheduleKind::ZeroBubble1p})
    {
        plan.schedule = schedule;
        const StepGraph graph = BuildTransformerStep(model, plan, SampleGpu());
        EXPECT_NEAR(GemmFlops(graph) / GemmFlops(plain), 1, 1e-12);
        for (const char* label : {"gradient bucket", "expert gradient bucket"})
        {
            EXPECT_EQ(Moved(graph, label), Moved(plain, label)) << label;
        }
        const Execution run(graph);
        EXPECT_LT(run.StepTime(), Execution(plain).StepTime());
    }
}

} // namespace
} // namespace weir

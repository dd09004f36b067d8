// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/step-builder.h"
#include "compute-model/plan/activation-memory.h"
#include "compute-model/plan/rank-groups.h"
#include "compute-model/plan/stage-layers.h"

#include "graph-run.h"
#include "mixture-samples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace weir
{
namespace
{

// GEMM FLOPs do not depend on the expert mapping: 6 per token and active weight, and under the
// causal mask 2 s h per token and layer for the forward pass of attention.
TEST(ExpertStep, FlopsDoNotDependOnTheMapping)
{
    const Transformer model = SmallMixture();
    const double h = model.hidden;
    const double s = model.sequence;
    const double attention = 4 * h * h;
    const double dense = 3 * h * 10944;
    const double mixture = h * 64 + 3 * h * (6 * 1408 + 2816);
    const double perToken = 4 * attention + dense + 3 * mixture + h * model.vocabulary;
    // Fused attention backward recomputes the scores: 2.5 instead of 2 times the forward FLOPs.
    const double scores = 4 * (1 + 2.5) * 2 * s * h;
    for (const ParallelPlan& plan : {MixturePlan(1, 8, 8, 1),
                                     MixturePlan(2, 4, 4, 2),
                                     MixturePlan(2, 4, 8, 1),
                                     MixturePlan(1, 8, 1, 1),
                                     MixturePlan(1, 8, 2, 4)})
    {
        const double expected = plan.globalBatch * s * (6 * perToken + scores);
        const double found = GemmFlops(BuildTransformerStep(model, plan, SampleGpu()));
        EXPECT_NEAR(found / expected, 1, 1e-9);
    }
}

// The ranks of a stage have two orders (MoE Parallel Folding, 3.2): tensor pairs and
// replicas of attention, and the groups of the experts.
TEST(ExpertStep, ExpertsHaveTheirOwnGroups)
{
    using Members = std::vector<uint32_t>;
    const Transformer model = SmallMixture();
    const StepGraph folded = BuildTransformerStep(model, MixturePlan(2, 4, 4, 1), SampleGpu());
    EXPECT_EQ(MembersOf(folded, 5, GroupSlot::Tensor), (Members{4, 5}));
    EXPECT_EQ(MembersOf(folded, 5, GroupSlot::Data), (Members{1, 3, 5, 7}));
    EXPECT_EQ(MembersOf(folded, 5, GroupSlot::Expert), (Members{4, 5, 6, 7}));
    EXPECT_EQ(MembersOf(folded, 5, GroupSlot::ExpertData), (Members{1, 5}));
    const StepGraph unfolded = BuildTransformerStep(model, MixturePlan(2, 4, 2, 0), SampleGpu());
    EXPECT_EQ(MembersOf(unfolded, 5, GroupSlot::ExpertTensor), (Members{4, 5}));
    EXPECT_EQ(MembersOf(unfolded, 5, GroupSlot::Expert), (Members{5, 7}));
    EXPECT_EQ(MembersOf(unfolded, 5, GroupSlot::ExpertData), (Members{1, 5}));
}

// Each layer with experts sends s b topK / T rows away and back, forward and backward.
TEST(ExpertStep, TokensTravelFourTimes)
{
    const Transformer model = SmallMixture();
    const StepGraph graph = BuildTransformerStep(model, MixturePlan(2, 4, 4, 1), SampleGpu());
    const double once = 3.0 * model.sequence / 2 * 6 * model.hidden * 2;
    for (const char* label : {"dispatch all-to-all",
                              "combine all-to-all",
                              "combine backward all-to-all",
                              "dispatch backward all-to-all"})
    {
        EXPECT_EQ(BytesOf(graph, graph.programs[0], label), once) << label;
    }
}

// The buckets reduced over replicas of the dense weights hold all of those; the others hold all
// experts.
TEST(ExpertStep, BucketsCoverEveryParameter)
{
    const Transformer model = SmallMixture();
    for (const ParallelPlan& plan : {MixturePlan(1, 8, 4, 1), MixturePlan(2, 4, 2, 2)})
    {
        const StepGraph graph = BuildTransformerStep(model, plan, SampleGpu());
        EXPECT_EQ(BytesOf(graph, graph.programs[0], "gradient bucket"),
                  4 * RankStageParameters(model, plan, 0));
        EXPECT_EQ(BytesOf(graph, graph.programs[0], "expert gradient bucket"),
                  4 * RankExpertParameters(model, plan, 0));
    }
    // Experts without replicas have no gradients to reduce.
    const StepGraph withoutReplicas =
        BuildTransformerStep(model, MixturePlan(1, 8, 8, 1), SampleGpu());
    EXPECT_EQ(BytesOf(withoutReplicas, withoutReplicas.programs[0], "expert gradient bucket"), 0);
}

// Experts on different ranks of a replica have separate norms, which are summed over these ranks.
// Ranks that agree on the norm anyway (a tensor group, ZeRO's replicas) do not need this.
TEST(ExpertStep, NormsOfExpertsAreSummedOverTheirRanks)
{
    const Transformer model = SmallMixture();
    const auto summed = [&model](const ParallelPlan& plan) {
        const StepGraph graph = BuildTransformerStep(model, plan, SampleGpu());
        return BytesOf(graph, graph.programs[0], "experts gradient norm all-reduce");
    };
    EXPECT_EQ(summed(MixturePlan(1, 8, 8, 1)), 4);
    EXPECT_EQ(summed(MixturePlan(2, 4, 4, 1)), 4);
    EXPECT_EQ(summed(MixturePlan(4, 2, 4, 1)), 0);
    ParallelPlan sharded = MixturePlan(1, 8, 8, 1);
    sharded.sharding.state = ShardedState::Optimizer;
    EXPECT_EQ(summed(sharded), 0);
}

// "needed" recomputes everything except the last GEMM of a dense layer, 2 s h f, whose output is
// not read; of experts the output of every GEMM is read. "operators" recomputes the k and o GEMMs
// of attention, `up` of the dense layer, and mixtures as a whole; it keeps q, v and the context of
// attention plus the layer's input, 2 s h bytes each.
TEST(ExpertStep, RecomputationRunsMixturesAgain)
{
    const Transformer model = SmallMixture();
    const double s = model.sequence;
    const double h = model.hidden;
    ParallelPlan plan = MixturePlan(1, 8, 8, 1);
    const auto flops = [&](Recomputation recomputation) {
        plan.recomputation = recomputation;
        return GemmFlops(BuildTransformerStep(model, plan, SampleGpu())) / plan.data;
    };
    const double none = flops(Recomputation::None);
    const double full = flops(Recomputation::Full);
    const double dense = 2 * s * h * 10944;
    EXPECT_NEAR((full - flops(Recomputation::Needed)) / dense, 1, 1e-12);
    const double mixture = 2 * s * h * (64 + 3 * (6 * 1408 + 2816));
    EXPECT_NEAR((flops(Recomputation::Operators) - none) /
                    (4 * 2 * s * h * 2 * h + dense + 3 * mixture),
                1,
                1e-12);
    EXPECT_EQ(LayerActivations(model, plan, true), 4 * 2 * s * h);
}

// Without a capacity factor the CPU waits for the routing of every layer with experts, forward;
// with one it does not.
TEST(ExpertStep, OnlyDroplessRoutingStopsTheCpu)
{
    const Transformer model = SmallMixture();
    ParallelPlan plan = MixturePlan(1, 8, 8, 1);
    const auto stops = [&] {
        const StepGraph graph = BuildTransformerStep(model, plan, SampleGpu());
        int found = 0;
        for (const StepOp& op :
             graph.programs[0].streams[static_cast<std::size_t>(StreamKind::Compute)])
        {
            found += op.synchronizes ? 1 : 0;
        }
        return found;
    };
    const int dropless = stops();
    plan.expertLoad.capacityFactor = 1;
    EXPECT_EQ(dropless - stops(), 3);
}

// All ranks wait for the one with the busiest experts. If the second of eight ranks gets twice the
// mean, the step is one in which every rank computes twice the mean's expert GEMMs: 6 FLOPs per
// weight, for topK = 6 experts of every token in three layers, are added to a balanced step.
TEST(ExpertStep, TheBusiestRankDecides)
{
    const Transformer model = SmallMixture();
    ParallelPlan plan = MixturePlan(1, 8, 8, 1);
    const StepGraph balanced = BuildTransformerStep(model, plan, SampleGpu());
    plan.expertLoad.shares.assign(64, 6.0 / 7);
    std::fill_n(plan.expertLoad.shares.begin() + 8, 8, 2); // 56 * 6 / 7 + 8 * 2 = 64
    const StepGraph uneven = BuildTransformerStep(model, plan, SampleGpu());
    const double tokens = static_cast<double>(plan.globalBatch) * model.sequence;
    const double experts = 6 * tokens * 3 * 6 * (3.0 * model.hidden * 1408);
    EXPECT_NEAR((GemmFlops(uneven) - GemmFlops(balanced)) / experts, 1, 1e-9);
    EXPECT_GT(Execution(uneven).StepTime(), Execution(balanced).StepTime());
}

// Each of four attention projections and the second GEMM of the one dense MLP has a bias, whose
// gradient is a kernel of its own. Of the three layers with experts, shared experts have a second
// GEMM with such a bias; the sum of the routed experts' rows has none.
TEST(ExpertStep, OnlySharedExpertsAddABias)
{
    Transformer model = SmallMixture();
    model.biases = true;
    const auto biasGradients = [&model] {
        const StepGraph graph = BuildTransformerStep(model, MixturePlan(1, 8, 8, 1), SampleGpu());
        uint32_t found = 0;
        for (const StepOp& op : graph.programs[0].streams[0])
        {
            for (uint32_t i = op.firstKernel; i < op.firstKernel + op.kernelCount; i++)
            {
                found += graph.labels[graph.kernels[i].name] == "bias gradient" ? 1 : 0;
            }
        }
        return found;
    };
    EXPECT_EQ(biasGradients(), 4 + 1 + 3);
    model.moe.sharedFfn = 0;
    EXPECT_EQ(biasGradients(), 4 + 1);
}

// Categories sum to the step, and waiting for tokens is accounted as expert time.
TEST(ExpertStep, BreakdownSumsToTheStep)
{
    const Transformer model = SmallMixture();
    for (const ParallelPlan& plan : {MixturePlan(2, 4, 4, 2), MixturePlan(2, 4, 8, 1)})
    {
        const StepGraph graph = BuildTransformerStep(model, plan, SampleGpu());
        const Time once = Time::Microseconds(10);
        const Execution run(graph, [&](const CollectiveCall& call) {
            return call.op == CollectiveOp::AllToAll ? once : Time();
        });
        for (const RankBreakdown& rank : run.Breakdown())
        {
            EXPECT_EQ(std::accumulate(rank.spent.begin(), rank.spent.end(), Time()),
                      run.StepTime());
        }
        EXPECT_EQ(run.Spent(0, TimeCategory::Expert), once * (4 * 3));
    }
}

} // namespace
} // namespace weir

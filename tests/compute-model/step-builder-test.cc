// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/step-builder.h"

#include "compute-model/plan/rank-groups.h"
#include "compute-model/plan/stage-layers.h"

#include "graph-run.h"
#include "transformer-samples.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

namespace weir
{
namespace
{

/** Zeroes embeddings, output and optimizer, so that all stages of a pipeline take equal time. */
void
KeepOnlyLayers(StepGraph& graph)
{
    for (StepProgram& program : graph.programs)
    {
        for (StepOp& op : program.streams[static_cast<std::size_t>(StreamKind::Compute)])
        {
            const bool isLayer = graph.labels[op.label].find("MLP") != std::string::npos ||
                                 graph.labels[op.label].find("attention") != std::string::npos;
            op.duration = isLayer ? op.duration : Time();
        }
    }
}

ParallelPlan
Plan(uint32_t tensor, uint32_t pipeline, uint32_t data, uint32_t globalBatch)
{
    ParallelPlan plan;
    plan.tensor = tensor;
    plan.pipeline = pipeline;
    plan.data = data;
    plan.globalBatch = globalBatch;
    return plan;
}

// Narayanan et al. 2021, equation 3, without recomputation (72 instead of 96): 72 B s l h^2 (1 +
// s/(6h) + V/(12 l h)) GEMM FLOPs, attention counted in full.
TEST(StepBuilder, FlopsFollowNarayanan)
{
    const Transformer model = SampleGpt(8, 4096, 32);
    for (ParallelPlan plan :
         {Plan(1, 1, 1, 4), Plan(8, 1, 1, 4), Plan(4, 2, 1, 4), Plan(2, 4, 2, 8)})
    {
        plan.attention = AttentionKind::Unfused;
        const double b = plan.globalBatch;
        const double s = model.sequence;
        const double l = model.layers;
        const double h = model.hidden;
        const double v = model.vocabulary;
        const double expected = 72 * b * s * l * h * h * (1 + s / (6 * h) + v / (12 * l * h));
        EXPECT_NEAR(GemmFlops(BuildTransformerStep(model, plan, SampleGpu())) / expected, 1, 1e-12);

        // Full recomputation runs the layers' forward pass twice: 96 instead of 72, logits as
        // before.
        plan.recomputation = Recomputation::Full;
        const double recomputed = 96 * b * s * l * h * h * (1 + s / (6 * h) + v / (16 * l * h));
        EXPECT_NEAR(
            GemmFlops(BuildTransformerStep(model, plan, SampleGpu())) / recomputed, 1, 1e-12);

        // Selective recomputation adds only 4 b s^2 h per layer.
        plan.recomputation = Recomputation::Selective;
        const double selective = expected + 4 * b * s * s * h * l;
        EXPECT_NEAR(
            GemmFlops(BuildTransformerStep(model, plan, SampleGpu())) / selective, 1, 1e-12);
    }
}

// With equal stages and no communication the bubble is (p - 1)/(m + p - 1) of the step for 1F1B,
// and (p - 1)/(v m + p - 1) for the interleaved schedule (Narayanan et al. 2021, 2.2), to the
// picosecond.
TEST(StepBuilder, BubbleFollowsNarayanan)
{
    const Transformer model = SampleGpt(24, 1024, 16);
    for (uint32_t pipeline : {2U, 4U})
    {
        for (uint32_t microBatches : {4U, 8U, 16U})
        {
            for (uint32_t chunks : {1U, 2U, 3U})
            {
                ParallelPlan plan = Plan(1, pipeline, 1, microBatches);
                plan.virtualStages = chunks;
                plan.schedule = chunks == 1 ? PipelineScheduleKind::OneForwardOneBackward
                                            : PipelineScheduleKind::Interleaved;
                StepGraph graph = BuildTransformerStep(model, plan, SampleGpu());
                KeepOnlyLayers(graph);
                const Execution run(graph);
                const int64_t p = pipeline;
                const int64_t m = microBatches * chunks;
                for (uint32_t rank = 0; rank < pipeline; rank++)
                {
                    const int64_t bubble = run.Spent(rank, TimeCategory::Bubble).ToPicoseconds();
                    EXPECT_EQ(bubble * (m + p - 1), run.StepTime().ToPicoseconds() * (p - 1))
                        << "p " << p << " m " << microBatches << " v " << chunks;
                }
            }
        }
    }
}

class Plans : public ::testing::TestWithParam<ParallelPlan>
{
};

// Every rank's categories sum to the step time, for any plan.
TEST_P(Plans, BreakdownSumsToTheStep)
{
    const Transformer model = SampleGpt(8, 1024, 16);
    const StepGraph graph = BuildTransformerStep(model, GetParam(), SampleGpu());
    const Execution run(graph, [](const CollectiveCall& call) {
        return Time::Microseconds(10) + call.bytes / Rate::GBps(100);
    });
    ASSERT_EQ(run.Breakdown().size(), GetParam().Ranks());
    for (const RankBreakdown& rank : run.Breakdown())
    {
        const Time sum = std::accumulate(rank.spent.begin(), rank.spent.end(), Time());
        EXPECT_EQ(sum, run.StepTime());
    }
}

// Two methods of counting agree: the bytes of the gradient buckets issued in the backward pass, and
// the parameters held by a rank of the stage.
TEST_P(Plans, BucketsCoverEveryParameter)
{
    const Transformer model = SampleGpt(8, 1024, 16);
    const ParallelPlan& plan = GetParam();
    const StepGraph graph = BuildTransformerStep(model, plan, SampleGpu());
    for (uint32_t stage = 0; stage < plan.pipeline; stage++)
    {
        const auto& ops =
            graph.programs[stage].streams[static_cast<std::size_t>(StreamKind::DataComm)];
        double bytes = 0;
        for (const StepOp& op : ops)
        {
            const bool isGradient = graph.labels[op.label].rfind("gradient bucket", 0) == 0 ||
                                    graph.labels[op.label] == "gradients";
            bytes += isGradient ? op.bytes.ToDouble() : 0;
        }
        const double expected = plan.data > 1 ? RankStageParameters(model, plan, stage) * 4 : 0;
        EXPECT_EQ(bytes, expected);
    }
}

// All tensor ranks and replicas of a stage spend their time equally when the fabric treats them
// equally.
TEST_P(Plans, RanksOfAStageAreAlike)
{
    const Transformer model = SampleGpt(8, 1024, 16);
    const ParallelPlan& plan = GetParam();
    const StepGraph graph = BuildTransformerStep(model, plan, SampleGpu());
    const Execution run(graph, [](const CollectiveCall& call) {
        return Time::Microseconds(10) + call.bytes / Rate::GBps(100);
    });
    const uint32_t stageRanks = plan.tensor * plan.data;
    for (uint32_t rank = 0; rank < plan.Ranks(); rank++)
    {
        EXPECT_EQ(run.Breakdown()[rank].spent,
                  run.Breakdown()[rank / stageRanks * stageRanks].spent);
    }
}

std::vector<ParallelPlan>
VariedPlans()
{
    std::vector<ParallelPlan> plans = {Plan(1, 1, 1, 2), Plan(8, 1, 1, 2), Plan(1, 4, 1, 8)};
    plans.push_back(Plan(2, 2, 2, 8));
    plans.back().sequenceParallel = true;
    plans.back().recomputation = Recomputation::Full;
    plans.push_back(Plan(2, 2, 2, 8));
    plans.back().overlapGradients = false;
    plans.back().precision = Precision::Fp16;
    plans.push_back(Plan(2, 2, 4, 16));
    plans.back().schedule = PipelineScheduleKind::Interleaved;
    plans.back().virtualStages = 2;
    plans.back().distributedOptimizer = true;
    plans.push_back(Plan(4, 2, 2, 4));
    plans.back().sequenceParallel = true;
    plans.back().recomputation = Recomputation::Selective;
    plans.back().attention = AttentionKind::Unfused;
    plans.back().schedule = PipelineScheduleKind::Interleaved;
    plans.back().virtualStages = 4;
    return plans;
}

INSTANTIATE_TEST_SUITE_P(Varied, Plans, ::testing::ValuesIn(VariedPlans()));

// Bytes over the tensor group per layer and micro-batch (Korthikanti et al. 2022, 4.2.2): four
// all-reduces of s b h without sequence parallelism; with it an all-gather and a reduce-scatter
// instead of each, and two more all-gathers for the weight gradients.
TEST(StepBuilder, TensorTrafficPerLayer)
{
    const Transformer model = SampleGpt(4, 1024, 16);
    const double boundary = 2048.0 * 1024 * 2;
    for (const bool sequenceParallel : {false, true})
    {
        ParallelPlan plan = Plan(4, 1, 1, 1);
        plan.sequenceParallel = sequenceParallel;
        const StepGraph graph = BuildTransformerStep(model, plan, SampleGpu());
        std::array<double, 3> bytes{};
        for (const StepOp& op :
             graph.programs[0].streams[static_cast<std::size_t>(StreamKind::TensorComm)])
        {
            if (op.layer != StepOp::NO_LAYER)
            {
                bytes.at(static_cast<std::size_t>(op.collective)) += op.bytes.ToDouble();
            }
        }
        const double unit = boundary * model.layers;
        const std::array<double, 3> plain{4 * unit, 0, 0};
        const std::array<double, 3> sequence{0, 6 * unit, 4 * unit};
        EXPECT_EQ(bytes, sequenceParallel ? sequence : plain);
    }
}

// Megatron-LM's asynchronous all-reduce: a column-parallel layer's weight gradient overlaps with
// the all-reduce of its input gradient, so a collective no longer than that GEMM costs nothing.
TEST(StepBuilder, InputGradientAllReduceHidesBehindTheWeightGradient)
{
    const Transformer model = SampleGpt(4, 4096, 32);
    const StepGraph graph = BuildTransformerStep(model, Plan(4, 1, 1, 1), SampleGpu());
    const Time shortTime = Time::Microseconds(50);
    const Execution run(graph, [&](const CollectiveCall& call) {
        return call.bytes > Bytes::MiB(1) ? shortTime : Time();
    });
    // Exposed are two forward all-reduces per layer and the embedding's; both backward ones and
    // that of the logits are hidden.
    EXPECT_EQ(run.Spent(0, TimeCategory::Tensor), shortTime * (2 * model.layers + 1));
}

// A stage boundary carries s b h activations: 1/T per tensor rank when scattered (and then gathered
// over NVLink) or when the sequence is already split.
TEST(StepBuilder, StageBoundaryIsScattered)
{
    const Transformer model = SampleGpt(4, 1024, 16);
    const Bytes boundary(2048 * 1024 * 2);
    for (const bool scatter : {false, true})
    {
        for (const bool sequenceParallel : {false, true})
        {
            ParallelPlan plan = Plan(4, 2, 1, 2);
            plan.scatterGatherPipeline = scatter;
            plan.sequenceParallel = sequenceParallel;
            const StepGraph graph = BuildTransformerStep(model, plan, SampleGpu());
            const auto& sends =
                graph.programs[0].streams[static_cast<std::size_t>(StreamKind::PipelineSend)];
            ASSERT_EQ(sends.size(), 2U);
            EXPECT_EQ(sends[0].bytes, scatter || sequenceParallel ? boundary / 4 : boundary);
            std::size_t gathers = 0;
            for (const StepOp& op :
                 graph.programs[1].streams[static_cast<std::size_t>(StreamKind::TensorComm)])
            {
                gathers += graph.labels[op.label] == "activations all-gather" ? 1 : 0;
            }
            EXPECT_EQ(gathers, scatter && !sequenceParallel ? 2U : 0U);
        }
    }
}

// ZeRO-1 replaces an all-reduce by its two halves, a reduce-scatter of gradients and an all-gather
// of weights.
TEST(StepBuilder, DistributedOptimizerScattersGradientsAndGathersWeights)
{
    const Transformer model = SampleGpt(4, 1024, 16);
    ParallelPlan plan = Plan(1, 1, 4, 4);
    plan.distributedOptimizer = true;
    const StepGraph graph = BuildTransformerStep(model, plan, SampleGpu());
    double scattered = 0;
    double gathered = 0;
    for (const StepOp& op :
         graph.programs[0].streams[static_cast<std::size_t>(StreamKind::DataComm)])
    {
        scattered += op.collective == CollectiveOp::ReduceScatter ? op.bytes.ToDouble() : 0;
        gathered += op.collective == CollectiveOp::AllGather ? op.bytes.ToDouble() : 0;
    }
    const double parameters = RankStageParameters(model, plan, 0);
    EXPECT_EQ(scattered, 4 * parameters);
    EXPECT_EQ(gathered, 2 * parameters);
}

// Rank = tensor + T (data + D pipeline).
TEST(StepBuilder, GroupsFollowTheRankOrder)
{
    const Transformer model = SampleGpt(4, 1024, 16);
    const StepGraph graph = BuildTransformerStep(model, Plan(2, 2, 2, 4), SampleGpu());
    const auto groupOf = [&graph](uint32_t rank, GroupSlot slot) {
        std::vector<uint32_t> members;
        for (Rank member : graph.groups[graph.rankGroups[rank][static_cast<std::size_t>(slot)]])
        {
            members.push_back(member.Index());
        }
        return members;
    };
    using Members = std::vector<uint32_t>;
    EXPECT_EQ(groupOf(3, GroupSlot::Tensor), (Members{2, 3}));
    EXPECT_EQ(groupOf(3, GroupSlot::Data), (Members{1, 3}));
    EXPECT_EQ(groupOf(3, GroupSlot::Optimizer), (Members{2, 3, 6, 7}));
    EXPECT_EQ(groupOf(3, GroupSlot::SendForward), (Members{3, 7}));
    EXPECT_EQ(groupOf(7, GroupSlot::ReceiveForward), (Members{3, 7}));
    EXPECT_EQ(groupOf(7, GroupSlot::SendBackward), (Members{7, 3}));
    EXPECT_EQ(groupOf(3, GroupSlot::Embedding), (Members{3, 7}));
    EXPECT_EQ(graph.rankGroups[3][static_cast<std::size_t>(GroupSlot::SendBackward)],
              StepGraph::NO_GROUP);
}

// The 1024-GPU plan shares one program per stage and one record per kernel of a layer.
TEST(StepBuilder, ProgramsAndKernelsAreShared)
{
    ParallelPlan plan = Plan(8, 8, 16, 1536);
    plan.schedule = PipelineScheduleKind::Interleaved;
    plan.virtualStages = 6;
    const StepGraph graph = BuildTransformerStep(SampleGpt(96, 12288, 96), plan, SampleGpu());
    EXPECT_EQ(graph.RankCount(), 1024U);
    EXPECT_EQ(graph.programs.size(), 8U);
    EXPECT_LT(graph.kernels.size(), 1000U);
}

} // namespace
} // namespace weir

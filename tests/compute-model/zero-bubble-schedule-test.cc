// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/plan/pipeline-schedule.h"

#include "compute-model/graph/step-builder.h"
#include "compute-model/plan/activation-memory.h"

#include "graph-run.h"
#include "transformer-samples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace weir
{
namespace
{

std::vector<PipelineStep>
ScheduleOf(PipelineScheduleKind kind,
           uint32_t stage,
           uint32_t stages,
           uint32_t microBatches,
           const PassTimes& times = {})
{
    PipelinePosition position;
    position.kind = kind;
    position.stage = stage;
    position.stages = stages;
    position.microBatches = microBatches;
    position.times = times;
    return PipelineSchedule(position);
}

/**
 * Time until all stages have ended, if every pass begins as soon as its stage and its input are
 * ready.
 */
double
Makespan(PipelineScheduleKind kind, uint32_t stages, uint32_t microBatches, const PassTimes& times)
{
    std::vector<std::vector<PipelineStep>> left;
    for (uint32_t stage = 0; stage < stages; stage++)
    {
        left.push_back(ScheduleOf(kind, stage, stages, microBatches, times));
        std::reverse(left.back().begin(), left.back().end());
    }
    std::vector<double> now(stages, 0);
    std::map<std::pair<uint32_t, uint32_t>, double> forward; // end time by stage and micro-batch
    std::map<std::pair<uint32_t, uint32_t>, double> backward;
    for (bool moved = true; moved;)
    {
        moved = false;
        for (uint32_t stage = 0; stage < stages; stage++)
        {
            while (!left[stage].empty())
            {
                const PipelineStep& step = left[stage].back();
                const uint32_t m = step.microBatch;
                if (step.kind == PipelineStepKind::Forward)
                {
                    if (stage > 0 && forward.count({stage - 1, m}) == 0)
                    {
                        break;
                    }
                    const double input = stage > 0 ? forward[{stage - 1, m}] : 0;
                    now[stage] = std::max(now[stage], input) + times.forward;
                    forward[{stage, m}] = now[stage];
                }
                else if (step.kind == PipelineStepKind::BackwardWeights)
                {
                    now[stage] += times.backwardWeights;
                }
                else if (step.kind != PipelineStepKind::Exchange)
                {
                    if (stage + 1 < stages && backward.count({stage + 1, m}) == 0)
                    {
                        break;
                    }
                    const bool isWhole = step.kind == PipelineStepKind::Backward;
                    const double input =
                        stage + 1 < stages ? backward[{stage + 1, m}] : forward[{stage, m}];
                    now[stage] = std::max(now[stage], input) + times.backwardInput +
                                 (isWhole ? times.backwardWeights : 0);
                    backward[{stage, m}] = now[stage];
                }
                left[stage].pop_back();
                moved = true;
            }
        }
    }
    for (const auto& steps : left)
    {
        EXPECT_TRUE(steps.empty());
    }
    return *std::max_element(now.begin(), now.end());
}

// m (F + B + W) of work plus a bubble: (p - 1)(F + B + W) for 1F1B and GPipe (Huang et al. 2019),
// (p - 1)(F + B - W) for ZB-H1 (Qi et al. 2023, table 2), with equal pass times as in its figures.
TEST(ZeroBubbleSchedule, BubbleOfH1)
{
    const PassTimes times;
    for (const uint32_t p : {2U, 4U, 8U})
    {
        for (const uint32_t m : {2 * p, 5 * p})
        {
            EXPECT_EQ(Makespan(PipelineScheduleKind::OneForwardOneBackward, p, m, times),
                      3.0 * m + 3.0 * (p - 1));
            EXPECT_EQ(Makespan(PipelineScheduleKind::GPipe, p, m, times), 3.0 * m + 3.0 * (p - 1));
            EXPECT_EQ(Makespan(PipelineScheduleKind::ZeroBubbleH1, p, m, times),
                      3.0 * m + 1.0 * (p - 1));
        }
    }
}

// Splitting the backward pass is never slower than 1F1B, for any pass times.
TEST(ZeroBubbleSchedule, NoWorseThanOneForwardOneBackward)
{
    for (const PassTimes& times :
         {PassTimes{1, 1, 1, 0}, PassTimes{1, 1.3, 0.7, 0}, PassTimes{2, 2.5, 1.5, 0}})
    {
        for (const uint32_t p : {2U, 4U, 8U})
        {
            for (const uint32_t m : {p, 3 * p, 8 * p})
            {
                const double plain =
                    Makespan(PipelineScheduleKind::OneForwardOneBackward, p, m, times);
                EXPECT_LE(Makespan(PipelineScheduleKind::ZeroBubbleH1, p, m, times), plain);
                EXPECT_LE(Makespan(PipelineScheduleKind::ZeroBubble1p, p, m, times), plain);
            }
        }
    }
}

// Every pass of every micro-batch occurs once and in order, W after its B, and the schedule never
// holds more activations than 1F1B's first stage.
TEST(ZeroBubbleSchedule, KeepsWithinOneForwardOneBackwardsMemory)
{
    for (const PipelineScheduleKind kind :
         {PipelineScheduleKind::ZeroBubbleH1, PipelineScheduleKind::ZeroBubble1p})
    {
        for (const uint32_t m : {3U, 16U})
        {
            for (uint32_t stage = 0; stage < 4; stage++)
            {
                uint32_t forward = 0;
                uint32_t backward = 0;
                uint32_t weights = 0;
                for (const PipelineStep& step : ScheduleOf(kind, stage, 4, m, {1, 1.2, 0.8, 0.1}))
                {
                    if (step.kind == PipelineStepKind::Exchange)
                    {
                        EXPECT_TRUE(step.detached);
                        continue;
                    }
                    uint32_t& done = step.kind == PipelineStepKind::Forward         ? forward
                                     : step.kind == PipelineStepKind::BackwardInput ? backward
                                                                                    : weights;
                    EXPECT_EQ(step.microBatch, done);
                    done++;
                    EXPECT_LE(backward, forward);
                    EXPECT_LE(weights, backward);
                    EXPECT_LE(forward - weights, 4U);
                }
                EXPECT_EQ(forward, m);
                EXPECT_EQ(backward, m);
                EXPECT_EQ(weights, m);
            }
        }
    }
}

/** Maximum that a stage holds for all micro-batches, after any of its passes. */
double
MaxHeld(const std::vector<PipelineStep>& schedule, double beforeB, double beforeW)
{
    double max = 0;
    double held = 0;
    for (const PipelineStep& step : schedule)
    {
        held += step.kind == PipelineStepKind::Forward           ? beforeB
                : step.kind == PipelineStepKind::BackwardInput   ? beforeW - beforeB
                : step.kind == PipelineStepKind::BackwardWeights ? -beforeW
                                                                 : 0;
        max = std::max(max, held);
    }
    return max;
}

// The memory of a stage equals a count along its schedule: from F to B the activations of its
// layers; from B to W both operands of each weight-gradient GEMM, 32 s b h per GPT layer (Qi et al.
// 2023, table 1), recomputed or not; plus the recomputed activations of one layer. The order of
// ZB-1p depends on the times, so its estimate is an upper bound.
TEST(ZeroBubbleMemory, IsThatOfAWalkThroughTheSchedule)
{
    Transformer model = SampleGpt(16, 1024, 16);
    model.dropout = false; // no mask of the embedding
    ParallelPlan plan;
    plan.pipeline = 4;
    EXPECT_EQ(LayerHeldForWeights(model, plan), 32.0 * 2048 * 1024);
    const double whole = LayerActivations(model, plan);
    for (const Recomputation recomputation : {Recomputation::None, Recomputation::Full})
    {
        plan.recomputation = recomputation;
        const double layers = 4;
        const double beforeB = LayerActivations(model, plan) * layers;
        const double beforeW = LayerHeldForWeights(model, plan) * layers;
        const double atWork = whole - LayerActivations(model, plan);
        for (const uint32_t m : {2U, 3U, 16U})
        {
            plan.globalBatch = m;
            for (uint32_t stage = 0; stage + 1 < plan.pipeline; stage++) // the last has logits
            {
                plan.schedule = PipelineScheduleKind::ZeroBubbleH1;
                EXPECT_EQ(StageActivations(model, plan, stage).ToDouble() - atWork,
                          MaxHeld(ScheduleOf(plan.schedule, stage, 4, m), beforeB, beforeW));
                plan.schedule = PipelineScheduleKind::ZeroBubble1p;
                for (const PassTimes& times :
                     {PassTimes{1, 1, 1, 0}, PassTimes{1, 1.3, 0.7, 0.1}, PassTimes{1, 2, 1, 0}})
                {
                    const auto schedule = ScheduleOf(plan.schedule, stage, 4, m, times);
                    EXPECT_GE(StageActivations(model, plan, stage).ToDouble() - atWork,
                              MaxHeld(schedule, beforeB, beforeW));
                }
            }
        }
    }
}

// Stage i of p holds (p - i) M_B + i M_W under ZB-H1 (Qi et al. 2023, 2.3, counted from 0), and
// directly after a B one more M_W instead of an M_B. That is within 1F1B's p M_B as long as M_W <=
// M_B. For a GPT layer with the sequence split over t ranks, in s b h, M_B is 34 / t (Korthikanti
// et al. 2022, table 2). M_W is 28 / t + 4: inputs of (2 + 2 + 2 + 8) / t, gradients of (6 + 8) /
// t, and 2 + 2 for gradients after the two row-parallel GEMMs, which are gathered before B. So M_W
// against M_B is 32 to 34 for one rank, 18 to 17 for two ranks, 7.5 to 4.25 for eight.
TEST(ZeroBubbleMemory, IsOneForwardOneBackwardsWhereWeightsWaitForNoMore)
{
    const Transformer model = SampleGpt(16, 1024, 16);
    const double sbh = 2048.0 * 1024;
    const double layers = 4;
    for (const uint32_t t : {1U, 2U, 8U})
    {
        ParallelPlan plan;
        plan.pipeline = 4;
        plan.globalBatch = 16;
        plan.tensor = t;
        plan.sequenceParallel = t > 1;
        plan.schedule = PipelineScheduleKind::ZeroBubbleH1;
        const double forActivations = 34.0 / t * sbh;
        const double forWeights = (28.0 / t + 4) * sbh;
        EXPECT_EQ(LayerActivations(model, plan), forActivations);
        EXPECT_EQ(LayerHeldForWeights(model, plan), forWeights);
        const uint32_t stage = 2;
        const double held = StageActivations(model, plan, stage).ToDouble();
        const double waiting = stage + (forWeights > forActivations ? 1 : 0);
        EXPECT_EQ(held, layers * ((4 - waiting) * forActivations + waiting * forWeights));
        EXPECT_EQ(held <= layers * 4 * forActivations, t == 1);
    }
}

// Splitting changes no work: a step has the same GEMMs and reduces the same gradients, in less
// time.
TEST(ZeroBubbleSchedule, SplitsTheBackwardPassWithoutLoss)
{
    const Transformer model = SampleGpt(4, 1024, 16);
    ParallelPlan plan;
    plan.pipeline = 2;
    plan.tensor = 2;
    plan.sequenceParallel = true;
    plan.data = 2;
    plan.globalBatch = 16;
    const auto moved = [](const StepGraph& graph) {
        return SumOverRanks(graph, [](const StepOp& op) {
            const bool isGradient = op.kind == StepOpKind::Collective &&
                                    op.category == TimeCategory::Data &&
                                    op.collective == CollectiveOp::AllReduce;
            return isGradient ? op.bytes.ToDouble() : 0;
        });
    };
    const StepGraph whole = BuildTransformerStep(model, plan, SampleGpu());
    const Time wholeTime = Execution(whole).StepTime();
    for (const PipelineScheduleKind kind :
         {PipelineScheduleKind::ZeroBubbleH1, PipelineScheduleKind::ZeroBubble1p})
    {
        plan.schedule = kind;
        const StepGraph split = BuildTransformerStep(model, plan, SampleGpu());
        EXPECT_EQ(GemmFlops(split), GemmFlops(whole));
        EXPECT_EQ(moved(split), moved(whole));
        EXPECT_LT(Execution(split).StepTime(), wholeTime);
    }
}

} // namespace
} // namespace weir

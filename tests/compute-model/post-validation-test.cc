// SPDX-License-Identifier: GPL-2.0-only

#include "compute-model/graph/step-builder.h"
#include "compute-model/plan/pipeline-schedule.h"

#include "graph-run.h"
#include "transformer-samples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace weir
{
namespace
{

/** The graph of a pipeline's passes, in microseconds, with transfers of zero time between them. */
class PipelineGraph
{
  public:
    PipelineGraph(PipelineScheduleKind kind,
                  uint32_t stages,
                  uint32_t microBatches,
                  PassTimes times)
        : m_times(times)
    {
        graph.labels = {"pass"};
        graph.rankGroups.assign(stages, std::vector<uint32_t>(4, StepGraph::NO_GROUP));
        for (uint32_t stage = 0; stage < stages; stage++)
        {
            graph.rankProgram.push_back(stage);
            graph.programs.emplace_back();
            if (stage + 1 < stages)
            {
                AddPair(stage, SEND_FORWARD, stage + 1, RECEIVE_FORWARD);
                AddPair(stage + 1, SEND_BACKWARD, stage, RECEIVE_BACKWARD);
            }
        }
        for (uint32_t stage = 0; stage < stages; stage++)
        {
            PipelinePosition position;
            position.kind = kind;
            position.stage = stage;
            position.stages = stages;
            position.microBatches = microBatches;
            position.times = times;
            for (const PipelineStep& step : PipelineSchedule(position))
            {
                AddPass(stage, step.kind);
            }
        }
    }

    StepGraph graph;

  private:
    enum Slot : uint16_t
    {
        SEND_FORWARD,
        RECEIVE_FORWARD,
        SEND_BACKWARD,
        RECEIVE_BACKWARD
    };

    void AddPair(uint32_t sender, Slot send, uint32_t receiver, Slot receive)
    {
        graph.rankGroups[sender][send] = static_cast<uint32_t>(graph.groups.size());
        graph.rankGroups[receiver][receive] = static_cast<uint32_t>(graph.groups.size());
        graph.groups.push_back({Rank(sender), Rank(receiver)});
    }

    void AddPass(uint32_t stage, PipelineStepKind kind)
    {
        const bool isForward = kind == PipelineStepKind::Forward;
        if (kind == PipelineStepKind::Exchange)
        {
            return;
        }
        StepOp pass;
        pass.duration =
            Time::Microseconds(isForward                                 ? m_times.forward
                               : kind == PipelineStepKind::BackwardInput ? m_times.backwardInput
                               : kind == PipelineStepKind::BackwardWeights
                                   ? m_times.backwardWeights
                                   : m_times.backwardInput + m_times.backwardWeights);
        if (kind == PipelineStepKind::BackwardWeights)
        {
            Add(stage, StreamKind::Compute, pass, {});
            return;
        }
        std::vector<StepDependency> input;
        const Slot receive = isForward ? RECEIVE_FORWARD : RECEIVE_BACKWARD;
        if (graph.rankGroups[stage][receive] != StepGraph::NO_GROUP)
        {
            const StreamKind stream =
                isForward ? StreamKind::PipelineRecv : StreamKind::PipelineRecvBackward;
            input.push_back(Add(stage, stream, Transfer(StepOpKind::Recv, receive), {}));
        }
        const StepDependency done = Add(stage, StreamKind::Compute, pass, input);
        const Slot send = isForward ? SEND_FORWARD : SEND_BACKWARD;
        if (graph.rankGroups[stage][send] != StepGraph::NO_GROUP)
        {
            const StreamKind stream =
                isForward ? StreamKind::PipelineSend : StreamKind::PipelineSendBackward;
            Add(stage, stream, Transfer(StepOpKind::Send, send), {done});
        }
    }

    static StepOp Transfer(StepOpKind kind, Slot slot)
    {
        StepOp op;
        op.kind = kind;
        op.group = slot;
        op.category = TimeCategory::Pipeline;
        op.bytes = Bytes(8);
        return op;
    }

    StepDependency Add(uint32_t stage,
                       StreamKind stream,
                       StepOp op,
                       const std::vector<StepDependency>& needs)
    {
        StepProgram& program = graph.programs[stage];
        op.firstDependency = static_cast<uint32_t>(program.dependencies.size());
        op.dependencyCount = static_cast<uint16_t>(needs.size());
        program.dependencies.insert(program.dependencies.end(), needs.begin(), needs.end());
        auto& ops = program.streams[static_cast<std::size_t>(stream)];
        ops.push_back(op);
        return {stream, static_cast<uint32_t>(ops.size() - 1)};
    }

    PassTimes m_times;
};

/** Step times of @p graph in microseconds; expects every rank's time to be accounted in full. */
std::vector<double>
StepsOf(const StepGraph& graph, bool overlapsSteps, uint32_t steps = 4)
{
    FixedTimeEngine engine;
    StepExecutorSpec spec = ExecutorSpec(graph, engine);
    spec.steps = steps;
    spec.overlapsSteps = overlapsSteps;
    StepExecutor executor(spec);
    const Time end = RunToEnd(executor, engine);
    EXPECT_TRUE(executor.IsFinished()) << executor.DescribeWaiting();
    std::vector<double> times;
    Time sum;
    for (const Time step : executor.StepTimes())
    {
        times.push_back(step.ToSeconds() * 1e6);
        sum += step;
    }
    EXPECT_EQ(sum, end);
    for (const RankBreakdown& rank : executor.Breakdown())
    {
        EXPECT_EQ(std::accumulate(rank.spent.begin(), rank.spent.end(), Time()),
                  executor.SteadyStep());
    }
    return times;
}

// The work of a step is m (F + B + W). With passes of 1 us each the bubble between barriers is (p -
// 1)(F + B + W) for 1F1B and GPipe, (p - 1)(F + B - W) for ZB-H1 and (p - 1) F for ZB-2p (Qi et al.
// 2023, section 2). Without barriers a schedule gains the skew of its stages: nothing for the first
// three, whose first stage starts first and ends last, and the whole bubble for ZB-2p, whose stages
// start and end F after one another.
TEST(StepsApart, OnlySkewedSchedulesLoseTheirBubble)
{
    using Kind = PipelineScheduleKind;
    for (const uint32_t p : {2U, 4U, 8U})
    {
        for (const uint32_t m : {2 * p, 3 * p})
        {
            const double work = 3.0 * m;
            for (const auto& [kind, withBarrier, withoutBarrier] :
                 {std::tuple(Kind::OneForwardOneBackward, 3.0, 3.0),
                  std::tuple(Kind::GPipe, 3.0, 3.0),
                  std::tuple(Kind::ZeroBubbleH1, 1.0, 1.0),
                  std::tuple(Kind::ZeroBubble2p, 1.0, 0.0)})
            {
                const PipelineGraph pipeline(kind, p, m, PassTimes());
                EXPECT_NEAR(
                    StepsOf(pipeline.graph, false).back(), work + withBarrier * (p - 1), 1e-6);
                EXPECT_NEAR(
                    StepsOf(pipeline.graph, true).back(), work + withoutBarrier * (p - 1), 1e-6);
            }
            // ZB-1p has the memory of p micro-batches: the first stage idles until its first B.
            const PipelineGraph greedy(Kind::ZeroBubble1p, p, m, PassTimes());
            EXPECT_GE(StepsOf(greedy.graph, true).back(), work + p - 1);
            EXPECT_LE(StepsOf(greedy.graph, true).back(), StepsOf(greedy.graph, false).back());
        }
    }
}

// For any pass times the bubble rate of 1F1B is (p - 1) / (m + p - 1): 7 / 31 for 8 stages and 24
// micro-batches. (Qi et al. 2023, table 5, report slightly more, which includes transfer times.)
TEST(StepsApart, OneForwardOneBackwardKeepsItsRateOfBubbles)
{
    const PassTimes times{18.522, 18.086, 9.337, 0}; // of the 1.5 B model, ibid., table 6, in ms
    const double work = 24 * (times.forward + times.backwardInput + times.backwardWeights);
    const PipelineGraph pipeline(PipelineScheduleKind::OneForwardOneBackward, 8, 24, times);
    for (const bool overlapsSteps : {false, true})
    {
        EXPECT_NEAR(1 - work / StepsOf(pipeline.graph, overlapsSteps).back(), 7.0 / 31, 1e-6);
    }
}

// The first step fills the pipeline, later steps follow at their period.
TEST(StepsApart, TheFirstStepFillsThePipeline)
{
    const PipelineGraph pipeline(PipelineScheduleKind::ZeroBubble2p, 4, 12, PassTimes());
    const std::vector<double> steps = StepsOf(pipeline.graph, true, 5);
    ASSERT_EQ(steps.size(), 5U);
    EXPECT_NEAR(steps[0], 36 + 3, 1e-6);
    for (std::size_t i = 1; i < steps.size(); i++)
    {
        EXPECT_NEAR(steps[i], 36, 1e-6);
    }
}

TEST(StepsApart, HaveNoSteadyRule)
{
    const PipelineGraph pipeline(PipelineScheduleKind::ZeroBubble2p, 2, 4, PassTimes());
    FixedTimeEngine engine;
    StepExecutorSpec spec = ExecutorSpec(pipeline.graph, engine);
    spec.overlapsSteps = true;
    spec.steady.tolerance = 0.01;
    EXPECT_THROW(StepExecutor executor(spec), std::invalid_argument);
}

ParallelPlan
Pipelined(PipelineScheduleKind schedule, ShardedState state)
{
    ParallelPlan plan;
    plan.tensor = 2;
    plan.data = 2;
    plan.pipeline = 4;
    plan.globalBatch = 2 * 16;
    plan.schedule = schedule;
    plan.virtualStages = schedule == PipelineScheduleKind::Interleaved ? 2 : 1;
    plan.sharding.state = state;
    return plan;
}

/** Number of operations of kind @p kind and label @p label on rank @p rank. */
uint32_t
CountOf(const StepGraph& graph, uint32_t rank, StepOpKind kind, const std::string& label)
{
    uint32_t count = 0;
    for (const auto& ops : graph.programs[graph.rankProgram[rank]].streams)
    {
        for (const StepOp& op : ops)
        {
            count += op.kind == kind && graph.labels[op.label] == label ? 1 : 0;
        }
    }
    return count;
}

// The norm is passed from the first stage to the last before the updates, and back in the next
// step: one message in each direction over each stage boundary. No collective spans several stages,
// except that of words held by both end stages. Under every schedule no rank waits forever, and no
// step takes longer than with a barrier.
TEST(PostValidation, PassesTheNormFromStageToStage)
{
    Transformer model = SampleGpt(8, 1024, 16);
    model.tiedEmbeddings = false;
    for (const auto schedule : {PipelineScheduleKind::OneForwardOneBackward,
                                PipelineScheduleKind::Interleaved,
                                PipelineScheduleKind::ZeroBubbleH1,
                                PipelineScheduleKind::ZeroBubble1p,
                                PipelineScheduleKind::ZeroBubble2p})
    {
        for (const ShardedState state :
             {ShardedState::None, ShardedState::Optimizer, ShardedState::Gradients})
        {
            ParallelPlan plan = Pipelined(schedule, state);
            const double withBarrier =
                StepsOf(BuildTransformerStep(model, plan, SampleGpu()), false).back();
            plan.postValidation = true;
            const StepGraph graph = BuildTransformerStep(model, plan, SampleGpu());
            for (uint32_t rank = 0; rank < plan.Ranks(); rank++)
            {
                const uint32_t stage = StageOf(plan, rank);
                const uint32_t hasNext = stage + 1 < plan.pipeline ? 1 : 0;
                const uint32_t hasPrevious = stage > 0 ? 1 : 0;
                const auto count = [&](StepOpKind kind, const char* label) {
                    return CountOf(graph, rank, kind, label);
                };
                EXPECT_EQ(count(StepOpKind::Send, "gradient norm so far"), hasNext);
                EXPECT_EQ(count(StepOpKind::Recv, "gradient norm so far"), hasPrevious);
                EXPECT_EQ(count(StepOpKind::Recv, "whole gradient norm"), hasNext);
                EXPECT_EQ(count(StepOpKind::Send, "whole gradient norm"), hasPrevious);
                for (const uint32_t member : MembersOf(graph, rank, GroupSlot::Optimizer))
                {
                    EXPECT_EQ(StageOf(plan, member), stage);
                }
            }
            EXPECT_LE(StepsOf(graph, true).back(), withBarrier * (1 + 1e-9));
        }
    }
}

/** Compute time per step of the busiest rank, in microseconds. */
double
MaxWork(const StepGraph& graph)
{
    double max = 0;
    for (const StepProgram& program : graph.programs)
    {
        double work = 0;
        for (const StepOp& op : program.streams[static_cast<std::size_t>(StreamKind::Compute)])
        {
            work += op.duration.ToSeconds() * 1e6;
        }
        max = std::max(max, work);
    }
    return max;
}

// A step is at least as long as the work of its busiest stage. With a barrier the excess is (p -
// 1)(F + B - 2 W), because passes differ, plus the skew (p - 1) F of the stages, which disappears
// without barriers.
TEST(PostValidation, TakesTheSkewFromZb2p)
{
    Transformer model = SampleGpt(8, 2048, 16);
    model.tiedEmbeddings = false;
    model.vocabulary = 1024; // so that the end stages equal the others
    ParallelPlan plan = Pipelined(PipelineScheduleKind::ZeroBubble2p, ShardedState::None);
    const double withBarrier =
        StepsOf(BuildTransformerStep(model, plan, SampleGpu()), false).back();
    plan.postValidation = true;
    const StepGraph graph = BuildTransformerStep(model, plan, SampleGpu());
    const double withoutBarrier = StepsOf(graph, true).back();
    EXPECT_GE(withoutBarrier, MaxWork(graph));
    EXPECT_LT(withoutBarrier - MaxWork(graph), 0.8 * (withBarrier - MaxWork(graph)));
}

/** Kind, label, group, duration and bytes of all operations of @p program, stream by stream. */
std::vector<std::tuple<StepOpKind, uint32_t, uint16_t, int64_t, int64_t>>
OperationsOf(const StepProgram& program)
{
    std::vector<std::tuple<StepOpKind, uint32_t, uint16_t, int64_t, int64_t>> operations;
    for (const auto& ops : program.streams)
    {
        for (const StepOp& op : ops)
        {
            operations.emplace_back(
                op.kind, op.label, op.group, op.duration.ToPicoseconds(), op.bytes.Count());
        }
    }
    return operations;
}

// Without a pipeline there is no other stage to wait for: the graph is the same.
TEST(PostValidation, ChangesNothingWithoutAPipeline)
{
    ParallelPlan plan;
    plan.data = 2;
    plan.globalBatch = 2;
    const Transformer model = SampleGpt(4, 1024, 16);
    const StepGraph without = BuildTransformerStep(model, plan, SampleGpu());
    plan.postValidation = true;
    const StepGraph with = BuildTransformerStep(model, plan, SampleGpu());
    EXPECT_FALSE(plan.OverlapsSteps());
    EXPECT_EQ(with.labels, without.labels);
    EXPECT_EQ(with.groups, without.groups);
    EXPECT_EQ(with.rankGroups, without.rankGroups);
    ASSERT_EQ(with.programs.size(), without.programs.size());
    for (std::size_t i = 0; i < with.programs.size(); i++)
    {
        EXPECT_EQ(OperationsOf(with.programs[i]), OperationsOf(without.programs[i]));
    }
    const auto slow = [](const CollectiveCall& call) {
        return Time::Microseconds(5 + call.bytes.ToDouble() / 1e5);
    };
    EXPECT_EQ(Execution(with, slow).StepTime(), Execution(without, slow).StepTime());
}

} // namespace
} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/rank-fold.h"

#include "fixed-time-engine.h"
#include "sample-machine.h"
#include "single-rank-engine.h"
#include "transformer-samples.h"

#include "collectives/engines/analytical-engine.h"
#include "compute-model/graph/step-builder.h"
#include "compute-model/training-run.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>
#include <vector>

namespace weir
{
namespace
{

ParallelPlan
PlanOf(uint32_t tensor, uint32_t pipeline, uint32_t data)
{
    ParallelPlan plan;
    plan.tensor = tensor;
    plan.pipeline = pipeline;
    plan.data = data;
    plan.sequenceParallel = true;
    plan.globalBatch = 4 * data;
    return plan;
}

StepGraph
GraphOf(const ParallelPlan& plan)
{
    return BuildTransformerStep(SampleGpt(4, 1024, 16), plan, SampleGpu());
}

/** Records every end that an executor reports: operation or group, owner, times. */
class Ends : public StepObserver
{
  public:
    using End = std::tuple<uint32_t, uint32_t, uint32_t, Time, Time, Time>;

    void OnOpFinished(uint32_t step,
                      Rank rank,
                      StreamKind stream,
                      const StepOp& op,
                      Time posted,
                      Time started,
                      Time finished) override
    {
        ops.emplace(step, rank.Index(), static_cast<uint32_t>(stream), posted, started, finished);
    }

    void OnCollectiveFinished(uint32_t step,
                              uint32_t group,
                              const StepOp& op,
                              uint64_t number,
                              Time firstArrival,
                              Time started,
                              Time finished) override
    {
        groups.emplace(step, group, op.label, firstArrival, started, finished);
    }

    std::multiset<End> ops;
    std::multiset<End> groups;
};

struct Outcome
{
    std::vector<Time> steps;
    std::vector<RankBreakdown> ranks;
    uint64_t ops{0};
    std::size_t calls{0};
    Ends ends;
};

/** Each call takes 5 us plus its bytes at 1 GB/s; group @p slow takes twice as long. */
Outcome
Execute(const StepGraph& graph,
        const std::vector<double>& scale,
        uint32_t slow,
        const std::vector<uint32_t>& kinds,
        bool overlapsSteps = false)
{
    FixedTimeEngine engine([&](const CollectiveCall& call) {
        const Time time = Time::Microseconds(5 + call.bytes.ToDouble() / 1e3);
        return call.communicator.Index() == slow ? time * 2.0 : time;
    });
    StepExecutorSpec spec;
    spec.graph = &graph;
    spec.engine = &engine;
    spec.steps = 2;
    spec.overlapsSteps = overlapsSteps;
    spec.computeScale = scale;
    spec.groupKinds = kinds;
    for (std::size_t group = 0; group < graph.groups.size(); group++)
    {
        spec.communicators.emplace_back(group);
    }
    StepExecutor executor(spec);
    Outcome outcome;
    executor.AddObserver(outcome.ends);
    EngineSet engines;
    engines.Add(executor);
    engines.Add(engine);
    engines.RunToEnd();
    outcome.steps = executor.StepTimes();
    outcome.ranks = executor.Breakdown();
    outcome.ops = executor.OpCount();
    outcome.calls = engine.Calls().size();
    return outcome;
}

constexpr uint32_t NOBODY = 0xffffffff;

std::vector<uint32_t>
KindsOf(const StepGraph& graph, uint32_t slow)
{
    std::vector<uint32_t> kinds(graph.groups.size());
    if (slow != NOBODY)
    {
        kinds[slow] = 1;
    }
    return kinds;
}

/** Expects the folded execution to equal the execution of every rank, bit for bit. */
void
ExpectAlike(const StepGraph& graph,
            const std::vector<double>& scale,
            uint32_t slow,
            bool overlapsSteps = false)
{
    const Outcome apart = Execute(graph, scale, slow, {}, overlapsSteps);
    const Outcome folded = Execute(graph, scale, slow, KindsOf(graph, slow), overlapsSteps);
    EXPECT_EQ(folded.steps, apart.steps);
    EXPECT_EQ(folded.ops, apart.ops);
    EXPECT_EQ(folded.ends.ops, apart.ends.ops);
    EXPECT_EQ(folded.ends.groups, apart.ends.groups);
    EXPECT_LT(folded.calls, apart.calls);
    ASSERT_EQ(folded.ranks.size(), apart.ranks.size());
    for (std::size_t rank = 0; rank < apart.ranks.size(); rank++)
    {
        EXPECT_EQ(folded.ranks[rank].spent, apart.ranks[rank].spent) << "rank " << rank;
    }
}

// With equal GPUs and groups only the programs distinguish ranks: one actor per stage.
TEST(RankFold, FindsAnActorForEachStage)
{
    const StepGraph graph = GraphOf(PlanOf(4, 2, 3));
    const RankFold fold(graph, {}, KindsOf(graph, NOBODY));
    EXPECT_EQ(fold.Actors(), 2U);
    EXPECT_EQ(fold.ranks.Count(0), 12U);
    for (std::size_t rank = 0; rank < graph.RankCount(); rank++)
    {
        EXPECT_EQ(fold.actorOf[rank], fold.actorOf[rank / 12 * 12]);
    }
}

// One slow rank is distinct, and so are the ranks that communicate with it: the rest of its tensor
// group, its data group, its stage neighbors, and through them all ranks. With 4 tensor ranks and 3
// replicas, the slow rank's replica and its tensor index each split the ranks of a stage in two: 2
// x 2 classes per stage.
TEST(RankFold, TellsASlowRankFromItsPeers)
{
    const StepGraph graph = GraphOf(PlanOf(4, 2, 3));
    std::vector<double> scale(graph.RankCount(), 1.0);
    scale[5] = 1.5;
    const RankFold fold(graph, scale, KindsOf(graph, NOBODY));
    EXPECT_EQ(fold.Actors(), 8U);
    EXPECT_EQ(fold.ranks.Count(fold.actorOf[5]), 1U);
    EXPECT_EQ(fold.actorOf[4], fold.actorOf[6]); // the slow rank's tensor group
    EXPECT_EQ(fold.actorOf[1], fold.actorOf[9]); // its data group
    EXPECT_NE(fold.actorOf[4], fold.actorOf[0]);
}

// A ring of ranks that run one program folds into one rank that sends to itself.
TEST(RankFold, FoldsARingIntoOneActor)
{
    StepGraph graph;
    graph.labels = {"op"};
    graph.programs.resize(1);
    StepOp op;
    op.bytes = Bytes(1000);
    op.kind = StepOpKind::Send;
    op.group = 0;
    graph.programs[0].streams[static_cast<std::size_t>(StreamKind::PipelineSend)] = {op, op};
    op.kind = StepOpKind::Recv;
    op.group = 1;
    graph.programs[0].streams[static_cast<std::size_t>(StreamKind::PipelineRecv)] = {op, op};
    for (uint32_t rank = 0; rank < 5; rank++)
    {
        graph.rankProgram.push_back(0);
        graph.groups.push_back({Rank(rank), Rank((rank + 1) % 5)});
        graph.rankGroups.push_back({rank, (rank + 4) % 5});
    }
    EXPECT_EQ(RankFold(graph, {}, KindsOf(graph, NOBODY)).Actors(), 1U);
    ExpectAlike(graph, {}, NOBODY);
}

TEST(RankFold, ExecutesTheSameStep)
{
    ExpectAlike(GraphOf(PlanOf(4, 2, 3)), {}, NOBODY);
    ExpectAlike(GraphOf(PlanOf(2, 4, 2)), {}, NOBODY);
    ParallelPlan interleaved = PlanOf(2, 2, 2);
    interleaved.schedule = PipelineScheduleKind::Interleaved;
    interleaved.virtualStages = 2;
    interleaved.distributedOptimizer = true;
    ExpectAlike(GraphOf(interleaved), {}, NOBODY);
    ParallelPlan apart = PlanOf(2, 4, 2); // no barrier between steps
    apart.schedule = PipelineScheduleKind::ZeroBubble2p;
    apart.postValidation = true;
    ExpectAlike(GraphOf(apart), {}, NOBODY, true);
}

TEST(RankFold, ExecutesTheSameStepWithASlowRank)
{
    const StepGraph graph = GraphOf(PlanOf(4, 2, 3));
    for (const uint32_t rank : {0U, 5U, 23U})
    {
        std::vector<double> scale(graph.RankCount(), 1.0);
        scale[rank] = 1.5;
        ExpectAlike(graph, scale, NOBODY);
    }
}

TEST(RankFold, ExecutesTheSameStepWithASlowGroup)
{
    const StepGraph graph = GraphOf(PlanOf(4, 2, 3));
    for (uint32_t slow = 0; slow < graph.groups.size(); slow += 5)
    {
        ExpectAlike(graph, {}, slow);
    }
}

/** Two concurrent jobs at planned times, the second with a slow GPU. */
template <typename Engine>
std::vector<RankBreakdown>
TwoJobs()
{
    // Leaves of four NICs, so that some pairs are joined over spines.
    SampleMachine machine(SampleMachineSpec(4, 4));
    Engine engine(machine.planner);
    EngineSet engines;
    std::vector<std::unique_ptr<TrainingRun>> jobs;
    for (std::size_t first : {0, 16})
    {
        TrainingJobSpec spec;
        spec.network = SampleGpt(4, 1024, 16);
        spec.plan = PlanOf(4, 2, 2);
        for (std::size_t gpu = 0; gpu < 16; gpu++)
        {
            spec.gpus.emplace_back(first + gpu);
        }
        spec.computeScale.assign(first, 1.0);
        if (first > 0)
        {
            spec.computeScale[3] = 1.25;
        }
        jobs.push_back(std::make_unique<TrainingRun>(spec, SampleGpu(), machine.planner, engine));
        engines.Add(jobs.back()->GetExecutor());
    }
    engines.Add(engine);
    engines.RunToEnd();
    std::vector<RankBreakdown> ranks;
    for (const auto& job : jobs)
    {
        EXPECT_TRUE(job->GetExecutor().IsFinished());
        const auto& of = job->GetExecutor().Breakdown();
        ranks.insert(ranks.end(), of.begin(), of.end());
    }
    return ranks;
}

// Kernels slowed down by communication are rounded to a picosecond at each change, in the order of
// simultaneous changes; that order may differ, hence a tolerance of a few picoseconds.
TEST(RankFold, ExecutesTheSameStepsOfTwoJobs)
{
    const auto apart = TwoJobs<SingleRankEngine>();
    const auto folded = TwoJobs<AnalyticalEngine>();
    ASSERT_EQ(folded.size(), apart.size());
    for (std::size_t rank = 0; rank < apart.size(); rank++)
    {
        for (std::size_t i = 0; i < TIME_CATEGORY_COUNT; i++)
        {
            EXPECT_NEAR(
                folded[rank].spent[i].ToPicoseconds(), apart[rank].spent[i].ToPicoseconds(), 10)
                << "rank " << rank << ", " << ToString(static_cast<TimeCategory>(i));
        }
    }
}

} // namespace
} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/step-executor.h"

#include "graph-run.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace weir
{
namespace
{

Time
Us(double us)
{
    return Time::Microseconds(us);
}

/** Builds small graphs by hand: one program per rank, one slot per group. */
class GraphWriter
{
  public:
    explicit GraphWriter(std::size_t ranks)
    {
        graph.labels = {"op"};
        graph.programs.resize(ranks);
        graph.rankGroups.resize(ranks);
        for (std::size_t rank = 0; rank < ranks; rank++)
        {
            graph.rankProgram.push_back(static_cast<uint32_t>(rank));
        }
    }

    /** Adds a group in the next slot of every rank. @return the slot */
    uint16_t AddGroup(const std::vector<uint32_t>& members)
    {
        graph.groups.emplace_back();
        for (uint32_t member : members)
        {
            graph.groups.back().push_back(Rank(member));
        }
        for (auto& slots : graph.rankGroups)
        {
            slots.push_back(static_cast<uint32_t>(graph.groups.size() - 1));
        }
        return static_cast<uint16_t>(graph.groups.size() - 1);
    }

    void Compute(uint32_t rank, Time duration, const std::vector<StepDependency>& needs = {})
    {
        StepOp op;
        op.duration = duration;
        Add(rank, StreamKind::Compute, op, needs);
    }

    void Communicate(uint32_t rank,
                     StreamKind stream,
                     StepOpKind kind,
                     uint16_t slot,
                     TimeCategory category,
                     const std::vector<StepDependency>& needs = {},
                     Bytes bytes = Bytes(8))
    {
        StepOp op;
        op.kind = kind;
        op.group = slot;
        op.category = category;
        op.bytes = bytes;
        Add(rank, stream, op, needs);
    }

    /**
     * Like Compute, launched by a CPU that takes @p launch before it, with a total bound of @p
     * bound.
     */
    void ComputeLaunched(uint32_t rank,
                         Time duration,
                         Time launch,
                         Time bound,
                         uint32_t epoch = 0,
                         StreamKind stream = StreamKind::Compute)
    {
        StepOp op;
        op.duration = duration;
        op.launch = launch;
        op.launchBound = bound;
        op.epoch = epoch;
        op.synchronizes = epoch > 0;
        Add(rank, stream, op, {});
    }

    StepGraph graph;

  private:
    void Add(uint32_t rank, StreamKind stream, StepOp op, const std::vector<StepDependency>& needs)
    {
        StepProgram& program = graph.programs[rank];
        op.firstDependency = static_cast<uint32_t>(program.dependencies.size());
        op.dependencyCount = static_cast<uint16_t>(needs.size());
        program.dependencies.insert(program.dependencies.end(), needs.begin(), needs.end());
        program.streams[static_cast<std::size_t>(stream)].push_back(op);
    }
};

StepExecutorSpec
WithSteps(StepExecutorSpec spec, uint32_t steps)
{
    spec.steps = steps;
    return spec;
}

Time
Spent(const StepExecutor& executor, uint32_t rank, TimeCategory category)
{
    return executor.Breakdown()[rank].spent[static_cast<std::size_t>(category)];
}

// Two operations of one kernel of 3 us each, with launches of 10 us: the GPU waits for the CPU, the
// first ends at 10 + 3 us, the second at 20 + 3 us. Kernels of 30 us hide the second launch: 10 +
// 30 + 30 us.
TEST(StepExecutor, KernelsWaitForTheirLaunch)
{
    for (const auto& [kernel, step] : {std::pair(3.0, 23.0), std::pair(30.0, 70.0)})
    {
        GraphWriter writer(1);
        writer.ComputeLaunched(0, Us(kernel), Us(0), Us(10 + kernel));
        writer.ComputeLaunched(0, Us(kernel), Us(10), Us(10 + kernel));
        FixedTimeEngine engine([](const CollectiveCall&) { return Time(); });
        StepExecutor executor(ExecutorSpec(writer.graph, engine));
        RunToEnd(executor, engine);
        EXPECT_EQ(executor.StepTimes().at(0), Us(step));
        EXPECT_EQ(Spent(executor, 0, TimeCategory::Compute), Us(2 * kernel));
        EXPECT_EQ(Spent(executor, 0, TimeCategory::Launch), Us(step - 2 * kernel));
    }
}

// A kernel of another stream, such as a copy of an imported trace, also waits for its launch:
// beside a kernel of 20 us, one of 3 us that is launched at 40 us ends at 43 us, and the next one,
// launched before that, at 46 us.
TEST(StepExecutor, KernelsOfOtherStreamsWaitForTheirLaunch)
{
    GraphWriter writer(1);
    writer.Compute(0, Us(20));
    writer.ComputeLaunched(0, Us(3), Us(40), Us(3), 0, StreamKind::DataComm);
    writer.ComputeLaunched(0, Us(3), Us(41), Us(3), 0, StreamKind::DataComm);
    FixedTimeEngine engine([](const CollectiveCall&) { return Time(); });
    StepExecutor executor(ExecutorSpec(writer.graph, engine));
    RunToEnd(executor, engine);
    EXPECT_EQ(executor.StepTimes().at(0), Us(46));
}

// A CPU that waits for the first kernel, which ends at 10 + 30 us, then launches the second, which
// ends at 40 + 10 + 30 us.
TEST(StepExecutor, ASynchronizedCpuLaunchesAnew)
{
    GraphWriter writer(1);
    writer.ComputeLaunched(0, Us(30), Us(0), Us(40));
    writer.ComputeLaunched(0, Us(30), Us(0), Us(40), 1);
    FixedTimeEngine engine([](const CollectiveCall&) { return Time(); });
    StepExecutor executor(ExecutorSpec(writer.graph, engine));
    RunToEnd(executor, engine);
    EXPECT_EQ(executor.StepTimes().at(0), Us(80));
}

// A collective starts at its last arrival and ends for all ranks simultaneously: ranks arrive at
// 10, 30 and 20 us, it takes 5 us, so all resume at 35 us and the step ends at 35 + 1 us.
TEST(StepExecutor, CollectiveStartsAtItsLastArrivalAndEndsAtOnce)
{
    GraphWriter writer(3);
    const uint16_t slot = writer.AddGroup({0, 1, 2});
    const double arrivals[] = {10, 30, 20};
    for (uint32_t rank = 0; rank < 3; rank++)
    {
        writer.Compute(rank, Us(arrivals[rank]));
        writer.Communicate(rank,
                           StreamKind::TensorComm,
                           StepOpKind::Collective,
                           slot,
                           TimeCategory::Tensor,
                           {{StreamKind::Compute, 0}});
        writer.Compute(rank, Us(1), {{StreamKind::TensorComm, 0}});
    }
    FixedTimeEngine engine([](const CollectiveCall&) { return Us(5); });
    StepExecutor executor(ExecutorSpec(writer.graph, engine));
    RunToEnd(executor, engine);
    ASSERT_EQ(engine.Starts().size(), 1U);
    EXPECT_EQ(engine.Starts()[0], Us(30));
    EXPECT_EQ(executor.StepTimes(), std::vector<Time>{Us(36)});
    // Waiting for the late rank is bubble; waiting for the collective itself is exposed.
    for (uint32_t rank = 0; rank < 3; rank++)
    {
        EXPECT_EQ(Spent(executor, rank, TimeCategory::Compute), Us(arrivals[rank] + 1));
        EXPECT_EQ(Spent(executor, rank, TimeCategory::Tensor), Us(5));
        EXPECT_EQ(Spent(executor, rank, TimeCategory::Bubble), Us(30 - arrivals[rank]));
    }
}

// NCCL orders the calls of a communicator, not their streams: both ranks issue 8 bytes, then 16
// bytes once these have ended, rank 0 on one pair of streams and rank 1 on the same pair exchanged.
// Each call takes 5 us.
TEST(StepExecutor, RanksIssueTheSameCallsOnDifferentStreams)
{
    GraphWriter writer(2);
    const uint16_t slot = writer.AddGroup({0, 1});
    const StreamKind streams[] = {StreamKind::TensorComm, StreamKind::DataComm};
    for (uint32_t rank = 0; rank < 2; rank++)
    {
        const StreamKind first = streams[rank];
        const auto add =
            [&](StreamKind stream, const std::vector<StepDependency>& needs, Bytes bytes) {
                writer.Communicate(
                    rank, stream, StepOpKind::Collective, slot, TimeCategory::Tensor, needs, bytes);
            };
        add(first, {}, Bytes(8));
        add(streams[1 - rank], {{first, 0}}, Bytes(16));
    }
    FixedTimeEngine engine([](const CollectiveCall&) { return Us(5); });
    StepExecutor executor(ExecutorSpec(writer.graph, engine));
    RunToEnd(executor, engine);
    ASSERT_EQ(engine.Calls().size(), 2U);
    EXPECT_EQ(engine.Calls()[0].bytes, Bytes(8));
    EXPECT_EQ(engine.Calls()[1].bytes, Bytes(16));
    EXPECT_EQ(executor.StepTimes(), std::vector<Time>{Us(10)});
}

// Kernels that run concurrently with a collective hide it: 8 us of kernels over 5 us of
// communication leave nothing exposed, 2 us leave 3 us.
TEST(StepExecutor, OnlyTheUnhiddenPartOfACollectiveIsExposed)
{
    for (double kernels : {8.0, 2.0})
    {
        GraphWriter writer(2);
        const uint16_t slot = writer.AddGroup({0, 1});
        for (uint32_t rank = 0; rank < 2; rank++)
        {
            writer.Communicate(
                rank, StreamKind::TensorComm, StepOpKind::Collective, slot, TimeCategory::Tensor);
            writer.Compute(rank, Us(kernels));
            writer.Compute(rank, Us(1), {{StreamKind::TensorComm, 0}});
        }
        FixedTimeEngine engine([](const CollectiveCall&) { return Us(5); });
        StepExecutor executor(ExecutorSpec(writer.graph, engine));
        RunToEnd(executor, engine);
        const double exposed = std::max(0.0, 5 - kernels);
        EXPECT_EQ(Spent(executor, 0, TimeCategory::Tensor), Us(exposed));
        EXPECT_EQ(executor.StepTimes()[0], Us(kernels + exposed + 1));
    }
}

// Rendezvous of a send and its receive: the earlier side waits, and the transfer begins at the
// later one.
TEST(StepExecutor, SendWaitsForItsReceive)
{
    GraphWriter writer(2);
    const uint16_t slot = writer.AddGroup({0, 1});
    writer.Compute(0, Us(3));
    writer.Communicate(0,
                       StreamKind::PipelineSend,
                       StepOpKind::Send,
                       slot,
                       TimeCategory::Pipeline,
                       {{StreamKind::Compute, 0}});
    writer.Compute(1, Us(7));
    writer.Communicate(1,
                       StreamKind::PipelineRecv,
                       StepOpKind::Recv,
                       slot,
                       TimeCategory::Pipeline,
                       {{StreamKind::Compute, 0}});
    writer.Compute(1, Us(2), {{StreamKind::PipelineRecv, 0}});
    FixedTimeEngine engine([](const CollectiveCall&) { return Us(4); });
    StepExecutor executor(ExecutorSpec(writer.graph, engine));
    RunToEnd(executor, engine);
    ASSERT_EQ(engine.Calls().size(), 1U);
    EXPECT_EQ(engine.Calls()[0].op, CollectiveOp::Send);
    EXPECT_EQ(engine.Starts()[0], Us(7));
    EXPECT_EQ(executor.StepTimes()[0], Us(13));
    EXPECT_EQ(Spent(executor, 1, TimeCategory::Pipeline), Us(4));
}

// The next step begins when the last rank has ended this one.
TEST(StepExecutor, StepsAreSeparatedByABarrier)
{
    GraphWriter writer(2);
    writer.Compute(0, Us(3));
    writer.Compute(1, Us(5));
    FixedTimeEngine engine;
    StepExecutorSpec spec = WithSteps(ExecutorSpec(writer.graph, engine), 3);
    spec.start = Us(100);
    StepExecutor executor(spec);
    EXPECT_EQ(executor.NextEventTime(), Us(100));
    EXPECT_FALSE(executor.IsFinished());
    EXPECT_EQ(RunToEnd(executor, engine), Us(115));
    EXPECT_TRUE(executor.IsFinished());
    EXPECT_EQ(executor.StepTimes(), (std::vector<Time>{Us(5), Us(5), Us(5)}));
    EXPECT_EQ(executor.OpCount(), 6U);
    EXPECT_EQ(Spent(executor, 0, TimeCategory::Bubble), Us(2));
}

TEST(StepExecutor, ComputeScaleMakesOneGpuSlow)
{
    GraphWriter writer(2);
    writer.Compute(0, Us(4));
    writer.Compute(1, Us(4));
    FixedTimeEngine engine;
    StepExecutorSpec spec = ExecutorSpec(writer.graph, engine);
    spec.computeScale = {1, 1.5};
    StepExecutor executor(spec);
    RunToEnd(executor, engine);
    EXPECT_EQ(executor.StepTimes()[0], Us(6));
}

// Operations of zero duration end at the instant they start, also a thousand consecutive ones.
TEST(StepExecutor, ZeroDurationsTakeNoTime)
{
    GraphWriter writer(1);
    for (int i = 0; i < 1000; i++)
    {
        writer.Compute(0, Time());
    }
    FixedTimeEngine engine;
    StepExecutor executor(WithSteps(ExecutorSpec(writer.graph, engine), 2));
    RunToEnd(executor, engine);
    EXPECT_EQ(executor.StepTimes(), (std::vector<Time>{Time(), Time()}));
    EXPECT_EQ(executor.OpCount(), 2000U);
}

// A collective that holds 10 of 20 SMs for 5 us lets 2.5 us of an 8 us kernel pass; the rest runs
// uncontended: 5 + 5.5 us. The second kernel has no concurrent communication.
TEST(StepExecutor, KernelsLoseTheMultiprocessorsThatCommunicationHolds)
{
    GraphWriter writer(2);
    const uint16_t slot = writer.AddGroup({0, 1});
    for (uint32_t rank = 0; rank < 2; rank++)
    {
        writer.Communicate(
            rank, StreamKind::TensorComm, StepOpKind::Collective, slot, TimeCategory::Tensor);
        writer.Compute(rank, Us(8));
        writer.Compute(rank, Us(1), {{StreamKind::TensorComm, 0}});
    }
    writer.graph.loads = {{{10, 0}}};
    FixedTimeEngine engine([](const CollectiveCall&) { return Us(5); });
    StepExecutorSpec spec = ExecutorSpec(writer.graph, engine);
    spec.sms = 20;
    StepExecutor executor(spec);
    RunToEnd(executor, engine);
    EXPECT_EQ(executor.StepTimes()[0], Us(10.5 + 1));
    EXPECT_EQ(Spent(executor, 0, TimeCategory::Tensor), Time());
}

// Ranks 0 and 2 share a program, but their groups hold 10 and 5 of 20 SMs: of 8 us, 2.5 and 3.75 us
// pass within the 5 us of the collective.
TEST(StepExecutor, GroupsOfOneProgramHoldTheirOwnMultiprocessors)
{
    StepGraph graph;
    graph.labels = {"op"};
    graph.groups = {{Rank(0), Rank(1)}, {Rank(2), Rank(3)}};
    graph.loads = {{{10, 0}}, {{5, 0}}};
    StepOp op;
    op.kind = StepOpKind::Collective;
    op.bytes = Bytes(8);
    StepOp kernel;
    kernel.duration = Us(8);
    auto& streams = graph.programs.emplace_back().streams;
    streams[static_cast<std::size_t>(StreamKind::TensorComm)] = {op};
    streams[static_cast<std::size_t>(StreamKind::Compute)] = {kernel};
    graph.rankProgram = {0, 0, 0, 0};
    graph.rankGroups = {{0}, {0}, {1}, {1}};
    for (const bool isFolded : {false, true})
    {
        FixedTimeEngine engine([](const CollectiveCall&) { return Us(5); });
        StepExecutorSpec spec = ExecutorSpec(graph, engine);
        spec.sms = 20;
        spec.groupKinds = isFolded ? std::vector<uint32_t>{0, 1} : std::vector<uint32_t>();
        StepExecutor executor(spec);
        RunToEnd(executor, engine);
        EXPECT_EQ(Spent(executor, 0, TimeCategory::Compute), Us(10.5));
        EXPECT_EQ(Spent(executor, 2, TimeCategory::Compute), Us(9.25));
    }
}

// Two jobs share an engine; their collectives use the same tokens.
TEST(StepExecutor, ExecutorsMayShareAnEngine)
{
    GraphWriter writer(2);
    const uint16_t slot = writer.AddGroup({0, 1});
    for (uint32_t rank = 0; rank < 2; rank++)
    {
        writer.Communicate(
            rank, StreamKind::TensorComm, StepOpKind::Collective, slot, TimeCategory::Tensor);
    }
    FixedTimeEngine engine([](const CollectiveCall&) { return Us(5); });
    StepExecutor first(ExecutorSpec(writer.graph, engine));
    StepExecutorSpec later = ExecutorSpec(writer.graph, engine);
    later.start = Us(2);
    StepExecutor second(later);
    EngineSet engines;
    engines.Add(first);
    engines.Add(second);
    engines.Add(engine);
    EXPECT_EQ(engines.RunToEnd(), Us(7));
    EXPECT_EQ(first.StepTimes()[0], Us(5));
    EXPECT_EQ(second.StepTimes()[0], Us(5));
}

// Both ranks send first and receive later in the same stream: neither receive is reached.
TEST(StepExecutor, CrossingSendsAreADeadlockThatIsDescribed)
{
    GraphWriter writer(2);
    const uint16_t there = writer.AddGroup({0, 1});
    const uint16_t back = writer.AddGroup({1, 0});
    const uint16_t sends[] = {there, back};
    const uint16_t receives[] = {back, there};
    for (uint32_t rank = 0; rank < 2; rank++)
    {
        for (const StepOpKind kind : {StepOpKind::Send, StepOpKind::Recv})
        {
            writer.Communicate(rank,
                               StreamKind::PipelineSend,
                               kind,
                               kind == StepOpKind::Send ? sends[rank] : receives[rank],
                               TimeCategory::Pipeline);
        }
    }
    FixedTimeEngine engine;
    StepExecutor executor(ExecutorSpec(writer.graph, engine));
    RunToEnd(executor, engine);
    EXPECT_FALSE(executor.IsFinished());
    const std::string text = executor.DescribeWaiting();
    EXPECT_NE(
        text.find("rank 0 waits in 'op' (pipeline-send operation 0, micro-batch 0) for rank 1"),
        std::string::npos)
        << text;
    EXPECT_NE(text.find("rank 1 waits"), std::string::npos) << text;
    const std::string brief = executor.DescribeWaiting(1);
    EXPECT_EQ(brief.find("rank 1 waits"), std::string::npos) << brief;
    EXPECT_NE(brief.find("and 1 more ranks"), std::string::npos) << brief;
}

TEST(StepExecutor, NobodyWaitsWhenFinished)
{
    GraphWriter writer(1);
    writer.Compute(0, Us(1));
    FixedTimeEngine engine;
    StepExecutor executor(ExecutorSpec(writer.graph, engine));
    EXPECT_EQ(executor.DescribeWaiting(), "rank 0 has not begun");
    RunToEnd(executor, engine);
    EXPECT_EQ(executor.DescribeWaiting(), "");
}

/** Expects that the graph is refused with a message that contains @p text. */
void
ExpectRefused(const StepGraph& graph, const std::string& text)
{
    FixedTimeEngine engine;
    try
    {
        StepExecutor executor(ExecutorSpec(graph, engine));
        FAIL() << "accepted; expected a refusal with: " << text;
    }
    catch (const std::invalid_argument& refusal)
    {
        EXPECT_NE(std::string(refusal.what()).find(text), std::string::npos) << refusal.what();
    }
}

TEST(StepExecutor, RefusesInconsistentGraphs)
{
    {
        GraphWriter writer(1);
        writer.Compute(0, Us(1), {{StreamKind::TensorComm, 3}});
        ExpectRefused(writer.graph,
                      "program 0, compute operation 0 'op': it waits for an operation that does "
                      "not exist");
    }
    {
        GraphWriter writer(1);
        writer.Compute(0, Us(1), {{StreamKind::Compute, 0}});
        ExpectRefused(writer.graph, "it waits for itself");
    }
    {
        GraphWriter writer(2);
        const uint16_t slot = writer.AddGroup({0, 1});
        writer.Communicate(
            0, StreamKind::TensorComm, StepOpKind::Collective, slot, TimeCategory::Tensor);
        ExpectRefused(writer.graph, "group 0 is used by 1 of its 2 ranks");
    }
    {
        GraphWriter writer(2);
        const uint16_t slot = writer.AddGroup({0, 1});
        for (uint32_t rank = 0; rank < 2; rank++)
        {
            writer.Communicate(rank,
                               StreamKind::TensorComm,
                               StepOpKind::Collective,
                               slot,
                               TimeCategory::Tensor,
                               {},
                               Bytes(8 + rank));
        }
        ExpectRefused(writer.graph, "rank 1: it issues other communications on group 0");
    }
    {
        // The same calls in another order.
        GraphWriter writer(2);
        const uint16_t slot = writer.AddGroup({0, 1});
        for (uint32_t call = 0; call < 4; call++)
        {
            writer.Communicate(call / 2,
                               StreamKind::TensorComm,
                               StepOpKind::Collective,
                               slot,
                               TimeCategory::Tensor,
                               {},
                               Bytes(call == 0 || call == 3 ? 8 : 16));
        }
        ExpectRefused(writer.graph, "rank 1: it issues other communications on group 0");
    }
    {
        // The first member issues the two calls on two streams, the others in opposite orders.
        GraphWriter writer(3);
        const uint16_t slot = writer.AddGroup({0, 1, 2});
        for (uint32_t call = 0; call < 6; call++)
        {
            writer.Communicate(call / 2,
                               call == 1 ? StreamKind::DataComm : StreamKind::TensorComm,
                               StepOpKind::Collective,
                               slot,
                               TimeCategory::Tensor,
                               {},
                               Bytes(call == 0 || call == 2 || call == 5 ? 8 : 16));
        }
        ExpectRefused(writer.graph, "rank 2: it issues other communications on group 0");
    }
    {
        GraphWriter writer(2);
        const uint16_t slot = writer.AddGroup({0, 1});
        writer.Communicate(
            1, StreamKind::PipelineSend, StepOpKind::Send, slot, TimeCategory::Pipeline);
        ExpectRefused(writer.graph, "rank 1: pipeline-send operation 0 'op' needs a group {sender");
    }
}

} // namespace
} // namespace weir

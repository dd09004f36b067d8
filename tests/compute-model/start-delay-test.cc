// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/step-executor.h"

#include "graph-run.h"

#include <gtest/gtest.h>

#include <vector>

namespace weir
{
namespace
{

Time
Ms(double ms)
{
    return Time::Milliseconds(ms);
}

struct Kernel
{
    Time duration;
    bool isPersistent{false};
};

constexpr float DISPLACED = 0.5F;

/**
 * One rank. Its compute stream runs @p first and then @p second, each one operation of several
 * kernels; its data stream runs a collective on one SM that takes 2 ms.
 */
class Overlap
{
  public:
    Overlap(const std::vector<Kernel>& first, const std::vector<Kernel>& second)
    {
        graph.labels = {"op"};
        graph.programs.resize(1);
        graph.rankProgram = {0};
        graph.rankGroups = {{0}};
        graph.groups = {{Rank(0)}};
        graph.loads = {{{1, 0}}};
        for (const auto& kernels : {first, second})
        {
            StepOp op;
            op.firstKernel = static_cast<uint32_t>(graph.kernels.size());
            op.kernelCount = static_cast<uint16_t>(kernels.size());
            for (const Kernel& kernel : kernels)
            {
                KernelRecord record;
                record.duration = kernel.duration;
                record.overlap.displaced = kernel.isPersistent ? DISPLACED : 0;
                graph.kernels.push_back(record);
                op.duration += kernel.duration;
            }
            Stream(StreamKind::Compute).push_back(op);
        }
    }

    /** Makes the collective ready when @p need has ended. */
    void ReduceAfter(const StepDependency& need)
    {
        StepOp op;
        op.kind = StepOpKind::Collective;
        op.category = TimeCategory::Data;
        op.bytes = Bytes(8);
        op.firstDependency = static_cast<uint32_t>(graph.programs[0].dependencies.size());
        op.dependencyCount = 1;
        graph.programs[0].dependencies.push_back(need);
        Stream(StreamKind::DataComm).push_back(op);
    }

    /** Makes the collective ready at @p ready. */
    void ReduceAt(Time ready)
    {
        StepOp copy;
        copy.duration = ready;
        Stream(StreamKind::ReplicaComm).push_back(copy);
        ReduceAfter({StreamKind::ReplicaComm, 0});
    }

    void Run(OverlapKind kind = OverlapKind::Modeled, bool launchesInOrder = false)
    {
        FixedTimeEngine engine([](const CollectiveCall&) { return Ms(2); });
        StepExecutorSpec spec = ExecutorSpec(graph, engine);
        spec.sms = 100;
        spec.overlap.kind = kind;
        spec.launchesInOrder = launchesInOrder;
        StepExecutor executor(spec);
        Finish(executor, engine);
        begin = engine.Starts().at(0);
        step = executor.StepTimes().at(0);
    }

    std::vector<StepOp>& Stream(StreamKind kind)
    {
        return graph.programs[0].streams[static_cast<std::size_t>(kind)];
    }

    StepGraph graph;
    Time begin; //!< of the collective
    Time step;
};

const std::vector<Kernel> SHORT{{Ms(1)}};
const std::vector<Kernel> GEMM{{Ms(10), true}};

void
ExpectNear(Time found, Time expected)
{
    EXPECT_NEAR(found.ToSeconds(), expected.ToSeconds(), 1e-9);
}

// A collective that becomes ready when a persistent kernel begins waits for its end: 1 + 10, then 2
// ms.
TEST(StartDelay, LastsUntilAPersistentKernelEnds)
{
    Overlap overlap(SHORT, GEMM);
    overlap.ReduceAfter({StreamKind::Compute, 0});
    overlap.Run();
    ExpectNear(overlap.begin, Ms(11));
    ExpectNear(overlap.step, Ms(13));
}

// Launched in order, the collective precedes the kernel, which then runs at 1 / 1.5 of its speed
// for 2 ms.
TEST(StartDelay, IsNoneForWhatWasLaunchedBefore)
{
    Overlap overlap(SHORT, GEMM);
    overlap.ReduceAfter({StreamKind::Compute, 0});
    overlap.Run(OverlapKind::Modeled, true);
    ExpectNear(overlap.begin, Ms(1));
    ExpectNear(overlap.step, Ms(1 + 2 + (10 - 2 / 1.5)));
}

// A collective that becomes ready later waits in any launch order.
TEST(StartDelay, HoldsInOrderOnceTheKernelRuns)
{
    Overlap overlap(SHORT, GEMM);
    overlap.ReduceAt(Ms(3));
    overlap.Run(OverlapKind::Modeled, true);
    ExpectNear(overlap.begin, Ms(11));
}

// The models `off` and `constant` have no SMs, hence no start delay.
TEST(StartDelay, IsOnlyModelledWithTheSlowdown)
{
    for (const OverlapKind kind : {OverlapKind::Off, OverlapKind::Constant})
    {
        Overlap overlap(SHORT, GEMM);
        overlap.ReduceAfter({StreamKind::Compute, 0});
        overlap.Run(kind);
        ExpectNear(overlap.begin, Ms(1));
        ExpectNear(overlap.step, Ms(11));
    }
}

// In an operation of several kernels only the running kernel delays the start, and only if it is
// persistent: here from 0 to 4 and from 6 to 10.
TEST(StartDelay, EndsWithTheKernelThatRuns)
{
    const std::vector<Kernel> mixed{{Ms(4), true}, {Ms(2)}, {Ms(4), true}};
    const std::vector<std::pair<double, double>> readyAndBegin{
        {0.5, 4}, {2.5, 4}, {4.5, 4.5}, {5.5, 5.5}, {7, 10}, {9.5, 10}};
    for (const auto& [ready, begin] : readyAndBegin)
    {
        Overlap overlap(mixed, SHORT);
        overlap.ReduceAt(Ms(ready));
        overlap.Run();
        ExpectNear(overlap.begin, Ms(begin));
    }
}

// A kernel that the CPU has not launched yet delays nothing.
TEST(StartDelay, IsNoneBehindWhatIsNotLaunched)
{
    Overlap overlap(SHORT, GEMM);
    overlap.ReduceAfter({StreamKind::Compute, 0});
    StepOp& gemm = overlap.Stream(StreamKind::Compute)[1];
    gemm.launch = Ms(5);
    gemm.launchBound = Ms(10);
    overlap.Run();
    ExpectNear(overlap.begin, Ms(1));
}

// A second communication slows the kernel down and so delays the start of a third. The first holds
// an SM for 2 ms from 0 on: the GEMM of 10 ms does 2 / 1.5 ms of its work in that time and ends at
// 2 + 10 - 2 / 1.5. The collective that became ready at 1 waits for that.
TEST(StartDelay, FollowsTheKernelThatIsSlowed)
{
    Overlap overlap(GEMM, SHORT);
    StepOp first;
    first.kind = StepOpKind::Collective;
    first.bytes = Bytes(8);
    overlap.Stream(StreamKind::TensorComm).push_back(first);
    StepOp copy;
    copy.duration = Ms(1);
    overlap.Stream(StreamKind::ReplicaComm).push_back(copy);
    overlap.graph.groups.push_back({Rank(0)});
    overlap.graph.loads.push_back({{1, 0}});
    overlap.graph.rankGroups[0].push_back(1);
    overlap.ReduceAfter({StreamKind::ReplicaComm, 0});
    overlap.Stream(StreamKind::DataComm)[0].group = 1;

    FixedTimeEngine engine([](const CollectiveCall&) { return Ms(2); });
    StepExecutorSpec spec = ExecutorSpec(overlap.graph, engine);
    spec.sms = 100;
    spec.launchesInOrder = true;
    StepExecutor executor(spec);
    RunToEnd(executor, engine);
    ExpectNear(engine.Starts().at(0), Ms(0));
    ExpectNear(engine.Starts().at(1), Ms(2 + 10 - 2 / 1.5));
}

} // namespace
} // namespace weir

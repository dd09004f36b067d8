// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/sm-pace.h"

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

// One access of three moves 47 GB/s here: what an H200's multiprocessor can at most.
const SmPace PACE{Rate::GBps(141), 1.98e9, 0.99e9, 47 / 1.98, 38 / 1.98};

/** All-gather of one multiprocessor that takes @p perMille of the memory's rate. */
StepOp
Gather(uint16_t perMille)
{
    StepOp op;
    op.kind = StepOpKind::Collective;
    op.collective = CollectiveOp::AllGather;
    op.category = TimeCategory::Data;
    op.bytes = Bytes(8);
    op.sms = 1;
    op.memoryPerMille = perMille;
    return op;
}

/** A kernel of @p duration that takes @p share of the memory's rate. */
KernelRecord
Kernel(Time duration, double share)
{
    KernelRecord kernel;
    kernel.duration = duration;
    kernel.bytes =
        Bytes::Nearest(PACE.memoryRate.ToBytesPerSecond() * duration.ToSeconds() * share);
    return kernel;
}

/** The step of ranks that gather for 4 ms alone, each beside its own kernel. */
Time
StepBeside(const std::vector<KernelRecord>& kernels, uint16_t perMille, OverlapKind kind)
{
    StepGraph graph;
    graph.labels = {"op"};
    graph.kernels = kernels;
    graph.groups.emplace_back();
    for (uint32_t rank = 0; rank < kernels.size(); rank++)
    {
        graph.programs.emplace_back();
        StepOp op;
        op.duration = kernels[rank].duration;
        op.firstKernel = rank;
        op.kernelCount = 1;
        auto& streams = graph.programs.back().streams;
        streams[static_cast<std::size_t>(StreamKind::Compute)] = {op};
        streams[static_cast<std::size_t>(StreamKind::DataComm)] = {Gather(perMille)};
        graph.rankProgram.push_back(rank);
        graph.rankGroups.push_back({0});
        graph.groups[0].push_back(Rank(rank));
    }
    FixedTimeEngine engine([](const CollectiveCall&) { return Ms(4); });
    StepExecutorSpec spec = ExecutorSpec(graph, engine);
    spec.sms = 100;
    spec.overlap.kind = kind;
    spec.pace = PACE;
    StepExecutor executor(spec);
    Finish(executor, engine);
    return executor.StepTimes().at(0);
}

void
ExpectNear(Time found, Time expected)
{
    EXPECT_NEAR(found.ToSeconds(), expected.ToSeconds(), 3e-9); // losses below 1 ns are let go
}

// A kernel that takes the whole memory rate leaves 1 - 1/2; a matrix product its clock's share.
TEST(SmPace, KernelsLeaveTheirClockAndTheMemoryTheyDoNotTake)
{
    StepGraph graph;
    graph.kernels = {Kernel(Ms(1), 1), Kernel(Ms(1), 0.5), Kernel(Ms(2), 0)};
    graph.kernels[2].flops = Flops(1e12);
    graph.kernels[2].overlap.smShare = 1;
    StepOp op;
    op.kernelCount = 1;
    EXPECT_NEAR(PACE.Left(graph, op), 0.5, 1e-9);
    op.firstKernel = 1;
    EXPECT_NEAR(PACE.Left(graph, op), 1 - 0.125, 1e-9);
    op.firstKernel = 2;
    EXPECT_NEAR(PACE.Left(graph, op), 0.5, 1e-9);
    op.firstKernel = 1; // both, weighted by their time
    op.kernelCount = 2;
    EXPECT_NEAR(PACE.Left(graph, op), (0.875 + 2 * 0.5) / 3, 1e-9);
}

// A gather that needs all of its multiprocessor goes at half speed beside the kernel: 4 ms of it
// take 8; beside one of 5 ms 2.5 are done, and 1.5 follow alone.
TEST(SmPace, CommunicationThatNeedsMoreThanIsLeftTakesLonger)
{
    ExpectNear(StepBeside({Kernel(Ms(8), 1)}, 1000, OverlapKind::Modeled), Ms(8));
    ExpectNear(StepBeside({Kernel(Ms(5), 1)}, 1000, OverlapKind::Modeled), Ms(6.5));
    ExpectNear(StepBeside({Kernel(Ms(5), 1)}, 1000, OverlapKind::Off), Ms(5));
}

// What the links hold to less than is left keeps its time, in between it loses the difference:
// 750 needed where 500 are left is done at 2/3, 4 ms take 6.
TEST(SmPace, CommunicationThatLinksHoldBackDoesNot)
{
    ExpectNear(StepBeside({Kernel(Ms(3), 1)}, 500, OverlapKind::Modeled), Ms(4));
    ExpectNear(StepBeside({Kernel(Ms(6), 1)}, 750, OverlapKind::Modeled), Ms(6));
}

// The rank that is delayed most delays all of them.
TEST(SmPace, TheSlowestRankDecides)
{
    ExpectNear(StepBeside({Kernel(Ms(3), 0), Kernel(Ms(5), 1)}, 1000, OverlapKind::Modeled),
               Ms(6.5));
}

} // namespace
} // namespace weir

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

// An all-gather of three accesses per byte moves 47 GB/s here, the maximum of an H200's SM.
const SmPace PACE{Rate::GBps(141), 1.98e9, 0.99e9, 47 / 1.98, 38 / 1.98};

StepOp
Gather()
{
    StepOp op;
    op.kind = StepOpKind::Collective;
    op.collective = CollectiveOp::AllGather;
    op.category = TimeCategory::Data;
    op.bytes = Bytes(8);
    return op;
}

/** A kernel of @p duration that takes the fraction @p share of the memory rate. */
KernelRecord
Kernel(Time duration, double share)
{
    KernelRecord kernel;
    kernel.duration = duration;
    kernel.bytes =
        Bytes::Nearest(PACE.memoryRate.ToBytesPerSecond() * duration.ToSeconds() * share);
    return kernel;
}

/**
 * Step time of ranks that all-gather for 4 ms in isolation, each next to its own kernel. The
 * all-gather takes one SM and @p perMille thousandths of the memory rate.
 */
Time
StepBeside(const std::vector<KernelRecord>& kernels, uint16_t perMille, OverlapKind kind)
{
    StepGraph graph;
    graph.labels = {"op"};
    graph.kernels = kernels;
    graph.groups.emplace_back();
    graph.loads = {{{1, perMille}}};
    for (uint32_t rank = 0; rank < kernels.size(); rank++)
    {
        graph.programs.emplace_back();
        StepOp op;
        op.duration = kernels[rank].duration;
        op.firstKernel = rank;
        op.kernelCount = 1;
        auto& streams = graph.programs.back().streams;
        streams[static_cast<std::size_t>(StreamKind::Compute)] = {op};
        streams[static_cast<std::size_t>(StreamKind::DataComm)] = {Gather()};
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
    EXPECT_NEAR(found.ToSeconds(), expected.ToSeconds(), 3e-9); // losses below 1 ns are ignored
}

// A kernel that takes the whole memory rate leaves 1 - 1/2; a GEMM leaves the ratio of its clock.
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
    op.firstKernel = 1; // both, weighted by time
    op.kernelCount = 2;
    EXPECT_NEAR(PACE.Left(graph, op), (0.875 + 2 * 0.5) / 3, 1e-9);
}

// A gather that needs its whole SM runs at half speed next to the kernel: its 4 ms take 8 ms. Next
// to a kernel of 5 ms, 2.5 ms of it are done, and 1.5 ms follow uncontended.
TEST(SmPace, CommunicationThatNeedsMoreThanIsLeftTakesLonger)
{
    ExpectNear(StepBeside({Kernel(Ms(8), 1)}, 1000, OverlapKind::Modeled), Ms(8));
    ExpectNear(StepBeside({Kernel(Ms(5), 1)}, 1000, OverlapKind::Modeled), Ms(6.5));
    ExpectNear(StepBeside({Kernel(Ms(5), 1)}, 1000, OverlapKind::Off), Ms(5));
}

// A gather limited by links to less than what is left keeps its time; otherwise it loses the
// difference: if it needs 750 and 500 are left, it runs at 2/3, and 4 ms take 6 ms.
TEST(SmPace, CommunicationThatLinksHoldBackDoesNot)
{
    ExpectNear(StepBeside({Kernel(Ms(3), 1)}, 500, OverlapKind::Modeled), Ms(4));
    ExpectNear(StepBeside({Kernel(Ms(6), 1)}, 750, OverlapKind::Modeled), Ms(6));
}

// The most delayed rank delays all ranks.
TEST(SmPace, TheSlowestRankDecides)
{
    ExpectNear(StepBeside({Kernel(Ms(3), 0), Kernel(Ms(5), 1)}, 1000, OverlapKind::Modeled),
               Ms(6.5));
}

} // namespace
} // namespace weir

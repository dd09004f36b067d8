// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/step-builder.h"

#include "graph-run.h"
#include "transformer-samples.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace weir
{
namespace
{

ParallelPlan
SmallSteps(Time kernel)
{
    ParallelPlan plan;
    plan.globalBatch = 4;
    plan.host.kernel = kernel;
    plan.host.syncBatches = false;
    return plan;
}

Time
StepTime(const ParallelPlan& plan)
{
    return Execution(BuildTransformerStep(SampleGpt(2, 256, 4), plan, SampleGpu())).StepTime();
}

/** Number of times per step that the first rank's CPU synchronizes with its compute stream. */
std::ptrdiff_t
Synchronizations(const ParallelPlan& plan)
{
    const StepGraph graph = BuildTransformerStep(SampleGpt(2, 256, 4), plan, SampleGpu());
    const auto& ops = graph.programs[0].streams[static_cast<std::size_t>(StreamKind::Compute)];
    return std::count_if(ops.begin(), ops.end(), [](const StepOp& op) { return op.synchronizes; });
}

// Once before every pass and once after the last: 2 x 4 passes, in addition to the optimizer's read
// of the norm.
TEST(HostSync, PassesBeginAndEndWithTheGpuIdle)
{
    ParallelPlan plan = SmallSteps(Time::Microseconds(5));
    const auto before = Synchronizations(plan);
    plan.host.syncPasses = true;
    EXPECT_EQ(Synchronizations(plan) - before, 9);
}

// Once before each layer's forward pass and once before its recomputation, in 4 micro-batches of 2
// layers; not at all without recomputation.
TEST(HostSync, RecomputedLayersBeginWithTheGpuIdle)
{
    ParallelPlan plan = SmallSteps(Time::Microseconds(5));
    const auto min = Synchronizations(plan);
    plan.host.syncLayers = true;
    EXPECT_EQ(Synchronizations(plan), min);
    for (const Recomputation recomputation : {Recomputation::Full, Recomputation::Needed})
    {
        plan.recomputation = recomputation;
        EXPECT_EQ(Synchronizations(plan) - min, 4 * 2 * 2);
    }
}

// With every second layer recomputed, the first of two layers is the only one that waits.
TEST(HostSync, LayersThatAreNotRecomputedDoNotWait)
{
    ParallelPlan plan = SmallSteps(Time::Microseconds(5));
    const auto min = Synchronizations(plan);
    plan.host.syncLayers = true;
    plan.recomputation = Recomputation::Full;
    plan.recomputeEvery = 2;
    EXPECT_EQ(Synchronizations(plan) - min, 4 * 2);
}

// A CPU that may not run ahead of a pass leaves the GPU idle at its start; a CPU with zero launch
// time loses nothing.
TEST(HostSync, CostsWhatTheCpuWouldHaveBeenAhead)
{
    ParallelPlan quick = SmallSteps(Time());
    const Time min = StepTime(quick);
    quick.host.syncPasses = true;
    EXPECT_EQ(StepTime(quick), min);

    ParallelPlan slow = SmallSteps(Time::Microseconds(5));
    const Time free = StepTime(slow);
    slow.host.syncPasses = true;
    EXPECT_GT(StepTime(slow), free);
}

// A CPU that is always behind the GPU lengthens a step by its cost per bucket: n buckets instead of
// one cost n - 1 further launches, wherever in the backward pass they are.
TEST(HostCosts, BucketsTakeTheCpuAsLongAsAnyCommunication)
{
    ParallelPlan plan = SmallSteps(Time::Microseconds(200));
    plan.data = 2;
    plan.host.communication = Time::Microseconds(50);
    const auto buckets = [](const StepGraph& graph) {
        const auto& ops = graph.programs[0].streams[static_cast<std::size_t>(StreamKind::DataComm)];
        return std::count_if(ops.begin(), ops.end(), [&graph](const StepOp& op) {
            return graph.labels[op.label] == "gradient bucket";
        });
    };
    const auto build = [&plan](Bytes bucket) {
        plan.bucket = bucket;
        return BuildTransformerStep(SampleGpt(2, 256, 4), plan, SampleGpu());
    };
    const StepGraph one = build(Bytes::GiB(8));
    const StepGraph several = build(Bytes::MiB(1));
    EXPECT_EQ(buckets(one), 1);
    EXPECT_GT(buckets(several), 2);
    EXPECT_EQ(Execution(several).StepTime() - Execution(one).StepTime(),
              plan.host.communication * (buckets(several) - 1));
}

// Receives that a zero-bubble schedule posts in advance cost launch time as well.
TEST(HostCosts, ReceivesAheadTakeTheCpuToo)
{
    ParallelPlan plan = SmallSteps(Time::Microseconds(200));
    plan.pipeline = 2;
    plan.globalBatch = 8;
    plan.schedule = PipelineScheduleKind::ZeroBubbleH1;
    const auto minimum = [&plan](Time communication) {
        plan.host.communication = communication;
        return StepTime(plan);
    };
    // The last stage has one receive and one send per micro-batch.
    EXPECT_GE(minimum(Time::Microseconds(300)) - minimum(Time()), Time::Microseconds(300) * 16);
}

} // namespace
} // namespace weir

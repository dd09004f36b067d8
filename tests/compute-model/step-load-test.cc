// SPDX-License-Identifier: GPL-2.0-only

#include "compute-model/kernels/tensor-clock.h"
#include "compute-model/layers/step-segments.h"

#include "measured-kernels.h"
#include "transformer-samples.h"

#include <gtest/gtest.h>

#include <cmath>

namespace weir
{
namespace
{

/**
 * Power grows with the cube of the clock: at an eighth of the load the clock could double, and is
 * limited to the burst clock.
 */
TEST(StepLoad, RaisesTheClockByTheCubeRootOfWhatIsLeft)
{
    const Gpu gpu = NamedGpu("h200-sxm");
    EXPECT_EQ(UnderLoad(gpu, 0).sustainedClockHz, gpu.burstTensorClockHz);
    EXPECT_EQ(UnderLoad(gpu, 1).sustainedClockHz, gpu.sustainedClockHz);
    EXPECT_NEAR(UnderLoad(gpu, 0.9).sustainedClockHz, gpu.sustainedClockHz / std::cbrt(0.9), 1e-3);
    EXPECT_EQ(UnderLoad(gpu, 1.0 / 8).sustainedClockHz, gpu.burstTensorClockHz);
}

/** A kernel at full load, followed by as much time without tensor work: a mean load of half. */
TEST(StepLoad, IsTheMeanOverTime)
{
    const Gpu gpu = NamedGpu("h200-sxm");
    KernelRecord gemm;
    gemm.duration = Time::Milliseconds(1);
    gemm.tensorBusy = static_cast<float>(gpu.kernels.fullLoadUtilization);
    KernelRecord copy;
    copy.duration = Time::Milliseconds(1);
    KernelRecords records;
    records.kernels = {gemm, copy};
    Segment first;
    first.kernels = {0, 1, gemm.duration, Time(), Time()};
    Segment second;
    second.kernels = {1, 1, copy.duration, Time(), Time()};
    const SegmentSequence single{first};
    const SegmentSequence both{first, second};
    EXPECT_NEAR(LoadOfPasses({{&single, 2}}, records, gpu), 1, 1e-9);
    EXPECT_NEAR(LoadOfPasses({{&both, 2}}, records, gpu), 0.5, 1e-9);
    EXPECT_EQ(LoadOfPasses({}, records, gpu), 0);
}

/** No tensor work takes no power, full load all of it, and more work never takes less. */
TEST(StepLoad, TensorPowerGrowsWithUtilization)
{
    const Gpu gpu = NamedGpu("h200-sxm");
    EXPECT_EQ(TensorPower(gpu, 0), 0);
    EXPECT_EQ(TensorPower(gpu, gpu.kernels.fullLoadUtilization), 1);
    double before = 0;
    for (double utilization = 0.05; utilization < 1; utilization += 0.05)
    {
        const double power = TensorPower(gpu, utilization);
        EXPECT_GE(power, before);
        before = power;
    }
}

/**
 * Wide layers load a GPU more than narrow ones, and fused attention more than unfused. With a CPU
 * so slow that launches take all the time, the load is inversely proportional to the launch time.
 */
TEST(StepLoad, FollowsWhatLayersKeepBusy)
{
    const Gpu gpu = NamedGpu("a100-sxm-80g");
    const Transformer wide = SampleGpt(2, 8192, 64);
    const Transformer narrow = SampleGpt(2, 1024, 8);
    ParallelPlan plan;
    const double fused = StepLoad(wide, plan, gpu);
    EXPECT_GT(fused, StepLoad(narrow, plan, gpu));
    EXPECT_LE(fused, 1);
    plan.attention = AttentionKind::Unfused;
    EXPECT_LT(StepLoad(wide, plan, gpu), fused);
    plan.host.kernel = Time::Seconds(1);
    const double slow = StepLoad(narrow, plan, gpu);
    plan.host.kernel = Time::Seconds(2);
    EXPECT_NEAR(StepLoad(narrow, plan, gpu) / slow, 0.5, 1e-9);
}

struct MeasuredLayer
{
    const char* name;
    uint32_t hidden;
    uint32_t heads;
    uint32_t tensor;
    uint32_t microBatch;
    double measured; //!< microseconds, forward and backward
};

/**
 * Layers that an H200 ran continuously for seconds took the time of their kernels at the clock that
 * their load allows, within 4 %: mean times after the first second (116, 791 and 591 runs), Weir's
 * own measurement on an H200, November 2026. Nothing was fitted to them.
 */
TEST(StepLoad, AgreesWithSteadyLayers)
{
    const Gpu gpu = NamedGpu("h200-sxm");
    for (const MeasuredLayer& layer :
         {MeasuredLayer{"GPT-175B, tensor 1, micro-batch 1", 12288, 96, 1, 1, 35132.1},
          MeasuredLayer{"GPT-175B, tensor 8, micro-batch 1", 12288, 96, 8, 1, 5063.60},
          MeasuredLayer{"GPT-1.3B, tensor 1, micro-batch 4", 2048, 16, 1, 4, 5088.77}})
    {
        const Transformer model = SampleGpt(1, layer.hidden, layer.heads);
        ParallelPlan plan;
        plan.tensor = layer.tensor;
        plan.microBatch = layer.microBatch;
        plan.fp32Gradients = false;
        plan.host = HostCosts();
        const Gpu warm = UnderLoad(gpu, StepLoad(model, plan, gpu));
        KernelRecords records;
        KernelTable kernels(records, KernelTimer(warm));
        const StepSegments segments(kernels, model, plan);
        Time total;
        for (const SegmentSequence* pass : {&segments.layer.forward, &segments.layer.backward})
        {
            for (const Segment& segment : *pass)
            {
                total += segment.kernels.duration;
            }
        }
        EXPECT_NEAR(total.ToMicroseconds() / layer.measured, 1, 0.04) << layer.name;
    }
}

} // namespace
} // namespace weir

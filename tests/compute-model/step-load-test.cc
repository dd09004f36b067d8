// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/step-load.h"

#include "measured-kernels.h"
#include "transformer-samples.h"

#include <gtest/gtest.h>

namespace weir
{
namespace
{

/** The clock goes from burst to sustained in proportion to the load. */
TEST(StepLoad, LowersTheClockInProportion)
{
    const Gpu gpu = NamedGpu("h200-sxm");
    EXPECT_EQ(UnderLoad(gpu, 0).sustainedClockHz, gpu.burstTensorClockHz);
    EXPECT_EQ(UnderLoad(gpu, 1).sustainedClockHz, gpu.sustainedClockHz);
    EXPECT_NEAR(UnderLoad(gpu, 0.5).sustainedClockHz,
                (gpu.burstTensorClockHz + gpu.sustainedClockHz) / 2,
                1);
}

/** Wide layers load a GPU more than narrow ones, unfused attention less than fused, and a slow CPU
 * least of all: with launches that take all the time, load is inverse to them. */
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

} // namespace
} // namespace weir

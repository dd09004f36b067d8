// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/kernels/tensor-clock.h"

#include "transformer-samples.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace weir
{
namespace
{

// Expected maximum of n standard normal draws (Harter 1961, Biometrika 48, table 1); Blom's
// approximation is near.
TEST(ClockSpread, LargestOfNormalDraws)
{
    EXPECT_EQ(ExpectedLargest(1), 0);
    EXPECT_NEAR(ExpectedLargest(2), 0.56419, 0.03);
    EXPECT_NEAR(ExpectedLargest(8), 1.42360, 0.015);
    EXPECT_NEAR(ExpectedLargest(100), 2.50759, 0.015);
    EXPECT_NEAR(ExpectedLargest(400), 2.96818, 0.015);
    EXPECT_THROW(ExpectedLargest(0), std::invalid_argument);
}

TEST(ClockSpread, SlowsTheLoadedClockOnly)
{
    Gpu gpu = SampleGpu();
    gpu.sustainedClockHz = 0.8e9;
    gpu.clockSpread = 0.02;
    EXPECT_EQ(SlowestOf(gpu, 1).sustainedClockHz, gpu.sustainedClockHz);
    const Gpu slowest = SlowestOf(gpu, 64);
    EXPECT_DOUBLE_EQ(slowest.sustainedClockHz, 0.8e9 * (1 - 0.02 * ExpectedLargest(64)));
    EXPECT_EQ(slowest.burstTensorClockHz, gpu.burstTensorClockHz);
    EXPECT_EQ(slowest.boostClockHz, gpu.boostClockHz);
}

} // namespace
} // namespace weir

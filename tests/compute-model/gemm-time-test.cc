// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/kernels/kernel-time.h"

#include "compute-model/kernels/tensor-clock.h"
#include "tests/compute-model/measured-kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace weir
{
namespace
{

GemmShape
Shape(uint64_t m, uint64_t n, uint64_t k, uint64_t batch = 1)
{
    GemmShape shape;
    shape.m = m;
    shape.n = n;
    shape.k = k;
    shape.batch = batch;
    return shape;
}

// fp8 GEMMs of gradients accumulate in full precision, which takes an H200 3 % (8192^3) to 6 %
// (2048^3) longer. In bf16 the layout makes no difference if rows are whole cache lines.
TEST(GemmTime, GradientsInFp8SumInFull)
{
    const Gpu gpu = NamedGpu("h200-sxm");
    const KernelTimer timer(gpu, ClockRegime::Burst);
    const auto ratio = [&](Precision precision) {
        GemmShape shape;
        shape.m = shape.n = shape.k = 8192;
        shape.precision = precision;
        const Time forward = timer.Gemm(shape).time;
        shape.layout = GemmLayout::Nn;
        return timer.Gemm(shape).time / forward;
    };
    EXPECT_NEAR(ratio(Precision::Fp8), 1.03, 0.01);
    EXPECT_EQ(ratio(Precision::Bf16), 1);
}

// The roofline: no GEMM is faster than the tensor cores at the boost clock or than HBM.
TEST(GemmTime, IsNeverBelowTheRoofline)
{
    for (const char* name : {"a100-sxm-80g", "h100-sxm", "h200-sxm"})
    {
        const Gpu gpu = NamedGpu(name);
        const KernelTimer timer(gpu, ClockRegime::Burst);
        for (const uint64_t m : {1, 8, 64, 200, 1000, 4096, 20000})
        {
            for (const uint64_t k : {8, 64, 1000, 8192, 30000})
            {
                const KernelEstimate estimate = timer.Gemm(Shape(m, 4096, k));
                EXPECT_GE(estimate.time, estimate.flops / BoostPeak(gpu));
                EXPECT_GE(estimate.time, estimate.bytes / gpu.memoryRate);
                EXPECT_GE(estimate.time, gpu.kernels.gemm.floor);
            }
        }
    }
}

// Doubling a dimension in whole tiles is more work with the same tiling.
TEST(GemmTime, GrowsWithEveryDimension)
{
    const Gpu gpu = NamedGpu("h200-sxm");
    const KernelTimer timer(gpu);
    for (uint64_t size = 256; size < 16384; size *= 2)
    {
        EXPECT_LT(timer.Gemm(Shape(size, 4096, 4096)).time,
                  timer.Gemm(Shape(2 * size, 4096, 4096)).time);
        EXPECT_LT(timer.Gemm(Shape(4096, size, 4096)).time,
                  timer.Gemm(Shape(4096, 2 * size, 4096)).time);
        EXPECT_LT(timer.Gemm(Shape(4096, 4096, size)).time,
                  timer.Gemm(Shape(4096, 4096, 2 * size)).time);
        EXPECT_LT(timer.Gemm(Shape(1024, 1024, 1024, size)).time,
                  timer.Gemm(Shape(1024, 1024, 1024, 2 * size)).time);
    }
}

// 2 m n k FLOPs; A, B and C once in two bytes; C read and written in four bytes when it
// accumulates.
TEST(GemmTime, CountsFlopsAndBytes)
{
    const Gpu gpu = NamedGpu("h200-sxm");
    const KernelTimer timer(gpu);
    GemmShape shape = Shape(128, 256, 512, 3);
    EXPECT_EQ(timer.Gemm(shape).flops.ToDouble(), 2.0 * 128 * 256 * 512 * 3);
    EXPECT_EQ(timer.Gemm(shape).bytes, Bytes(3 * 2 * (128 * 512 + 256 * 512 + 128 * 256)));
    const Time plain = timer.Gemm(shape).time;
    shape.accumulateFp32 = true;
    EXPECT_EQ(timer.Gemm(shape).bytes, Bytes(3 * (2 * (128 * 512 + 256 * 512) + 8 * 128 * 256)));
    EXPECT_GE(timer.Gemm(shape).time, plain);
}

// A GEMM of many waves spends its time in main loops, so halving every clock doubles the time.
TEST(GemmTime, ScalesWithTheClock)
{
    Gpu gpu = NamedGpu("h200-sxm");
    gpu.burstTensorClockHz = gpu.boostClockHz;
    Gpu slow = gpu;
    slow.boostClockHz /= 2;
    slow.burstTensorClockHz /= 2;
    const Time fast = KernelTimer(gpu, ClockRegime::Burst).Gemm(Shape(16384, 16384, 8192)).time;
    const Time half = KernelTimer(slow, ClockRegime::Burst).Gemm(Shape(16384, 16384, 8192)).time;
    EXPECT_NEAR(half / fast, 2, 0.003);
}

// The power limit slows GEMMs that keep tensor cores busy: by about 1.2 for large ones, not for
// skinny ones.
TEST(GemmTime, SustainedClockSlowsOnlyTensorWork)
{
    const Gpu gpu = NamedGpu("h200-sxm");
    const KernelTimer burst(gpu, ClockRegime::Burst);
    const KernelTimer sustained(gpu, ClockRegime::Sustained);
    const auto ratio = [&](const GemmShape& shape) {
        return sustained.Gemm(shape).time / burst.Gemm(shape).time;
    };
    EXPECT_NEAR(ratio(Shape(8192, 8192, 8192)), 1.18, 0.015);
    EXPECT_NEAR(ratio(Shape(8, 8192, 8192)), 1, 1e-9);
}

// 11 x 12 tiles are one per SM on 132 SMs; another row of tiles needs a second wave, and the time
// nearly doubles (not quite: half-idle tensor cores allow a higher clock).
TEST(GemmTime, QuantisesWaves)
{
    Gpu gpu = NamedGpu("h200-sxm");
    gpu.kernels.gemm.tiles = {{128, 128}};
    const KernelTimer timer(gpu, ClockRegime::Burst);
    const GemmShape full = Shape(11 * 128, 12 * 128, 8192);
    const GemmShape more = Shape(12 * 128, 12 * 128, 8192);
    EXPECT_EQ(PlanGemm(gpu, ClockRegime::Burst, full).waves, 1U);
    EXPECT_EQ(PlanGemm(gpu, ClockRegime::Burst, more).waves, 2U);
    EXPECT_GT(timer.Gemm(more).time / timer.Gemm(full).time, 1.7);
    EXPECT_LT(timer.Gemm(more).time / timer.Gemm(full).time, 2);
}

// One tile with a long inner dimension: the sum is split over many SMs.
TEST(GemmTime, SplitsALongInnerDimension)
{
    const Gpu gpu = NamedGpu("h200-sxm");
    EXPECT_GT(PlanGemm(gpu, ClockRegime::Burst, Shape(64, 64, 32768)).splits, 1U);
    EXPECT_EQ(PlanGemm(gpu, ClockRegime::Burst, Shape(8192, 8192, 32768)).splits, 1U);
}

// Rows that are not whole 16-byte words cannot use the fast kernels: measured about 6 times slower.
TEST(GemmTime, FallsOffTheAlignmentCliff)
{
    const Gpu gpu = NamedGpu("h200-sxm");
    const KernelTimer timer(gpu, ClockRegime::Burst);
    const double ratio =
        timer.Gemm(Shape(4096, 4096, 4095)).time / timer.Gemm(Shape(4096, 4096, 4096)).time;
    EXPECT_GT(ratio, 4);
    EXPECT_LT(ratio, 9);
}

TEST(GemmTime, SaysWhereItComesFrom)
{
    const Gpu h200 = NamedGpu("h200-sxm");
    const Gpu a100 = NamedGpu("a100-sxm-80g");
    const auto of = [](const Gpu& gpu, uint64_t k) {
        return KernelTimer(gpu).Gemm(Shape(4096, 4096, k)).provenance;
    };
    EXPECT_EQ(of(h200, 4096), EstimateProvenance::Measured);
    EXPECT_EQ(of(h200, 1 << 20), EstimateProvenance::Extrapolated);
    EXPECT_EQ(of(a100, 4096), EstimateProvenance::Carried);
}

// Rates of large half-precision GEMMs on A100, from NVIDIA and others: 240 to 290 TFLOP/s.
TEST(GemmTime, CarriesToA100)
{
    const Gpu gpu = NamedGpu("a100-sxm-80g");
    const auto teraFlops = [&](ClockRegime regime) {
        const KernelEstimate estimate = KernelTimer(gpu, regime).Gemm(Shape(8192, 8192, 8192));
        return estimate.flops.ToDouble() / estimate.time.ToSeconds() * 1e-12;
    };
    EXPECT_GT(teraFlops(ClockRegime::Burst), 250);
    EXPECT_LT(teraFlops(ClockRegime::Burst), 290);
    EXPECT_GT(teraFlops(ClockRegime::Sustained), 235);
    EXPECT_LT(teraFlops(ClockRegime::Sustained), 270);
}

// In-kernel clocks of an H200 in its first third of a second, by tensor utilization: memory-bound
// kernels, flash-2, cuDNN attention and an 8192^3 GEMM. The clocks continue to fall for about a
// second.
TEST(TensorClock, FallsWithTensorUtilizationAsMeasured)
{
    const Gpu gpu = NamedGpu("h200-sxm");
    const auto megaHertz = [&](double utilization) {
        return TensorClock(gpu, ClockRegime::Sustained, utilization) * 1e-6;
    };
    EXPECT_EQ(megaHertz(0), 1980);
    constexpr double LATER = 662.0 / 679; // rate of 8192^3 after 1.5 s, over the first half second
    EXPECT_NEAR(megaHertz(0.35), LATER * 1795, 0.005 * 1795);
    EXPECT_NEAR(megaHertz(0.66), LATER * 1575, 0.025 * 1575);
    EXPECT_NEAR(megaHertz(0.88), LATER * 1425, 0.005 * 1425);
    EXPECT_EQ(megaHertz(0.95), megaHertz(0.88));
}

// Kernels with rows of odd length load two bytes at a time, 3.6 words per SM and clock: a tile of
// 256 x 128 takes (256 + 128) / 3.6 clocks more per element of the inner dimension than its
// multiplications.
TEST(GemmTime, WaitsForSingleWordsOfUnalignedRows)
{
    Gpu gpu = NamedGpu("h200-sxm");
    gpu.burstTensorClockHz = gpu.boostClockHz;
    gpu.kernels.gemm.unalignedTiles = {{256, 128}};
    const auto clocks = [&](uint64_t inner) { // per element of the inner dimension and tile
        const KernelTimer timer(gpu, ClockRegime::Burst);
        const GemmShape shape = Shape(256 * 11, 128 * 12 - 1, inner);
        GemmShape longer = shape;
        longer.k += 128 * 256;
        const Time rest = timer.Gemm(longer).time - timer.Gemm(shape).time;
        return rest.ToSeconds() * gpu.boostClockHz / (128 * 256);
    };
    const double math = 2.0 * 256 * 128 / (4096 * gpu.kernels.gemm.tensorEfficiency[3]);
    const double loads = (256.0 + 128) / gpu.kernels.gemm.unalignedLoadsPerSmPerClock;
    EXPECT_NEAR(clocks(8193), math + loads, 1e-6 * loads);
    EXPECT_NEAR(clocks(8192), math + loads, 1e-6 * loads); // C's rows are odd in this case, too
}

// Power grows with the cube of the clock: half the power limit reduces the clock of every
// power-limited kernel by 2^(-1/3). Kernels that never reach the limit keep the boost clock.
TEST(TensorClock, FallsByOneFactorUnderALowerPowerLimit)
{
    Gpu gpu = NamedGpu("h200-sxm");
    gpu.burstTensorClockHz = gpu.boostClockHz;
    Gpu half = gpu;
    half.sustainedClockHz *= std::cbrt(0.5);
    const auto ratio = [&](double utilization) {
        return TensorClock(half, ClockRegime::Sustained, utilization) /
               TensorClock(gpu, ClockRegime::Sustained, utilization);
    };
    EXPECT_EQ(ratio(0), 1);
    for (const double utilization : {0.3, 0.5, 0.9})
    {
        EXPECT_NEAR(ratio(utilization), std::cbrt(0.5), 1e-12);
    }
}

// The highest fp32 rates that Lin et al. (2024, github.com/owensgroup/ml_perf_model, HW_PARAMS)
// measured: 15.03 TFLOP/s on an A100 and 15.44 on a V100. The model was not fitted to either GPU;
// tolerance 20 %.
TEST(GemmTime, CarriesFp32ToOlderGpus)
{
    for (const auto& [name, measured] : {std::pair("a100-sxm-40g", 15.03), {"v100-sxm-32g", 15.44}})
    {
        const Gpu gpu = NamedGpu(name);
        GemmShape shape = Shape(8192, 8192, 8192);
        shape.precision = Precision::Fp32;
        const KernelEstimate estimate = KernelTimer(gpu, ClockRegime::Burst).Gemm(shape);
        const double rate = estimate.flops.ToDouble() / estimate.time.ToSeconds() * 1e-12;
        EXPECT_NEAR(rate / measured, 1, 0.2) << name;
    }
}

// Kernels of a separate family use its tiles; if a GPU's file has no fp32 family, those of 16 bits.
TEST(GemmTime, FamiliesHaveTheirOwnTiles)
{
    Gpu gpu = NamedGpu("h200-sxm");
    GemmShape shape = Shape(4096, 4096, 4096);
    shape.precision = Precision::Fp32;
    const auto isOfFamily = [&](const GemmFamily& family) {
        const GemmTile chosen = PlanGemm(gpu, ClockRegime::Burst, shape).tile;
        return std::any_of(family.tiles.begin(), family.tiles.end(), [&](const GemmTile& tile) {
            return tile.rows == chosen.rows && tile.columns == chosen.columns;
        });
    };
    const GemmFamily family = *gpu.kernels.gemm.fp32;
    EXPECT_TRUE(isOfFamily(family));
    gpu.kernels.gemm.fp32.reset();
    EXPECT_FALSE(isOfFamily(family));
    EXPECT_TRUE(isOfFamily(gpu.kernels.gemm.Narrow()));
}

TEST(GemmTime, RefusesEmptyShapesAndMissingPrecisions)
{
    const Gpu gpu = NamedGpu("a100-sxm-80g");
    const KernelTimer timer(gpu);
    EXPECT_THROW(timer.Gemm(Shape(0, 1, 1)), std::invalid_argument);
    EXPECT_THROW(timer.Gemm(Shape(1, 1, 1, 0)), std::invalid_argument);
    GemmShape shape = Shape(1024, 1024, 1024);
    shape.precision = Precision::Fp8;
    EXPECT_THROW(timer.Gemm(shape), std::invalid_argument);
}

} // namespace
} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/kernels/kernel-time.h"

#include "tests/compute-model/measured-kernels.h"

#include <gtest/gtest.h>
#include <stdexcept>

namespace weir
{
namespace
{

AttentionShape
Shape(uint64_t batch, uint64_t heads, uint64_t sequence, uint64_t headDim)
{
    AttentionShape shape;
    shape.batch = batch;
    shape.heads = heads;
    shape.kvHeads = heads;
    shape.sequence = sequence;
    shape.headDim = headDim;
    return shape;
}

// 4 b h s^2 d FLOPs forward, half of that under a causal mask; backward has five GEMMs instead of
// two.
TEST(AttentionTime, CountsUsefulFlops)
{
    const Gpu gpu = NamedGpu("h200-sxm");
    const KernelTimer timer(gpu);
    AttentionShape shape = Shape(2, 16, 2048, 128);
    const double causal = 2.0 * 2 * 16 * 2048 * 2048 * 128;
    EXPECT_EQ(timer.AttentionForward(shape).flops.ToDouble(), causal);
    EXPECT_EQ(timer.AttentionBackward(shape).flops.ToDouble(), 2.5 * causal);
    shape.causal = false;
    EXPECT_EQ(timer.AttentionForward(shape).flops.ToDouble(), 2 * causal);
}

TEST(AttentionTime, IsNeverBelowTheRoofline)
{
    for (const char* name : {"a100-sxm-80g", "h100-sxm", "h200-sxm"})
    {
        const Gpu gpu = NamedGpu(name);
        const KernelTimer timer(gpu, ClockRegime::Burst);
        for (const uint64_t sequence : {128, 1000, 4096, 32768})
        {
            for (const uint64_t headDim : {64, 80, 96, 128})
            {
                for (const KernelEstimate& estimate :
                     {timer.AttentionForward(Shape(1, 32, sequence, headDim)),
                      timer.AttentionBackward(Shape(1, 32, sequence, headDim))})
                {
                    EXPECT_GE(estimate.time, estimate.flops / BoostPeak(gpu));
                    EXPECT_GE(estimate.time, estimate.bytes / gpu.memoryRate);
                }
            }
        }
    }
}

// With fewer heads than fill the GPU, tiles run in parallel: the time is that of the longest tile.
TEST(AttentionTime, IsFlatWithinOneWave)
{
    const Gpu gpu = NamedGpu("h200-sxm");
    const KernelTimer timer(gpu, ClockRegime::Burst);
    const Time one = timer.AttentionForward(Shape(1, 1, 2048, 128)).time;
    const Time four = timer.AttentionForward(Shape(1, 4, 2048, 128)).time;
    const Time many = timer.AttentionForward(Shape(1, 64, 2048, 128)).time;
    EXPECT_NEAR(four / one, 1, 0.15);
    EXPECT_GT(many / one, 3);
}

// Far beyond one wave the time is proportional to the work, which grows with the square of the
// sequence.
TEST(AttentionTime, GrowsWithTheSquareOfTheSequence)
{
    const Gpu gpu = NamedGpu("h200-sxm");
    const KernelTimer timer(gpu);
    const Time half = timer.AttentionForward(Shape(1, 64, 16384, 128)).time;
    const Time full = timer.AttentionForward(Shape(1, 64, 32768, 128)).time;
    EXPECT_NEAR(full / half, 4, 0.1);
}

// A causal mask only removes work from tiles, so it never lengthens a kernel, however few tiles
// there are.
TEST(AttentionTime, ACausalMaskLengthensNothing)
{
    for (const char* name : {"h200-sxm", "a100-sxm-80g"})
    {
        const KernelTimer timer(NamedGpu(name));
        for (uint64_t sequence = 32; sequence <= 8192; sequence *= 2)
        {
            for (const uint64_t heads : {1, 16, 64, 132})
            {
                AttentionShape causal = Shape(2, heads, sequence, 128);
                AttentionShape full = causal;
                full.causal = false;
                EXPECT_LE(timer.AttentionForward(causal).time, timer.AttentionForward(full).time)
                    << name << " " << sequence << " x " << heads;
                EXPECT_LE(timer.AttentionBackward(causal).time, timer.AttentionBackward(full).time)
                    << name << " " << sequence << " x " << heads;
            }
        }
    }
}

// Fewer key and value heads save memory traffic, but no FLOPs.
TEST(AttentionTime, SharedKeysSaveTrafficOnly)
{
    const Gpu gpu = NamedGpu("h200-sxm");
    const KernelTimer timer(gpu);
    AttentionShape shape = Shape(1, 64, 4096, 128);
    const KernelEstimate own = timer.AttentionForward(shape);
    shape.kvHeads = 8;
    const KernelEstimate shared = timer.AttentionForward(shape);
    EXPECT_EQ(shared.flops, own.flops);
    EXPECT_LT(shared.bytes, own.bytes);
    EXPECT_LT(shared.time, own.time);
}

// Dao 2023, abstract: up to 73 % of the A100's 312 TFLOP/s forward, 63 % backward.
TEST(AttentionTime, ReachesFlashAttention2OnA100)
{
    const Gpu gpu = NamedGpu("a100-sxm-80g");
    const KernelTimer timer(gpu, ClockRegime::Burst);
    AttentionShape shape = Shape(4, 16, 16384, 128);
    shape.causal = false;
    const auto share = [&](const KernelEstimate& estimate) {
        return estimate.flops.ToDouble() / estimate.time.ToSeconds() /
               BoostPeak(gpu).ToFlopsPerSecond();
    };
    EXPECT_NEAR(share(timer.AttentionForward(shape)), 0.73, 0.03);
    EXPECT_NEAR(share(timer.AttentionBackward(shape)), 0.63, 0.03);
}

TEST(AttentionTime, SaysWhereItComesFrom)
{
    const Gpu h200 = NamedGpu("h200-sxm");
    const Gpu h100 = NamedGpu("h100-sxm");
    EXPECT_EQ(KernelTimer(h200).AttentionForward(Shape(1, 32, 4096, 128)).provenance,
              EstimateProvenance::Measured);
    EXPECT_EQ(KernelTimer(h200).AttentionForward(Shape(1, 32, 131072, 128)).provenance,
              EstimateProvenance::Extrapolated);
    EXPECT_EQ(KernelTimer(h100).AttentionBackward(Shape(1, 32, 4096, 128)).provenance,
              EstimateProvenance::Carried);
}

TEST(AttentionTime, RefusesEmptyShapesAndMissingPrecisions)
{
    const Gpu gpu = NamedGpu("a100-sxm-80g");
    const KernelTimer timer(gpu);
    EXPECT_THROW(timer.AttentionForward(Shape(1, 0, 128, 64)), std::invalid_argument);
    EXPECT_THROW(timer.AttentionBackward(Shape(1, 1, 0, 64)), std::invalid_argument);
    AttentionShape shape = Shape(1, 16, 2048, 128);
    shape.precision = Precision::Fp8;
    EXPECT_THROW(timer.AttentionForward(shape), std::invalid_argument);
}

} // namespace
} // namespace weir

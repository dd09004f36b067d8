// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/kernels/kernel-time.h"

#include "tests/compute-model/measured-kernels.h"

#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace weir
{
namespace
{

/** The overlap traits that the kernel models assign to a measured kernel. */
OverlapTraits
TraitsOf(const KernelTimer& timer, const MeasuredRow& row)
{
    if (row.at("class") == "gemm")
    {
        GemmShape shape;
        shape.m = std::stoull(row.at("m"));
        shape.n = std::stoull(row.at("n"));
        shape.k = std::stoull(row.at("k"));
        shape.layout = row.at("layout") == "tn"   ? GemmLayout::Tn
                       : row.at("layout") == "nn" ? GemmLayout::Nn
                                                  : GemmLayout::Nt;
        return timer.Gemm(shape).overlap;
    }
    if (row.at("class") == "attention")
    {
        AttentionShape shape;
        shape.heads = shape.kvHeads = 32;
        shape.sequence = 8192;
        shape.headDim = 128;
        return timer.AttentionForward(shape).overlap;
    }
    return timer.Memory(MemoryKernel::Elementwise, Bytes::MiB(64)).overlap;
}

/** Relative errors of the slowdown of one class of kernels next to thread blocks that move data. */
std::vector<double>
Errors(const std::string& kernelClass)
{
    const Gpu gpu = NamedGpu("h200-sxm");
    const KernelTimer timer(gpu, ClockRegime::Burst);
    std::vector<double> errors;
    for (const MeasuredRow& row : ReadMeasured("h200-kernels/overlap.csv"))
    {
        if (row.at("class") != kernelClass)
        {
            continue;
        }
        CommunicationLoad load;
        load.sms = static_cast<uint32_t>(std::stoul(row.at("sms")));
        load.memoryTraffic =
            std::stod(row.at("traffic_GBps")) * 1e9 / gpu.memoryRate.ToBytesPerSecond();
        errors.push_back(OverlapSlowdown(TraitsOf(timer, row), load, gpu.sms) /
                             std::stod(row.at("slowdown")) -
                         1);
    }
    return errors;
}

/**
 * The work of each occupied SM moves to the remaining SMs; at least half of the SMs always remain.
 */
TEST(OverlapSlowdown, WorkMovesToTheSmsThatAreLeft)
{
    const OverlapTraits many{1, 0, 0};
    EXPECT_DOUBLE_EQ(OverlapSlowdown(many, {0, 0}, 100), 1);
    EXPECT_DOUBLE_EQ(OverlapSlowdown(many, {20, 0}, 100), 1.25);
    EXPECT_DOUBLE_EQ(OverlapSlowdown(many, {90, 0}, 100), 2);
    EXPECT_THROW(OverlapSlowdown(many, {1, 0}, 0), std::invalid_argument);
}

/**
 * Tiles of a single-wave kernel that lose their SM run after the others have ended: twice the time.
 */
TEST(OverlapSlowdown, OneWaveTakesAnother)
{
    const Gpu gpu = NamedGpu("h200-sxm");
    GemmShape shape;
    shape.m = shape.n = shape.k = 2048; // 128 tiles of 256 x 128 on 132 SMs
    const OverlapTraits traits = KernelTimer(gpu, ClockRegime::Burst).Gemm(shape).overlap;
    EXPECT_FLOAT_EQ(traits.smShare, 1);
    EXPECT_FLOAT_EQ(traits.displaced, 1);
    shape.m = shape.n = shape.k = 8192;
    EXPECT_LT(KernelTimer(gpu, ClockRegime::Burst).Gemm(shape).overlap.displaced, 0.1F);
}

/** A kernel that only moves data shares SMs with other blocks, and shares the memory rate. */
TEST(OverlapSlowdown, MemoryTrafficAddsUp)
{
    const OverlapTraits memory{0, 0, 1};
    EXPECT_DOUBLE_EQ(OverlapSlowdown(memory, {32, 0}, 132), 1);
    EXPECT_DOUBLE_EQ(OverlapSlowdown(memory, {32, 0.25}, 132), 1.25);
}

// Kernels next to 4 to 32 blocks that copy or reduce, at full speed or at 20 GB/s each, each on its
// own SM: Weir's own measurement on an H200, November 2026, at equal clocks
// (validation/h200-kernels/overlap.csv).
TEST(OverlapSlowdown, MatchesMeasurementsOnH200)
{
    const std::vector<double> gemm = Errors("gemm");
    const std::vector<double> attention = Errors("attention");
    const std::vector<double> memory = Errors("memory");
    ASSERT_EQ(gemm.size(), 126U);
    ASSERT_EQ(attention.size(), 56U);
    ASSERT_EQ(memory.size(), 126U);
    EXPECT_LT(ErrorQuantile(gemm, 0.5), 0.065);
    EXPECT_LT(ErrorQuantile(gemm, 0.9), 0.33);
    EXPECT_LT(ErrorQuantile(attention, 0.5), 0.015);
    EXPECT_LT(ErrorQuantile(memory, 0.5), 0.032);
}

} // namespace
} // namespace weir

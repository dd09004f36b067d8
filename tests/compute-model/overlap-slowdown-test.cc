// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/kernels/overlap-slowdown.h"

#include "compute-model/kernels/kernel-time.h"
#include "tests/compute-model/measured-kernels.h"

#include <gtest/gtest.h>
#include <sstream>
#include <stdexcept>

namespace weir
{
namespace
{

/** "gemm 2048x6144x12288 TN" as a shape. */
GemmShape
ShapeOf(const std::string& op)
{
    GemmShape shape;
    std::istringstream in(op.substr(op.find(' ') + 1));
    char cross;
    std::string layout;
    in >> shape.m >> cross >> shape.n >> cross >> shape.k >> layout;
    shape.layout = layout == "TN"   ? GemmLayout::Tn
                   : layout == "NN" ? GemmLayout::Nn
                                    : GemmLayout::Nt;
    return shape;
}

/** The traits that the kernel models give an operator that was measured; by its class. */
OverlapTraits
TraitsOf(const KernelTimer& timer, const MeasuredRow& row)
{
    if (row.at("class") == "gemm")
    {
        return timer.Gemm(ShapeOf(row.at("op"))).overlap;
    }
    if (row.at("class") == "attn")
    {
        AttentionShape shape;
        shape.heads = shape.kvHeads = 32;
        shape.sequence = 8192;
        shape.headDim = 128;
        return timer.AttentionForward(shape).overlap;
    }
    return timer.Memory(MemoryKernel::Elementwise, Bytes::MiB(64)).overlap;
}

/** Errors of the slowdown of one class of kernels beside 4 SMs and more that move data. */
std::vector<double>
Errors(const std::string& kernelClass)
{
    const Gpu gpu = NamedGpu("h200-sxm");
    const KernelTimer timer(gpu, ClockRegime::Burst);
    const double hbm = gpu.memoryRate.ToBytesPerSecond() / 1e9;
    std::vector<double> errors;
    for (const MeasuredRow& row : ReadMeasured("overlap_sm.csv"))
    {
        CommunicationLoad load;
        load.sms = static_cast<uint32_t>(std::stoul(row.at("n_sms")));
        const bool moves = row.at("kind") == "copy" || row.at("kind") == "reduce";
        if (row.at("class") != kernelClass || !moves || load.sms < 4 ||
            row.at("smem_bytes") != "65536")
        {
            continue;
        }
        load.memoryTraffic = std::stod(row.at("comm_hbm_gbps")) / hbm;
        errors.push_back(OverlapSlowdown(TraitsOf(timer, row), load, gpu.sms) /
                             std::stod(row.at("slowdown_equal_clock")) -
                         1);
    }
    return errors;
}

/** Each SM that is taken leaves its share of the work to the others; half of them always stay. */
TEST(OverlapSlowdown, WorkMovesToTheSmsThatAreLeft)
{
    const OverlapTraits many{1, 0, 0};
    EXPECT_DOUBLE_EQ(OverlapSlowdown(many, {0, 0}, 100), 1);
    EXPECT_DOUBLE_EQ(OverlapSlowdown(many, {20, 0}, 100), 1.25);
    EXPECT_DOUBLE_EQ(OverlapSlowdown(many, {90, 0}, 100), 2);
    EXPECT_THROW(OverlapSlowdown(many, {1, 0}, 0), std::invalid_argument);
}

/** The tiles of a kernel of one wave that lose their SM run when the others have ended: twice. */
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

/** A kernel that only moves data has blocks beside others' and shares the memory rate. */
TEST(OverlapSlowdown, MemoryTrafficAddsUp)
{
    const OverlapTraits memory{0, 0, 1};
    EXPECT_DOUBLE_EQ(OverlapSlowdown(memory, {32, 0}, 132), 1);
    EXPECT_DOUBLE_EQ(OverlapSlowdown(memory, {32, 0.25}, 132), 1.25);
}

TEST(OverlapSlowdown, MatchesMeasurementsOnH200)
{
    const std::vector<double> gemm = Errors("gemm");
    if (gemm.empty())
    {
        GTEST_SKIP() << "no measurements beside the source tree";
    }
    EXPECT_GT(gemm.size(), 100U);
    EXPECT_LT(ErrorQuantile(gemm, 0.5), 0.08);
    EXPECT_LT(ErrorQuantile(gemm, 0.9), 0.35);
    EXPECT_LT(ErrorQuantile(Errors("attn"), 0.5), 0.03);
    EXPECT_LT(ErrorQuantile(Errors("mem"), 0.5), 0.06);
}

} // namespace
} // namespace weir

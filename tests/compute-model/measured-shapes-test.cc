// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/kernels/embedding-time.h"
#include "scenarios/catalog.h"
#include "scenarios/validation/measured-kernels.h"

#include "measured-kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace weir
{
namespace
{

/** Features of a call; features that must be equal form the key. */
struct Features
{
    std::string key;
    std::vector<double> values;
};

Features
Of(const GemmShape& s)
{
    const uint64_t element = BytesOf(s.precision);
    const uint64_t output = s.precision == Precision::Fp8 ? 2 : element;
    const bool isAligned = (s.layout == GemmLayout::Nt ? s.m : s.k) * element % 16 == 0 &&
                           (s.layout == GemmLayout::Tn ? s.k : s.n) * element % 16 == 0 &&
                           s.n * output % 16 == 0;
    const double flops = 2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) *
                         static_cast<double>(s.k) * static_cast<double>(s.batch);
    return {"gemm" + std::to_string(int(s.precision)) + std::to_string(int(s.layout)) +
                std::to_string(int(isAligned)),
            {double(s.m), double(s.n), double(s.k), double(s.batch), flops}};
}

Features
Of(const AttentionShape& s)
{
    return {"attention" + std::to_string(int(s.precision)) + std::to_string(int(s.causal)),
            {double(s.batch),
             double(s.heads),
             double(s.heads / s.kvHeads),
             double(s.sequence),
             double(s.headDim),
             4.0 * double(s.batch) * double(s.heads) * double(s.sequence) * double(s.sequence) *
                 double(s.headDim)}};
}

/** The bounding box of each key: minimum and maximum of every feature. */
class Boxes
{
  public:
    void Add(const Features& one)
    {
        auto& box = m_boxes[one.key];
        if (box.empty())
        {
            for (const double value : one.values)
            {
                box.push_back({value, value});
            }
        }
        for (std::size_t i = 0; i < box.size(); i++)
        {
            box[i] = {std::min(box[i][0], one.values[i]), std::max(box[i][1], one.values[i])};
        }
    }

    bool Contains(const Features& one) const
    {
        const auto found = m_boxes.find(one.key);
        if (found == m_boxes.end())
        {
            return false;
        }
        for (std::size_t i = 0; i < one.values.size(); i++)
        {
            if (one.values[i] < found->second[i][0] || one.values[i] > found->second[i][1])
            {
                return false;
            }
        }
        return true;
    }

  private:
    std::map<std::string, std::vector<std::array<double, 2>>> m_boxes;
};

/** The kernels measured on the H200 (validation/h200-kernels). */
MeasuredKernels
Measured()
{
    const Catalog catalog;
    const YamlNode suite =
        YamlNode::Load(std::string(WEIR_SOURCE_DIR) + "/validation/h200-kernels/suite.yaml");
    return ReadMeasuredKernels(suite.Get("kernels"), catalog);
}

} // namespace

// Every measured kernel lies inside the measured region.
TEST(MeasuredShapes, HoldEveryMeasuredKernel)
{
    const MeasuredKernels measured = Measured();
    const KernelTimer timer(measured.gpu);
    ASSERT_EQ(measured.kernels.size(), 2195U);
    for (const MeasuredKernel& one : measured.kernels)
    {
        EXPECT_EQ(Predict(timer, one).provenance, EstimateProvenance::Measured) << one.name;
    }
}

// A GEMM or attention call of any shape is inside exactly if each of its features lies between the
// minimum and the maximum over the measured kernels of its precision, layout and alignment, or
// mask.
TEST(MeasuredShapes, AreTheBoxesOfTheMeasuredKernels)
{
    const MeasuredKernels measured = Measured();
    const KernelTimer timer(measured.gpu);
    Boxes boxes;
    std::vector<GemmShape> gemms;
    std::vector<AttentionShape> calls;
    for (const MeasuredKernel& one : measured.kernels)
    {
        if (const auto* gemm = std::get_if<GemmShape>(&one.call))
        {
            boxes.Add(Of(*gemm));
            gemms.push_back(*gemm);
        }
        else if (const auto* attention = std::get_if<AttentionCall>(&one.call))
        {
            boxes.Add(Of(attention->shape));
            calls.push_back(attention->shape);
        }
    }
    std::mt19937 random(11);
    const auto pick = [&](const auto& list) { return list[random() % list.size()]; };
    // Features of several kernels combined, some slightly outside, so that both sides of every edge
    // occur.
    const auto near = [&](uint64_t value) {
        const uint64_t choice = random() % 8;
        return choice == 0 ? value * 2 : choice == 1 ? value + 8 : choice == 2 ? value / 2 : value;
    };
    int inside = 0;
    for (int i = 0; i < 4000; i++)
    {
        GemmShape gemm = pick(gemms);
        gemm.m = std::max<uint64_t>(1, near(gemm.m));
        gemm.n = std::max<uint64_t>(1, near(pick(gemms).n));
        gemm.k = std::max<uint64_t>(1, near(pick(gemms).k));
        gemm.batch = std::max<uint64_t>(1, near(gemm.batch));
        const bool isInside = boxes.Contains(Of(gemm));
        inside += isInside;
        EXPECT_EQ(timer.Gemm(gemm).provenance == EstimateProvenance::Measured, isInside)
            << gemm.m << " " << gemm.n << " " << gemm.k << " " << gemm.batch;

        AttentionShape call = pick(calls);
        call.sequence = std::max<uint64_t>(1, near(pick(calls).sequence));
        call.batch = std::max<uint64_t>(1, near(call.batch));
        call.headDim = std::max<uint64_t>(1, near(call.headDim));
        const bool isCallInside = boxes.Contains(Of(call));
        inside += isCallInside;
        EXPECT_EQ(timer.AttentionForward(call).provenance == EstimateProvenance::Measured,
                  isCallInside)
            << call.batch << " " << call.sequence << " " << call.headDim;
    }
    EXPECT_GT(inside, 1000);
    EXPECT_LT(inside, 7000);
}

// A call of another kind than all measured ones is outside, however typical its sizes.
TEST(MeasuredShapes, OtherKindsAreOutside)
{
    const Gpu gpu = NamedGpu("h200-sxm");
    const KernelTimer timer(gpu);
    GemmShape gemm;
    gemm.m = gemm.n = gemm.k = 4096;
    EXPECT_EQ(timer.Gemm(gemm).provenance, EstimateProvenance::Measured);
    gemm.layout = GemmLayout::Nn;
    EXPECT_EQ(timer.Gemm(gemm).provenance, EstimateProvenance::Measured);
    gemm.precision = Precision::Fp8; // measured forward only
    EXPECT_EQ(timer.Gemm(gemm).provenance, EstimateProvenance::Extrapolated);
    gemm.precision = Precision::Bf16;
    gemm.images.kind = GemmOperands::Images;
    gemm.images.elements = 1e6;
    gemm.images.contiguous = 64;
    EXPECT_EQ(timer.Gemm(gemm).provenance, EstimateProvenance::Extrapolated);

    AttentionShape call;
    call.heads = call.kvHeads = 32;
    call.sequence = 4096;
    call.headDim = 128;
    EXPECT_EQ(timer.AttentionBackward(call).provenance, EstimateProvenance::Measured);
    call.precision = Precision::Fp16; // only bf16 was measured
    EXPECT_EQ(timer.AttentionBackward(call).provenance, EstimateProvenance::Extrapolated);
    call.precision = Precision::Bf16;
    call.keySequence = 8192;
    EXPECT_EQ(timer.AttentionBackward(call).provenance, EstimateProvenance::Extrapolated);

    // Rotary was never measured as a fused kernel.
    EXPECT_EQ(timer.Memory(MemoryKernel::Rotary, Bytes::MiB(64)).provenance,
              EstimateProvenance::Extrapolated);
}

// Lookups: 32 to 128 columns, 1e5 to 1e8 rows, 512 to 65536 bags of 1 to 100, Zipf exponents 0 to
// 1.2, one table; backward at least 64 columns, at least 2048 bags, at most 64 rows per bag.
TEST(MeasuredShapes, Lookups)
{
    const Gpu gpu = NamedGpu("h200-sxm");
    const auto forward = [&](const IndexDistribution& indices, const EmbeddingShape& shape) {
        return EmbeddingForwardTime(gpu, {{indices, shape}}).provenance ==
               EstimateProvenance::Measured;
    };
    const auto backward = [&](const IndexDistribution& indices, const EmbeddingShape& shape) {
        return EmbeddingBackwardTime(gpu, {{indices, shape}}).provenance ==
               EstimateProvenance::Measured;
    };
    std::mt19937 random(5);
    const auto even = [&](double min, double max) { // log-uniform
        return std::exp(
            std::uniform_real_distribution<double>(std::log(min), std::log(max))(random));
    };
    for (int i = 0; i < 300; i++)
    {
        EmbeddingShape shape;
        shape.bags = static_cast<uint64_t>(even(200, 2e5));
        shape.pooling = static_cast<uint64_t>(even(1, 250));
        shape.dim = static_cast<uint64_t>(even(16, 256));
        const auto rows = static_cast<uint64_t>(even(3e4, 3e8));
        const double zipf = std::uniform_real_distribution<double>(0, 1.5)(random);
        const IndexDistribution indices = IndexDistribution::Zipf(rows, zipf);
        const bool isCommon = rows >= 100000 && rows <= 100000000 && zipf <= 1.2 &&
                              shape.dim <= 128 && shape.bags <= 65536;
        EXPECT_EQ(forward(indices, shape),
                  isCommon && shape.dim >= 32 && shape.bags >= 512 && shape.pooling <= 100);
        EXPECT_EQ(backward(indices, shape),
                  isCommon && shape.dim >= 64 && shape.bags >= 2048 && shape.pooling <= 64);
    }
    EmbeddingShape shape;
    shape.bags = 4096;
    shape.dim = 64;
    const IndexDistribution uniform = IndexDistribution::Uniform(1000000);
    EXPECT_TRUE(forward(uniform, shape));
    shape.precision = Precision::Fp16; // like bf16, but not measured
    EXPECT_FALSE(forward(uniform, shape));
    shape.precision = Precision::Fp32;
    EXPECT_FALSE(forward(IndexDistribution::Histogram({{1e5, 1}, {9e5, 0.1}}), shape));
    EXPECT_EQ(EmbeddingForwardTime(gpu, {{uniform, shape}, {uniform, shape}}).provenance,
              EstimateProvenance::Extrapolated);
}

} // namespace weir

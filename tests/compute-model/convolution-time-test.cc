// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/kernels/kernel-time.h"
#include "compute-model/layers/convolution-kernels.h"
#include "compute-model/layers/table-kernels.h"

#include "measured-kernels.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weir
{
namespace
{

constexpr uint64_t SAMPLES = 128;

/** A convolution layer over square images. */
TableLayer
Layer(uint32_t in, uint32_t out, uint32_t size, uint32_t stride, uint32_t side)
{
    TableLayer layer;
    layer.op = TableOp::Convolution;
    layer.name = "convolution";
    layer.in = {in, side, side};
    layer.out = {out, side / stride, side / stride};
    layer.window = {size, stride, size / 2};
    return layer;
}

/** The kernels of one pass over a layer. */
struct Pass
{
    KernelRecords records;
    double seconds{0};

    Pass(const Gpu& gpu, const TableLayer& layer, Precision precision, bool isBackward)
    {
        const KernelTimer timer(gpu,
                                ClockRegime::Burst); // memory-bound kernels in between save power
        ParallelPlan plan;
        plan.microBatch = SAMPLES;
        plan.globalBatch = SAMPLES;
        plan.fusion = KernelFusion::Eager;
        plan.precision = precision == Precision::Tf32 ? Precision::Fp32 : precision;
        KernelTable kernels(records, timer);
        SegmentWriter writer(kernels, plan);
        writer.Section("pass");
        const bool isFirst = layer.in.channels == 3;
        isBackward ? WriteConvolutionBackward(writer, layer, precision, isFirst)
                   : WriteConvolutionForward(writer, layer, precision);
        writer.Take();
        for (const KernelRecord& kernel : records.kernels)
        {
            seconds += kernel.duration.ToSeconds();
        }
    }

    /** Number of kernels without FLOPs whose names end with @p ending. */
    int Passes(const std::string& ending) const
    {
        int count = 0;
        for (const KernelRecord& kernel : records.kernels)
        {
            const std::string& name = records.labels.at(kernel.name);
            count += kernel.flops.ToDouble() == 0 && name.size() >= ending.size() &&
                     name.compare(name.size() - ending.size(), ending.size(), ending) == 0;
        }
        return count;
    }

    double Flops() const
    {
        double sum = 0;
        for (const KernelRecord& kernel : records.kernels)
        {
            sum += kernel.flops.ToDouble();
        }
        return sum;
    }
};

const std::vector<TableLayer>&
MeasuredLayers()
{
    static const std::vector<TableLayer> layers = [] {
        std::vector<TableLayer> all{
            Layer(3, 64, 7, 2, 224),    Layer(64, 64, 1, 1, 56),     Layer(256, 128, 1, 1, 56),
            Layer(512, 256, 1, 1, 28),  Layer(1024, 512, 1, 1, 14),  Layer(128, 128, 3, 2, 56),
            Layer(256, 256, 3, 2, 28),  Layer(512, 512, 3, 2, 14),   Layer(256, 512, 1, 2, 56),
            Layer(512, 1024, 1, 2, 28), Layer(1024, 2048, 1, 2, 14), Layer(3, 64, 3, 1, 224),
            Layer(64, 64, 3, 1, 224),   Layer(64, 128, 3, 1, 112),   Layer(128, 128, 3, 1, 112),
            Layer(128, 256, 3, 1, 56),  Layer(256, 256, 3, 1, 56),   Layer(256, 512, 3, 1, 28),
            Layer(512, 512, 3, 1, 28),  Layer(512, 512, 3, 1, 14)};
        for (const uint32_t width : {64U, 128U, 256U, 512U})
        {
            const uint32_t side = 3584 / width;
            all.push_back(Layer(4 * width, width, 1, 1, side));
            all.push_back(Layer(width, width, 3, 1, side));
            all.push_back(Layer(width, 4 * width, 1, 1, side));
        }
        return all;
    }();
    return layers;
}

/**
 * Relative errors of all convolutions of one model's trace; biases and sums of gradients are
 * included.
 */
std::vector<double>
Errors(const std::string& model, const std::string& pass)
{
    const Gpu gpu = NamedGpu("h100-sxm");
    const KernelTimer timer(gpu);
    const auto touch = [&](double elements) {
        return timer.Memory(MemoryKernel::Elementwise, Bytes::Nearest(4 * elements))
            .time.ToSeconds();
    };
    const bool isBackward = pass == "backward";
    std::vector<double> errors;
    for (const MeasuredRow& row : ReadMeasured("triosim-2025/convolutions.csv"))
    {
        if (row.at("model") != model || row.at("pass") != pass)
        {
            continue;
        }
        const auto whole = [&](const char* column) {
            return static_cast<uint32_t>(std::stoul(row.at(column)));
        };
        const TableLayer layer =
            Layer(whole("in"), whole("out"), whole("window"), whole("stride"), whole("side"));
        const double in = static_cast<double>(layer.in.Elements() * SAMPLES);
        const double out = static_cast<double>(layer.out.Elements() * SAMPLES);
        double seconds = Pass(gpu, layer, Precision::Tf32, isBackward).seconds;
        if (model == "vgg-13") // its convolutions have biases
        {
            seconds += isBackward ? touch(out) : touch(2 * out);
        }
        else if (isBackward && layer.window.size == 1 && layer.window.stride == 1 &&
                 layer.in.channels >= layer.out.channels)
        {
            // First convolution of a block: the profile includes the sum of the gradients of both
            // branches.
            seconds += touch(3 * in);
        }
        errors.push_back(seconds / (std::stod(row.at("time_us")) * 1e-6) - 1);
    }
    return errors;
}

} // namespace

// Convolutions of ResNet-50 and VGG-13 on an H100, operator by operator: the median error is about
// 10 %, the 90 % quantile below 32 % (github.com/sarchlab/triosim, 3fb3c06, trace2-h100-bs128;
// validation/triosim-2025).
TEST(ConvolutionTime, MeetsMeasuredOperators)
{
    for (const auto& [model, count] : {std::pair{"resnet-50", 53U}, {"vgg-13", 10U}})
    {
        for (const char* pass : {"forward", "backward"})
        {
            const std::vector<double> errors = Errors(model, pass);
            ASSERT_EQ(errors.size(), count) << model << " " << pass;
            EXPECT_LT(ErrorQuantile(errors, 0.5), 0.105) << model << " " << pass;
            EXPECT_LT(ErrorQuantile(errors, 0.9), 0.32) << model << " " << pass;
        }
    }
}

// 32-bit batch norms on an H100 (github.com/sarchlab/triosim, ResNet-50 at 128 images): one thread
// block per channel, so 64 channels leave half of the SMs idle.
TEST(BatchNormTime, FewChannelsLeaveMultiprocessorsIdle)
{
    struct Measured
    {
        uint32_t channels;
        uint32_t side;
        double forward; //!< microseconds
        double backward;
    };

    const Gpu gpu = NamedGpu("h100-sxm");
    const KernelTimer timer(gpu);
    for (const Measured& one : {Measured{64, 112, 962, 2151},
                                Measured{64, 56, 243, 543},
                                Measured{128, 56, 299, 614},
                                Measured{256, 28, 122, 219},
                                Measured{256, 56, 488, 843},
                                Measured{512, 28, 239, 456},
                                Measured{1024, 14, 116, 212}})
    {
        LayerTable table;
        TableLayer norm;
        norm.op = TableOp::BatchNorm;
        norm.name = "norm";
        norm.in = norm.out = {one.channels, one.side, one.side};
        table.layers = {norm};
        ParallelPlan plan;
        plan.microBatch = SAMPLES;
        plan.precision = Precision::Fp32;
        KernelRecords records;
        KernelTable kernels(records, timer);
        TableForward(kernels, table, {0, 1}, plan, Precision::Tf32);
        TableBackward(kernels, table, {0, 1}, plan, Precision::Tf32);
        ASSERT_EQ(records.kernels.size(), 2U);
        EXPECT_NEAR(records.kernels[0].duration.ToMicroseconds() / one.forward, 1, 0.1)
            << one.channels;
        EXPECT_NEAR(records.kernels[1].duration.ToMicroseconds() / one.backward, 1, 0.12)
            << one.channels;
    }
}

// A convolution that is a GEMM over planes in the given layout takes one kernel; other windows and
// strides, or planes that are not whole 16-byte words (7 x 7 pixels), convert input and output to
// the layout of the kernels.
TEST(ConvolutionTime, ConvertsLayoutsWhereKernelsAskForIt)
{
    const Gpu gpu = NamedGpu("h100-sxm");
    const auto layouts = [&](const TableLayer& layer, Precision precision, bool isBackward) {
        return Pass(gpu, layer, precision, isBackward).Passes(" layout");
    };
    EXPECT_EQ(layouts(Layer(64, 256, 1, 1, 56), Precision::Tf32, false), 0);
    EXPECT_EQ(layouts(Layer(64, 256, 1, 1, 56), Precision::Tf32, true), 0);
    EXPECT_EQ(layouts(Layer(512, 2048, 1, 1, 7), Precision::Tf32, false), 2);
    EXPECT_EQ(layouts(Layer(64, 64, 3, 1, 56), Precision::Tf32, false), 2);
    EXPECT_EQ(layouts(Layer(64, 64, 3, 1, 56), Precision::Tf32, true), 4);
    EXPECT_EQ(layouts(Layer(256, 512, 1, 2, 56), Precision::Bf16, true), 4);
    EXPECT_EQ(layouts(Layer(64, 64, 3, 1, 56), Precision::Fp32, true), 0);
}

// FLOPs follow the definition, 2 C K R S P Q per sample and pass, whatever the kernels do.
TEST(ConvolutionTime, CountsUsefulFlops)
{
    const Gpu gpu = NamedGpu("h100-sxm");
    for (const TableLayer& layer : MeasuredLayers())
    {
        const double once = 2 * layer.MultiplyAdds() * SAMPLES;
        const double gradients = layer.in.channels == 3 ? 1 : 2;
        EXPECT_NEAR(Pass(gpu, layer, Precision::Tf32, false).Flops() / once, 1, 1e-9);
        EXPECT_NEAR(Pass(gpu, layer, Precision::Tf32, true).Flops() / once, gradients, 1e-9);
    }
}

// Zeros between strides are multiplied, too: a strided 3 x 3 input gradient takes about four times
// the time of its FLOPs. A strided 1 x 1 one does not, but fills the image with zeros.
TEST(ConvolutionTime, StridedInputGradients)
{
    const Gpu gpu = NamedGpu("h100-sxm");
    const auto gradient = [&](const TableLayer& layer) {
        const Pass pass(gpu, layer, Precision::Tf32, true);
        double seconds = 0;
        for (const KernelRecord& kernel : pass.records.kernels)
        {
            const bool isGemm = kernel.flops.ToDouble() > 0;
            const std::string& name = pass.records.labels.at(kernel.name);
            seconds += isGemm && name.find("input gradient") != std::string::npos
                           ? kernel.duration.ToSeconds()
                           : 0;
        }
        return seconds;
    };
    const double ratio = gradient(Layer(512, 512, 3, 2, 28)) / gradient(Layer(512, 512, 3, 1, 14));
    EXPECT_GT(ratio, 3.2);
    EXPECT_LT(ratio, 4.4);
    EXPECT_EQ(Pass(gpu, Layer(256, 512, 1, 2, 56), Precision::Tf32, true).Passes("zeros"), 1);
    EXPECT_EQ(Pass(gpu, Layer(512, 512, 3, 2, 28), Precision::Tf32, true).Passes("zeros"), 0);
}

} // namespace weir

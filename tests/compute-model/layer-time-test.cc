// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/kernels/kernel-time.h"
#include "compute-model/layers/step-segments.h"
#include "scenarios/readers/read-gpu.h"

#include "transformer-samples.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace weir
{
namespace
{

/** The fastest tenth of a measured block's runs (before the clock drops), in microseconds; 0
 * without it. */
double
MeasuredMicroseconds(const std::string& block, const std::string& phase)
{
    std::ifstream file(std::string(WEIR_SHARED_DATA_DIR) + "/gpu-h200/blocks.csv");
    std::string line;
    while (std::getline(file, line))
    {
        std::vector<std::string> cells;
        std::istringstream stream(line);
        for (std::string cell; std::getline(stream, cell, ',');)
        {
            cells.push_back(cell);
        }
        if (cells.size() > 9 && cells[0] == block && cells[6] == phase && cells[7] == "queued")
        {
            return std::stod(cells[9]);
        }
    }
    return 0;
}

Time
ComputeTime(const SegmentSequence& sequence)
{
    Time total;
    for (const Segment& segment : sequence)
    {
        total += segment.kernels.duration;
    }
    return total;
}

struct MeasuredLayer
{
    const char* block;
    uint32_t hidden;
    uint32_t heads;
    uint32_t tensor;
    uint32_t microBatch;
};

// The kernels of a GPT layer, one after another, take what plain PyTorch layers of the same sizes
// were measured to take on an H200 (bf16, fused attention, weight gradients in bf16, no
// communication), within 6 %: PyTorch does not fuse bias, dropout and residual as Megatron-LM does.
// These layers are short enough for the burst clock to hold (sm_mhz above 1900).
TEST(LayerTime, AgreesWithMeasuredLayers)
{
    const MeasuredLayer layers[] = {{"layer/GPT-175B/tp8/mbs1", 12288, 96, 8, 1},
                                    {"layer/GPT-22B/tp8/mbs1", 6144, 64, 8, 1},
                                    {"layer/GPT-1.3B/tp1/mbs4", 2048, 16, 1, 4}};
    const Gpu gpu = LoadGpu(std::string(WEIR_SOURCE_DIR) + "/scenarios/gpus/h200-sxm.yaml");
    const KernelTimer timer(gpu, ClockRegime::Burst);
    for (const MeasuredLayer& layer : layers)
    {
        const double forward = MeasuredMicroseconds(layer.block, "fwd");
        const double backward = MeasuredMicroseconds(layer.block, "bwd");
        if (forward == 0)
        {
            GTEST_SKIP() << "the measurements are not here";
        }
        const Transformer model = SampleGpt(1, layer.hidden, layer.heads);
        ParallelPlan plan;
        plan.tensor = layer.tensor;
        plan.microBatch = layer.microBatch;
        plan.fp32Gradients = false;
        KernelRecords records;
        KernelTable kernels(records, timer);
        const StepSegments segments(kernels, model, plan);
        EXPECT_NEAR(ComputeTime(segments.layerForward).ToMicroseconds() / forward, 1, 0.06)
            << layer.block;
        EXPECT_NEAR(ComputeTime(segments.layerBackward).ToMicroseconds() / backward, 1, 0.06)
            << layer.block;
    }
}

} // namespace
} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/kernels/kernel-time.h"
#include "compute-model/layers/step-segments.h"
#include "scenarios/readers/read-gpu.h"

#include "transformer-samples.h"

#include <gtest/gtest.h>

#include <string>

namespace weir
{
namespace
{

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
    const char* name;
    uint32_t hidden;
    uint32_t heads;
    uint32_t tensor;
    uint32_t microBatch;
    double forward; //!< measured, microseconds
    double backward;
};

// The kernels of a GPT layer, run one after another, take the time that plain PyTorch layers of the
// same sizes took on an H200 (bf16, fused attention, weight gradients in bf16, no communication),
// within 6 %: PyTorch does not fuse bias, dropout and residual as Megatron-LM does. These layers
// are short enough for the burst clock (1904 to 1966 MHz): the fastest tenth of eight runs each,
// Weir's own measurement on an H200, November 2026.
TEST(LayerTime, AgreesWithMeasuredLayers)
{
    const MeasuredLayer layers[] = {
        {"GPT-175B, tensor 8, micro-batch 1", 12288, 96, 8, 1, 1484.28, 2961.08},
        {"GPT-22B, tensor 8, micro-batch 1", 6144, 64, 8, 1, 495.533, 993.93},
        {"GPT-1.3B, tensor 1, micro-batch 4", 2048, 16, 1, 4, 1451.6, 3068.09}};
    const Gpu gpu = LoadGpu(std::string(WEIR_SOURCE_DIR) + "/scenarios/gpus/h200-sxm.yaml");
    const KernelTimer timer(gpu, ClockRegime::Burst);
    for (const MeasuredLayer& layer : layers)
    {
        const Transformer model = SampleGpt(1, layer.hidden, layer.heads);
        ParallelPlan plan;
        plan.tensor = layer.tensor;
        plan.microBatch = layer.microBatch;
        plan.fp32Gradients = false;
        KernelRecords records;
        KernelTable kernels(records, timer);
        const StepSegments segments(kernels, model, plan);
        EXPECT_NEAR(ComputeTime(segments.layer.forward).ToMicroseconds() / layer.forward, 1, 0.06)
            << layer.name;
        EXPECT_NEAR(ComputeTime(segments.layer.backward).ToMicroseconds() / layer.backward, 1, 0.06)
            << layer.name;
    }
}

} // namespace
} // namespace weir

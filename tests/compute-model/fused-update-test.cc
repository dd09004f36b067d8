// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/step-builder.h"

#include "transformer-samples.h"

#include <gtest/gtest.h>

#include <string>

namespace weir
{
namespace
{

/** Bytes that the kernels of one name move in a step. */
double
BytesOfKernels(const StepGraph& graph, const std::string& name)
{
    double bytes = 0;
    for (const KernelRecord& kernel : graph.kernels)
    {
        bytes += graph.labels[kernel.name] == name ? kernel.bytes.ToDouble() : 0;
    }
    return bytes;
}

// Bytes per parameter. Fused: the norm reads a gradient of 2; the update reads it, reads and writes
// the weight and two moments of 4 each, and writes a weight of 2. Separate kernels: Adam moves 28
// with a gradient of 4.
TEST(FusedUpdate, MovesWhatOneKernelNeeds)
{
    const Transformer model = SampleGpt(2, 256, 4);
    ParallelPlan plan;
    plan.precision = Precision::Fp16;
    plan.fp32Gradients = false;
    const StepGraph inTurn = BuildTransformerStep(model, plan, SampleGpu());
    plan.fusedUpdate = true;
    const StepGraph atOnce = BuildTransformerStep(model, plan, SampleGpu());
    const double parameters = BytesOfKernels(inTurn, "Adam") / 28;
    EXPECT_NEAR(parameters / model.Parameters(), 1, 1e-3);
    EXPECT_NEAR(BytesOfKernels(atOnce, "Adam") / parameters, 2 + 6 * 4 + 2, 1e-9);
    EXPECT_NEAR(BytesOfKernels(atOnce, "gradient norm") / parameters, 2, 1e-9);
    for (const char* name : {"gradient unscale", "gradient clip", "weight cast"})
    {
        EXPECT_GT(BytesOfKernels(inTurn, name), 0) << name;
        EXPECT_EQ(BytesOfKernels(atOnce, name), 0) << name;
    }
}

} // namespace
} // namespace weir

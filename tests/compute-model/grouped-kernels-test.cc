// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/step-builder.h"
#include "compute-model/plan/rank-shape.h"

#include "graph-run.h"
#include "mixture-samples.h"

#include <gtest/gtest.h>

#include <string>

namespace weir
{
namespace
{

/** Bytes moved on one rank to cast the rows of experts to fp8. */
double
CastBytes(const StepGraph& graph)
{
    const double ofAll = SumOverRanks(graph, [&graph](const StepOp& op) {
        double bytes = 0;
        for (uint32_t i = 0; i < op.kernelCount; i++)
        {
            const KernelRecord& kernel = graph.kernels[op.firstKernel + i];
            const std::string& name = graph.labels[kernel.name];
            const bool isCast =
                name.rfind("experts", 0) == 0 && name.find("rows to fp8") != std::string::npos;
            bytes += isCast ? kernel.bytes.ToDouble() : 0;
        }
        return bytes;
    });
    return ofAll / static_cast<double>(graph.rankProgram.size());
}

Transformer
TwoLayers()
{
    Transformer model = SampleMixtral();
    model.layers = 2;
    return model;
}

// Rows are read in 16 bits and written twice in 8 bits, 4 bytes per element: forward the inputs of
// the experts' two GEMMs, h and f columns; backward the gradients of their outputs, h and 2 f. With
// 8 expert ranks for 8 experts each rank processes s k rows.
TEST(GroupedKernels, TurnRowsToFp8BothWaysOnce)
{
    const Transformer model = TwoLayers();
    ParallelPlan plan = MixturePlan(1, 8, 8, 1);
    plan.precision = Precision::Fp8;
    const double rows = 2.0 * model.sequence;
    const double columns = 2.0 * model.hidden + 3.0 * model.moe.ffn;
    const StepGraph graph = BuildTransformerStep(model, plan, SampleGpu());
    EXPECT_EQ(static_cast<double>(ExpertShape(model, plan).received), rows);
    EXPECT_EQ(CastBytes(graph), model.layers * 4 * rows * columns);
}

// GEMMs of 16 bits use the rows without a cast.
TEST(GroupedKernels, TakeSixteenBitsAsTheyAre)
{
    ParallelPlan plan = MixturePlan(1, 8, 8, 1);
    EXPECT_EQ(CastBytes(BuildTransformerStep(TwoLayers(), plan, SampleGpu())), 0);
}

} // namespace
} // namespace weir

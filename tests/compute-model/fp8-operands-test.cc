// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/step-builder.h"

#include "graph-run.h"
#include "transformer-samples.h"

#include <gtest/gtest.h>

#include <string>

namespace weir
{
namespace
{

ParallelPlan
Fp8Plan(bool sequenceParallel)
{
    ParallelPlan plan;
    plan.tensor = 4;
    plan.sequenceParallel = sequenceParallel;
    plan.precision = Precision::Fp8;
    plan.host = HostCosts();
    return plan;
}

/**
 * Bytes moved on one rank by kernels whose name contains one of two words: by default those that
 * cast operands to fp8 or transpose them.
 */
double
OperandBytes(const StepGraph& graph,
             const std::string& word = "to fp8",
             const std::string& other = "transpose")
{
    const double ofAll = SumOverRanks(graph, [&](const StepOp& op) {
        double bytes = 0;
        for (uint32_t i = 0; i < op.kernelCount; i++)
        {
            const KernelRecord& kernel = graph.kernels[op.firstKernel + i];
            const std::string& name = graph.labels[kernel.name];
            const bool isOperand =
                name.find(word) != std::string::npos || name.find(other) != std::string::npos;
            bytes += isOperand ? kernel.bytes.ToDouble() : 0;
        }
        return bytes;
    });
    return ofAll / static_cast<double>(graph.rankProgram.size());
}

// Each operand is read in 16 bits and written in 8, plain and transposed: 4 bytes per element. The
// GEMMs of a layer use h, q, h, f columns forward and gradients of q + 2 k, h, 2 f, h columns
// backward, and each weight once.
TEST(Fp8Operands, AreCastAndTransposedInOnePass)
{
    Transformer model = SampleLlama70b();
    model.layers = 2;
    const double h = model.hidden;
    const double q = h / 4;
    const double k = 8.0 / 4 * 128;
    const double f = model.ffn / 4.0;
    const double columns = (h + q + h + f) + (q + 2 * k + h + 2 * f + h);
    const double weights = h * (q + 2 * k) + q * h + h * 2 * f + f * h;
    const StepGraph graph = BuildTransformerStep(model, Fp8Plan(false), SampleGpu());
    EXPECT_EQ(OperandBytes(graph), model.layers * 4 * (model.sequence * columns + weights));
}

// A single tensor rank gathers nothing, so that sequence parallelism changes no kernel.
TEST(Fp8Operands, OfOneTensorRankAreCastInOnePass)
{
    Transformer model = SampleLlama70b();
    model.layers = 2;
    ParallelPlan plan = Fp8Plan(false);
    plan.tensor = 1;
    const double cast = OperandBytes(BuildTransformerStep(model, plan, SampleGpu()));
    plan.sequenceParallel = true;
    EXPECT_EQ(OperandBytes(BuildTransformerStep(model, plan, SampleGpu())), cast);
}

// Operands that ranks gather are cast before that, in one layout: 3 bytes per element for a quarter
// of the rows. After the gather they are transposed for the weight gradient: 2 bytes. These are the
// inputs of two GEMMs and the output gradients of the other two of a layer, h columns each.
TEST(Fp8Operands, AreCastBeforeTheyAreGathered)
{
    Transformer model = SampleLlama70b();
    model.layers = 2;
    const double whole = OperandBytes(BuildTransformerStep(model, Fp8Plan(false), SampleGpu()));
    const double split = OperandBytes(BuildTransformerStep(model, Fp8Plan(true), SampleGpu()));
    const double elements = static_cast<double>(model.sequence) * model.hidden;
    EXPECT_EQ(whole - split, model.layers * 4 * elements * (4 - 3.0 / 4 - 2));
}

// torchao casts the operands of the forward pass once more for the backward pass: 3 bytes per
// element each time, and 4 for gradients, whose two GEMMs belong to one pass. It reads all of them
// once before, for their maxima: 2 bytes.
TEST(Fp8Operands, AreCastInEachPassByTorchao)
{
    Transformer model = SampleLlama70b();
    model.layers = 2;
    ParallelPlan plan = Fp8Plan(false);
    plan.fusion = KernelFusion::Compiled;
    const double h = model.hidden;
    const double q = h / 4;
    const double k = 8.0 / 4 * 128;
    const double f = model.ffn / 4.0;
    const double inputs = model.sequence * (h + q + h + f);
    const double gradients = model.sequence * (q + 2 * k + h + 2 * f + h);
    const double weights = h * (q + 2 * k) + q * h + h * 2 * f + f * h;
    const StepGraph graph = BuildTransformerStep(model, plan, SampleGpu());
    EXPECT_EQ(OperandBytes(graph), model.layers * ((3 + 3) * (inputs + weights) + 4 * gradients));
    EXPECT_EQ(OperandBytes(graph, "input maximum", "weight maximum"),
              model.layers * 2 * (inputs + weights));
    EXPECT_EQ(OperandBytes(graph, "gradient maximum", "gradient maximum"),
              model.layers * 2 * gradients);
}

// In 16 bits there is neither a cast nor a transposition.
TEST(Fp8Operands, SixteenBitsAreTakenAsTheyAre)
{
    Transformer model = SampleLlama70b();
    model.layers = 2;
    ParallelPlan plan = Fp8Plan(true);
    plan.precision = Precision::Bf16;
    EXPECT_EQ(OperandBytes(BuildTransformerStep(model, plan, SampleGpu())), 0);
}

} // namespace
} // namespace weir

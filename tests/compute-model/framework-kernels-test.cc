// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/step-builder.h"

#include "graph-run.h"
#include "mixture-samples.h"

#include <gtest/gtest.h>

#include <string>

namespace weir
{
namespace
{

/** Bytes moved in a step of one rank by kernels whose name contains @p part. */
double
Moved(const Transformer& model, const ParallelPlan& plan, const std::string& part)
{
    const StepGraph graph = BuildTransformerStep(model, plan, SampleGpu());
    const double ofAll = SumOverRanks(graph, [&](const StepOp& op) {
        double bytes = 0;
        for (uint32_t i = 0; i < op.kernelCount; i++)
        {
            const KernelRecord& kernel = graph.kernels[op.firstKernel + i];
            const bool isMeant = graph.labels[kernel.name].find(part) != std::string::npos;
            bytes += isMeant ? kernel.bytes.ToDouble() : 0;
        }
        return bytes;
    });
    return ofAll / static_cast<double>(graph.rankProgram.size());
}

constexpr uint32_t PASSES = 3;

ParallelPlan
PlanOf(KernelFusion fusion, bool fp32Gradients)
{
    ParallelPlan plan;
    plan.data = 2;
    plan.microBatch = 1;
    plan.globalBatch = 2 * PASSES;
    plan.fusion = fusion;
    plan.fp32Gradients = fp32Gradients;
    plan.host = HostCosts();
    return plan;
}

Transformer
Gpt()
{
    return SampleGpt(2, 1024, 16);
}

/** Weights of the GEMMs of Gpt(): 12 h^2 per layer, and the vocabulary. */
double
GemmWeights()
{
    const Transformer model = Gpt();
    const double hidden = model.hidden;
    return model.layers * 12 * hidden * hidden + hidden * model.vocabulary;
}

// Megatron-LM's GEMM reads and writes the gradient buffer: 4 + 4 bytes, or 2 + 2. PyTorch's GEMM
// writes 2 bytes; in all micro-batches but the first another kernel reads both and writes one, 3 x
// 2. For 4-byte gradients it casts first, 2 + 4, and adds 3 x 4.
TEST(FrameworkKernels, AddTheGradientsOfMicroBatches)
{
    const Transformer model = Gpt();
    const auto moved = [&](KernelFusion fusion, bool fp32) {
        return Moved(model, PlanOf(fusion, fp32), " weight gradient");
    };
    const double fused = moved(KernelFusion::Kernels, false);
    const double eager = moved(KernelFusion::Eager, false);
    EXPECT_NEAR(moved(KernelFusion::Kernels, true) - fused, (8 - 4) * PASSES * GemmWeights(), 1);
    EXPECT_NEAR(eager - fused, (2 * PASSES + 6 * (PASSES - 1) - 4 * PASSES) * GemmWeights(), 1);
    EXPECT_EQ(moved(KernelFusion::Compiled, false), eager);
    EXPECT_NEAR(moved(KernelFusion::Eager, true) - eager,
                (6 * PASSES + (12 - 6) * (PASSES - 1)) * GemmWeights(),
                1);
}

// Full sharding reduces the result of a GEMM directly, so no GEMM reads an old gradient, including
// those of a mixture's experts and router.
TEST(FrameworkKernels, ReduceGradientsAsTheyAreUnderFullSharding)
{
    Transformer model = SampleMixtral();
    model.layers = 2;
    for (const bool fp32 : {false, true})
    {
        ParallelPlan plan = MixturePlan(1, 8, 8, 1);
        plan.fp32Gradients = fp32;
        const double added = Moved(model, plan, "weight gradient");
        plan.sharding.state = ShardedState::Full;
        const double hidden = model.hidden;
        const double attention = hidden * (2 * hidden + 2.0 * model.kvHeads * model.headDim);
        const double experts = 3 * hidden * model.moe.ffn; // one of the eight experts
        const double router = hidden * model.moe.experts;
        const double words = hidden * model.vocabulary;
        const double weights = model.layers * (attention + experts + router) + words;
        EXPECT_NEAR(added - Moved(model, plan, "weight gradient"),
                    (fp32 ? 8 - 2 : 4 - 2) * weights,
                    1e-9 * added);
    }
}

// In plain PyTorch a bias is added inside its GEMM, dropout is a kernel of 2 + 2 + 1 bytes per
// element, the sum one of 2 + 2 + 2. In Megatron-LM bias, dropout and sum are one kernel of 2 + 2 +
// 2 + 1, and the bias of queries, keys and values is one of 2 + 2.
TEST(FrameworkKernels, OfGptAreSingleOnesWhereNothingFusesThem)
{
    const Transformer model = Gpt();
    const double rows = static_cast<double>(PASSES) * model.sequence * model.layers;
    const auto moved = [&](KernelFusion fusion, const char* part) {
        return Moved(model, PlanOf(fusion, false), part) / (rows * model.hidden);
    };
    EXPECT_DOUBLE_EQ(
        moved(KernelFusion::Kernels, "QKV bias") - moved(KernelFusion::Eager, "QKV bias"), 3 * 4);
    EXPECT_DOUBLE_EQ(moved(KernelFusion::Kernels, "bias dropout add"), 2 * (7 + 5));
    EXPECT_DOUBLE_EQ(moved(KernelFusion::Eager, "bias dropout add"), 2 * (5 + 6 + 5));
}

} // namespace
} // namespace weir

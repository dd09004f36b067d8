// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/step-builder.h"

#include "graph-run.h"
#include "transformer-samples.h"

#include <gtest/gtest.h>

namespace weir
{
namespace
{

constexpr uint32_t RANKS = 4;

Transformer
TwoLayers()
{
    Transformer model = SampleGpt(2, 4096, 32);
    model.dropout = false;
    return model;
}

ParallelPlan
TensorPlan(bool splits)
{
    ParallelPlan plan;
    plan.tensor = RANKS;
    plan.sequenceParallel = true;
    plan.splitGemms = splits;
    plan.host = HostCosts();
    plan.fp32Gradients = false;
    return plan;
}

StepGraph
Build(bool splits)
{
    return BuildTransformerStep(TwoLayers(), TensorPlan(splits), SampleGpu());
}

double
TensorBytes(const StepGraph& graph)
{
    return SumOverRanks(graph, [](const StepOp& op) {
        return op.category == TimeCategory::Tensor ? op.bytes.ToDouble() : 0;
    });
}

// The pieces add up to the GEMM: the same FLOPs and the same bytes between ranks.
TEST(SplitGemms, DoTheSameWork)
{
    const StepGraph whole = Build(false);
    const StepGraph split = Build(true);
    EXPECT_NEAR(GemmFlops(split) / GemmFlops(whole), 1, 1e-12);
    EXPECT_EQ(TensorBytes(split), TensorBytes(whole));
}

// Six of a layer's eight communications use copy engines: those before QKV and FC1, those after
// projection and FC2, and those before the gradients of the latter two. The others, which overlap
// with gradients of QKV and FC1, are kernels.
TEST(SplitGemms, SixOfALayersCommunicationsHoldNoMultiprocessors)
{
    const auto byCopyEngine = [](const StepGraph& graph) {
        return SumOverRanks(graph, [](const StepOp& op) { return op.byCopyEngine ? 1 : 0; });
    };
    EXPECT_EQ(byCopyEngine(Build(true)), RANKS * 2 * 6);
    EXPECT_EQ(byCopyEngine(Build(false)), 0);
}

// Without overlap of tensor-parallel communication GEMMs are not split.
TEST(SplitGemms, NeedOverlap)
{
    ParallelPlan plan = TensorPlan(true);
    plan.overlapTensor = false;
    const StepGraph graph = BuildTransformerStep(TwoLayers(), plan, SampleGpu());
    EXPECT_EQ(SumOverRanks(graph, [](const StepOp& op) { return op.byCopyEngine ? 1 : 0; }), 0);
}

Time
Waits(const StepGraph& graph, Time communication)
{
    const auto duration = [communication](const CollectiveCall& call) {
        return call.op == CollectiveOp::AllReduce ? Time() : communication;
    };
    return Execution(graph, duration).Spent(0, TimeCategory::Tensor);
}

// Communication that takes no longer than three of four pieces is hidden; longer communication is
// exposed, minus those three pieces.
TEST(SplitGemms, HideCommunicationBesideAllPiecesButOne)
{
    const StepGraph whole = Build(false);
    const StepGraph split = Build(true);
    const Time brief = Time::Microseconds(1);
    // Unsplit GEMMs expose two communications before and two after GEMMs forward, and two backward;
    // those of the output layer's input are not split in either case.
    EXPECT_GE(Waits(whole, brief), brief * (2 * 6));
    EXPECT_LE(Waits(split, brief), Waits(whole, brief) - brief * (2 * 6));
    const Time endless = Time::Seconds(1);
    EXPECT_LT(Waits(split, endless), Waits(whole, endless));
    EXPECT_GT(Waits(split, endless), Waits(whole, endless) * 0.9);
}

} // namespace
} // namespace weir

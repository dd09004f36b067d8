// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/step-builder.h"
#include "compute-model/plan/stage-layers.h"

#include "graph-run.h"
#include "transformer-samples.h"

#include <gtest/gtest.h>

namespace weir
{
namespace
{

/** BERT large (Devlin et al. 2019, section 3). */
Transformer
Bert(bool hasHead)
{
    Transformer model = SampleGpt(24, 1024, 16);
    model.sequence = 512;
    model.vocabulary = 30522;
    model.causal = false;
    model.predictionHead = hasHead;
    return model;
}

ParallelPlan
Replicas(uint32_t data)
{
    ParallelPlan plan;
    plan.data = data;
    plan.microBatch = 4;
    plan.globalBatch = 4 * data;
    plan.host = HostCosts();
    return plan;
}

// A dense layer h x h with bias, and a norm's scale and shift, on the stage of the last layer.
TEST(PredictionHead, HasADenseLayerAndANorm)
{
    const double h = 1024;
    const double head = h * h + h + 2 * h;
    EXPECT_EQ(Bert(true).PredictionHeadParameters(), head);
    EXPECT_EQ(Bert(true).Parameters() - Bert(false).Parameters(), head);
    ParallelPlan plan = Replicas(1);
    plan.pipeline = 2;
    const auto more = [&](uint32_t stage) {
        return RankStageParameters(Bert(true), plan, stage) -
               RankStageParameters(Bert(false), plan, stage);
    };
    EXPECT_EQ(more(0), 0);
    EXPECT_EQ(more(1), head);
}

// Forward, input gradient and weight gradient: 2 h^2 FLOPs per token each.
TEST(PredictionHead, ComputesThreeGemms)
{
    const ParallelPlan plan = Replicas(2);
    const double tokens = 512.0 * plan.globalBatch;
    const double with = GemmFlops(BuildTransformerStep(Bert(true), plan, SampleGpu()));
    const double without = GemmFlops(BuildTransformerStep(Bert(false), plan, SampleGpu()));
    EXPECT_EQ(with - without, 6 * 1024.0 * 1024 * tokens);
}

// Its gradients are reduced with all others.
TEST(PredictionHead, ReducesItsGradients)
{
    const ParallelPlan plan = Replicas(2);
    const StepGraph graph = BuildTransformerStep(Bert(true), plan, SampleGpu());
    double bytes = 0;
    for (const StepOp& op :
         graph.programs[0].streams[static_cast<std::size_t>(StreamKind::DataComm)])
    {
        const bool isGradient = graph.labels[op.label].rfind("gradient", 0) == 0;
        bytes += isGradient ? op.bytes.ToDouble() : 0;
    }
    EXPECT_EQ(bytes, 4 * RankStageParameters(Bert(true), plan, 0));
}

} // namespace
} // namespace weir

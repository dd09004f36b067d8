// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/step-builder.h"
#include "compute-model/plan/activation-memory.h"

#include "graph-run.h"
#include "transformer-samples.h"

#include <gtest/gtest.h>

namespace weir
{
namespace
{

ParallelPlan
PlanWith(LossKernels loss)
{
    ParallelPlan plan;
    plan.loss = loss;
    plan.host = HostCosts();
    return plan;
}

Transformer
Model()
{
    Transformer model = SampleLlama70b();
    model.layers = 2;
    return model;
}

double
Logits()
{
    const Transformer model = Model();
    return static_cast<double>(model.sequence) * model.vocabulary;
}

double
Held(LossKernels loss, Recomputation recomputation)
{
    ParallelPlan plan = PlanWith(loss);
    plan.recomputation = recomputation;
    return StageActivations(Model(), plan, 0).ToDouble();
}

double
Moved(LossKernels loss)
{
    const StepGraph graph = BuildTransformerStep(Model(), PlanWith(loss), SampleGpu());
    return SumOverRanks(graph, [&graph](const StepOp& op) {
        double bytes = 0;
        for (uint32_t i = 0; i < op.kernelCount; i++)
        {
            bytes += graph.kernels[op.firstKernel + i].bytes.ToDouble();
        }
        return bytes;
    });
}

// Bytes of a logit at the fullest: 2 that its gradient overwrites; 4 of the softmax and 2 of the
// logits or their gradient; 4 of the log-softmax and 4 each of its gradient and the logits'.
TEST(LossKernels, HoldCopiesOfTheLogits)
{
    const Recomputation none = Recomputation::None;
    const double inPlace = Held(LossKernels::InPlace, none);
    EXPECT_EQ(Held(LossKernels::VocabularyParallel, none) - inPlace, 4 * Logits());
    EXPECT_EQ(Held(LossKernels::LogSoftmax, none) - inPlace, 10 * Logits());
}

// A layer is recomputed when the loss is done: of what both hold for the moment the larger counts,
// here the layer's, so that only what is kept (4 bytes, 4 and 2) makes a difference.
TEST(LossKernels, AreDoneBeforeALayerIsRecomputed)
{
    const Recomputation full = Recomputation::Full;
    const double inPlace = Held(LossKernels::InPlace, full);
    EXPECT_EQ(Held(LossKernels::VocabularyParallel, full) - inPlace, 2 * Logits());
    EXPECT_EQ(Held(LossKernels::LogSoftmax, full) - inPlace, 2 * Logits());
}

// Memory traffic of a logit: in place 2 read, then 2 read and 2 written. Log-softmax: cast 2 + 4,
// itself 4 + 4, backward 5 x 4, cast 4 + 2. Megatron-LM's passes: cast 6, maximum 4, minus 8,
// exponential 8, sum 4, division 8, gradient 8, cast 6.
TEST(LossKernels, MoveTheLogits)
{
    const double inPlace = Moved(LossKernels::InPlace);
    EXPECT_NEAR(Moved(LossKernels::LogSoftmax) - inPlace, (40 - 6) * Logits(), 1);
    EXPECT_NEAR(Moved(LossKernels::VocabularyParallel) - inPlace, (52 - 6) * Logits(), 1);
}

// Unless it is said, as the framework does.
TEST(LossKernels, FollowTheFusionOfKernels)
{
    ParallelPlan plan = PlanWith(LossKernels::Default);
    EXPECT_EQ(plan.Loss(), LossKernels::VocabularyParallel);
    plan.fusion = KernelFusion::Eager;
    EXPECT_EQ(plan.Loss(), LossKernels::LogSoftmax);
    plan.fusion = KernelFusion::Compiled;
    EXPECT_EQ(plan.Loss(), LossKernels::InPlace);
    plan.loss = LossKernels::VocabularyParallel;
    EXPECT_EQ(plan.Loss(), LossKernels::VocabularyParallel);
}

} // namespace
} // namespace weir

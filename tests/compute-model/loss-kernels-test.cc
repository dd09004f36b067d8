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

// Peak bytes per logit. In place: 2, overwritten by the gradient. Vocabulary-parallel: 4 for the
// softmax and 2 for the logits or their gradient. Log-softmax: 4 for itself, and 4 each for its
// gradient and that of the logits.
TEST(LossKernels, HoldCopiesOfTheLogits)
{
    const Recomputation none = Recomputation::None;
    const double inPlace = Held(LossKernels::InPlace, none);
    EXPECT_EQ(Held(LossKernels::VocabularyParallel, none) - inPlace, 4 * Logits());
    EXPECT_EQ(Held(LossKernels::LogSoftmax, none) - inPlace, 10 * Logits());
}

// A layer is recomputed after the loss is done: the larger of their temporary sizes counts, here
// the layer's, so only the tensors kept for backward (4 bytes, 4 and 2) make a difference.
TEST(LossKernels, AreDoneBeforeALayerIsRecomputed)
{
    const Recomputation full = Recomputation::Full;
    const double inPlace = Held(LossKernels::InPlace, full);
    EXPECT_EQ(Held(LossKernels::VocabularyParallel, full) - inPlace, 2 * Logits());
    EXPECT_EQ(Held(LossKernels::LogSoftmax, full) - inPlace, 2 * Logits());
}

// Memory traffic in bytes per logit. In place: 2 read, then 2 read and 2 written. Log-softmax: cast
// 2 + 4, itself 4 + 4, backward 5 x 4, cast 4 + 2. Megatron-LM's passes: cast 6, maximum 4, minus
// 8, exponential 8, sum 4, division 8, gradient 8, cast 6.
TEST(LossKernels, MoveTheLogits)
{
    const double inPlace = Moved(LossKernels::InPlace);
    EXPECT_NEAR(Moved(LossKernels::LogSoftmax) - inPlace, (40 - 6) * Logits(), 1);
    EXPECT_NEAR(Moved(LossKernels::VocabularyParallel) - inPlace, (52 - 6) * Logits(), 1);
}

// The default follows the framework's fusion; a given value takes precedence.
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

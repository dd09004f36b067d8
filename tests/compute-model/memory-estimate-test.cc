// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/plan/memory-estimate.h"

#include "compute-model/plan/activation-memory.h"
#include "compute-model/plan/stage-layers.h"

#include "mixture-samples.h"
#include "transformer-samples.h"

#include <gtest/gtest.h>

namespace weir
{
namespace
{

ParallelPlan
Plan(uint32_t tensor, uint32_t pipeline)
{
    ParallelPlan plan;
    plan.tensor = tensor;
    plan.pipeline = pipeline;
    plan.globalBatch = 64;
    plan.attention = AttentionKind::Unfused;
    return plan;
}

// Korthikanti et al. 2022, table 2, for GPT-175B with t = 8: s b h times
// 10 + 24/t + 5as/(ht); 34/t + 5as/(ht); 34/t; 2 (and 2/t with the sequence split).
TEST(MemoryEstimate, LayerActivationsFollowKorthikanti)
{
    const Transformer model = SampleGpt(96, 12288, 96);
    const double t = 8;
    ParallelPlan plan = Plan(8, 8);
    plan.microBatch = 2;
    const double sbh = 2048.0 * 2 * 12288;
    const double scores = 5.0 * 96 * 2048 / (12288 * t);
    EXPECT_EQ(LayerActivations(model, plan), sbh * (10 + 24 / t + scores));
    plan.recomputation = Recomputation::Full;
    EXPECT_EQ(LayerActivations(model, plan), sbh * 2);
    plan.sequenceParallel = true;
    EXPECT_EQ(LayerActivations(model, plan), sbh * 2 / t);
    plan.recomputation = Recomputation::Selective;
    EXPECT_EQ(LayerActivations(model, plan), sbh * 34 / t);
    plan.recomputation = Recomputation::None;
    EXPECT_EQ(LayerActivations(model, plan), sbh * (34 / t + scores));
    plan.attention = AttentionKind::Fused;
    EXPECT_EQ(LayerActivations(model, plan), sbh * 34 / t);
}

// Figures beyond the range of 64-bit integers do not wrap: eight layers of 2^61 bytes would need 0
// bytes modulo 2^64, and 2^20 layers of 3 x 2^48 parameters overflow already as weights.
TEST(MemoryEstimate, OfPlansBeyondAnyMemoryIsLarge)
{
    constexpr double EIB = 0x1p60;
    Transformer model = SampleGpt(8, 8, 1);
    model.sequence = 1 << 24;
    model.ffn = 1 << 24;
    ParallelPlan plan = Plan(1, 1);
    plan.attention = AttentionKind::Fused;
    plan.microBatch = plan.globalBatch = 1 << 11;
    // Inputs and output of the activation: 2 x 2 bytes x 2^35 tokens x 2^24 columns = 2^61.
    EXPECT_EQ(EstimateMemory(model, plan).activations.ToDouble(), EIB);
    model.sequence = 1;
    model.layers = 1 << 20;
    model.hidden = 1 << 24;
    model.activation = ActivationKind::SwiGlu;
    plan.microBatch = plan.globalBatch = 1;
    const MemoryEstimate estimate = EstimateMemory(model, plan);
    EXPECT_EQ(estimate.weights.ToDouble(), EIB);
    EXPECT_GE(estimate.Total().ToDouble(), 3 * EIB);
}

// Equation 5 and the following: the first of p stages holds the activations of all L layers for one
// micro-batch, times 1 + (p - 1)/(p v) when interleaved. In addition it holds only the dropout mask
// of the embedding, s b h / t bytes with the sequence split, for p micro-batches, and for 2 p when
// interleaved: the first chunk's passes of two rounds precede its first backward pass.
TEST(MemoryEstimate, FirstStageHoldsAllLayers)
{
    const Transformer model = SampleGpt(96, 12288, 96);
    ParallelPlan plan = Plan(8, 8);
    plan.sequenceParallel = true;
    const double sbh = 2048.0 * 12288;
    const double layer = LayerActivations(model, plan);
    const double mask = sbh * 8 / 8;
    EXPECT_EQ(StageActivations(model, plan, 0).ToDouble(), layer * 96 + mask);
    plan.schedule = PipelineScheduleKind::Interleaved;
    plan.virtualStages = 3;
    EXPECT_EQ(StageActivations(model, plan, 0).ToDouble(), layer * 96 * (1 + 7.0 / 24) + 2 * mask);
    // With fewer micro-batches than stages only those count.
    plan.schedule = PipelineScheduleKind::OneForwardOneBackward;
    plan.virtualStages = 1;
    plan.globalBatch = 2;
    EXPECT_EQ(StageActivations(model, plan, 0).ToDouble(), layer * 24 + mask / 4);
}

// Chunks of different sizes: with six layers and the embeddings in eight parts, the last stage has
// two layers in its first chunk and one in its last. It runs F of chunk 0 twice, then F and B of
// chunk 1 twice; with the next F of chunk 0 it holds three times two layers.
TEST(StageActivations, OfChunksThatDifferAreThoseInFlight)
{
    Transformer model = SampleGpt(6, 1024, 16);
    model.vocabulary = 128; // very few logits
    ParallelPlan plan;
    plan.pipeline = 2;
    plan.schedule = PipelineScheduleKind::Interleaved;
    plan.virtualStages = 2;
    plan.embeddingsAsLayers = true;
    plan.globalBatch = 4;
    const double layer = LayerActivations(model, plan);
    EXPECT_NEAR(StageActivations(model, plan, 1).ToDouble() / layer, 6, 0.4);
}

/** Activation bytes of a layer that recomputation spares. */
Bytes
Spared(const Transformer& model, ParallelPlan plan, bool hasExperts = false)
{
    const double kept = LayerActivations(model, plan, hasExperts);
    plan.recomputation = Recomputation::None;
    return Bytes::Nearest(LayerActivations(model, plan, hasExperts) - kept);
}

// Of layers 0 to 7, recomputeEvery: 3 recomputes 0, 3 and 6. The first of two stages, with two
// micro-batches in flight, spares layers 1 and 2; the last, with one, spares 4, 5 and 7.
TEST(StageActivations, CountTheLayersThatAreNotRecomputed)
{
    const Transformer model = SampleGpt(8, 1024, 16);
    ParallelPlan plan = Plan(1, 2);
    plan.recomputation = Recomputation::Full;
    const Bytes first = StageActivations(model, plan, 0);
    const Bytes last = StageActivations(model, plan, 1);
    plan.recomputeEvery = 3;
    EXPECT_EQ(StageActivations(model, plan, 0) - first, Spared(model, plan) * 4);
    EXPECT_EQ(StageActivations(model, plan, 1) - last, Spared(model, plan) * 3);
}

// Layers 0 and 1 have an MLP, 2 and 3 experts; every second layer is recomputed, so that one of
// each kind keeps its activations.
TEST(StageActivations, CountTheLayersOfEachKindThatAreNotRecomputed)
{
    Transformer model = SmallMixture();
    model.moe.firstLayer = 2;
    ParallelPlan plan;
    plan.recomputation = Recomputation::Full;
    const Bytes every = StageActivations(model, plan, 0);
    plan.recomputeEvery = 2;
    EXPECT_EQ(StageActivations(model, plan, 0) - every,
              Spared(model, plan, false) + Spared(model, plan, true));
}

// Selective recomputation repeats the attention core of every layer; recomputeEvery counts layers
// that are recomputed as a whole.
TEST(StageActivations, OfSelectiveRecomputationAreThoseOfEveryLayer)
{
    const Transformer model = SampleGpt(8, 1024, 16);
    ParallelPlan plan = Plan(1, 2);
    plan.recomputation = Recomputation::Selective;
    const Bytes every = StageActivations(model, plan, 0);
    plan.recomputeEvery = 2;
    EXPECT_EQ(StageActivations(model, plan, 0), every);
}

// Mixed precision with fp32 gradients takes 18 bytes per parameter (2 + 4 + 12); ZeRO-1 divides the
// optimizer's 12 by the number of replicas.
TEST(MemoryEstimate, EighteenBytesAParameter)
{
    const Transformer model = SampleGpt(24, 4096, 32);
    ParallelPlan plan = Plan(4, 2);
    plan.data = 4;
    const MemoryEstimate plain = EstimateMemory(model, plan);
    const double parameters = RankStageParameters(model, plan, plain.stage);
    EXPECT_EQ((plain.weights + plain.gradients + plain.optimizer).ToDouble(), 18 * parameters);
    plan.distributedOptimizer = true;
    const MemoryEstimate sharded = EstimateMemory(model, plan);
    EXPECT_EQ(sharded.optimizer.ToDouble(),
              12.0 / 4 * RankStageParameters(model, plan, sharded.stage));
}

// GPT-175B on 96 GPUs of 80 GB, TP8 x PP12, micro-batch 1: it fits with selective or full
// recomputation, and without recomputation if the sequence is split. On 8 GPUs (TP8 only) it does
// not fit.
TEST(MemoryEstimate, Gpt175bFits96Gpus)
{
    const Transformer model = SampleGpt(96, 12288, 96);
    const Bytes capacity = Bytes::GiB(80);
    ParallelPlan plan = Plan(8, 12);
    plan.globalBatch = 96;
    for (const Recomputation recomputation : {Recomputation::Selective, Recomputation::Full})
    {
        plan.recomputation = recomputation;
        EXPECT_LT(EstimateMemory(model, plan).Total(), capacity);
    }
    plan.sequenceParallel = true;
    plan.recomputation = Recomputation::None;
    EXPECT_LT(EstimateMemory(model, plan).Total(), capacity);
    plan.pipeline = 1;
    EXPECT_GT(EstimateMemory(model, plan).Total(), capacity);
}

} // namespace
} // namespace weir

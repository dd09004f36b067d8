// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/plan/stage-layers.h"

#include "transformer-samples.h"

#include <gtest/gtest.h>

namespace weir
{
namespace
{

ParallelPlan
PlanOf(uint32_t stages, uint32_t chunks, bool embeddingsAsLayers)
{
    ParallelPlan plan;
    plan.pipeline = stages;
    plan.virtualStages = chunks;
    plan.embeddingsAsLayers = embeddingsAsLayers;
    return plan;
}

/** Over the stages of each chunk in turn, each part begins where the one before ends. */
TEST(StageLayers, ChunksFollowEachOther)
{
    const Transformer model = SampleGpt(22, 64, 4);
    for (const auto& plan :
         {PlanOf(8, 1, true), PlanOf(8, 3, true), PlanOf(11, 2, false), PlanOf(1, 1, true)})
    {
        uint32_t next = 0;
        for (uint32_t chunk = 0; chunk < plan.virtualStages; chunk++)
        {
            for (uint32_t stage = 0; stage < plan.pipeline; stage++)
            {
                EXPECT_EQ(FirstLayerOfChunk(model, plan, stage, chunk), next);
                next += LayersOfChunk(model, plan, stage, chunk);
            }
        }
        EXPECT_EQ(next, model.layers);
    }
}

/** 22 layers and two embeddings over 8 stages: three each, where an embedding counts as one. */
TEST(StageLayers, EmbeddingsReplaceALayer)
{
    const Transformer model = SampleGpt(22, 64, 4);
    const ParallelPlan plan = PlanOf(8, 1, true);
    EXPECT_EQ(LayersOfStage(model, plan, 0), 2U);
    EXPECT_EQ(LayersOfStage(model, plan, 3), 3U);
    EXPECT_EQ(LayersOfStage(model, plan, 7), 2U);
    EXPECT_EQ(LayersOfStage(model, PlanOf(8, 3, true), 0), 2U);
}

} // namespace
} // namespace weir

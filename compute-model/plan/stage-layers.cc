// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/plan/stage-layers.h"

namespace weir
{

namespace
{

/**
 * Layers of a chunk that is neither first nor last; with embeddingsAsLayers the embedding and the
 * loss count as a layer each.
 */
uint32_t
WholeChunk(const Transformer& model, const ParallelPlan& plan)
{
    const uint32_t assigned = model.layers + (plan.embeddingsAsLayers ? 2 : 0);
    return assigned / (plan.pipeline * plan.virtualStages);
}

} // namespace

uint32_t
LayersOfChunk(const Transformer& model, const ParallelPlan& plan, uint32_t stage, uint32_t chunk)
{
    uint32_t layers = WholeChunk(model, plan);
    if (plan.embeddingsAsLayers)
    {
        layers -= stage == 0 && chunk == 0 ? 1 : 0;
        layers -= stage == plan.pipeline - 1 && chunk == plan.virtualStages - 1 ? 1 : 0;
    }
    return layers;
}

uint32_t
FirstLayerOfChunk(const Transformer& model,
                  const ParallelPlan& plan,
                  uint32_t stage,
                  uint32_t chunk)
{
    const uint32_t before = chunk * plan.pipeline + stage;
    return before * WholeChunk(model, plan) - (plan.embeddingsAsLayers && before > 0 ? 1 : 0);
}

uint32_t
LayersOfStage(const Transformer& model, const ParallelPlan& plan, uint32_t stage)
{
    uint32_t layers = 0;
    for (uint32_t chunk = 0; chunk < plan.virtualStages; chunk++)
    {
        layers += LayersOfChunk(model, plan, stage, chunk);
    }
    return layers;
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_PLAN_STAGE_LAYERS_H
#define WEIR_COMPUTE_MODEL_PLAN_STAGE_LAYERS_H

#include "compute-model/models/transformer.h"
#include "compute-model/plan/parallel-plan.h"

#include <cstdint>

namespace weir
{

/**
 * Layers of model chunk @p chunk of pipeline stage @p stage: as many in every chunk, or where
 * plan.embeddingsAsLayers one fewer in the first chunk of all and in the last.
 */
uint32_t LayersOfChunk(const Transformer& model,
                       const ParallelPlan& plan,
                       uint32_t stage,
                       uint32_t chunk);

/** The first of them: layers go round the stages chunk by chunk (Narayanan et al. 2021, 2.2). */
uint32_t FirstLayerOfChunk(const Transformer& model,
                           const ParallelPlan& plan,
                           uint32_t stage,
                           uint32_t chunk);

/** Layers of all chunks of @p stage. */
uint32_t LayersOfStage(const Transformer& model, const ParallelPlan& plan, uint32_t stage);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_PLAN_STAGE_LAYERS_H

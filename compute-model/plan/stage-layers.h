// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_PLAN_STAGE_LAYERS_H
#define WEIR_COMPUTE_MODEL_PLAN_STAGE_LAYERS_H

#include "compute-model/models/transformer.h"
#include "compute-model/plan/parallel-plan.h"

#include <cstdint>

namespace weir
{

/**
 * Layers of model chunk @p chunk of pipeline stage @p stage: the same in every chunk, except that
 * with plan.embeddingsAsLayers the first and last chunks of the model have one layer fewer.
 */
uint32_t LayersOfChunk(const Transformer& model,
                       const ParallelPlan& plan,
                       uint32_t stage,
                       uint32_t chunk);

/**
 * Index of the first layer of a model chunk. Chunks are assigned to stages round-robin (Narayanan
 * et al. 2021, 2.2).
 */
uint32_t FirstLayerOfChunk(const Transformer& model,
                           const ParallelPlan& plan,
                           uint32_t stage,
                           uint32_t chunk);

/** Layers of all chunks of @p stage. */
uint32_t LayersOfStage(const Transformer& model, const ParallelPlan& plan, uint32_t stage);

/**
 * Parameters of one layer that one tensor rank holds: weights are split, norms and row-parallel
 * biases are whole.
 * @param hasExperts counts the router and shared experts of a layer with experts, but not its
 *        routed experts
 */
double RankLayerParameters(const Transformer& model,
                           const ParallelPlan& plan,
                           bool hasExperts = false);

/** Parameters of the word embedding that one tensor rank holds, padding included. */
double RankWordParameters(const Transformer& model, const ParallelPlan& plan);

/**
 * Parameters that one rank of @p stage holds, routed experts excluded: its layers, embeddings on
 * the first stage, final norm and output weights on the last (which holds a copy of a tied
 * embedding when the stages differ).
 */
double RankStageParameters(const Transformer& model, const ParallelPlan& plan, uint32_t stage);

/** Parameters of routed experts that one rank of @p stage holds; not in RankStageParameters. */
double RankExpertParameters(const Transformer& model, const ParallelPlan& plan, uint32_t stage);

/**
 * Those of RankStageParameters that every tensor rank holds whole: norms, row-parallel biases,
 * routers, position embeddings, prediction head.
 */
double WholeStageParameters(const Transformer& model, const ParallelPlan& plan, uint32_t stage);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_PLAN_STAGE_LAYERS_H

// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_PLAN_STAGE_PARAMETERS_H
#define WEIR_COMPUTE_MODEL_PLAN_STAGE_PARAMETERS_H

#include "compute-model/models/transformer.h"
#include "compute-model/plan/parallel-plan.h"

#include <cstdint>

namespace weir
{

/**
 * Parameters of one layer that one tensor rank holds: weights split, norms and row biases whole.
 * @param hasExperts then its router and shared experts are counted, its routed experts are not.
 */
double RankLayerParameters(const Transformer& model,
                           const ParallelPlan& plan,
                           bool hasExperts = false);

/** Parameters of the word embedding that one tensor rank holds, padding included. */
double RankWordParameters(const Transformer& model, const ParallelPlan& plan);

/**
 * Parameters that one rank of @p stage holds, experts left out: its layers, embeddings on the first
 * stage, final norm and output weights on the last (a tied embedding has a copy there when the
 * stages differ).
 */
double RankStageParameters(const Transformer& model, const ParallelPlan& plan, uint32_t stage);

/** Parameters of experts that one rank of @p stage holds; not in RankStageParameters. */
double RankExpertParameters(const Transformer& model, const ParallelPlan& plan, uint32_t stage);

/** Of RankStageParameters, those that every tensor rank holds whole: norms, row biases, positions.
 */
double WholeStageParameters(const Transformer& model, const ParallelPlan& plan, uint32_t stage);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_PLAN_STAGE_PARAMETERS_H

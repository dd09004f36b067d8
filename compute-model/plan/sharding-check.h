// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_PLAN_SHARDING_CHECK_H
#define WEIR_COMPUTE_MODEL_PLAN_SHARDING_CHECK_H

#include "compute-model/models/transformer.h"
#include "compute-model/plan/parallel-plan.h"

namespace weir
{

/**
 * Checks how replicas of @p model share its state out: groups divide the replicas, what is asked
 * for goes together.
 * @throws std::invalid_argument as CheckPlan.
 */
void CheckSharding(const Transformer& model, const ParallelPlan& plan);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_PLAN_SHARDING_CHECK_H

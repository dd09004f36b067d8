// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_PLAN_TOKEN_SPREAD_H
#define WEIR_COMPUTE_MODEL_PLAN_TOKEN_SPREAD_H

#include "compute-model/models/transformer.h"
#include "compute-model/plan/parallel-plan.h"

namespace weir
{

/**
 * Checks how @p plan spreads the experts of @p model.
 * @throws std::invalid_argument as CheckPlan: expert divides the number of experts, expert *
 *         expertTensor the ranks of a stage, expertTensor the experts' ffn; without experts there
 *         is nothing to spread; with experts and tensor > 1 sequences are parallel, too, weight
 *         gradients are not put off (zero bubble), and only the optimizer's state is sharded.
 */
void CheckExperts(const Transformer& model, const ParallelPlan& plan);

/**
 * Checks whether a sequence can be shared as @p plan says.
 * @throws std::invalid_argument as CheckPlan: under a causal mask each rank takes two pieces of a
 *         sequence, so 2 * context (times tensor with sequence parallelism) divides it; attention
 *         is fused.
 */
void CheckContext(const Transformer& model, const ParallelPlan& plan);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_PLAN_TOKEN_SPREAD_H

// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_READ_PLAN_H
#define WEIR_SCENARIOS_READERS_READ_PLAN_H

#include "compute-model/plan/parallel-plan.h"
#include "scenarios/readers/plan-keys.h"
#include "scenarios/yaml/yaml-node.h"

#include <optional>

namespace weir
{

/** What a plan is whose `parallel:` says nothing. */
ParallelPlan UsualPlan();

/** The value of @p key in the map `parallel:`, or nothing. */
std::optional<YamlNode> FindPlanKey(const YamlNode& node, const PlanKey& key);

/**
 * A job's parallel plan: the map `parallel:` of ParallelPlan's fields, whose defaults stand where
 * a key is missing. The precision is the job's and is left alone. The plan is not yet checked
 * against a model.
 * @throws InputError with the place of what is unknown or out of range.
 */
ParallelPlan ReadPlan(const YamlNode& node);

/** A job's `precision:`. */
Precision ReadPrecision(const YamlNode& node);

/**
 * CheckPlan with places: @p planNode is the job's `parallel:`, @p modelNode its `model:`.
 * @throws InputError at the key that CheckPlan refuses.
 */
void CheckPlanAt(const Transformer& model,
                 const ParallelPlan& plan,
                 const YamlNode& planNode,
                 const YamlNode& modelNode);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_READ_PLAN_H

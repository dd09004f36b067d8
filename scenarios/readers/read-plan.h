// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_READ_PLAN_H
#define WEIR_SCENARIOS_READERS_READ_PLAN_H

#include "compute-model/plan/parallel-plan.h"
#include "scenarios/catalog.h"
#include "scenarios/readers/plan-keys.h"
#include "scenarios/yaml/yaml-node.h"

#include <optional>

namespace weir
{

/**
 * What a plan is under a training framework: a map with `parallel:`, in which keys of plans by path
 * ("host.kernel") have {value, source} each, or the name of one in the catalogue (`weir list
 * frameworks`). The default stands where it has none.
 * @throws InputError with the place of what is unknown, out of range or without a source.
 */
ParallelPlan ReadFramework(const YamlNode& reference, const Catalog& catalog);

/** The value of @p key of PlanKeys in the map `parallel:`, or nothing. */
std::optional<YamlNode> FindPlanKey(const YamlNode& node, const std::string& key);

/**
 * A job's parallel plan: the map `parallel:` of ParallelPlan's fields. Where a key is missing, the
 * value is that of its `framework:`, or the default. The precision is the job's and is left alone.
 * The plan is not yet checked against a model.
 * @throws InputError with the place of what is unknown or out of range.
 */
ParallelPlan ReadPlan(const YamlNode& node, const Catalog& catalog = Catalog());

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

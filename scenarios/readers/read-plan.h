// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_READ_PLAN_H
#define WEIR_SCENARIOS_READERS_READ_PLAN_H

#include "compute-model/models/layer-table.h"
#include "compute-model/plan/parallel-plan.h"
#include "scenarios/catalog.h"
#include "scenarios/yaml/yaml-node.h"

#include <optional>

namespace weir
{

/**
 * Reads the plan defaults of a training framework: a map with `parallel:`, whose keys are plan keys
 * by path ("host.kernel") with {value, source} each, or the name of a framework in the catalog
 * (`weir list frameworks`). Missing keys keep the defaults.
 * @throws InputError with the location of what is unknown, out of range or without a source.
 */
ParallelPlan ReadFramework(const YamlNode& reference, const Catalog& catalog);

/** The value of @p key (of PlanKeys) in the map `parallel:`, or nothing. */
std::optional<YamlNode> FindPlanKey(const YamlNode& node, const std::string& key);

/**
 * Reads a job's parallel plan: the map `parallel:` of ParallelPlan's fields. A missing key takes
 * the value of the `framework:`, or the default. The precision belongs to the job and is not set.
 * The plan is not yet checked against a model.
 * @throws InputError with the location of what is unknown or out of range.
 */
ParallelPlan ReadPlan(const YamlNode& node, const Catalog& catalog = Catalog());

/**
 * CheckPlan or CheckTablePlan. @throws InputError at the key that they refuse, of the job's
 * `parallel:` @p planNode or its `model:` @p modelNode.
 */
void CheckPlanAt(const Network& network,
                 const ParallelPlan& plan,
                 const YamlNode& planNode,
                 const YamlNode& modelNode);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_READ_PLAN_H

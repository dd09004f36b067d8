// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_CHECK_PLAN_USE_H
#define WEIR_SCENARIOS_READERS_CHECK_PLAN_USE_H

#include "compute-model/models/network.h"
#include "compute-model/plan/parallel-plan.h"
#include "scenarios/yaml/yaml-node.h"

namespace weir
{

/**
 * Throws at a value of @p plan that is not the usual one and has no effect: that @p network has
 * nothing for, or that needs another value beside it (PlanUses). Inherited values may have none.
 * @param node the map `parallel:` that it was read from.
 * @throws InputError with the place of the key.
 */
void CheckPlanUse(const YamlNode& node, const ParallelPlan& plan, const Network& network);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_CHECK_PLAN_USE_H

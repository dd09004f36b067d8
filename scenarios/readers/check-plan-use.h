// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_CHECK_PLAN_USE_H
#define WEIR_SCENARIOS_READERS_CHECK_PLAN_USE_H

#include "compute-model/models/network.h"
#include "compute-model/plan/parallel-plan.h"
#include "scenarios/yaml/yaml-node.h"

namespace weir
{

/**
 * Throws at a value of @p plan that @p network has nothing for, where it is not the usual one: how
 * embedding tables lie where there are none, how experts are loaded where there are none.
 * @param node the map `parallel:` that it was read from.
 * @throws InputError with the place of the key.
 */
void CheckPlanUse(const YamlNode& node, const ParallelPlan& plan, const Network& network);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_CHECK_PLAN_USE_H

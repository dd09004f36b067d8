// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_PLAN_USE_NOTES_H
#define WEIR_SCENARIOS_READERS_PLAN_USE_NOTES_H

#include "compute-model/models/network.h"
#include "compute-model/plan/parallel-plan.h"
#include "scenarios/yaml/yaml-node.h"

#include <string>
#include <vector>

namespace weir
{

/**
 * A line on each value of @p plan that is not the default and has no effect: that @p network has
 * nothing for, or that needs another value beside it (PlanUses), as `sequenceParallel` with a
 * tensor degree of 1. Such a plan means what it says, and one file can be run at many degrees; so
 * it is no error, but it is not passed over in silence either. Nothing on inherited values.
 * @param node the map `parallel:` that it was read from.
 */
std::vector<std::string> NotesOnPlanUse(const YamlNode& node,
                                        const ParallelPlan& plan,
                                        const Network& network);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_PLAN_USE_NOTES_H

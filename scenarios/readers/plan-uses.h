// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_PLAN_USES_H
#define WEIR_SCENARIOS_READERS_PLAN_USES_H

#include "compute-model/models/network.h"
#include "compute-model/plan/parallel-plan.h"
#include "scenarios/readers/network-use-notes.h"
#include "scenarios/readers/plan-keys.h"
#include "scenarios/yaml/yaml-node.h"

#include <string>
#include <vector>

/**
 * @file
 * What a value of a parallel plan needs beside it to have an effect: one list of conditions.
 */
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

/**
 * All conditions under which values of @p plan have an effect; a value may have several, and the
 * name of a map stands for all in it. What is not among them always has one, save `fusion` and
 * `attention`, which describe a framework: a plan for several networks may name them for tables of
 * layers, too.
 */
std::vector<KeyUse> PlanUses(const ParallelPlan& plan, const Network& network);

/** The first of @p uses that @p key has no effect by; null when it has one. */
const KeyUse* FindUnmetUse(const std::string& key, const std::vector<KeyUse>& uses);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_PLAN_USES_H

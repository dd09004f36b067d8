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
 * The conditions under which values of a parallel plan have an effect, in one list.
 */
namespace weir
{

/**
 * One note for each value of @p plan that is not the default and has no effect, because @p network
 * lacks what it applies to or because another value is missing (PlanUses), such as
 * `sequenceParallel` with a tensor degree of 1. Such a plan is valid, and one file can be run at
 * many degrees; so this is a note, not an error. Inherited values get no note.
 * @param node the map `parallel:` that the plan was read from
 * @throws InputError at `expertLoad` of a model without experts.
 */
std::vector<std::string> NotesOnPlanUse(const YamlNode& node,
                                        const ParallelPlan& plan,
                                        const Network& network);

/**
 * All conditions under which values of @p plan have an effect. A value may have several; the name
 * of a map stands for all keys in it. Values without a condition always have an effect, except
 * `fusion` and `attention`, which describe a framework: a plan for several networks may also set
 * them for layer tables.
 */
std::vector<KeyUse> PlanUses(const ParallelPlan& plan, const Network& network);

/** The first of @p uses that leaves @p key without effect; null when the key has an effect. */
const KeyUse* FindUnmetUse(const std::string& key, const std::vector<KeyUse>& uses);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_PLAN_USES_H

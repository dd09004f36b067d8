// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_PLAN_USES_H
#define WEIR_SCENARIOS_READERS_PLAN_USES_H

#include "compute-model/models/network.h"
#include "compute-model/plan/parallel-plan.h"
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

/** What a condition looks at. */
struct PlanSetting
{
    const ParallelPlan& plan;
    const Transformer* transformer{nullptr}; //!< of the two networks one is given
    const LayerTable* table{nullptr};
};

/** A condition under which some values of a plan have an effect. */
struct PlanUse
{
    std::vector<std::string> paths; //!< of PlanKeys; the name of a map stands for all in it
    bool (*hasEffect)(const PlanSetting&);
    std::string needs; //!< what would make it so: "context above 1"
};

/**
 * All of them; a value may have several. What is not among them always has an effect, save `fusion`
 * and `attention`, which describe a framework: a plan for several networks may name them for tables
 * of layers, too.
 */
std::vector<PlanUse> PlanUses();

/** The first of @p uses for which @p key lacks something; null when it has an effect. */
const PlanUse* LackOf(const std::string& key,
                      const PlanSetting& setting,
                      const std::vector<PlanUse>& uses);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_PLAN_USES_H

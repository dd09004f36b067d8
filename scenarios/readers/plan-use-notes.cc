// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/plan-use-notes.h"

#include "scenarios/readers/plan-keys.h"
#include "scenarios/readers/plan-uses.h"
#include "scenarios/readers/read-plan.h"

#include <string>

namespace weir
{
namespace
{

/** Whether two plans have one value in the same place. */
struct IsSame
{
    ParallelPlan& a;
    ParallelPlan& b;

    bool operator()(const PlanChoice& choice) const
    {
        return choice.get(a) == choice.get(b);
    }

    template <typename Place>
    bool operator()(const Place& place) const
    {
        return place.at(a) == place.at(b);
    }
};

} // namespace

std::vector<std::string>
NotesOnPlanUse(const YamlNode& node, const ParallelPlan& plan, const Network& network)
{
    const auto* table = std::get_if<LayerTable>(&network);
    const auto* transformer = std::get_if<Transformer>(&network);
    const ExpertLoad& load = plan.expertLoad;
    if ((!transformer || !transformer->HasExperts()) &&
        (!load.IsBalanced() || load.capacityFactor > 0))
    {
        node.Get("expertLoad").Fail("found it for a model without experts, expected one with them");
    }
    ParallelPlan given = plan;
    ParallelPlan defaults = DefaultPlan();
    const PlanSetting setting{plan, transformer, table};
    const std::vector<PlanUse> uses = PlanUses();
    std::vector<std::string> notes;
    for (const PlanKey& key : PlanKeys())
    {
        const auto found = FindPlanKey(node, key);
        if (!found || found->IsInherited() || std::visit(IsSame{given, defaults}, key.value))
        {
            continue;
        }
        if (const PlanUse* lack = LackOf(key, setting, uses))
        {
            notes.push_back(found->Where() + ": found '" + found->AsString() +
                            "', which has no effect here: it needs " + lack->needs);
        }
    }
    return notes;
}

} // namespace weir

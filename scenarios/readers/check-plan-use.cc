// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/check-plan-use.h"

#include "scenarios/readers/plan-keys.h"

#include <algorithm>
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

/** Refuses values under @p map that are not the usual ones. */
void
RefuseUnder(const std::string& map,
            const YamlNode& node,
            ParallelPlan plan,
            const std::string& expected)
{
    ParallelPlan usual;
    for (const PlanKey& key : PlanKeys())
    {
        const std::size_t dot = key.path.find('.');
        if (key.path.substr(0, dot) != map || std::visit(IsSame{plan, usual}, key.value))
        {
            continue;
        }
        const YamlNode found = node.Get(map);
        const bool isWithin = dot != std::string::npos && found.IsMap();
        (isWithin ? found.Get(key.path.substr(dot + 1)) : found)
            .Fail("found it for a model that has no use for it, expected " + expected);
    }
}

} // namespace

void
CheckPlanUse(const YamlNode& node, const ParallelPlan& plan, const Network& network)
{
    const auto* table = std::get_if<LayerTable>(&network);
    const auto* transformer = std::get_if<Transformer>(&network);
    if (!table || table->embeddings.empty())
    {
        RefuseUnder("embeddings", node, plan, "a model with embedding tables");
    }
    const bool hasExperts = transformer && transformer->moe.experts > 0;
    const ExpertLoad& load = plan.expertLoad;
    if (!hasExperts && (!load.IsBalanced() || load.capacityFactor > 0))
    {
        node.Get("expertLoad").Fail("found it for a model without experts, expected one with them");
    }
    if (table)
    {
        for (const char* key : {"contextExchange",
                                "expertTensor",
                                "schedule",
                                "attentionSpeed",
                                "fusedUpdate",
                                "scatterGatherPipeline",
                                "recomputeEvery"})
        {
            RefuseUnder(key, node, plan, "a transformer, not a table of layers");
        }
    }
}

} // namespace weir

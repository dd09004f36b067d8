// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-plan.h"

#include "compute-model/graph/step-builder.h"
#include "scenarios/readers/parameter-reader.h"
#include "scenarios/readers/plan-keys.h"
#include "scenarios/readers/read-model.h"
#include "scenarios/readers/yaml-keys.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace weir
{
namespace
{

constexpr int64_t MAX_GRID_SIDE = 65535;

void
CheckPlanKeys(const YamlNode& node, const std::vector<std::string>& keys)
{
    std::map<std::string, std::vector<std::string>> names; // by map; "" for the plan itself
    names[""] = {"framework", "tensorShape", "expertLoad"};
    for (const std::string& key : keys)
    {
        const std::string map = MapOfKey(key);
        names[map].push_back(NameInMap(key));
        if (!map.empty() && names[map].size() == 1)
        {
            names[""].push_back(map);
        }
    }
    node.CheckKeys(names[""]);
    for (const auto& [map, within] : names)
    {
        const auto found = map.empty() ? std::nullopt : node.Find(map);
        if (found && (found->IsMap() || map != "dataSharding"))
        {
            found->CheckKeys(within);
        }
    }
}

/** Reads [T] (one dimension), [q, q] or [q, q, d]. @param tensor the tensor-parallel degree */
TensorGrid
ReadTensorShape(const YamlNode& node, uint32_t tensor)
{
    const auto extents = node.Each(&YamlNode::AsCount, 1, MAX_GRID_SIDE);
    if (extents.empty() || extents.size() > 3)
    {
        node.Fail("found " + std::to_string(extents.size()) +
                  " extents, expected [tensor], [q, q] or [q, q, d]");
    }
    if (extents.size() == 1)
    {
        if (extents[0] != tensor)
        {
            node.Fail("found [" + std::to_string(extents[0]) + "], expected [" +
                      std::to_string(tensor) + "], the value of tensor");
        }
        return {};
    }
    if (extents[0] != extents[1])
    {
        node.Fail("found " + std::to_string(extents[0]) + " x " + std::to_string(extents[1]) +
                  ", expected a square: [q, q] or [q, q, d]");
    }
    return {extents[0], extents.size() == 3 ? extents[2] : 1};
}

/**
 * Reconciles the @p state of `dataSharding` with `distributedOptimizer`, another name of its states
 * optimizer and none. A value written over a base overrides that of the base.
 * @throws InputError where two values of equal precedence contradict each other.
 */
void
ReconcileShardingKeys(const std::optional<YamlNode>& distributed,
                      const std::optional<YamlNode>& state,
                      ParallelPlan& plan)
{
    const bool isNone = plan.sharding.state == ShardedState::None;
    const bool isOptimizer = plan.sharding.state == ShardedState::Optimizer;
    const bool contradicts = plan.distributedOptimizer ? isNone : isOptimizer;
    const bool isStateOver = state && (!distributed || state->IsOver(*distributed));
    const bool isDistributedOver = distributed && (!state || distributed->IsOver(*state));
    if (distributed && state && contradicts && !isStateOver && !isDistributedOver)
    {
        distributed->Fail(
            "found '" + distributed->AsString() + "' beside dataSharding: " +
            (isNone ? "none, expected one of the two: it is a synonym of dataSharding: optimizer"
                    : "optimizer, expected one of the two: it is a synonym of dataSharding: none"));
    }
    if (isStateOver && isNone)
    {
        plan.distributedOptimizer = false;
    }
    if (isDistributedOver && contradicts)
    {
        plan.sharding.state =
            plan.distributedOptimizer ? ShardedState::Optimizer : ShardedState::None;
    }
}

} // namespace

std::optional<YamlNode>
FindPlanKey(const YamlNode& node, const std::string& key)
{
    const std::string map = MapOfKey(key);
    const auto in = map.empty() ? std::optional(node) : node.Find(map);
    const bool isWord = in && in->IsScalar(); // `dataSharding:` may be a scalar, its state
    return isWord && NameInMap(key) == "state" ? in
           : in && in->IsMap()                 ? in->Find(NameInMap(key))
                                               : std::nullopt;
}

ParallelPlan
ReadFramework(const YamlNode& reference, const Catalog& catalog)
{
    const YamlNode node = ResolveBase(reference, CatalogKind::Frameworks, catalog);
    node.CheckKeys(YamlKeysOf("framework"));
    const YamlNode habits = node.Get("parallel");
    ParallelPlan plan = DefaultPlan();
    PlanKeys keys(plan);
    const auto find = [&habits](const char* key) {
        const auto habit = habits.Find(key);
        return habit ? std::optional(ReadSourced(*habit)) : std::nullopt;
    };
    SetParameters(find, keys);
    habits.CheckKeys(KeysOf(keys));
    ReconcileShardingKeys(find("distributedOptimizer"), find("dataSharding.state"), plan);
    return plan;
}

ParallelPlan
ReadPlan(const YamlNode& node, const Catalog& catalog)
{
    ParallelPlan plan;
    PlanKeys keys(plan);
    CheckPlanKeys(node, KeysOf(keys));
    const auto framework = node.Find("framework");
    plan = framework ? ReadFramework(*framework, catalog) : DefaultPlan();
    SetParameters([&node](const char* key) { return FindPlanKey(node, key); }, keys);
    node.Read("tensorShape", plan.grid, ReadTensorShape, plan.tensor);
    node.Read("expertLoad", plan.expertLoad, ReadExpertLoad);
    const auto sharding = node.Find("dataSharding");
    if (sharding && sharding->IsMap() && plan.sharding.state == ShardedState::None)
    {
        sharding->Get("state"); // throws, naming the missing key
    }
    ReconcileShardingKeys(
        node.Find("distributedOptimizer"), FindPlanKey(node, "dataSharding.state"), plan);
    plan.sharding.state = plan.Sharded(); // where the framework uses distributedOptimizer
    return plan;
}

void
CheckPlanAt(const Network& network,
            const ParallelPlan& plan,
            const YamlNode& planNode,
            const YamlNode& modelNode)
{
    std::string message;
    try
    {
        const auto* table = std::get_if<LayerTable>(&network);
        table != nullptr ? CheckTablePlan(*table, plan)
                         : CheckPlan(std::get<Transformer>(network), plan);
        return;
    }
    catch (const std::invalid_argument& error)
    {
        message = error.what();
    }
    // "field: found 7, expected ...", or "field * field: ..." for a product
    const std::string field = message.substr(0, message.find(':'));
    const std::string first = field.substr(0, field.find(' '));
    std::string refusal = message.substr(std::min(message.size(), field.size() + 2));
    if (first != field && refusal.rfind("found ", 0) == 0)
    {
        refusal = "found " + field + " = " + refusal.substr(std::string("found ").size());
    }
    std::vector<YamlNode> candidates{planNode, modelNode};
    if (const auto experts = modelNode.IsMap() ? modelNode.Find("experts") : std::nullopt)
    {
        candidates.push_back(*experts);
    }
    for (const YamlNode& node : candidates)
    {
        if (const auto found = node.IsMap() ? node.Find(first) : std::nullopt)
        {
            found->Fail(refusal);
        }
    }
    planNode.Fail(message);
}

} // namespace weir

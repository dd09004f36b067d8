// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-fabric.h"

#include "fabric/parameters/parameter-visitor.h"
#include "fabric/routing/routing-policies.h"
#include "scenarios/readers/parameter-reader.h"
#include "scenarios/readers/yaml-keys.h"
#include "scenarios/yaml/names.h"

namespace weir
{
namespace
{

/** Adds the keys of @p component that @p keys lacks. */
template <typename T>
void
AddKeys(std::vector<std::string>& keys, Polymorphic<T> component)
{
    for (const std::string& key : KeysOf(*component))
    {
        if (!IsAmong(key, keys))
        {
            keys.push_back(key);
        }
    }
}

/** Throws when @p node has a key of a routing policy other than @p chosen. */
void
CheckRoutingKeys(const YamlNode& node, Polymorphic<RoutingPolicy> chosen)
{
    const std::vector<std::string> own = KeysOf(*chosen);
    for (Polymorphic<RoutingPolicy> other : RoutingPolicies())
    {
        for (const std::string& key : KeysOf(*other))
        {
            const auto value = node.Find(key);
            if (value && !value->IsInherited() && !IsAmong(key, own))
            {
                value->Fail("found it beside routing '" + std::string(chosen->Name()) +
                            "', expected routing " + other->Name() + " with it");
            }
        }
    }
}

/** Throws when @p node has an unknown key, or one of another fabric kind or routing policy. */
void
CheckFabricKeys(const YamlNode& node, const FabricSpec& fabric, const FabricKindRegistry& kinds)
{
    std::vector<std::string> own{"kind", "source"};
    if (fabric.kind->JoinsNodes())
    {
        CheckRoutingKeys(node, fabric.routing);
        own = YamlKeysOf("system.fabric");
        AddKeys(own, fabric.routing);
    }
    AddKeys(own, fabric.kind);
    std::vector<std::string> all = YamlKeysOf("system.fabric");
    for (const Polymorphic<FabricKind>& each : kinds)
    {
        AddKeys(all, each);
    }
    for (const Polymorphic<RoutingPolicy>& each : RoutingPolicies())
    {
        AddKeys(all, each);
    }
    CheckKeysOfKind(node, own, all, "fabrics of kind '" + std::string(fabric.kind->Name()) + "'");
}

/** "a torus or dimensions": the fabric kinds that can use @p routing. */
std::string
KindsWith(const RoutingPolicy& routing, const FabricKindRegistry& kinds)
{
    std::vector<std::string> names;
    for (const Polymorphic<FabricKind>& kind : kinds)
    {
        if (kind->CanRoute(routing))
        {
            names.emplace_back(kind->Name());
        }
    }
    return "a " + JoinChoices(names);
}

} // namespace

void
ReadRouting(const YamlNode& node, FabricSpec& fabric, const FabricKindRegistry& kinds)
{
    const auto policy = ReadComponent(node, RoutingPolicies());
    if (!fabric.kind->CanRoute(*policy))
    {
        node.Fail("found '" + std::string(policy->Name()) + "' in a fabric of kind '" +
                  fabric.kind->Name() + "', expected " + KindsWith(*policy, kinds));
    }
    fabric.routing = policy;
}

FabricSpec
ReadFabric(const YamlNode& node, const LinkProfile& nic, const FabricKindRegistry& kinds)
{
    FabricSpec fabric;
    fabric.kind = ReadComponent(node.Get("kind"), kinds);
    const auto routing = fabric.kind->JoinsNodes() ? node.Find("routing") : std::nullopt;
    if (routing)
    {
        ReadRouting(*routing, fabric, kinds);
    }
    CheckFabricKeys(node, fabric, kinds);
    if (!fabric.kind->JoinsNodes())
    {
        return fabric;
    }
    node.Read("hashSeed", fabric.hashSeed, &YamlNode::AsSeed);
    node.Read("sharp", fabric.inNetworkReduction, &YamlNode::AsBool);
    fabric.link = nic;
    if (fabric.kind->HasOwnLinks() && !node.Has("link"))
    {
        fabric.link.name = fabric.kind->Name();
    }
    else
    {
        fabric.link.source = ReadSource(node);
        fabric.link = ReadFabricLink(node.Get("link"), fabric.link);
    }
    SetParameters(node, *fabric.kind, fabric.link);
    SetParameters(node, *fabric.routing, fabric.link);
    return fabric;
}

} // namespace weir

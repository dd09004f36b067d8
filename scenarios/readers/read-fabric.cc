// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-fabric.h"

#include "fabric/parameters/parameter-keys.h"
#include "scenarios/readers/parameter-reader.h"
#include "scenarios/readers/read-source.h"
#include "scenarios/readers/scenario-names.h"
#include "scenarios/readers/yaml-keys.h"

#include <algorithm>
#include <limits>

namespace weir
{
namespace
{

/** Adds the keys of @p kind to @p keys, those that are not there yet. */
void
AddKeys(std::vector<std::string>& keys, Polymorphic<FabricKind> kind)
{
    for (const std::string& key : KeysOf(*kind))
    {
        if (std::find(keys.begin(), keys.end(), key) == keys.end())
        {
            keys.push_back(key);
        }
    }
}

/** Throws when @p node has a key of no kind, or one of another kind written beside `kind`. */
void
CheckFabricKeys(const YamlNode& node,
                const Polymorphic<FabricKind>& kind,
                const FabricKindRegistry& kinds)
{
    std::vector<std::string> own = kind->JoinsNodes() ? YamlKeysOf("system.fabric")
                                                      : std::vector<std::string>{"kind", "source"};
    AddKeys(own, kind);
    std::vector<std::string> all = YamlKeysOf("system.fabric");
    for (const Polymorphic<FabricKind>& each : kinds)
    {
        AddKeys(all, each);
    }
    CheckKeysOfKind(node, own, all, "fabrics of kind '" + std::string(kind->Name()) + "'");
}

/** "a torus or dimensions": the kinds that can have @p routing. */
std::string
KindsWith(RoutingKind routing, const FabricKindRegistry& kinds)
{
    std::vector<std::string> names;
    for (const Polymorphic<FabricKind>& kind : kinds)
    {
        if (kind->CanRoute(routing))
        {
            names.emplace_back(kind->Name());
        }
    }
    std::string text = "a ";
    for (std::size_t i = 0; i < names.size(); i++)
    {
        text += (i == 0 ? "" : i + 1 < names.size() ? ", " : " or ") + names[i];
    }
    return text;
}

} // namespace

void
CheckRouting(const YamlNode& node, const FabricSpec& fabric, const FabricKindRegistry& kinds)
{
    if (!fabric.kind->CanRoute(fabric.routing))
    {
        node.Fail("found '" + std::string(NameOf(RoutingNames(), fabric.routing)) +
                  "' in a fabric of kind '" + fabric.kind->Name() + "', expected " +
                  KindsWith(fabric.routing, kinds));
    }
}

FabricSpec
ReadFabric(const YamlNode& node, const LinkProfile& nic, const FabricKindRegistry& kinds)
{
    FabricSpec fabric;
    const YamlNode kind = node.Get("kind");
    const Polymorphic<FabricKind>* prototype = kinds.Find(kind.AsString());
    if (prototype == nullptr)
    {
        kind.FailChoice(kinds.Names());
    }
    fabric.kind = *prototype;
    CheckFabricKeys(node, fabric.kind, kinds);
    if (!fabric.kind->JoinsNodes())
    {
        return fabric;
    }
    if (const auto routing = node.Find("routing"))
    {
        fabric.routing = routing->AsEnum(RoutingNames());
        CheckRouting(*routing, fabric, kinds);
    }
    if (const auto seed = node.Find("hashSeed"))
    {
        fabric.hashSeed =
            static_cast<uint64_t>(seed->AsInteger(0, std::numeric_limits<int64_t>::max()));
    }
    if (const auto gap = node.Find("flowletGap"))
    {
        fabric.flowletGap = gap->AsTime();
        if (fabric.routing != RoutingKind::Flowlet && !gap->IsInherited())
        {
            gap->Fail("found it beside routing '" +
                      std::string(NameOf(RoutingNames(), fabric.routing)) +
                      "', expected routing flowlet with it");
        }
    }
    if (const auto sharp = node.Find("sharp"))
    {
        fabric.inNetworkReduction = sharp->AsBool();
    }
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
    ParameterReader reader(node, fabric.link);
    fabric.kind->VisitParameters(reader);
    return fabric;
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/writers/write-system.h"

#include "scenarios/readers/scenario-names.h"
#include "scenarios/writers/write-node.h"

namespace weir
{
namespace
{

void
WriteFabric(YamlWriter& out, const FabricSpec& fabric)
{
    out.BeginMap("fabric");
    out.Text("kind", NameOf(FabricKindNames(), fabric.kind));
    if (fabric.kind != FabricKind::None)
    {
        out.Integer("leafRadix", fabric.leafRadix);
        out.Number("oversubscription", fabric.oversubscription);
        out.Integer("levels", fabric.levels);
        out.Text("routing", NameOf(RoutingNames(), fabric.routing));
        out.Integer("hashSeed", fabric.hashSeed);
        out.Flag("sharp", fabric.inNetworkReduction);
        out.BeginMap("link");
        WriteProfile(out, fabric.link);
        out.EndMap();
        out.Text("source", fabric.link.source);
    }
    out.EndMap();
}

} // namespace

void
WriteSystemKeys(YamlWriter& out, const ClusterSpec& cluster)
{
    out.Text("name", cluster.name);
    out.Integer("nodes", cluster.nodes);
    WriteNode(out, cluster.node);
    WriteFabric(out, cluster.fabric);
}

void
WriteSystem(YamlWriter& out, const char* key, const ClusterSpec& cluster)
{
    out.BeginMap(key);
    WriteSystemKeys(out, cluster);
    out.EndMap();
}

} // namespace weir

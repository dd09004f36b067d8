// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/writers/write-system.h"

#include "scenarios/readers/scenario-names.h"
#include "scenarios/writers/parameter-writer.h"
#include "scenarios/writers/write-node.h"

namespace weir
{
namespace
{

void
WriteFabric(YamlWriter& out, const FabricSpec& fabric)
{
    out.BeginMap("fabric");
    out.Text("kind", fabric.kind->Name());
    if (fabric.kind->JoinsNodes())
    {
        ParameterWriter writer(out);
        Polymorphic<FabricKind>(fabric.kind)->VisitParameters(writer); // visitors may change it
        out.Text("routing", fabric.routing->Name());
        Polymorphic<RoutingPolicy>(fabric.routing)->VisitParameters(writer);
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

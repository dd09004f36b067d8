// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/writers/write-system.h"

#include "scenarios/readers/scenario-names.h"
#include "scenarios/writers/write-node.h"

#include <filesystem>
#include <stdexcept>

namespace weir
{
namespace
{

void
WriteLink(YamlWriter& out, const char* key, const LinkProfile& link)
{
    out.BeginMap(key);
    WriteProfile(out, link);
    out.EndMap();
}

void
WriteDragonfly(YamlWriter& out, const FabricSpec& fabric)
{
    const DragonflyShape& shape = fabric.dragonfly;
    if (fabric.leafRadix > 0)
    {
        out.Integer("leafRadix", fabric.leafRadix);
    }
    if (shape.groups > 0)
    {
        out.Integer("groups", shape.groups);
    }
    out.Integer("routersPerGroup", shape.routersPerGroup);
    if (fabric.kind == FabricKind::DragonflyPlus)
    {
        out.Integer("spinesPerGroup", shape.spinesPerGroup);
    }
    out.Integer("nicsPerRouter", shape.nicsPerRouter);
    out.Integer("localLinks", shape.localLinks);
    out.Integer("globalLinks", shape.globalLinks);
    out.Text("nicPlacement", NameOf(NicPlacementNames(), shape.placement));
    if (shape.globalLink.rawRate > Rate())
    {
        WriteLink(out, "globalLink", shape.globalLink);
    }
}

const char*
ShapeName(DimensionKind kind)
{
    switch (kind)
    {
    case DimensionKind::Ring:
        return "Ring";
    case DimensionKind::FullyConnected:
        return "FullyConnected";
    case DimensionKind::Switch:
        return "Switch";
    }
    throw std::logic_error("ShapeName: not a shape");
}

void
WriteDimensions(YamlWriter& out, const FabricSpec& fabric)
{
    out.BeginList("dimensions");
    for (const FabricDimension& dimension : fabric.dimensions)
    {
        out.BeginMap();
        out.Text("shape", ShapeName(dimension.kind) + ("(" + std::to_string(dimension.size) + ")"));
        out.Integer("links", dimension.links);
        out.Flag("inside", dimension.isInside);
        if (dimension.link.rawRate > Rate())
        {
            WriteProfile(out, dimension.link);
        }
        out.EndMap();
    }
    out.EndList();
}

void
WriteGraphFabric(YamlWriter& out, const GraphShape& graph)
{
    out.Text("file", std::filesystem::absolute(graph.file).string());
    out.Text("hosts", NameOf(GraphHostsNames(), graph.hosts));
    out.BeginList("order");
    for (const uint32_t host : graph.order)
    {
        out.Item(graph.vertices[host].name);
    }
    out.EndList();
}

void
WriteShape(YamlWriter& out, const FabricSpec& fabric)
{
    switch (fabric.kind)
    {
    case FabricKind::None:
        break;
    case FabricKind::RailOptimized:
    case FabricKind::LeafSpine:
    case FabricKind::FatTree:
        out.Integer("leafRadix", fabric.leafRadix);
        out.Number("oversubscription", fabric.oversubscription);
        if (fabric.kind == FabricKind::FatTree)
        {
            out.Integer("levels", fabric.levels);
        }
        break;
    case FabricKind::Dragonfly:
    case FabricKind::DragonflyPlus:
        WriteDragonfly(out, fabric);
        break;
    case FabricKind::Torus:
        out.BeginList("sizes");
        for (const FabricDimension& dimension : fabric.dimensions)
        {
            out.Item(std::to_string(dimension.size));
        }
        out.EndList();
        out.Integer("nicsPerRouter", fabric.nicsPerRouter);
        break;
    case FabricKind::Dimensions:
        WriteDimensions(out, fabric);
        break;
    case FabricKind::Graph:
        WriteGraphFabric(out, fabric.graph);
        break;
    }
}

void
WriteFabric(YamlWriter& out, const FabricSpec& fabric)
{
    out.BeginMap("fabric");
    out.Text("kind", NameOf(FabricKindNames(), fabric.kind));
    if (fabric.kind != FabricKind::None)
    {
        WriteShape(out, fabric);
        out.Text("routing", NameOf(RoutingNames(), fabric.routing));
        if (fabric.routing == RoutingKind::Flowlet)
        {
            out.Duration("flowletGap", fabric.flowletGap);
        }
        out.Integer("hashSeed", fabric.hashSeed);
        out.Flag("sharp", fabric.inNetworkReduction);
        WriteLink(out, "link", fabric.link);
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

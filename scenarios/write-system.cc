// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/write-system.h"

#include "scenarios/scenario-names.h"

namespace weir
{
namespace
{

/** What every profile has, into a map that is open. */
void
WriteProfile(YamlWriter& out, const LinkProfile& profile)
{
    out.Text("name", profile.name);
    out.Speed("rate", profile.rawRate);
    out.Number("encoding", profile.encoding);
    out.Number("framing", profile.framing);
    out.Number("measured", profile.measured);
    out.Duration("latency", profile.latency);
    out.Text("source", profile.source);
}

void
WriteNvLink(YamlWriter& out, const NodeSpec& node)
{
    out.BeginMap("nvlink");
    out.Text("wiring", NameOf(WiringNames(), node.wiring));
    if (node.wiring == NvLinkWiring::Switched)
    {
        out.Integer("linksPerGpu", node.nvlinksPerGpu);
    }
    if (node.wiring == NvLinkWiring::Mesh)
    {
        out.BeginList("links");
        for (const MeshLink& link : node.meshLinks)
        {
            out.Triple(link.a, link.b, link.links);
        }
        out.EndList();
    }
    if (node.wiring != NvLinkWiring::None)
    {
        WriteProfile(out, node.nvlink);
    }
    out.EndMap();
}

void
WriteNode(YamlWriter& out, const NodeSpec& node)
{
    out.BeginMap("node");
    out.Text("gpu", node.gpuModel);
    out.Integer("gpus", node.gpus);
    WriteNvLink(out, node);

    out.BeginMap("pcie");
    WriteProfile(out, node.pcie);
    out.Integer("switches", node.pcieSwitches);
    out.BeginMap("uplink");
    WriteProfile(out, node.pcieUplink);
    out.EndMap();
    out.EndMap();

    out.BeginMap("sockets");
    out.Integer("count", node.sockets);
    out.Text("cpu", NameOf(HostCpuNames(), node.cpu));
    if (node.sockets > 1)
    {
        WriteProfile(out, node.interSocket);
    }
    out.EndMap();

    out.BeginMap("nic");
    out.Integer("count", node.nics);
    if (node.nics > 0)
    {
        WriteProfile(out, node.nic);
    }
    out.EndMap();
    out.EndMap();
}

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
        out.BeginMap("link");
        WriteProfile(out, fabric.link);
        out.EndMap();
        out.Text("source", fabric.link.source);
    }
    out.EndMap();
}

} // namespace

void
WriteSystem(YamlWriter& out, const char* key, const ClusterSpec& cluster)
{
    out.BeginMap(key);
    out.Text("name", cluster.name);
    out.Integer("nodes", cluster.nodes);
    WriteNode(out, cluster.node);
    WriteFabric(out, cluster.fabric);
    out.EndMap();
}

} // namespace weir

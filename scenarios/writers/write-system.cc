// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/writers/write-system.h"

#include "scenarios/readers/attachments.h"
#include "scenarios/readers/scenario-names.h"
#include "scenarios/writers/parameter-writer.h"

#include <algorithm>
#include <cmath>

namespace weir
{
namespace
{

void
WriteNvLink(YamlWriter& out, const NodeSpec& node)
{
    const YamlMap map(out, "nvlink");
    out.Text("wiring", NameOf(WiringNames(), node.wiring));
    if (node.wiring == NvLinkWiring::Switched)
    {
        out.Integer("linksPerGpu", node.nvlinksPerGpu);
    }
    if (node.wiring == NvLinkWiring::Mesh)
    {
        out.List("links", node.meshLinks, [&out](const MeshLink& link) {
            out.Numbers({1.0 * link.a, 1.0 * link.b, 1.0 * link.links});
        });
    }
    if (node.wiring != NvLinkWiring::None)
    {
        WriteProfile(out, node.nvlink);
    }
}

void
WriteLink(YamlWriter& out, const char* key, const std::optional<LinkProfile>& profile)
{
    if (profile)
    {
        const YamlMap map(out, key);
        WriteProfile(out, *profile);
    }
}

void
WriteAttachments(YamlWriter& out, const char* key, const std::vector<PcieAttachment>& attachments)
{
    if (attachments.empty())
    {
        return;
    }
    out.List(key, attachments, [&out](const PcieAttachment& attachment) {
        if (!attachment.link)
        {
            out.Item(AttachmentName(attachment));
            return;
        }
        const YamlMap map(out);
        out.Text("on", AttachmentName(attachment));
        WriteProfile(out, *attachment.link);
    });
}

void
WritePcie(YamlWriter& out, const NodeSpec& node)
{
    const YamlMap map(out, "pcie");
    WriteProfile(out, node.pcie);
    if (node.switchAttachments.empty())
    {
        out.Integer("switches", node.pcieSwitches);
    }
    WriteAttachments(out, "switches", node.switchAttachments);
    WriteAttachments(out, "gpusOn", node.gpuAttachments);
    if (node.pcieSwitches > 0)
    {
        WriteLink(out, "uplink", node.pcieUplink);
    }
}

void
WriteSockets(YamlWriter& out, const NodeSpec& node)
{
    const YamlMap map(out, "sockets");
    out.Integer("count", node.sockets);
    out.Text("cpu", NameOf(HostCpuNames(), node.cpu));
    out.TextUnlessEmpty("model", node.cpuModel);
    if (node.socketsPerBoard > 0)
    {
        out.Integer("perBoard", node.socketsPerBoard);
    }
    if (node.sockets > 1 && node.socketsPerBoard != 1)
    {
        WriteProfile(out, node.interSocket);
    }
}

void
WriteNic(YamlWriter& out, const NodeSpec& node)
{
    const YamlMap map(out, "nic");
    out.Integer("count", node.NicCards());
    if (node.nics > 0)
    {
        if (node.portsPerNic > 1)
        {
            out.Integer("ports", node.portsPerNic);
        }
        WriteAttachments(out, "on", node.nicAttachments);
        out.Text("transport", NameOf(TransportNames(), node.transport));
        WriteProfile(out, node.nic);
        WriteLink(out, "pcie", node.nicPcie);
        WriteLink(out, "hostBridge", node.nicHostBridge);
    }
}

void
WriteValue(YamlWriter& out, NodeCostUnit unit, double value)
{
    switch (unit)
    {
    case NodeCostUnit::Microseconds:
        return out.Duration("value", Time::Microseconds(value));
    case NodeCostUnit::GBps:
        // Round to bytes per second: the rounding error of the product with 1e9 would be read back
        // as a different value.
        return out.Speed("value", Rate::BytesPerSecond(std::round(value * 1e9)));
    case NodeCostUnit::Bytes:
        return out.Size("value", Bytes(static_cast<int64_t>(value)));
    case NodeCostUnit::Factor:
        break;
    }
    out.Number("value", value);
}

/** Writes the given costs. If a cost is given twice, writes the last one, which is effective. */
void
WriteCosts(YamlWriter& out, const std::vector<NodeCost>& costs)
{
    if (costs.empty())
    {
        return;
    }
    const YamlMap all(out, "costs");
    for (const NodeCostFigure& figure : NodeCostFigures())
    {
        const auto cost = std::find_if(costs.rbegin(), costs.rend(), [&](const NodeCost& each) {
            return each.name == figure.key;
        });
        if (cost != costs.rend())
        {
            const YamlMap map(out, figure.key);
            WriteValue(out, figure.unit, cost->value);
            out.Text("source", cost->source);
        }
    }
}

void
WriteFabric(YamlWriter& out, const FabricSpec& fabric)
{
    const YamlMap map(out, "fabric");
    out.Text("kind", fabric.kind->Name());
    if (fabric.kind->JoinsNodes())
    {
        WriteParameters(out, *Polymorphic<FabricKind>(fabric.kind)); // visitors may change it
        WriteRouting(out, fabric);
        WriteLink(out, "link", fabric.link);
        out.Text("source", fabric.link.source);
    }
}

} // namespace

void
WriteNode(YamlWriter& out, const NodeSpec& node)
{
    const YamlMap map(out, "node");
    out.Text("gpu", node.gpuModel);
    out.Integer("gpus", node.gpus);
    WriteNvLink(out, node);
    WritePcie(out, node);
    WriteLink(out, "gpuLink", node.gpuLink);
    WriteSockets(out, node);
    WriteNic(out, node);
    WriteCosts(out, node.costs);
}

void
WriteRouting(YamlWriter& out, const FabricSpec& fabric)
{
    out.Text("routing", fabric.routing->Name());
    WriteParameters(out, *Polymorphic<RoutingPolicy>(fabric.routing)); // visitors may change it
    out.Integer("hashSeed", fabric.hashSeed);
    out.Flag("sharp", fabric.inNetworkReduction);
}

void
WriteProfile(YamlWriter& out, const LinkProfile& profile)
{
    out.Text("name", profile.name);
    out.Speed("rate", profile.rawRate);
    out.Number("encoding", profile.encoding);
    out.Number("framing", profile.framing);
    out.Number("measured", profile.measured);
    out.Duration("latency", profile.latency);
    if (profile.ncclRate > Rate())
    {
        out.Speed("ncclRate", profile.ncclRate);
    }
    out.Text("source", profile.source);
}

void
WriteSystem(YamlWriter& out, const ClusterSpec& cluster)
{
    out.Text("name", cluster.name);
    out.Integer("nodes", cluster.nodes);
    WriteNode(out, cluster.node);
    WriteFabric(out, cluster.fabric);
}

} // namespace weir

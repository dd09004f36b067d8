// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/read-system.h"

#include "scenarios/read-gpu.h"
#include "scenarios/read-link-profile.h"
#include "scenarios/read-source.h"
#include "scenarios/scenario-names.h"

#include <filesystem>
#include <limits>

namespace weir
{
namespace
{

// Bounds that no server or switch comes near; they keep products of two within 32 bits.
constexpr int64_t MOST_NODES = 1 << 20;
constexpr int64_t MOST_IN_NODE = 1 << 10;
constexpr int64_t MOST_RADIX = 1 << 15;

uint32_t
Count(const YamlNode& node, int64_t least, int64_t most)
{
    return static_cast<uint32_t>(node.AsInteger(least, most));
}

uint32_t
CountOr(const YamlNode& node, const char* key, int64_t least, int64_t most, uint32_t otherwise)
{
    const auto found = node.Find(key);
    return found ? Count(*found, least, most) : otherwise;
}

/** [[a, b], [a, b, links], ...]: the bundles of a mesh. */
std::vector<MeshLink>
ReadMesh(const YamlNode& node, uint32_t gpus)
{
    std::vector<MeshLink> mesh;
    for (const YamlNode& item : node.Items())
    {
        const std::vector<YamlNode> figures = item.Items();
        if (figures.size() != 2 && figures.size() != 3)
        {
            item.Fail("found a list of " + std::to_string(figures.size()) +
                      ", expected [GPU, GPU] or [GPU, GPU, links]");
        }
        MeshLink link;
        link.a = Count(figures[0], 0, gpus - 1);
        link.b = Count(figures[1], 0, gpus - 1);
        if (link.a == link.b)
        {
            figures[1].Fail("found '" + figures[1].AsString() + "' again, expected two GPUs");
        }
        link.links = figures.size() == 3 ? Count(figures[2], 1, MOST_IN_NODE) : 1;
        mesh.push_back(link);
    }
    return mesh;
}

void
ReadNvLink(const YamlNode& node, NodeSpec& spec)
{
    node.CheckKeys({"wiring",
                    "linksPerGpu",
                    "links",
                    "name",
                    "rate",
                    "headerFlits",
                    "encoding",
                    "framing",
                    "measured",
                    "latency",
                    "source"});
    spec.wiring = node.Get("wiring").AsEnum(WiringNames());
    if (spec.wiring == NvLinkWiring::None)
    {
        return;
    }
    spec.nvlink = ReadNvLinkProfile(node);
    if (spec.wiring == NvLinkWiring::Switched)
    {
        spec.nvlinksPerGpu = Count(node.Get("linksPerGpu"), 1, MOST_IN_NODE);
    }
    else
    {
        spec.meshLinks = ReadMesh(node.Get("links"), spec.gpus);
    }
}

void
ReadPcie(const YamlNode& node, NodeSpec& spec)
{
    node.CheckKeys({"name",
                    "generation",
                    "lanes",
                    "maxPayload",
                    "rate",
                    "encoding",
                    "framing",
                    "measured",
                    "latency",
                    "source",
                    "switches",
                    "uplinkLanes",
                    "uplink"});
    spec.pcie = ReadPcieProfile(node);
    spec.pcieUplink = ReadPcieUplinkProfile(node, spec.pcie);
    spec.pcieSwitches = Count(node.Get("switches"), 0, MOST_IN_NODE);
}

void
ReadSockets(const YamlNode& node, NodeSpec& spec)
{
    node.CheckKeys(
        {"count", "cpu", "name", "rate", "encoding", "framing", "measured", "latency", "source"});
    spec.sockets = Count(node.Get("count"), 1, MOST_IN_NODE);
    spec.cpu = node.Get("cpu").AsEnum(HostCpuNames());
    if (spec.sockets > 1)
    {
        spec.interSocket = ReadSocketProfile(node);
    }
}

void
ReadNic(const YamlNode& node, NodeSpec& spec)
{
    node.CheckKeys({"count",
                    "name",
                    "rate",
                    "transport",
                    "mtu",
                    "encoding",
                    "framing",
                    "measured",
                    "latency",
                    "source"});
    spec.nics = Count(node.Get("count"), 0, MOST_IN_NODE);
    if (spec.nics > 0)
    {
        spec.nic = ReadNicProfile(node);
    }
}

NodeSpec
ReadNode(const YamlNode& node, const Gpu& gpu)
{
    node.CheckKeys({"gpu", "gpus", "nvlink", "pcie", "sockets", "nic"});
    NodeSpec spec;
    spec.gpuModel = node.Get("gpu").AsString();
    spec.computeCapability = gpu.computeCapability;
    spec.gpus = Count(node.Get("gpus"), 1, MOST_IN_NODE);
    ReadNvLink(node.Get("nvlink"), spec);
    ReadPcie(node.Get("pcie"), spec);
    ReadSockets(node.Get("sockets"), spec);
    ReadNic(node.Get("nic"), spec);
    return spec;
}

FabricSpec
ReadFabric(const YamlNode& node, const LinkProfile& nic)
{
    node.CheckKeys({"kind",
                    "leafRadix",
                    "oversubscription",
                    "levels",
                    "routing",
                    "link",
                    "hashSeed",
                    "source"});
    FabricSpec fabric;
    fabric.kind = node.Get("kind").AsEnum(FabricKindNames());
    if (fabric.kind == FabricKind::None)
    {
        return fabric;
    }
    fabric.leafRadix = Count(node.Get("leafRadix"), 2, MOST_RADIX);
    if (const auto found = node.Find("oversubscription"))
    {
        fabric.oversubscription = found->AsNumber(1, MOST_RADIX);
    }
    fabric.levels = CountOr(node, "levels", 1, 8, fabric.levels);
    if (const auto routing = node.Find("routing"))
    {
        fabric.routing = routing->AsEnum(RoutingNames());
    }
    if (const auto seed = node.Find("hashSeed"))
    {
        fabric.hashSeed =
            static_cast<uint64_t>(seed->AsInteger(0, std::numeric_limits<int64_t>::max()));
    }
    const YamlNode link = node.Get("link");
    link.CheckKeys({"name", "rate", "encoding", "framing", "measured", "latency", "source"});
    fabric.link = ReadSwitchProfile(link, nic, ReadSource(node));
    return fabric;
}

} // namespace

SystemDescription
ReadSystem(const YamlNode& reference, const Catalog& catalog)
{
    const YamlNode node = ResolveBase(reference, CatalogKind::Systems, catalog);
    node.CheckKeys({"base", "name", "title", "source", "nodes", "node", "fabric"});
    SystemDescription system;
    system.cluster.name = node.Get("name").AsString();
    if (node.Has("source"))
    {
        ReadSource(node);
    }
    system.cluster.nodes = CountOr(node, "nodes", 1, MOST_NODES, 1);
    const YamlNode inside = node.Get("node");
    const std::string gpuFile = catalog.Find(CatalogKind::Gpus, inside.Get("gpu"));
    system.gpu = LoadGpu(gpuFile);
    system.cluster.node = ReadNode(inside, system.gpu);
    if (Catalog::IsPath(system.cluster.node.gpuModel))
    {
        // found from whatever file repeats it
        system.cluster.node.gpuModel = std::filesystem::absolute(gpuFile).string();
    }
    if (const auto fabric = node.Find("fabric"))
    {
        system.cluster.fabric = ReadFabric(*fabric, system.cluster.node.nic);
        if (system.cluster.node.nics == 0 && system.cluster.fabric.kind != FabricKind::None)
        {
            const YamlNode kind = fabric->Get("kind");
            kind.Fail("found '" + kind.AsString() + "' on nodes without NICs, expected none");
        }
    }
    else
    {
        system.cluster.fabric.kind = FabricKind::None;
    }
    return system;
}

} // namespace weir

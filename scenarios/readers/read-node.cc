// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-node.h"

#include "fabric/nodes/node-wiring.h"
#include "fabric/topology/net-transport.h"
#include "scenarios/readers/machine-parts.h"
#include "scenarios/readers/read-link-profile.h"
#include "scenarios/readers/read-node-costs.h"
#include "scenarios/readers/read-place.h"
#include "scenarios/readers/scenario-names.h"
#include "scenarios/readers/yaml-keys.h"

#include <algorithm>
#include <initializer_list>

namespace weir
{
namespace
{

// Bounds that no server comes near; they keep products of two within 32 bits.
constexpr int64_t MAX_IN_NODE = 1 << 10;

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
        link.a = figures[0].AsCount(0, gpus - 1);
        link.b = figures[1].AsCount(0, gpus - 1);
        if (link.a == link.b)
        {
            figures[1].Fail("found '" + figures[1].AsString() + "' again, expected two GPUs");
        }
        for (const MeshLink& other : mesh)
        {
            if ((other.a == link.a && other.b == link.b) ||
                (other.a == link.b && other.b == link.a))
            {
                item.Fail("found GPUs " + std::to_string(link.a) + " and " +
                          std::to_string(link.b) + " again, expected one bundle a pair");
            }
        }
        link.links = figures.size() == 3 ? figures[2].AsCount(1, MAX_IN_NODE) : 1;
        mesh.push_back(link);
    }
    return mesh;
}

/** @p links between every two of @p gpus. */
std::vector<MeshLink>
FullMesh(uint32_t gpus, uint32_t links)
{
    std::vector<MeshLink> mesh;
    for (uint32_t a = 0; a < gpus; a++)
    {
        for (uint32_t b = a + 1; b < gpus; b++)
        {
            mesh.push_back({a, b, links});
        }
    }
    return mesh;
}

/** Throws at the keys of @p others that were written beside a wiring that has not got them. */
void
CheckWiringKeys(const YamlNode& node, std::initializer_list<const char*> others)
{
    const std::string wiring = node.Get("wiring").AsString();
    for (const char* key : others)
    {
        const auto value = node.Find(key);
        if (value && !value->IsInherited())
        {
            value->Fail("found it beside wiring '" + wiring + "', expected " +
                        (wiring == "mesh"       ? "links or linksPerPair"
                         : wiring == "switched" ? "linksPerGpu"
                                                : "wiring switched or mesh with it"));
        }
    }
}

/** The bundles of a mesh: all alike, or listed. */
std::vector<MeshLink>
ReadMeshLinks(const YamlNode& node, uint32_t gpus)
{
    const auto links = node.Find("links");
    const auto perPair = node.Find("linksPerPair");
    if (links && perPair && links->IsInherited() == perPair->IsInherited())
    {
        perPair->Fail("found beside `links`, expected one of them");
    }
    if (perPair && (!links || links->IsInherited()))
    {
        return FullMesh(gpus, perPair->AsCount(1, MAX_IN_NODE));
    }
    return ReadMesh(node.Get("links"), gpus);
}

void
ReadNvLink(const YamlNode& node, const ArchitectureFigures& architecture, NodeSpec& spec)
{
    node.CheckKeys(YamlKeysOf("system.node.nvlink"));
    spec.wiring = node.Get("wiring").AsEnum(WiringNames());
    if (spec.wiring == NvLinkWiring::None)
    {
        CheckWiringKeys(node, {"linksPerGpu", "links", "linksPerPair", "rate"});
        return;
    }
    spec.nvlink = ReadNvLinkProfile(node, architecture.nvlink);
    if (spec.wiring == NvLinkWiring::Switched)
    {
        CheckWiringKeys(node, {"links", "linksPerPair"});
        spec.nvlinksPerGpu = node.Get("linksPerGpu").AsCount(1, MAX_IN_NODE);
        return;
    }
    CheckWiringKeys(node, {"linksPerGpu"});
    spec.meshLinks = ReadMeshLinks(node, spec.gpus);
}

void
ReadPcie(const YamlNode& node, const TypicalEfficiency& typical, NodeSpec& spec)
{
    node.CheckKeys(YamlKeysOf("system.node.pcie"));
    spec.pcie = ReadPcieProfile(node, typical);
    const YamlNode switches = node.Get("switches");
    if (switches.IsSequence())
    {
        spec.pcieSwitches = static_cast<uint32_t>(switches.Items().size());
        spec.switchPlaces = ReadSwitchPlaces(switches, spec.sockets, typical);
    }
    else
    {
        spec.pcieSwitches = switches.AsCount(0, MAX_IN_NODE);
    }
    spec.pcieUplink =
        spec.pcieSwitches > 0 ? ReadPcieUplinkProfile(node, spec.pcie, typical) : spec.pcie;
    if (const auto places = node.Find("gpusOn"))
    {
        spec.gpuPlaces = ReadPlaces(*places, spec.gpus, spec.sockets, spec.pcieSwitches, typical);
    }
}

void
ReadSockets(const YamlNode& node, const HostFigures& host, NodeSpec& spec)
{
    node.CheckKeys(YamlKeysOf("system.node.sockets"));
    spec.sockets = node.Get("count").AsCount(1, MAX_IN_NODE);
    spec.cpu = host.vendor;
    node.Read("model", spec.cpuModel, &YamlNode::AsString);
    if (const auto board = node.Find("perBoard"))
    {
        spec.socketsPerBoard = board->AsCount(1, spec.sockets);
        if (spec.sockets % spec.socketsPerBoard != 0)
        {
            board->Fail("found '" + board->AsString() + "', expected a divisor of " +
                        std::to_string(spec.sockets));
        }
    }
    if (spec.sockets > 1 && spec.socketsPerBoard != 1)
    {
        spec.interSocket = ReadPlainProfile(node, "sockets");
    }
}

bool
IsOnSocket(const PciePlace& place)
{
    return place.parent == PcieParent::Socket;
}

/** Gives their transport, the default where there are none. */
TransportFigures
ReadNic(const YamlNode& node,
        const TypicalEfficiency& typical,
        const Catalog& catalog,
        NodeSpec& spec)
{
    node.CheckKeys(YamlKeysOf("system.node.nic"));
    const uint32_t cards = node.Get("count").AsCount(0, MAX_IN_NODE);
    spec.nics = cards;
    const auto name = cards > 0 ? node.Find("transport") : std::nullopt;
    const TransportFigures transport = ReadTransport(
        name ? *name : YamlNode::ParseArgument(TraitsOf(spec.transport).name, "transport"),
        catalog);
    if (cards == 0)
    {
        return transport;
    }
    spec.nic = ReadNicProfile(node, transport);
    spec.transport = transport.kind;
    if (const auto ports = node.Find("ports"))
    {
        spec.portsPerNic = ports->AsCount(1, MAX_IN_NODE);
        spec.nics = cards * spec.portsPerNic;
    }
    if (const auto places = node.Find("on"))
    {
        spec.nicPlaces = ReadPlaces(*places, cards, spec.sockets, spec.pcieSwitches, typical);
    }
    if (const auto slot = node.Find("pcie"))
    {
        spec.nicPcie = ReadSlotProfile(*slot, typical);
    }
    if (const auto bridge = node.Find("hostBridge"))
    {
        CheckPlainKeys(*bridge);
        spec.nicHostBridge = ReadPlainProfile(*bridge, "host-bridge");
        const auto cards = PlacesOf(spec).cards;
        if (!bridge->IsInherited() && std::none_of(cards.begin(), cards.end(), IsOnSocket))
        {
            bridge->Fail(
                "found it where all NICs are on PCIe switches, expected a NIC on a socket");
        }
    }
    return transport;
}

/**
 * What a NIC and a GPU that meet at a host bridge move in and out together, where a description
 * does not say.
 */
void
FillHostBridge(const HostFigures& host, NodeSpec& spec)
{
    const auto places = PlacesOf(spec);
    const bool meet = host.hostBridge && spec.nics > 0 && !spec.gpuLink &&
                      std::any_of(places.cards.begin(), places.cards.end(), IsOnSocket) &&
                      std::any_of(places.gpus.begin(), places.gpus.end(), IsOnSocket);
    if (spec.nicHostBridge || !meet)
    {
        return;
    }
    spec.nicHostBridge = host.hostBridge;
    spec.nicHostBridge->source = "not given: " + host.hostBridge->source;
}

} // namespace

NodeSpec
ReadNode(const YamlNode& node, const Gpu& gpu, const Catalog& catalog)
{
    node.CheckKeys(YamlKeysOf("system.node"));
    NodeSpec spec;
    spec.gpuModel = node.Get("gpu").AsString();
    spec.computeCapability = gpu.computeCapability;
    spec.gpus = node.Get("gpus").AsCount(1, MAX_IN_NODE);
    const ArchitectureFigures architecture = ArchitectureOf(gpu.computeCapability, catalog);
    const HostFigures host = ReadHost(node.Get("sockets").Get("cpu"), catalog);
    ReadNvLink(node.Get("nvlink"), architecture, spec);
    ReadSockets(node.Get("sockets"), host, spec);
    const TypicalEfficiency pcie{host.pcie.measured, host.pcie.source};
    ReadPcie(node.Get("pcie"), pcie, spec);
    if (const auto link = node.Find("gpuLink"))
    {
        CheckPlainKeys(*link);
        spec.gpuLink = ReadPlainProfile(*link, "gpu-link");
    }
    const TransportFigures transport = ReadNic(node.Get("nic"), pcie, catalog, spec);
    FillHostBridge(host, spec);
    spec.costs = OwnCosts(architecture, host, transport, spec);
    spec.costs.insert(spec.costs.end(), gpu.costs.begin(), gpu.costs.end());
    if (const auto given = node.Find("costs"))
    {
        const auto own = ReadNodeCosts(*given);
        spec.costs.insert(spec.costs.end(), own.begin(), own.end());
    }
    return spec;
}

} // namespace weir

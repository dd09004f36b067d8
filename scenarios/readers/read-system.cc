// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-system.h"

#include "fabric/kinds/no-fabric.h"
#include "fabric/nodes/node-wiring.h"
#include "fabric/topology/link-profile.h"
#include "scenarios/readers/attachments.h"
#include "scenarios/readers/check-wiring.h"
#include "scenarios/readers/machine-parts.h"
#include "scenarios/readers/read-fabric.h"
#include "scenarios/readers/read-gpu.h"
#include "scenarios/readers/read-link-profile.h"
#include "scenarios/readers/scenario-names.h"
#include "scenarios/readers/yaml-keys.h"
#include "scenarios/topology/nccl-xml.h"
#include "scenarios/yaml/text-file.h"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <stdexcept>

namespace weir
{

namespace
{

// Far above any server; products of two such values stay within 32 bits.
constexpr int64_t MAX_IN_NODE = 1 << 10;

/** Reads [[a, b], [a, b, links], ...]: the bundles of links of a mesh. */
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

/** Throws at those of the keys @p others that were written but that the wiring does not have. */
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

/** Reads the bundles of links of a mesh: the same number for each pair, or a list. */
std::vector<MeshLink>
ReadMeshLinks(const YamlNode& node, uint32_t gpus)
{
    const auto links = node.Find("links");
    const auto perPair = node.Find("linksPerPair");
    if (links && perPair && !links->IsOver(*perPair) && !perPair->IsOver(*links))
    {
        perPair->Fail("found it beside `links`, expected one of them");
    }
    if (perPair && (!links || perPair->IsOver(*links)))
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
        spec.switchAttachments = ReadSwitchAttachments(switches, spec.sockets, typical);
    }
    else
    {
        spec.pcieSwitches = switches.AsCount(0, MAX_IN_NODE);
    }
    spec.pcieUplink =
        spec.pcieSwitches > 0 ? ReadPcieUplinkProfile(node, spec.pcie, typical) : spec.pcie;
    if (const auto attachments = node.Find("gpusOn"))
    {
        spec.gpuAttachments =
            ReadAttachments(*attachments, spec.gpus, spec.sockets, spec.pcieSwitches, typical);
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
            board->FailExpected("a divisor of " + std::to_string(spec.sockets));
        }
    }
    if (spec.sockets > 1 && spec.socketsPerBoard != 1)
    {
        spec.interSocket = ReadPlainProfile(node, "sockets");
    }
}

bool
IsOnSocket(const PcieAttachment& attachment)
{
    return attachment.parent == PcieParent::Socket;
}

/** Reads the NICs. @return their transport; the default one where there are no NICs. */
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
    if (const auto attachments = node.Find("on"))
    {
        spec.nicAttachments =
            ReadAttachments(*attachments, cards, spec.sockets, spec.pcieSwitches, typical);
    }
    node.Read("pcie", spec.nicPcie, ReadSlotProfile, typical);
    if (const auto bridge = node.Find("hostBridge"))
    {
        bridge->CheckKeys(YamlKeysOf("link"));
        spec.nicHostBridge = ReadPlainProfile(*bridge, "host-bridge");
        const auto cards = AttachmentsOf(spec).cards;
        if (!bridge->IsInherited() && std::none_of(cards.begin(), cards.end(), IsOnSocket))
        {
            bridge->Fail(
                "found it where all NICs are on PCIe switches, expected a NIC on a socket");
        }
    }
    return transport;
}

/**
 * Sets the capacity, both directions combined, that a NIC and a GPU share at a host bridge to that
 * of @p host, where the description does not give it.
 */
void
FillHostBridge(const HostFigures& host, NodeSpec& spec)
{
    const auto attachments = AttachmentsOf(spec);
    const bool meet = host.hostBridge && spec.nics > 0 && !spec.gpuLink &&
                      std::any_of(attachments.cards.begin(), attachments.cards.end(), IsOnSocket) &&
                      std::any_of(attachments.gpus.begin(), attachments.gpus.end(), IsOnSocket);
    if (spec.nicHostBridge || !meet)
    {
        return;
    }
    spec.nicHostBridge = host.hostBridge;
    spec.nicHostBridge->source = "not given: " + host.hostBridge->source;
}

/**
 * Reads the map `node:` of a system, one server, with the keys of the map "system.node" of
 * YamlKeyMaps. Costs are, in increasing precedence, the defaults, those of the parts in @p catalog,
 * those of the GPU and those of the node.
 * @throws InputError at what is missing, unknown, out of range or without a source.
 */
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
        link->CheckKeys(YamlKeysOf("link"));
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

bool
IsSameMesh(const std::vector<MeshLink>& a, const std::vector<MeshLink>& b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& one, const auto& two) {
        return one.a == two.a && one.b == two.b && one.links == two.links;
    });
}

/** Refuses written values of @p keys in the map @p name of @p node (null: @p node itself). */
void
Refuse(const YamlNode& node, const char* name, const std::vector<const char*>& keys)
{
    const auto map = name ? node.Find(name) : node;
    if (!map)
    {
        return;
    }
    for (const char* key : keys)
    {
        const auto value = map->Find(key);
        const bool isList = value && value->IsSequence();
        const bool isWritten =
            value && (isList ? value->Items().empty() || !value->Items().front().IsInherited()
                             : !value->IsInherited());
        if (isWritten)
        {
            value->Fail("found it beside `topology`, whose file defines it, expected it left out");
        }
    }
}

/**
 * Refuses keys of the map `node:` that were written and contradict the topology file.
 * @param given the node as @p node describes it
 * @param wired the node as the file describes it
 * @throws InputError at the key.
 */
void
CheckOverruled(const YamlNode& node, const NodeSpec& given, const NodeSpec& wired)
{
    struct Rule
    {
        bool contradicts;
        const char* map; //!< null: `node` itself
        std::vector<const char*> keys;
    };

    const Rule rules[]{
        {given.gpus != wired.gpus, nullptr, {"gpus"}},
        {given.gpuModel != wired.gpuModel, nullptr, {"gpu"}},
        {given.wiring != wired.wiring || given.nvlinksPerGpu != wired.nvlinksPerGpu ||
             !IsSameMesh(given.meshLinks, wired.meshLinks),
         "nvlink",
         {"wiring", "linksPerGpu", "linksPerPair", "links"}},
        {!IsSameLink(given.nvlink, wired.nvlink),
         "nvlink",
         {"rate", "measured", "latency", "framing", "headerFlits"}},
        {given.sockets != wired.sockets || given.cpu != wired.cpu, "sockets", {"count", "cpu"}},
        {!IsSameLink(given.interSocket, wired.interSocket),
         "sockets",
         {"rate", "measured", "latency"}},
        {given.pcieSwitches != wired.pcieSwitches || given.pcie.rawRate != wired.pcie.rawRate,
         "pcie",
         {"switches", "generation", "lanes", "rate", "uplink", "uplinkLanes"}},
        {given.pcieUplink.rawRate != wired.pcieUplink.rawRate, "pcie", {"uplink", "uplinkLanes"}},
        {true, "pcie", {"gpusOn"}},
        {given.nics != wired.nics || given.portsPerNic != wired.portsPerNic ||
             given.nic.rawRate != wired.nic.rawRate,
         "nic",
         {"count", "ports", "rate"}},
        {true, "nic", {"on", "pcie"}}};
    for (const auto& [contradicts, map, keys] : rules)
    {
        if (contradicts)
        {
            Refuse(node, map, keys);
        }
    }
}

// Far above any cluster; products with ports stay within 32 bits.
constexpr int64_t MAX_NODES = 1 << 20;

/** The number of nodes that exactly fill the fabric; 0 where none does, or any number may. */
uint32_t
NodesThatFill(const YamlNode& system, const ClusterSpec& cluster)
{
    try
    {
        return cluster.fabric.kind->NodesThatFill(cluster.node).value_or(0);
    }
    catch (const std::invalid_argument& error)
    {
        FailAtField(system, error.what());
    }
}

/** Reads a system of one node entirely from an NCCL topology file. */
SystemDescription
ReadNcclSystem(const YamlNode& reference, const Catalog& catalog)
{
    const std::string path = catalog.Find(CatalogKind::Systems, reference);
    SystemDescription system;
    system.cluster.name = std::filesystem::path(path).stem().string();
    system.cluster.node = ReadNcclXml(path, nullptr, catalog);
    system.cluster.fabric.kind = NoFabric();
    system.gpu = LoadGpu(catalog.Find(CatalogKind::Gpus, system.cluster.node.gpuModel), catalog);
    std::vector<NodeCost>& costs = system.cluster.node.costs;
    costs = OwnCosts(system.cluster.node, catalog);
    costs.insert(costs.end(), system.gpu.costs.begin(), system.gpu.costs.end());
    return system;
}

} // namespace

SystemDescription
ReadSystem(const YamlNode& reference, const Catalog& catalog)
{
    if (reference.IsScalar() && IsNcclXmlFile(reference.AsString()))
    {
        return ReadNcclSystem(reference, catalog);
    }
    const YamlNode node = ResolveBase(reference, CatalogKind::Systems, catalog);
    node.CheckKeys(YamlKeysOf("system"));
    SystemDescription system;
    system.cluster.name = node.Get("name").AsString();
    if (node.Has("source"))
    {
        ReadSource(node);
    }
    node.Read("nodes", system.cluster.nodes, &YamlNode::AsCount, 1, MAX_NODES);
    const YamlNode inside = node.Get("node");
    const std::string gpuFile = catalog.Find(CatalogKind::Gpus, inside.Get("gpu"));
    system.gpu = LoadGpu(gpuFile, catalog);
    system.cluster.node = ReadNode(inside, system.gpu, catalog);
    if (Catalog::IsPath(system.cluster.node.gpuModel))
    {
        // absolute, so that any file that repeats it finds it
        system.cluster.node.gpuModel = std::filesystem::absolute(gpuFile).string();
    }
    if (const auto topology = node.Find("topology"))
    {
        const std::string path = catalog.Find(CatalogKind::Systems, *topology);
        const NodeSpec base = system.cluster.node;
        system.cluster.node = ReadNcclXml(path, &base, catalog);
        CheckOverruled(inside, base, system.cluster.node);
        const std::string& model = system.cluster.node.gpuModel;
        if (model != base.gpuModel) // the file has another GPU than the base
        {
            system.gpu = LoadGpu(catalog.Find(CatalogKind::Gpus, model), catalog);
        }
        system.cluster.node.costs =
            model == base.gpuModel ? base.costs : ReadNode(inside, system.gpu, catalog).costs;
    }
    if (const auto fabric = node.Find("fabric"))
    {
        system.cluster.fabric =
            ReadFabric(*fabric, system.cluster.node.nic, catalog.GetFabricKinds());
        if (system.cluster.node.nics == 0 && system.cluster.fabric.kind->JoinsNodes())
        {
            const YamlNode kind = fabric->Get("kind");
            kind.Fail("found '" + kind.AsString() + "' on nodes without NICs, expected none");
        }
    }
    else
    {
        system.cluster.fabric.kind = NoFabric();
    }
    node.CheckAllRead({"title", "source", "bounds"});
    const uint32_t fill = NodesThatFill(node, system.cluster);
    if (const auto nodes = node.Find("nodes"))
    {
        CheckMemory(system.cluster, nodes->Where());
    }
    else
    {
        system.cluster.nodes = std::max(1U, fill);
    }
    return system;
}

YamlNode
SystemArgument(const std::string& text,
               const std::string& option,
               const std::vector<std::string>& settings)
{
    YamlNode system = YamlNode::ParseArgument(text, option);
    if (settings.empty())
    {
        return system;
    }
    if (system.IsScalar())
    {
        if (IsNcclXmlFile(system.AsString()))
        {
            throw InputError(
                "--set " + settings.front() + ": found it with " + option + " " + text +
                ", expected a system in YAML, such as {base: hgx-h100, topology: " + text + "}");
        }
        system.MakeBase();
    }
    ApplySettings(system, settings);
    return system;
}

} // namespace weir

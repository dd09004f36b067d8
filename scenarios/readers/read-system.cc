// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-system.h"

#include "fabric/kinds/no-fabric.h"
#include "scenarios/readers/check-wiring.h"
#include "scenarios/readers/machine-parts.h"
#include "scenarios/readers/read-fabric.h"
#include "scenarios/readers/read-gpu.h"
#include "scenarios/readers/read-node.h"
#include "scenarios/readers/read-source.h"
#include "scenarios/readers/yaml-keys.h"
#include "scenarios/topology/read-nccl-xml.h"
#include "scenarios/topology/slot-list.h"
#include "scenarios/yaml/yaml-node.h"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <stdexcept>

namespace weir
{

namespace
{

bool
IsSameMesh(const std::vector<MeshLink>& a, const std::vector<MeshLink>& b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& one, const auto& two) {
        return one.a == two.a && one.b == two.b && one.links == two.links;
    });
}

/** Refuses those of @p keys that were written in the map @p name of @p node, or in it itself. */
void
Refuse(const YamlNode& node, const char* name, std::initializer_list<const char*> keys)
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
            value->Fail(
                "found it beside `topology`, whose file has it otherwise, expected it "
                "left out");
        }
    }
}

/**
 * Throws at a key of the map `node:` that a topology file overrules: one that was written, not
 * inherited, and says otherwise than the file has it.
 * @param given what @p node says. @param wired what it is with the file.
 * @throws InputError with the place of the key.
 */
void
CheckOverruled(const YamlNode& node, const NodeSpec& given, const NodeSpec& wired)
{
    if (given.gpus != wired.gpus)
    {
        Refuse(node, nullptr, {"gpus"});
    }
    if (given.gpuModel != wired.gpuModel)
    {
        Refuse(node, nullptr, {"gpu"});
    }
    if (given.wiring != wired.wiring || given.nvlinksPerGpu != wired.nvlinksPerGpu ||
        !IsSameMesh(given.meshLinks, wired.meshLinks))
    {
        Refuse(node, "nvlink", {"wiring", "linksPerGpu", "linksPerPair", "links"});
    }
    if (!IsSameLink(given.nvlink, wired.nvlink))
    {
        Refuse(node, "nvlink", {"rate", "measured", "latency", "framing", "headerFlits"});
    }
    if (given.sockets != wired.sockets || given.cpu != wired.cpu)
    {
        Refuse(node, "sockets", {"count", "cpu"});
    }
    if (!IsSameLink(given.interSocket, wired.interSocket))
    {
        Refuse(node, "sockets", {"rate", "measured", "latency"});
    }
    if (given.pcieSwitches != wired.pcieSwitches || given.pcie.rawRate != wired.pcie.rawRate)
    {
        Refuse(node, "pcie", {"switches", "generation", "lanes", "rate", "uplink", "uplinkLanes"});
    }
    if (given.pcieUplink.rawRate != wired.pcieUplink.rawRate)
    {
        Refuse(node, "pcie", {"uplink", "uplinkLanes"});
    }
    Refuse(node, "pcie", {"gpusOn"});
    if (given.nics != wired.nics || given.portsPerNic != wired.portsPerNic ||
        given.nic.rawRate != wired.nic.rawRate)
    {
        Refuse(node, "nic", {"count", "ports", "rate"});
    }
    Refuse(node, "nic", {"on", "pcie"});
}

// A bound that no cluster comes near; it keeps products with ports within 32 bits.
constexpr int64_t MAX_NODES = 1 << 20;

/** As many nodes as a fabric has places for, where that is a fixed number that comes out even. */
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

bool
IsNcclTopology(const std::string& path)
{
    return std::filesystem::path(path).extension() == ".xml";
}

/** A system that is one node, all of it from an NCCL topology file. */
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
    if (reference.IsScalar() && IsNcclTopology(reference.AsString()))
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
        // found from whatever file repeats it
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
        if (IsNcclTopology(system.AsString()))
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

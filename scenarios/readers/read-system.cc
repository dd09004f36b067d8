// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-system.h"

#include "scenarios/readers/read-gpu.h"
#include "scenarios/readers/read-link-profile.h"
#include "scenarios/readers/read-node.h"
#include "scenarios/readers/read-source.h"
#include "scenarios/readers/scenario-names.h"
#include "scenarios/topology/read-nccl-xml.h"

#include <filesystem>
#include <limits>

namespace weir
{
namespace
{

// Bounds that no cluster or switch comes near; they keep products of two within 32 bits.
constexpr int64_t MOST_NODES = 1 << 20;
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
                    "sharp",
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
    if (const auto sharp = node.Find("sharp"))
    {
        fabric.inNetworkReduction = sharp->AsBool();
    }
    const YamlNode link = node.Get("link");
    link.CheckKeys(
        {"name", "rate", "encoding", "framing", "measured", "latency", "ncclRate", "source"});
    fabric.link = ReadSwitchProfile(link, nic, ReadSource(node));
    return fabric;
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
    system.cluster.node = ReadNcclXml(path);
    system.cluster.fabric.kind = FabricKind::None;
    system.gpu = LoadGpu(catalog.Find(CatalogKind::Gpus, system.cluster.node.gpuModel));
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
    node.CheckKeys({"base", "name", "title", "source", "nodes", "node", "topology", "fabric"});
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
    if (const auto topology = node.Find("topology"))
    {
        const std::string path = catalog.Find(CatalogKind::Systems, *topology);
        system.cluster.node = ReadNcclXml(path, &system.cluster.node);
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

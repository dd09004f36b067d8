// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-fabric.h"

#include "scenarios/readers/read-link-profile.h"
#include "scenarios/readers/read-source.h"
#include "scenarios/readers/scenario-names.h"
#include "scenarios/topology/read-graph.h"
#include "scenarios/yaml/nearest-name.h"

#include <algorithm>
#include <filesystem>
#include <limits>

namespace weir
{
namespace
{

// Bounds that no switch comes near; they keep products of two within 32 bits.
constexpr int64_t MOST_RADIX = 1 << 15;

uint32_t
Count(const YamlNode& node, int64_t least = 1)
{
    return static_cast<uint32_t>(node.AsInteger(least, MOST_RADIX));
}

uint32_t
CountOr(const YamlNode& node, const char* key, uint32_t otherwise, int64_t least = 1)
{
    const auto found = node.Find(key);
    return found ? Count(*found, least) : otherwise;
}

/** What every kind has, and what the kinds have besides. */
const std::vector<const char*> COMMON_KEYS{
    "kind", "routing", "flowletGap", "hashSeed", "sharp", "link", "source"};

std::vector<const char*>
KeysOf(FabricKind kind)
{
    switch (kind)
    {
    case FabricKind::None:
        return {};
    case FabricKind::RailOptimized:
    case FabricKind::LeafSpine:
        return {"leafRadix", "oversubscription"};
    case FabricKind::FatTree:
        return {"leafRadix", "oversubscription", "levels"};
    case FabricKind::Dragonfly:
        return {"leafRadix",
                "groups",
                "routersPerGroup",
                "nicsPerRouter",
                "localLinks",
                "globalLinks",
                "globalLink",
                "nicPlacement"};
    case FabricKind::DragonflyPlus:
        return {"leafRadix",
                "groups",
                "routersPerGroup",
                "spinesPerGroup",
                "nicsPerRouter",
                "localLinks",
                "globalLinks",
                "globalLink",
                "nicPlacement"};
    case FabricKind::Torus:
        return {"sizes", "nicsPerRouter"};
    case FabricKind::Dimensions:
        return {"dimensions"};
    case FabricKind::Graph:
        return {"file", "hosts", "order"};
    }
    throw std::logic_error("KeysOf: not a kind of fabric");
}

/** Throws when @p node has a key of no kind, or one of another kind written beside `kind`. */
void
CheckFabricKeys(const YamlNode& node, FabricKind kind)
{
    node.CheckKeys({"kind",           "routing",       "flowletGap",
                    "hashSeed",       "sharp",         "link",
                    "source",         "leafRadix",     "oversubscription",
                    "levels",         "groups",        "routersPerGroup",
                    "spinesPerGroup", "nicsPerRouter", "localLinks",
                    "globalLinks",    "globalLink",    "nicPlacement",
                    "sizes",          "dimensions",    "file",
                    "hosts",          "order"});
    auto known =
        kind == FabricKind::None ? std::vector<const char*>{"kind", "source"} : COMMON_KEYS;
    for (const char* key : KeysOf(kind))
    {
        known.push_back(key);
    }
    const YamlNode kindNode = node.Get("kind");
    for (const std::string& key : node.Keys())
    {
        const YamlNode value = node.Get(key);
        if (std::find(known.begin(), known.end(), key) == known.end() && !value.IsInherited())
        {
            const std::vector<std::string> names(known.begin(), known.end());
            value.Fail("found a key that fabrics of kind '" + kindNode.AsString() +
                       "' have not, expected of: " + JoinNames(names));
        }
    }
}

void
CheckLinkKeys(const YamlNode& link)
{
    link.CheckKeys(
        {"name", "rate", "encoding", "framing", "measured", "latency", "ncclRate", "source"});
}

/** The link map at @p key, like @p model in what it leaves out. */
LinkProfile
ReadLink(const YamlNode& node, const char* key, const LinkProfile& model, const std::string& source)
{
    const YamlNode link = node.Get(key);
    CheckLinkKeys(link);
    return ReadSwitchProfile(link, model, source);
}

void
ReadDragonfly(const YamlNode& node, FabricSpec& fabric)
{
    DragonflyShape& shape = fabric.dragonfly;
    shape.routersPerGroup = Count(node.Get("routersPerGroup"));
    shape.nicsPerRouter = Count(node.Get("nicsPerRouter"));
    shape.groups = CountOr(node, "groups", 0);
    shape.localLinks = CountOr(node, "localLinks", 1);
    shape.globalLinks = Count(node.Get("globalLinks"), 0);
    if (fabric.kind == FabricKind::DragonflyPlus)
    {
        shape.spinesPerGroup = Count(node.Get("spinesPerGroup"));
    }
    if (const auto placement = node.Find("nicPlacement"))
    {
        shape.placement = placement->AsEnum(NicPlacementNames());
    }
    if (node.Has("globalLink"))
    {
        shape.globalLink = ReadLink(node, "globalLink", fabric.link, fabric.link.source);
    }
    const auto radix = node.Find("leafRadix");
    // A base's radix is that of its own kind of fabric.
    const bool isMeant =
        radix && (!radix->IsInherited() || radix->File() == node.Get("kind").File());
    fabric.leafRadix = isMeant ? Count(*radix, 2) : 0;
}

std::vector<FabricDimension>
ReadSizes(const YamlNode& node)
{
    if (node.IsScalar())
    {
        return ReadDimensionText(node);
    }
    std::vector<FabricDimension> dimensions;
    for (const YamlNode& item : node.Items())
    {
        dimensions.emplace_back();
        dimensions.back().size = Count(item);
    }
    if (dimensions.empty())
    {
        node.Fail("found an empty list, expected the routers along each dimension");
    }
    return dimensions;
}

/** One item of a list of dimensions: "Ring(4)", or {shape: Ring(4), rate: ..., ...}. */
FabricDimension
ReadDimension(const YamlNode& node, const FabricSpec& fabric)
{
    const YamlNode shape = node.IsMap() ? node.Get("shape") : node;
    const auto read = ReadDimensionText(shape);
    if (read.size() != 1)
    {
        shape.Fail("found " + std::to_string(read.size()) + " dimensions, expected one an item");
    }
    FabricDimension dimension = read.front();
    if (!node.IsMap())
    {
        return dimension;
    }
    node.CheckKeys({"shape",
                    "links",
                    "inside",
                    "name",
                    "rate",
                    "encoding",
                    "framing",
                    "measured",
                    "latency",
                    "ncclRate",
                    "source"});
    if (const auto inside = node.Find("inside"))
    {
        dimension.isInside = inside->AsBool();
    }
    dimension.links = CountOr(node, "links", 1);
    if (node.Has("latency"))
    {
        dimension.link = ReadSwitchProfile(node, fabric.link, fabric.link.source);
    }
    else if (node.Has("rate"))
    {
        node.Get("latency");
    }
    return dimension;
}

void
ReadDimensions(const YamlNode& node, FabricSpec& fabric)
{
    const YamlNode list = node.Get("dimensions");
    if (list.IsScalar())
    {
        fabric.dimensions = ReadDimensionText(list);
        return;
    }
    for (const YamlNode& item : list.Items())
    {
        fabric.dimensions.push_back(ReadDimension(item, fabric));
        if (fabric.dimensions.back().isInside && fabric.dimensions.size() > 1)
        {
            item.Fail("found a later dimension inside the nodes, expected the first at most");
        }
    }
    if (fabric.dimensions.empty())
    {
        list.Fail("found an empty list, expected the dimensions");
    }
}

void
ReadGraphFabric(const YamlNode& node, FabricSpec& fabric)
{
    const YamlNode file = node.Get("file");
    const std::string path = file.AsPathBesideFile();
    if (!std::filesystem::is_regular_file(path))
    {
        file.Fail("found '" + path +
                  "', expected a file: a graph as YAML, GraphML or HPCC topology");
    }
    fabric.graph = ReadGraph(path, fabric.link);
    if (const auto hosts = node.Find("hosts"))
    {
        fabric.graph.hosts = hosts->AsEnum(GraphHostsNames());
    }
    const auto order = node.Find("order");
    if (!order)
    {
        return;
    }
    fabric.graph.order.clear();
    for (const YamlNode& item : order->Items())
    {
        const std::string name = item.AsString();
        std::vector<std::string> hosts;
        auto found = std::numeric_limits<uint32_t>::max();
        for (uint32_t i = 0; i < fabric.graph.vertices.size(); i++)
        {
            const GraphVertex& vertex = fabric.graph.vertices[i];
            found = vertex.isHost && vertex.name == name ? i : found;
            if (vertex.isHost)
            {
                hosts.push_back(vertex.name);
            }
        }
        const auto& taken = fabric.graph.order;
        if (found == std::numeric_limits<uint32_t>::max())
        {
            item.Fail("found '" + name + "', expected a host of '" + path + "'" +
                      DidYouMean(name, hosts));
        }
        if (std::find(taken.begin(), taken.end(), found) != taken.end())
        {
            item.Fail("found '" + name + "' again, expected each host once");
        }
        fabric.graph.order.push_back(found);
    }
}

} // namespace

void
CheckRouting(const YamlNode& node, const FabricSpec& fabric)
{
    const bool isGrid = fabric.kind == FabricKind::Torus || fabric.kind == FabricKind::Dimensions;
    const bool isDragonfly =
        fabric.kind == FabricKind::Dragonfly || fabric.kind == FabricKind::DragonflyPlus;
    if (fabric.routing == RoutingKind::DimensionOrder && !isGrid)
    {
        node.Fail("found 'dimension-order' in a fabric of kind '" +
                  std::string(NameOf(FabricKindNames(), fabric.kind)) +
                  "', expected a torus or dimensions");
    }
    if (fabric.routing == RoutingKind::Valiant && !isGrid && !isDragonfly)
    {
        node.Fail("found 'valiant' in a fabric of kind '" +
                  std::string(NameOf(FabricKindNames(), fabric.kind)) +
                  "', expected a dragonfly, dragonfly-plus, torus or dimensions");
    }
}

FabricSpec
ReadFabric(const YamlNode& node, const LinkProfile& nic)
{
    FabricSpec fabric;
    fabric.kind = node.Get("kind").AsEnum(FabricKindNames());
    CheckFabricKeys(node, fabric.kind);
    if (fabric.kind == FabricKind::None)
    {
        return fabric;
    }
    if (const auto routing = node.Find("routing"))
    {
        fabric.routing = routing->AsEnum(RoutingNames());
        CheckRouting(*routing, fabric);
    }
    if (const auto seed = node.Find("hashSeed"))
    {
        fabric.hashSeed =
            static_cast<uint64_t>(seed->AsInteger(0, std::numeric_limits<int64_t>::max()));
    }
    if (const auto gap = node.Find("flowletGap"))
    {
        fabric.flowletGap = gap->AsTime();
        if (fabric.routing != RoutingKind::Flowlet && !gap->IsInherited())
        {
            gap->Fail("found it beside routing '" +
                      std::string(NameOf(RoutingNames(), fabric.routing)) +
                      "', expected routing flowlet with it");
        }
    }
    if (const auto sharp = node.Find("sharp"))
    {
        fabric.inNetworkReduction = sharp->AsBool();
    }
    if (fabric.kind == FabricKind::Graph && !node.Has("link"))
    {
        fabric.link = nic;
        fabric.link.name = "graph";
    }
    else
    {
        fabric.link = ReadLink(node, "link", nic, ReadSource(node));
    }
    switch (fabric.kind)
    {
    case FabricKind::Dragonfly:
    case FabricKind::DragonflyPlus:
        ReadDragonfly(node, fabric);
        break;
    case FabricKind::Torus:
        fabric.leafRadix = 0;
        fabric.dimensions = ReadSizes(node.Get("sizes"));
        fabric.nicsPerRouter = CountOr(node, "nicsPerRouter", 1);
        break;
    case FabricKind::Dimensions:
        fabric.leafRadix = 0;
        ReadDimensions(node, fabric);
        break;
    case FabricKind::Graph:
        fabric.leafRadix = 0;
        ReadGraphFabric(node, fabric);
        break;
    default:
        fabric.leafRadix = Count(node.Get("leafRadix"), 2);
        if (const auto found = node.Find("oversubscription"))
        {
            fabric.oversubscription = found->AsNumber(1, MOST_RADIX);
        }
        if (const auto levels = node.Find("levels"); levels && fabric.kind == FabricKind::FatTree)
        {
            fabric.levels = static_cast<uint32_t>(levels->AsInteger(1, 8));
        }
        break;
    }
    return fabric;
}

} // namespace weir

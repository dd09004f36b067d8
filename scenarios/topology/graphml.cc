// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/topology/graphml.h"

#include "fabric/routing/routing-policies.h"
#include "fabric/topology/cluster.h"
#include "scenarios/readers/read-system.h"
#include "scenarios/writers/write-system.h"
#include "scenarios/yaml/quantity.h"
#include "scenarios/yaml/xml-element.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <pugixml.hpp>
#include <sstream>

namespace weir
{
namespace
{

/** A decimal number that reads back to the same value. */
std::string
Exact(double value)
{
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.17g", value);
    return text.data();
}

void
Data(pugi::xml_node& parent, const char* key, const std::string& value)
{
    pugi::xml_node data = parent.append_child("data");
    data.append_attribute("key") = key;
    data.text() = value.c_str();
}

void
DeclareKeys(pugi::xml_node& root)
{
    constexpr std::array<std::array<const char*, 3>, 8> KEYS{{{"graph", "system", "string"},
                                                              {"node", "device", "string"},
                                                              {"node", "node", "int"},
                                                              {"node", "index", "int"},
                                                              {"edge", "link", "string"},
                                                              {"edge", "profile", "string"},
                                                              {"edge", "rateGBps", "double"},
                                                              {"edge", "latencyNs", "double"}}};
    for (const auto& [what, name, type] : KEYS)
    {
        pugi::xml_node key = root.append_child("key");
        key.append_attribute("id") = name;
        key.append_attribute("for") = what;
        key.append_attribute("attr.name") = name;
        key.append_attribute("attr.type") = type;
    }
}

/** The node of @p spec and the routing of its network, as YAML. */
std::string
SystemText(const ClusterSpec& spec)
{
    YamlWriter out;
    out.Text("name", spec.name);
    WriteNode(out, spec.node);
    if (spec.fabric.kind->JoinsNodes())
    {
        FabricSpec fabric = spec.fabric;
        if (!GraphFabric().CanRoute(*fabric.routing))
        {
            fabric.routing = EcmpRouting();
        }
        const YamlMap map(out, "fabric");
        out.Text("kind", GraphFabric().Name());
        WriteRouting(out, fabric);
    }
    return out.GetText();
}

XmlElement
GraphOf(const std::string& path)
{
    const XmlElement root = XmlElement::Load(path, "graphml");
    const auto graphs = root.Children("graph");
    if (graphs.empty())
    {
        root.Fail("", "found no graph in it, expected one");
    }
    return graphs.front();
}

std::optional<XmlElement>
DataOf(const XmlElement& element, const std::string& key)
{
    for (const XmlElement& item : element.Children("data"))
    {
        if (item.Text("key") == key)
        {
            return item;
        }
    }
    return std::nullopt;
}

XmlElement
GetData(const XmlElement& element, const std::string& key)
{
    const auto found = DataOf(element, key);
    if (!found)
    {
        element.Fail("", "found no data '" + key + "', expected one");
    }
    return *found;
}

double
NumberOf(const XmlElement& element, const char* key, double min, double max)
{
    const std::string text = GetData(element, key).Content();
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0' || !(value >= min && value <= max))
    {
        element.Fail("",
                     "data '" + std::string(key) + "': found '" + text +
                         "', expected a number from " + FormatNumber(min) + " to " +
                         FormatNumber(max));
    }
    return value;
}

/** The device or link kind in @p element; empty if absent. */
std::string
KindOf(const XmlElement& element, const char* key)
{
    const auto data = DataOf(element, key);
    return data ? data->Content() : "";
}

bool
IsSwitch(const std::string& device)
{
    return device == ToString(DeviceKind::LeafSwitch) ||
           device == ToString(DeviceKind::SpineSwitch) ||
           device == ToString(DeviceKind::CoreSwitch);
}

} // namespace

std::string
WriteGraphMl(const ClusterSpec& spec)
{
    const Cluster cluster(spec);
    const Topology& topology = cluster.GetTopology();
    pugi::xml_document document;
    pugi::xml_node root = document.append_child("graphml");
    root.append_attribute("xmlns") = "http://graphml.graphdrawing.org/xmlns";
    DeclareKeys(root);
    pugi::xml_node graph = root.append_child("graph");
    graph.append_attribute("id") = spec.name.c_str();
    graph.append_attribute("edgedefault") = "directed";
    Data(graph, "system", SystemText(spec));
    for (std::size_t i = 0; i < topology.DeviceCount(); i++)
    {
        const Device& device = topology.GetDevice(DeviceId(i));
        pugi::xml_node node = graph.append_child("node");
        node.append_attribute("id") = device.name.c_str();
        Data(node, "device", ToString(device.kind));
        Data(node, "node", device.node == Device::NO_NODE ? "-1" : std::to_string(device.node));
        Data(node, "index", std::to_string(device.index));
    }
    for (std::size_t i = 0; i < topology.LinkCount(); i++)
    {
        const Link& link = topology.GetLink(LinkId(i));
        pugi::xml_node edge = graph.append_child("edge");
        edge.append_attribute("source") = topology.GetDevice(link.from).name.c_str();
        edge.append_attribute("target") = topology.GetDevice(link.to).name.c_str();
        Data(edge, "link", ToString(link.kind));
        Data(edge, "profile", topology.GetProfileName(link.profile));
        Data(edge, "rateGBps", Exact(link.rate.ToGBps()));
        Data(edge, "latencyNs", Exact(static_cast<double>(link.latency.ToPicoseconds()) * 1e-3));
    }
    std::ostringstream out;
    document.save(out, " ");
    return out.str();
}

ClusterSpec
ReadGraphMl(const std::string& path, const Catalog& catalog)
{
    const XmlElement data = GetData(GraphOf(path), "system");
    YamlNode system = YamlNode::Parse(data.Content(), path + " system");
    if (system.Has("fabric"))
    {
        system.Set("fabric.file", std::filesystem::absolute(path).string());
    }
    return ReadSystem(system, catalog).cluster;
}

NetworkGraph
ReadGraphMlNetwork(const std::string& path)
{
    constexpr double MAX_GBPS = 1e6;
    const XmlElement root = GraphOf(path);
    const bool isDirected = root.TextOr("edgedefault", "directed") == "directed";
    NetworkGraph graph;
    std::map<std::string, uint32_t> byName; // index of each host and switch
    std::map<std::string, bool> others;     // devices inside nodes
    for (const XmlElement& node : root.Children("node"))
    {
        const std::string name = node.Text("id");
        const std::string device = KindOf(node, "device");
        const bool isHost =
            device == ToString(DeviceKind::Nic) || device == ToString(DeviceKind::Host);
        if (byName.count(name) > 0 || others.count(name) > 0)
        {
            node.Fail("id", "found '" + name + "' again, expected each once");
        }
        if (!isHost && !IsSwitch(device))
        {
            others.emplace(name, true);
            continue;
        }
        byName.emplace(name, static_cast<uint32_t>(graph.vertices.size()));
        graph.vertices.push_back({name, isHost});
    }
    for (const XmlElement& edge : root.Children("edge"))
    {
        for (const char* end : {"source", "target"})
        {
            if (byName.count(edge.Text(end)) == 0 && others.count(edge.Text(end)) == 0)
            {
                edge.Fail(end,
                          "found '" + edge.Text(end) + "', expected the id of a node of the graph");
            }
        }
        const auto a = byName.find(edge.Text("source"));
        const auto b = byName.find(edge.Text("target"));
        const bool isNetwork = KindOf(edge, "link") == ToString(LinkKind::Network);
        // Of the two edges of a bidirectional link, keep the one from the vertex that comes first.
        if (!isNetwork || a == byName.end() || b == byName.end() ||
            (isDirected && a->second > b->second))
        {
            continue;
        }
        graph.wires.push_back({a->second,
                               b->second,
                               Rate::GBps(NumberOf(edge, "rateGBps", 1e-6, MAX_GBPS)),
                               Time::Nanoseconds(NumberOf(edge, "latencyNs", 0, 1e12))});
    }
    if (graph.Hosts().empty() || graph.wires.empty())
    {
        root.Fail("", "found no NICs that network links connect, expected some");
    }
    return graph;
}

} // namespace weir

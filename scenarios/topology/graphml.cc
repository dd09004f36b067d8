// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/topology/graphml.h"

#include "fabric/routing/routing-policies.h"
#include "fabric/topology/cluster.h"
#include "scenarios/readers/read-system.h"
#include "scenarios/writers/write-system.h"
#include "scenarios/yaml/named-choices.h"
#include "scenarios/yaml/names.h"
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
#include <tuple>
#include <vector>

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

/** The kind of a device or link, @p last being the last of them. */
template <typename Kind>
Kind
KindOf(const XmlElement& element, const char* key, Kind last)
{
    const std::string text = GetData(element, key).Content();
    const NamedChoices<Kind> choices = ChoicesUpTo(last);
    if (const std::optional<Kind> kind = FindChoice(choices, text))
    {
        return *kind;
    }
    element.Fail("",
                 "data '" + std::string(key) + "': found '" + text +
                     "', expected one of: " + JoinNames(ChoiceNames(choices)));
}

bool
IsSwitch(DeviceKind device)
{
    return device == DeviceKind::LeafSwitch || device == DeviceKind::SpineSwitch ||
           device == DeviceKind::CoreSwitch;
}

/** Whether the edges of @p graph have a direction. */
bool
IsDirected(const XmlElement& graph)
{
    const std::string text = graph.TextOr("edgedefault", "directed");
    if (text != "directed" && text != "undirected")
    {
        graph.Fail("edgedefault", "found '" + text + "', expected directed or undirected");
    }
    return text == "directed";
}

/** Matches the two directed edges of each bidirectional link, which have one rate and latency. */
class EdgePairs
{
  public:
    /** To be called for each directed @p edge, from wire.a to wire.b. */
    void Add(const XmlElement& edge, const GraphWire& wire)
    {
        const auto opposite = m_edges.find({wire.b, wire.a, wire.rate, wire.latency});
        if (opposite == m_edges.end())
        {
            m_edges[{wire.a, wire.b, wire.rate, wire.latency}].push_back(edge);
            return;
        }
        opposite->second.pop_back();
        if (opposite->second.empty())
        {
            m_edges.erase(opposite);
        }
    }

    /** @throws InputError with the location of the first edge that lacks the other direction. */
    void ExpectPairs() const
    {
        const XmlElement* first = nullptr;
        for (const auto& [key, edges] : m_edges)
        {
            first = !first || edges.front().Line() < first->Line() ? &edges.front() : first;
        }
        if (first)
        {
            first->Fail("",
                        "found no edge of the same rateGBps and latencyNs from '" +
                            first->Text("target") + "' to '" + first->Text("source") +
                            "', expected one for each edge of a directed graph");
        }
    }

  private:
    /** By source, target, rate and latency: edges without the other direction. */
    std::map<std::tuple<uint32_t, uint32_t, Rate, Time>, std::vector<XmlElement>> m_edges;
};

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
    const bool isDirected = IsDirected(root);
    EdgePairs pairs;
    NetworkGraph graph;
    std::map<std::string, uint32_t> byName; // index of each host and switch
    std::map<std::string, bool> others;     // devices inside nodes
    for (const XmlElement& node : root.Children("node"))
    {
        const std::string name = node.Text("id");
        const DeviceKind device = KindOf(node, "device", DeviceKind::Host);
        const bool isHost = device == DeviceKind::Nic || device == DeviceKind::Host;
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
        const bool isNetwork = KindOf(edge, "link", LinkKind::Network) == LinkKind::Network;
        if (!isNetwork || a == byName.end() || b == byName.end())
        {
            continue;
        }
        if (a == b)
        {
            edge.Fail("target", "found '" + edge.Text("target") + "' at both ends, expected two");
        }
        const GraphWire wire{a->second,
                             b->second,
                             Rate::GBps(NumberOf(edge, "rateGBps", 1e-6, MAX_GBPS)),
                             Time::Nanoseconds(NumberOf(edge, "latencyNs", 0, 1e12))};
        if (isDirected)
        {
            pairs.Add(edge, wire);
        }
        // Of the two edges of a bidirectional link, keep the one from the vertex that comes first.
        if (!isDirected || wire.a < wire.b)
        {
            graph.wires.push_back(wire);
        }
    }
    pairs.ExpectPairs();
    if (graph.Hosts().empty() || graph.wires.empty())
    {
        root.Fail("", "found no NICs that network links connect, expected some");
    }
    return graph;
}

} // namespace weir

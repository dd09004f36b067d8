// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/topology/topology.h"
#include "scenarios/topology/read-graph.h"
#include "scenarios/topology/xml-element.h"

#include <cstdlib>
#include <map>
#include <optional>

namespace weir
{
namespace
{

std::optional<std::string>
DataOf(const XmlElement& element, const char* key)
{
    for (const XmlElement& item : element.Children("data"))
    {
        if (item.Text("key") == key)
        {
            return item.Content();
        }
    }
    return std::nullopt;
}

double
NumberOf(const XmlElement& element, const char* key, double least, double most)
{
    const auto text = DataOf(element, key);
    if (!text)
    {
        element.Fail("", "found no data '" + std::string(key) + "', expected one");
    }
    char* end = nullptr;
    const double value = std::strtod(text->c_str(), &end);
    if (text->empty() || *end != '\0' || !(value >= least && value <= most))
    {
        element.Fail("",
                     "data '" + std::string(key) + "': found '" + *text +
                         "', expected a number in range");
    }
    return value;
}

bool
IsSwitch(const std::string& device)
{
    return device == ToString(DeviceKind::LeafSwitch) ||
           device == ToString(DeviceKind::SpineSwitch) ||
           device == ToString(DeviceKind::CoreSwitch);
}

} // namespace

NetworkGraph
ReadGraphMlNetwork(const std::string& path)
{
    constexpr double MAX_GBPS = 1e6;
    const XmlElement root = XmlElement::Load(path, "graphml");
    const auto graphs = root.Children("graph");
    if (graphs.empty())
    {
        root.Fail("", "found no graph in it, expected one");
    }
    const bool isDirected = graphs.front().TextOr("edgedefault", "directed") == "directed";
    NetworkGraph graph;
    std::map<std::string, uint32_t> byName; // hosts and switches
    std::map<std::string, bool> others;     // inside nodes
    for (const XmlElement& node : graphs.front().Children("node"))
    {
        const std::string name = node.Text("id");
        const std::string device = DataOf(node, "device").value_or("");
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
    for (const XmlElement& edge : graphs.front().Children("edge"))
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
        const bool isNetwork = DataOf(edge, "link").value_or("") == ToString(LinkKind::Network);
        // Of the two edges of a wire, the one from the vertex that stands first.
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
        graphs.front().Fail("", "found no NICs that network links join, expected some");
    }
    return graph;
}

} // namespace weir

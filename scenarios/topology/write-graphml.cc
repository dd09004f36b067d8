// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/kinds/fabric-dimension.h"
#include "fabric/nodes/node-wiring.h"
#include "fabric/parameters/parameter-visitor.h"
#include "fabric/topology/cluster.h"
#include "scenarios/readers/scenario-names.h"
#include "scenarios/topology/graphml.h"
#include "scenarios/writers/parameter-writer.h"
#include "scenarios/yaml/yaml-writer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <pugixml.hpp>
#include <sstream>
#include <utility>

namespace weir
{
namespace
{

/** A number that reads back equal. */
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
    const auto declare = [&](const char* what, const char* name, const char* type) {
        pugi::xml_node key = root.append_child("key");
        key.append_attribute("id") = name;
        key.append_attribute("for") = what;
        key.append_attribute("attr.name") = name;
        key.append_attribute("attr.type") = type;
    };
    for (const char* name : {"cluster", "gpuModel", "cpu", "cpuModel", "transport", "fabric"})
    {
        declare("graph", name, "string");
    }
    for (const char* name : {"computeCapability", "portsPerNic", "socketsPerBoard", "hashSeed"})
    {
        declare("graph", name, "int");
    }
    declare("graph", "routing", "string");
    declare("graph", "sharp", "boolean");
    declare("graph", "routingParameters", "string");
    for (const NodeCostFigure& figure : NodeCostFigures())
    {
        declare("graph", CostKey(figure).c_str(), "double");
        declare("graph", CostSourceKey(figure).c_str(), "string");
    }
    declare("node", "device", "string");
    declare("node", "node", "int");
    declare("node", "index", "int");
    declare("edge", "link", "string");
    declare("edge", "rateGBps", "double");
    declare("edge", "links", "int");
    declare("all", "profile", "string");
    declare("all", "source", "string");
    for (const char* name : {"latencyNs", "rawGBps", "encoding", "framing", "measured", "ncclGBps"})
    {
        declare("all", name, "double");
    }
}

/** The profile that a link is made of, and how many of them; null when it is not known. */
std::pair<const LinkProfile*, uint32_t>
ProfileOf(const std::vector<const LinkProfile*>& profiles, const std::string& name, Rate rate)
{
    for (const LinkProfile* profile : profiles)
    {
        const double links = rate / profile->PayloadRate();
        const double whole = std::round(links);
        constexpr double ROUNDING = 1e-9;
        if (profile->name == name && profile->rawRate > Rate() && whole >= 1 &&
            std::abs(links - whole) < ROUNDING * whole)
        {
            return {profile, static_cast<uint32_t>(whole)};
        }
    }
    return {nullptr, 1};
}

/** What a link is made of, but for its latency. */
void
ProfileData(pugi::xml_node& parent, const LinkProfile& profile)
{
    Data(parent, "rawGBps", Exact(profile.rawRate.ToGBps()));
    Data(parent, "encoding", Exact(profile.encoding));
    Data(parent, "framing", Exact(profile.framing));
    Data(parent, "measured", Exact(profile.measured));
    Data(parent, "ncclGBps", Exact(profile.ncclRate.ToGBps()));
    Data(parent, "source", profile.source);
}

std::string
Nanoseconds(Time time)
{
    return Exact(static_cast<double>(time.ToPicoseconds()) * 1e-3);
}

/** What stands in place of defaults; of a kind that is given twice the last, which counts. */
void
CostData(pugi::xml_node& graph, const std::vector<NodeCost>& costs)
{
    for (const NodeCostFigure& figure : NodeCostFigures())
    {
        const auto cost = std::find_if(costs.rbegin(), costs.rend(), [&](const NodeCost& each) {
            return each.name == figure.key;
        });
        if (cost != costs.rend())
        {
            Data(graph, CostKey(figure).c_str(), Exact(cost->value));
            Data(graph, CostSourceKey(figure).c_str(), cost->source);
        }
    }
}

/** The parameters of a routing policy as a YAML map; empty when it has none. */
std::string
ParametersAsYaml(Polymorphic<RoutingPolicy> policy)
{
    if (KeysOf(*policy).empty())
    {
        return "";
    }
    YamlWriter out;
    out.BeginMap();
    ParameterWriter writer(out);
    policy->VisitParameters(writer);
    out.EndMap();
    return out.GetText();
}

/** How the network routes. */
void
RoutingData(pugi::xml_node& graph, const FabricSpec& fabric)
{
    Data(graph, "fabric", fabric.kind->Name());
    if (!fabric.kind->JoinsNodes())
    {
        return;
    }
    Data(graph, "routing", fabric.routing->Name());
    Data(graph, "hashSeed", std::to_string(fabric.hashSeed));
    Data(graph, "sharp", fabric.inNetworkReduction ? "true" : "false");
    Data(graph, "routingParameters", ParametersAsYaml(fabric.routing));
}

/** Adds the links that a component has of its own to @p links. */
void
CollectLinks(Parameterized& component, std::vector<const LinkProfile*>& links)
{
    ForEachParameter(component, [&](const ParameterInfo&, const Parameter& parameter) {
        if (const auto* link = std::get_if<LinkParameter>(&parameter))
        {
            links.push_back(&link->value);
        }
        else if (const auto* dimensions = std::get_if<DimensionsParameter>(&parameter))
        {
            for (const FabricDimension& dimension : dimensions->value)
            {
                links.push_back(&dimension.link);
            }
        }
    });
}

} // namespace

std::string
CostKey(const NodeCostFigure& figure)
{
    return std::string("cost.") + figure.key;
}

std::string
CostSourceKey(const NodeCostFigure& figure)
{
    return std::string("costSource.") + figure.key;
}

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
    Data(graph, "cluster", spec.name);
    Data(graph, "gpuModel", spec.node.gpuModel);
    Data(graph, "computeCapability", std::to_string(spec.node.computeCapability));
    Data(graph, "cpu", NameOf(HostCpuNames(), spec.node.cpu));
    Data(graph, "cpuModel", spec.node.cpuModel);
    Data(graph, "transport", NameOf(TransportNames(), spec.node.transport));
    Data(graph, "portsPerNic", std::to_string(spec.node.portsPerNic));
    Data(graph, "socketsPerBoard", std::to_string(spec.node.socketsPerBoard));
    RoutingData(graph, spec.fabric);
    CostData(graph, spec.node.costs);
    for (std::size_t i = 0; i < topology.DeviceCount(); i++)
    {
        const Device& device = topology.GetDevice(DeviceId(i));
        pugi::xml_node node = graph.append_child("node");
        node.append_attribute("id") = device.name.c_str();
        Data(node, "device", ToString(device.kind));
        Data(node, "node", device.node == Device::NO_NODE ? "-1" : std::to_string(device.node));
        Data(node, "index", std::to_string(device.index));
        if (device.kind == DeviceKind::Nic) // its port, joined to a fabric or not
        {
            Data(node, "profile", spec.node.nic.name);
            Data(node, "latencyNs", Nanoseconds(spec.node.nic.latency));
            ProfileData(node, spec.node.nic);
        }
    }
    auto profiles = NodeProfiles(spec.node);
    profiles.push_back(&spec.fabric.link);
    Polymorphic<FabricKind> kind = spec.fabric.kind;
    CollectLinks(*kind, profiles);
    for (std::size_t i = 0; i < topology.LinkCount(); i++)
    {
        const Link& link = topology.GetLink(LinkId(i));
        const std::string& name = topology.GetProfileName(link.profile);
        pugi::xml_node edge = graph.append_child("edge");
        edge.append_attribute("source") = topology.GetDevice(link.from).name.c_str();
        edge.append_attribute("target") = topology.GetDevice(link.to).name.c_str();
        Data(edge, "link", ToString(link.kind));
        Data(edge, "rateGBps", Exact(link.rate.ToGBps()));
        Data(edge, "latencyNs", Nanoseconds(link.latency));
        Data(edge, "profile", name);
        const auto [profile, links] = ProfileOf(profiles, name, link.rate);
        Data(edge, "links", std::to_string(links));
        if (profile)
        {
            ProfileData(edge, *profile);
        }
    }
    std::ostringstream out;
    document.save(out, " ");
    return out.str();
}

} // namespace weir

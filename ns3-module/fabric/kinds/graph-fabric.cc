// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/kinds/graph-fabric.h"

#include "fabric/kinds/switch-layers.h"
#include "fabric/refuse.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/topology/link-profile.h"

#include <algorithm>
#include <string>

namespace weir
{

namespace
{

std::vector<std::pair<const char*, GraphHosts>>
HostChoices()
{
    return {{"nics", GraphHosts::Nics}, {"nodes", GraphHosts::Nodes}};
}

} // namespace

void
GraphFabric::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Graph(
        Required("file",
                 "File with the network graph, in YAML, GraphML or HPCC's topology format."),
        graph);
    visitor.Enum<GraphHosts>(
        {"hosts", "Meaning of each host of the graph; nics: one NIC; nodes: one node."},
        hosts,
        HostChoices());
    const std::vector<uint32_t> all = graph.Hosts();
    std::vector<std::string> names;
    std::vector<uint32_t> positions(graph.vertices.size()); // index among all hosts, by vertex
    for (const uint32_t host : all)
    {
        positions[host] = static_cast<uint32_t>(names.size());
        names.push_back(graph.vertices[host].name);
    }
    std::vector<uint32_t> chosen;
    for (const uint32_t host : TakenHosts())
    {
        chosen.push_back(positions[host]);
    }
    visitor.Selection(
        {"order", "Order in which hosts become NICs (or nodes); absent: the order of the file."},
        chosen,
        names,
        "a host of '" + graph.file + "'");
    order.clear();
    for (const uint32_t position : chosen)
    {
        order.push_back(all[position]);
    }
}

std::optional<uint32_t>
GraphFabric::NodesThatFill(const NodeSpec& node) const
{
    const std::size_t count = TakenHosts().size();
    return static_cast<uint32_t>(hosts == GraphHosts::Nodes ? count
                                                            : count / std::max(1U, node.nics));
}

void
GraphFabric::CheckHosts(const ClusterSpec& spec, std::size_t nicCount) const
{
    const bool areNodes = hosts == GraphHosts::Nodes;
    const std::size_t needed = areNodes ? spec.nodes : nicCount;
    const std::size_t there = TakenHosts().size();
    WEIR_REFUSE_IF(there < needed,
                   "fabric.file: '"
                       << graph.file << "' with " << there << " hosts, expected "
                       << (areNodes ? "nodes = " + std::to_string(needed)
                                    : "nodes x node.nics = " + std::to_string(spec.nodes) + " x " +
                                          std::to_string(spec.node.nics) + " = " +
                                          std::to_string(needed)));
}

void
GraphFabric::CheckJoined(const std::vector<uint32_t>& taken) const
{
    std::vector<std::vector<uint32_t>> neighbors(graph.vertices.size());
    for (const GraphWire& wire : graph.wires)
    {
        neighbors[wire.a].push_back(wire.b);
        neighbors[wire.b].push_back(wire.a);
    }
    std::vector<bool> seen(graph.vertices.size(), false);
    std::vector<uint32_t> queue{taken.front()};
    seen[queue.front()] = true;
    for (std::size_t i = 0; i < queue.size(); i++)
    {
        if (i > 0 && graph.vertices[queue[i]].isHost)
        {
            continue; // hosts do not forward
        }
        for (const uint32_t next : neighbors[queue[i]])
        {
            if (!seen[next])
            {
                seen[next] = true;
                queue.push_back(next);
            }
        }
    }
    for (const uint32_t host : taken)
    {
        WEIR_REFUSE_IF(!seen[host],
                       "fabric.file: '" << graph.file << "' with no path from host '"
                                        << graph.vertices[taken.front()].name << "' to host '"
                                        << graph.vertices[host].name
                                        << "', expected all hosts connected");
    }
}

void
GraphFabric::Wire(Topology& topology,
                  const ClusterSpec& spec,
                  const std::vector<DeviceId>& nics) const
{
    CheckNics(spec);
    CheckHosts(spec, nics.size());
    const bool areNodes = hosts == GraphHosts::Nodes;
    std::vector<uint32_t> taken = TakenHosts();
    taken.resize(areNodes ? spec.nodes : nics.size());
    CheckJoined(taken);

    std::vector<DeviceId> devices(graph.vertices.size());
    std::vector<bool> isNic(graph.vertices.size(), false);
    std::vector<uint32_t> nodeOf(graph.vertices.size(), Device::NO_NODE);
    for (std::size_t i = 0; i < taken.size(); i++)
    {
        if (areNodes)
        {
            nodeOf[taken[i]] = static_cast<uint32_t>(i);
        }
        else
        {
            devices[taken[i]] = nics[i];
            isNic[taken[i]] = true;
        }
    }
    uint32_t switchCount = 0;
    uint32_t hostCount = 0;
    for (std::size_t v = 0; v < graph.vertices.size(); v++)
    {
        const GraphVertex& vertex = graph.vertices[v];
        if (isNic[v])
        {
            continue;
        }
        // A switch inside the node represents its ports: its NICs share them, and no other traffic
        // passes.
        const bool passesOn = !vertex.isHost || nodeOf[v] != Device::NO_NODE;
        devices[v] = topology.AddDevice(passesOn ? DeviceKind::LeafSwitch : DeviceKind::Host,
                                        vertex.name,
                                        nodeOf[v],
                                        passesOn ? switchCount++ : hostCount++);
    }
    for (std::size_t i = 0; i < nics.size() && areNodes; i++)
    {
        topology.AddDuplexLink(
            nics[i], devices[taken[i / spec.node.nics]], LinkKind::Network, spec.node.nic);
    }
    const uint16_t profile = topology.AddProfileName("graph");
    for (const GraphWire& wire : graph.wires)
    {
        const Rate own = isNic[wire.a] || isNic[wire.b] ? spec.node.nic.PayloadRate() : wire.rate;
        topology.AddDuplexLink(devices[wire.a],
                               devices[wire.b],
                               LinkKind::Network,
                               std::min(own, wire.rate),
                               wire.latency,
                               profile);
    }
}

std::string
GraphFabric::Shape() const
{
    std::string word;
    for (const auto& [name, choice] : HostChoices())
    {
        word = choice == hosts ? name : word;
    }
    return graph.file + ", hosts are " + word;
}

} // namespace weir

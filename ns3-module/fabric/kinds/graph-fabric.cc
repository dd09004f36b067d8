// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/kinds/graph-fabric.h"

#include "fabric/topology/profile-check.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace weir
{

namespace
{

void
CheckHosts(const ClusterSpec& spec, std::size_t nicCount)
{
    const GraphShape& graph = spec.fabric.graph;
    const bool areNodes = graph.hosts == GraphHosts::Nodes;
    const std::size_t needed = areNodes ? spec.nodes : nicCount;
    if (graph.order.size() < needed)
    {
        throw std::invalid_argument(
            "fabric.file: '" + graph.file + "' with " + std::to_string(graph.order.size()) +
            " hosts, expected " +
            (areNodes ? "nodes = " + std::to_string(needed)
                      : "nodes x node.nics = " + std::to_string(spec.nodes) + " x " +
                            std::to_string(spec.node.nics) + " = " + std::to_string(needed)));
    }
}

/** Throws unless all hosts that something is on are in one piece of the graph. */
void
CheckPieces(const ClusterSpec& spec, std::size_t used)
{
    const GraphShape& graph = spec.fabric.graph;
    std::vector<std::vector<uint32_t>> neighbours(graph.vertices.size());
    for (const GraphWire& wire : graph.wires)
    {
        neighbours[wire.a].push_back(wire.b);
        neighbours[wire.b].push_back(wire.a);
    }
    std::vector<bool> seen(graph.vertices.size(), false);
    std::vector<uint32_t> queue{graph.order.front()};
    seen[queue.front()] = true;
    for (std::size_t i = 0; i < queue.size(); i++)
    {
        if (i > 0 && graph.vertices[queue[i]].isHost)
        {
            continue; // hosts pass nothing on
        }
        for (const uint32_t next : neighbours[queue[i]])
        {
            if (!seen[next])
            {
                seen[next] = true;
                queue.push_back(next);
            }
        }
    }
    for (std::size_t i = 0; i < used; i++)
    {
        if (!seen[graph.order[i]])
        {
            throw std::invalid_argument(
                "fabric.file: '" + graph.file + "' with no way from host '" +
                graph.vertices[graph.order.front()].name + "' to host '" +
                graph.vertices[graph.order[i]].name + "', expected all hosts joined");
        }
    }
}

} // namespace

void
WireGraph(Topology& topology, const ClusterSpec& spec, const std::vector<DeviceId>& nics)
{
    const GraphShape& graph = spec.fabric.graph;
    if (spec.node.nics == 0)
    {
        throw std::invalid_argument(
            "node.nics: 0, expected at least 1, by which fabric.kind joins nodes");
    }
    CheckProfile(spec.node.nic, "node.nic");
    CheckHosts(spec, nics.size());
    const bool areNodes = graph.hosts == GraphHosts::Nodes;
    const std::size_t used = areNodes ? spec.nodes : nics.size();
    CheckPieces(spec, used);

    std::vector<DeviceId> devices(graph.vertices.size());
    std::vector<bool> isNic(graph.vertices.size(), false);
    std::vector<uint32_t> nodeOf(graph.vertices.size(), Device::NO_NODE);
    for (std::size_t i = 0; i < used; i++)
    {
        const uint32_t vertex = graph.order[i];
        if (areNodes)
        {
            nodeOf[vertex] = static_cast<uint32_t>(i);
        }
        else
        {
            devices[vertex] = nics[i];
            isNic[vertex] = true;
        }
    }
    uint32_t switches = 0;
    uint32_t hosts = 0;
    for (std::size_t v = 0; v < graph.vertices.size(); v++)
    {
        const GraphVertex& vertex = graph.vertices[v];
        if (isNic[v])
        {
            continue;
        }
        // The ports of a node are a switch of its own: its NICs share them, others do not pass.
        const bool passesOn = !vertex.isHost || nodeOf[v] != Device::NO_NODE;
        devices[v] = topology.AddDevice(passesOn ? DeviceKind::LeafSwitch : DeviceKind::Host,
                                        vertex.name,
                                        nodeOf[v],
                                        passesOn ? switches++ : hosts++);
    }
    for (std::size_t i = 0; i < nics.size() && areNodes; i++)
    {
        topology.AddDuplexLink(
            nics[i], devices[graph.order[i / spec.node.nics]], LinkKind::Network, spec.node.nic);
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

} // namespace weir

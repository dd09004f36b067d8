// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/flows/flow-network.h"

#include "fabric/kinds/graph-fabric.h"
#include "scenarios/flows/hpcc-topology.h"
#include "scenarios/flows/htsim-topology.h"
#include "scenarios/readers/check-wiring.h"
#include "scenarios/readers/read-fabric.h"
#include "scenarios/readers/read-packets.h"
#include "scenarios/readers/read-system.h"
#include "scenarios/topology/read-graph.h"
#include "scenarios/traffic/gpu-routes.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/text-file.h"

#include <filesystem>
#include <numeric>
#include <stdexcept>

namespace weir
{

namespace
{

constexpr int PRIORITY_SHIFT = 13; //!< priority groups 0 to 7 are the top bits of a queue pair

/**
 * A system of the catalog as a network for flows: end points are GPUs, counted node by node, and
 * flows take the paths of GpuRoutes. The system's routing chooses among equal-cost paths in the
 * network, ECMP by the hash of NICs and ports.
 */
class ClusterNetwork : public FlowNetwork
{
  public:
    /** @throws std::invalid_argument when @p spec cannot be wired. */
    ClusterNetwork(const ClusterSpec& spec, TransportSpec transport)
        : FlowNetwork(std::make_unique<Simulation>(spec, NcclSettings(), std::move(transport))),
          m_routes(GetSimulation().GetCluster(), GetRouting())
    {
    }

    const char* EndPointName() const override
    {
        return "GPU";
    }

    std::string WhyNoEndPoint(int64_t node) const override
    {
        const int64_t gpus = GetSimulation().GetCluster().GpuCount();
        return node >= 0 && node < gpus ? ""
                                        : "a GPU of the system, 0 to " + std::to_string(gpus - 1);
    }

    std::vector<uint32_t> EndPoints() const override
    {
        std::vector<uint32_t> gpus(GetSimulation().GetCluster().GpuCount());
        std::iota(gpus.begin(), gpus.end(), 0);
        return gpus;
    }

    TrafficEndPoint EndPointAt(uint32_t node) const override
    {
        const GpuId gpu(node);
        return {GetSimulation().GetCluster().NodeOf(gpu), m_routes.NetworkRateOf(gpu)};
    }

    RouteId FindRoute(uint32_t source, uint32_t destination, const FlowPorts& ports) override
    {
        const uint32_t queuePair = uint32_t{ports.sourcePort} << 16 ^
                                   uint32_t { ports.priorityGroup } << 13 ^ ports.destinationPort;
        return m_routes.Find(GpuId(source), GpuId(destination), queuePair);
    }

  private:
    GpuRoutes m_routes;
};

void
SetRouting(FabricSpec& fabric, const NetworkOverrides& overrides, const FabricKindRegistry& kinds)
{
    fabric.hashSeed = overrides.hashSeed.value_or(fabric.hashSeed);
    if (!overrides.routing.empty())
    {
        ReadRouting(YamlNode::ParseArgument(overrides.routing, "--routing"), fabric, kinds);
    }
}

std::unique_ptr<FlowNetwork>
OpenSystem(const std::string& system, const NetworkOverrides& overrides, const Catalog& catalog)
{
    const YamlNode reference = SystemArgument(system, "--topology", overrides.settings);
    ClusterSpec spec = ReadSystem(reference, catalog).cluster;
    spec.nodes = overrides.nodes.value_or(spec.nodes);
    std::vector<std::string> notes = CheckWiring(reference, catalog, spec);
    SetRouting(spec.fabric, overrides, catalog.GetFabricKinds());
    auto network = std::make_unique<ClusterNetwork>(spec, overrides.transport);
    network->SetNotes(std::move(notes));
    return network;
}

/** The devices and links of a graph, in its order; its rates are those of its links. */
Topology
ReadGraphTopology(const std::string& path)
{
    const NetworkGraph graph = ReadGraph(path, LinkProfile());
    Topology topology;
    for (const GraphVertex& vertex : graph.vertices)
    {
        topology.AddDevice(vertex.isHost ? DeviceKind::Host : DeviceKind::LeafSwitch, vertex.name);
    }
    for (const GraphWire& wire : graph.wires)
    {
        topology.AddDuplexLink(
            DeviceId(wire.a), DeviceId(wire.b), LinkKind::Network, wire.rate, wire.latency);
    }
    return topology;
}

std::unique_ptr<FlowNetwork>
OpenFile(const std::string& topology, const NetworkOverrides& overrides, const Catalog& catalog)
{
    const bool isHtsim = std::filesystem::path(topology).extension() == ".topo";
    std::vector<EventSpec> lossy;
    Topology read = isHtsim             ? ReadHtsimTopology(topology)
                    : IsGraph(topology) ? ReadGraphTopology(topology)
                                        : ReadHpccTopology(topology, &lossy);
    if (overrides.nodes)
    {
        throw InputError("--nodes: found " + std::to_string(*overrides.nodes) + " with '" +
                         topology + "', expected a system: a topology file has its own nodes");
    }
    if (!overrides.settings.empty())
    {
        throw InputError("--set " + overrides.settings.front() + ": found it with '" + topology +
                         "', expected a system: a topology file has no keys");
    }
    FabricSpec fabric;
    fabric.kind = GraphFabric();
    SetRouting(fabric, overrides, catalog.GetFabricKinds());
    auto network = std::make_unique<HostNetwork>(std::move(read), fabric, overrides.transport);
    network->AddEvents(lossy);
    return network;
}

} // namespace

HostNetwork::HostNetwork(Topology topology, const FabricSpec& fabric, TransportSpec transport)
    : FlowNetwork(std::make_unique<Simulation>(std::move(topology), fabric, std::move(transport)))
{
}

const char*
HostNetwork::EndPointName() const
{
    return "host";
}

std::string
HostNetwork::WhyNoEndPoint(int64_t node) const
{
    const Topology& topology = GetSimulation().GetTopology();
    const auto nodes = static_cast<int64_t>(topology.DeviceCount());
    if (node < 0 || node >= nodes)
    {
        return "a node of the topology, 0 to " + std::to_string(nodes - 1);
    }
    const Device& device = topology.GetDevice(DeviceId(static_cast<std::size_t>(node)));
    return device.kind == DeviceKind::Host
               ? ""
               : "a host; node " + std::to_string(node) + " is a switch of the topology";
}

std::vector<uint32_t>
HostNetwork::EndPoints() const
{
    std::vector<uint32_t> hosts;
    const Topology& topology = GetSimulation().GetTopology();
    for (std::size_t node = 0; node < topology.DeviceCount(); node++)
    {
        if (topology.GetDevice(DeviceId(node)).kind == DeviceKind::Host)
        {
            hosts.push_back(static_cast<uint32_t>(node));
        }
    }
    return hosts;
}

TrafficEndPoint
HostNetwork::EndPointAt(uint32_t node) const
{
    const Topology& topology = GetSimulation().GetTopology();
    Rate rate;
    for (const LinkId link : topology.LinksFrom(DeviceId(node)))
    {
        rate = rate + topology.GetLink(link).rate;
    }
    return {node, rate};
}

RouteId
HostNetwork::FindRoute(uint32_t source, uint32_t destination, const FlowPorts& ports)
{
    RouteRequest request;
    request.source = request.outNic = DeviceId(source);
    request.destination = request.inNic = DeviceId(destination);
    request.sourcePort = ports.sourcePort;
    request.queuePair =
        static_cast<uint16_t>(ports.destinationPort ^ ports.priorityGroup << PRIORITY_SHIFT);
    return GetRouting().Add(request);
}

bool
IsSystem(const std::string& topology)
{
    std::error_code ignored;
    return (IsYamlFile(topology) && !IsGraph(topology)) ||
           (topology.find('/') == std::string::npos && !std::filesystem::exists(topology, ignored));
}

std::unique_ptr<FlowNetwork>
OpenNetwork(const std::string& topology, const NetworkOverrides& overrides, const Catalog& catalog)
{
    try
    {
        auto network = IsSystem(topology) ? OpenSystem(topology, overrides, catalog)
                                          : OpenFile(topology, overrides, catalog);
        network->AddEvents(overrides.events);
        return network;
    }
    catch (const std::invalid_argument& error)
    {
        if (IsOfPackets(error.what()))
        {
            throw;
        }
        throw InputError("--topology: " + topology + ": " + error.what());
    }
}

} // namespace weir

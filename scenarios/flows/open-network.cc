// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/flows/open-network.h"

#include "fabric/kinds/graph-fabric.h"
#include "scenarios/flows/hpcc-network.h"
#include "scenarios/flows/hpcc-topology.h"
#include "scenarios/flows/htsim-topology.h"
#include "scenarios/readers/check-wiring.h"
#include "scenarios/readers/read-fabric.h"
#include "scenarios/readers/read-packets.h"
#include "scenarios/readers/read-system.h"
#include "scenarios/traffic/gpu-routes.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/text-file.h"

#include <filesystem>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace weir
{

namespace
{

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
        : m_simulation(spec, {}, std::move(transport)),
          m_routes(m_simulation.GetCluster(), m_simulation.GetRouting())
    {
    }

    const char* EndPointName() const override
    {
        return "GPU";
    }

    std::size_t EndPointCount() const override
    {
        return m_simulation.GetCluster().GpuCount();
    }

    std::string WhyNoEndPoint(int64_t node) const override
    {
        const int64_t gpus = m_simulation.GetCluster().GpuCount();
        return node >= 0 && node < gpus ? ""
                                        : "a GPU of the system, 0 to " + std::to_string(gpus - 1);
    }

    std::vector<uint32_t> EndPoints() const override
    {
        std::vector<uint32_t> gpus(m_simulation.GetCluster().GpuCount());
        std::iota(gpus.begin(), gpus.end(), 0);
        return gpus;
    }

    TrafficEndPoint EndPointAt(uint32_t node) const override
    {
        const GpuId gpu(node);
        return {m_simulation.GetCluster().NodeOf(gpu), m_routes.NetworkRateOf(gpu)};
    }

    RouteId FindRoute(uint32_t source, uint32_t destination, const FlowPorts& ports) override
    {
        const uint32_t queuePair = uint32_t{ports.sourcePort} << 16 ^
                                   uint32_t { ports.priorityGroup } << 13 ^ ports.destinationPort;
        return m_routes.Find(GpuId(source), GpuId(destination), queuePair);
    }

    Simulation& GetSimulation() override
    {
        return m_simulation;
    }

  private:
    Simulation m_simulation;
    GpuRoutes m_routes;
};

} // namespace

bool
IsSystem(const std::string& topology)
{
    std::error_code ignored;
    return IsYamlFile(topology) ||
           (topology.find('/') == std::string::npos && !std::filesystem::exists(topology, ignored));
}

namespace
{

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
    CheckWiring(reference, catalog, spec);
    SetRouting(spec.fabric, overrides, catalog.GetFabricKinds());
    return std::make_unique<ClusterNetwork>(spec, overrides.transport);
}

std::unique_ptr<FlowNetwork>
OpenFile(const std::string& topology, const NetworkOverrides& overrides, const Catalog& catalog)
{
    const bool isHtsim = std::filesystem::path(topology).extension() == ".topo";
    std::vector<EventSpec> lossy;
    Topology read = isHtsim ? ReadHtsimTopology(topology) : ReadHpccTopology(topology, &lossy);
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
    auto network = std::make_unique<HpccNetwork>(std::move(read), fabric, overrides.transport);
    network->AddEvents(lossy);
    return network;
}

} // namespace

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

// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/flows/cluster-network.h"

#include <numeric>
#include <utility>

namespace weir
{

ClusterNetwork::ClusterNetwork(const ClusterSpec& spec,
                               std::optional<PacketSpec> packets,
                               const SharingSpec& sharing)
    : m_simulation(spec, {}, std::move(packets), {}, sharing),
      m_routes(m_simulation.GetCluster(), m_simulation.GetRouting())
{
}

const char*
ClusterNetwork::EndPointName() const
{
    return "GPU";
}

std::size_t
ClusterNetwork::EndPointCount() const
{
    return m_simulation.GetCluster().GpuCount();
}

std::string
ClusterNetwork::WhyNoEndPoint(int64_t node) const
{
    const int64_t gpus = m_simulation.GetCluster().GpuCount();
    return node >= 0 && node < gpus ? "" : "a GPU of the system, 0 to " + std::to_string(gpus - 1);
}

RouteId
ClusterNetwork::FindRoute(uint32_t source, uint32_t destination, const FlowPorts& ports)
{
    const uint32_t queuePair = uint32_t{ports.sourcePort} << 16 ^
                               uint32_t { ports.priorityGroup } << 13 ^ ports.destinationPort;
    return m_routes.Find(GpuId(source), GpuId(destination), queuePair);
}

std::vector<uint32_t>
ClusterNetwork::EndPoints() const
{
    std::vector<uint32_t> gpus(m_simulation.GetCluster().GpuCount());
    std::iota(gpus.begin(), gpus.end(), 0);
    return gpus;
}

TrafficEndPoint
ClusterNetwork::EndPointAt(uint32_t node) const
{
    const GpuId gpu(node);
    return {m_simulation.GetCluster().NodeOf(gpu), m_routes.NetworkRateOf(gpu)};
}

Simulation&
ClusterNetwork::GetSimulation()
{
    return m_simulation;
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/flows/cluster-network.h"

#include <utility>

#include <stdexcept>

namespace weir
{

ClusterNetwork::ClusterNetwork(const ClusterSpec& spec, std::optional<PacketSpec> packets)
    : m_simulation(spec, {}, std::move(packets)),
      m_connector(m_simulation.GetCluster(), m_simulation.GetRouting())
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
    const GpuId from(source);
    const GpuId to(destination);
    const Cluster& cluster = m_simulation.GetCluster();
    if (cluster.NodeOf(from) == cluster.NodeOf(to))
    {
        return m_connector.InsideNode(from, to).route;
    }
    const auto& outNics = m_connector.NicsOf(from);
    const auto& inNics = m_connector.NicsOf(to);
    if (outNics.empty() || inNics.empty())
    {
        throw std::runtime_error("no path from GPU " + std::to_string(source) + " to GPU " +
                                 std::to_string(destination) + ": their nodes have no NICs");
    }
    const uint32_t queuePair = uint32_t{ports.sourcePort} << 16 ^
                               uint32_t { ports.priorityGroup } << 13 ^ ports.destinationPort;
    return m_connector.BetweenNodes(from, to, {outNics.front(), inNics.front(), from}, queuePair)
        .route;
}

Simulation&
ClusterNetwork::GetSimulation()
{
    return m_simulation;
}

} // namespace weir

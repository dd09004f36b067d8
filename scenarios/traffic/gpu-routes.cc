// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/traffic/gpu-routes.h"

#include <stdexcept>
#include <string>

namespace weir
{

GpuRoutes::GpuRoutes(const Cluster& cluster, Routing& routing)
    : m_connector(cluster, routing)
{
}

RouteId
GpuRoutes::Find(GpuId from, GpuId to, uint32_t queuePair)
{
    const Cluster& cluster = m_connector.GetCluster();
    if (cluster.NodeOf(from) == cluster.NodeOf(to))
    {
        return m_connector.InsideNode(from, to).route;
    }
    const auto& outNics = m_connector.NicsOf(from);
    const auto& inNics = m_connector.NicsOf(to);
    if (outNics.empty() || inNics.empty())
    {
        throw std::runtime_error("no path from GPU " + std::to_string(from.Index()) + " to GPU " +
                                 std::to_string(to.Index()) + ": their nodes have no NICs");
    }
    return m_connector.BetweenNodes(from, to, {outNics.front(), inNics.front(), from}, queuePair)
        .route;
}

Rate
GpuRoutes::NetworkRateOf(GpuId gpu) const
{
    const Cluster& cluster = m_connector.GetCluster();
    const Topology& topology = cluster.GetTopology();
    const uint32_t node = cluster.NodeOf(gpu);
    Rate sum;
    for (uint32_t nic = 0; nic < cluster.NicsPerNode(); nic++)
    {
        for (const LinkId link : topology.LinksFrom(cluster.NicDevice(node, nic)))
        {
            const bool isNetwork = topology.GetLink(link).kind == LinkKind::Network;
            sum = isNetwork ? sum + topology.GetLink(link).rate : sum;
        }
    }
    if (sum > Rate())
    {
        return sum / static_cast<double>(cluster.GpusPerNode());
    }
    for (const LinkId link : topology.LinksFrom(cluster.GpuDevice(gpu)))
    {
        sum = sum + topology.GetLink(link).rate;
    }
    return sum;
}

} // namespace weir

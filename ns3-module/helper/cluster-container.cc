// SPDX-License-Identifier: GPL-2.0-only
#include "cluster-container.h"

#include "ns3/abort.h"

namespace ns3
{

ClusterContainer::ClusterContainer(Ptr<FluidFabric> fabric, const NodeContainer& servers)
    : m_fabric(fabric),
      m_servers(servers)
{
}

Ptr<FluidFabric>
ClusterContainer::GetFabric() const
{
    NS_ABORT_MSG_IF(!m_fabric, "ClusterContainer: empty");
    return m_fabric;
}

uint32_t
ClusterContainer::GetNGpusPerServer() const
{
    return GetFabric()->GetFabric().GetCluster().GpusPerNode();
}

uint32_t
ClusterContainer::GetGpu(uint32_t server, uint32_t local) const
{
    NS_ABORT_MSG_IF(server >= m_servers.GetN() || local >= GetNGpusPerServer(),
                    "ClusterContainer: there is no GPU " << local << " of server " << server);
    return server * GetNGpusPerServer() + local;
}

std::vector<uint32_t>
ClusterContainer::GetGpus(uint32_t first, uint32_t servers) const
{
    NS_ABORT_MSG_IF(first > m_servers.GetN() || servers > m_servers.GetN() - first,
                    "ClusterContainer: there are only " << m_servers.GetN() << " servers");
    std::vector<uint32_t> gpus;
    for (uint32_t gpu = first * GetNGpusPerServer(); gpu < (first + servers) * GetNGpusPerServer();
         gpu++)
    {
        gpus.push_back(gpu);
    }
    return gpus;
}

std::vector<uint32_t>
ClusterContainer::GetGpus() const
{
    return GetGpus(0, m_servers.GetN());
}

} // namespace ns3

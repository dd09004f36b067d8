// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_HELPER_CLUSTER_CONTAINER_H
#define WEIR_HELPER_CLUSTER_CONTAINER_H

#include "ns3/fluid-fabric.h"
#include "ns3/node-container.h"

#include <vector>

namespace ns3
{

/** The result of ClusterHelper::Install: a fabric, and a Node for each server on it. */
class ClusterContainer
{
  public:
    /** An empty container. */
    ClusterContainer() = default;

    /**
     * @param fabric the fabric
     * @param servers the servers' nodes, by number
     */
    ClusterContainer(Ptr<FluidFabric> fabric, const NodeContainer& servers);

    /** The fabric that connects the servers. Aborts if the container is empty. */
    Ptr<FluidFabric> GetFabric() const;

    /** The servers' nodes, by number. */
    const NodeContainer& GetServers() const
    {
        return m_servers;
    }

    /** The number of GPUs of the cluster. */
    uint32_t GetNGpus() const
    {
        return m_servers.GetN() * GetNGpusPerServer();
    }

    /** The number of GPUs of each server. */
    uint32_t GetNGpusPerServer() const;

    /**
     * The number of a GPU in the cluster, as used by flows and jobs. Aborts if there is no such
     * GPU.
     * @param local number of the GPU within the server
     */
    uint32_t GetGpu(uint32_t server, uint32_t local) const;

    /** The numbers of all GPUs of consecutive servers, server by server. */
    std::vector<uint32_t> GetGpus(uint32_t first, uint32_t servers) const;

    /** The numbers of all GPUs of the cluster. */
    std::vector<uint32_t> GetGpus() const;

  private:
    Ptr<FluidFabric> m_fabric; //!< connects the servers
    NodeContainer m_servers;   //!< by number
};

} // namespace ns3

#endif // WEIR_HELPER_CLUSTER_CONTAINER_H

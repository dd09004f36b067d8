// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_HELPER_CLUSTER_CONTAINER_H
#define WEIR_HELPER_CLUSTER_CONTAINER_H

#include "ns3/fluid-fabric.h"
#include "ns3/node-container.h"

#include <vector>

namespace ns3
{

/** What ClusterHelper has installed: a fabric, and a Node for each server on it. */
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

    /**
     * The fabric that joins the servers.
     * @return the fabric
     */
    Ptr<FluidFabric> GetFabric() const;

    /**
     * The servers' nodes, by number.
     * @return the nodes
     */
    const NodeContainer& GetServers() const;

    /**
     * How many GPUs the cluster has.
     * @return the count
     */
    uint32_t GetNGpus() const;

    /**
     * How many GPUs each server has.
     * @return the count
     */
    uint32_t GetNGpusPerServer() const;

    /**
     * The number of a GPU among all of the cluster, as flows and jobs count them.
     * @param server number of the server
     * @param local number of the GPU within the server
     * @return the number
     */
    uint32_t GetGpu(uint32_t server, uint32_t local) const;

    /**
     * The numbers of all GPUs of some servers, server after server.
     * @param first number of the first server
     * @param servers how many servers
     * @return the numbers
     */
    std::vector<uint32_t> GetGpus(uint32_t first, uint32_t servers) const;

    /**
     * The numbers of all GPUs of the cluster.
     * @return the numbers
     */
    std::vector<uint32_t> GetGpus() const;

  private:
    Ptr<FluidFabric> m_fabric; //!< what joins the servers
    NodeContainer m_servers;   //!< by number
};

} // namespace ns3

#endif // WEIR_HELPER_CLUSTER_CONTAINER_H

// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_CLUSTER_H
#define WEIR_FABRIC_CLUSTER_H

#include "fabric/ids.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/topology/topology.h"

#include <vector>

namespace weir
{

/**
 * A wired cluster: the topology and the devices of its GPUs and NICs.
 *
 * GPUs are numbered node by node: GpuId(node * gpusPerNode + local). The rail of a NIC is its
 * number within its node.
 */
class Cluster
{
  public:
    /**
     * Wires @p spec.
     * @throws std::invalid_argument if @p spec cannot be wired; the message names the field and the
     *         reason.
     */
    explicit Cluster(ClusterSpec spec);

    /**
     * A cluster of hosts and switches, without nodes and GPUs.
     * @param fabric only the routing is used
     */
    Cluster(Topology topology, FabricSpec fabric);

    const ClusterSpec& GetSpec() const
    {
        return m_spec;
    }

    const Topology& GetTopology() const
    {
        return m_topology;
    }

    uint32_t NodeCount() const
    {
        return m_spec.nodes;
    }

    uint32_t GpusPerNode() const
    {
        return m_spec.node.gpus;
    }

    uint32_t NicsPerNode() const
    {
        return m_spec.node.nics;
    }

    uint32_t GpuCount() const
    {
        return NodeCount() * GpusPerNode();
    }

    uint32_t NodeOf(GpuId gpu) const
    {
        return gpu.Index() / GpusPerNode();
    }

    uint32_t LocalIndexOf(GpuId gpu) const
    {
        return gpu.Index() % GpusPerNode();
    }

    DeviceId GpuDevice(GpuId gpu) const
    {
        return m_gpus[gpu.Index()];
    }

    DeviceId NicDevice(uint32_t node, uint32_t nic) const
    {
        return m_nics[node * NicsPerNode() + nic];
    }

    /**
     * All NICs of a GPU's node, by number within it: nearest by PCIe first, then ascending. GPUs
     * that share their nearest NICs start with different ones, so with one NIC per GPU the first is
     * the NIC of the GPU's own rail.
     */
    const std::vector<uint32_t>& NearestNics(uint32_t localGpu) const
    {
        return m_nearestNics[localGpu];
    }

  private:
    ClusterSpec m_spec;
    Topology m_topology;
    std::vector<DeviceId> m_gpus;                     //!< by GpuId
    std::vector<DeviceId> m_nics;                     //!< by node * nics + nic
    std::vector<std::vector<uint32_t>> m_nearestNics; //!< by local GPU
};

} // namespace weir

#endif // WEIR_FABRIC_CLUSTER_H

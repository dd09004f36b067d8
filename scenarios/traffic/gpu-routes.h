// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TRAFFIC_GPU_ROUTES_H
#define WEIR_SCENARIOS_TRAFFIC_GPU_ROUTES_H

#include "collectives/channels/connection.h"

#include <cstdint>

namespace weir
{

/**
 * Routes of plain flows between GPUs.
 *
 * Between nodes a flow takes what RDMA from GPU memory takes: PCIe to the GPU's own (nearest) NIC,
 * the network from there to the receiver's own NIC (another rail is reached over the spines), PCIe
 * to the receiver; no GPU forwards for another. Inside a node it takes NVLink, or PCIe where there
 * is none.
 */
class GpuRoutes
{
  public:
    /** Both must outlive it. */
    GpuRoutes(const Cluster& cluster, Routing& routing);

    /**
     * @param queuePair what ECMP hashes besides the NICs
     * @throws std::runtime_error when no path joins them.
     */
    RouteId Find(GpuId from, GpuId to, uint32_t queuePair);

    /**
     * The rate at which a GPU reaches the network: an equal part of what its node's NICs send; in a
     * node without NICs what its own links send.
     */
    Rate NetworkRateOf(GpuId gpu) const;

  private:
    Connector m_connector;
};

} // namespace weir

#endif // WEIR_SCENARIOS_TRAFFIC_GPU_ROUTES_H

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
 * Between nodes a flow takes the path of GPUDirect RDMA: PCIe to the GPU's own (nearest) NIC, the
 * network to the receiver's own NIC (another rail is reached over the spines), PCIe to the
 * receiver; no intermediate GPU relays it. Inside a node it takes NVLink, or PCIe where there is no
 * NVLink.
 */
class GpuRoutes
{
  public:
    /** Both arguments must outlive the object. */
    GpuRoutes(const Cluster& cluster, Routing& routing);

    /**
     * @param queuePair hashed by ECMP in addition to the NICs
     * @throws std::runtime_error when no path connects the GPUs.
     */
    RouteId Find(GpuId from, GpuId to, uint32_t queuePair);

    /**
     * The rate at which a GPU reaches the network: an equal share of the sending rate of its node's
     * NICs. In a node without NICs it is the sending rate of the GPU's own links.
     */
    Rate NetworkRateOf(GpuId gpu) const;

  private:
    Connector m_connector;
};

} // namespace weir

#endif // WEIR_SCENARIOS_TRAFFIC_GPU_ROUTES_H

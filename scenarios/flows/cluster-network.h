// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_FLOWS_CLUSTER_NETWORK_H
#define WEIR_SCENARIOS_FLOWS_CLUSTER_NETWORK_H

#include "fabric/fabric.h"
#include "scenarios/flows/flow-network.h"
#include "scenarios/traffic/gpu-routes.h"

namespace weir
{

/**
 * A system of the catalogue as a network for flows: end points are GPUs, counted node by node, and
 * flows take the paths of GpuRoutes. Ties in the network are broken by the hash of NICs and ports,
 * as the system's routing says.
 */
class ClusterNetwork : public FlowNetwork
{
  public:
    /**
     * @param packets how they move; nothing: bytes are a fluid
     * @throws std::invalid_argument when @p spec cannot be wired.
     */
    explicit ClusterNetwork(const ClusterSpec& spec,
                            std::optional<PacketSpec> packets = {},
                            const SharingSpec& sharing = {});

    const char* EndPointName() const override;
    std::size_t EndPointCount() const override;
    std::string WhyNoEndPoint(int64_t node) const override;
    std::vector<uint32_t> EndPoints() const override;
    TrafficEndPoint EndPointAt(uint32_t node) const override;
    RouteId FindRoute(uint32_t source, uint32_t destination, const FlowPorts& ports) override;
    Simulation& GetSimulation() override;

  private:
    Simulation m_simulation;
    GpuRoutes m_routes;
};

} // namespace weir

#endif // WEIR_SCENARIOS_FLOWS_CLUSTER_NETWORK_H

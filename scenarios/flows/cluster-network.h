// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_FLOWS_CLUSTER_NETWORK_H
#define WEIR_SCENARIOS_FLOWS_CLUSTER_NETWORK_H

#include "collectives/channels/connection.h"
#include "fabric/fabric.h"
#include "scenarios/flows/flow-network.h"

namespace weir
{

/**
 * A system of the catalogue as a network for flows: end points are GPUs, counted node by node.
 *
 * Between nodes a flow takes what RDMA from GPU memory takes: PCIe to the GPU's own (nearest) NIC,
 * the network from there to the receiver's own NIC (another rail is reached over the spines), PCIe
 * to the receiver; no GPU forwards for another. Inside a node it takes NVLink, or PCIe where there
 * is none. Ties in the network are broken by the hash of NICs and ports, as the system's routing
 * says.
 */
class ClusterNetwork : public FlowNetwork
{
  public:
    /**
     * @param packets how they move; nothing: bytes are a fluid
     * @throws std::invalid_argument when @p spec cannot be wired.
     */
    explicit ClusterNetwork(const ClusterSpec& spec, std::optional<PacketSpec> packets = {});

    const char* EndPointName() const override;
    std::size_t EndPointCount() const override;
    std::string WhyNoEndPoint(int64_t node) const override;
    RouteId FindRoute(uint32_t source, uint32_t destination, const FlowPorts& ports) override;
    Simulation& GetSimulation() override;

  private:
    Simulation m_simulation;
    Connector m_connector;
};

} // namespace weir

#endif // WEIR_SCENARIOS_FLOWS_CLUSTER_NETWORK_H

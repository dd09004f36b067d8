// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_FLOWS_HPCC_NETWORK_H
#define WEIR_SCENARIOS_FLOWS_HPCC_NETWORK_H

#include "fabric/fabric.h"
#include "fabric/topology/cluster-spec.h"
#include "scenarios/flows/flow-network.h"

namespace weir
{

/**
 * The network of an HPCC topology file: end points are its hosts, by the file's node numbers.
 *
 * A flow takes a shortest path by hops. Among equal-cost paths switches choose according to the
 * routing: by the hash of the flow's addresses, ports and priority group, by load when it starts,
 * or for each packet.
 */
class HpccNetwork : public FlowNetwork
{
  public:
    /**
     * @param topology with hosts and switches as ReadHpccTopology numbers them
     * @param fabric of which routing, hash seed and flowlet gap are used; the seed changes the
     *        choice among equal-cost paths
     */
    HpccNetwork(Topology topology, const FabricSpec& fabric, TransportSpec transport = {});

    /** As above with ECMP. */
    HpccNetwork(Topology topology, uint64_t hashSeed);

    const char* EndPointName() const override;
    std::size_t EndPointCount() const override;
    std::string WhyNoEndPoint(int64_t node) const override;
    std::vector<uint32_t> EndPoints() const override;
    TrafficEndPoint EndPointAt(uint32_t node) const override;
    RouteId FindRoute(uint32_t source, uint32_t destination, const FlowPorts& ports) override;
    Simulation& GetSimulation() override;

  private:
    Simulation m_simulation;
    std::size_t m_hosts{0};
};

} // namespace weir

#endif // WEIR_SCENARIOS_FLOWS_HPCC_NETWORK_H

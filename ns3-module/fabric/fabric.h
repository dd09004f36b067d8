// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_FABRIC_H
#define WEIR_FABRIC_FABRIC_H

#include "fabric/routing/routing.h"
#include "fabric/topology/cluster.h"
#include "fabric/transport/transport-spec.h"
#include "fabric/transport/transport.h"

#include <memory>

namespace weir
{

/**
 * Creates the transport of @p spec over @p routing, which must outlive it.
 * @throws std::invalid_argument as PacketTransport and HybridTransport.
 */
std::unique_ptr<Transport> MakeTransport(Routing& routing, TransportSpec spec);

/**
 * A wired cluster, its routing and its transport: the state that all flows and jobs of a run share.
 */
class Fabric
{
  public:
    /**
     * Builds the topology of @p spec and the transport on it (see MakeTransport).
     * @throws std::invalid_argument as Cluster and MakeTransport do.
     */
    explicit Fabric(ClusterSpec spec, TransportSpec transport = {});

    /**
     * Builds the transport on a topology of hosts and switches, without GPU nodes.
     * @throws std::invalid_argument as MakeTransport does.
     */
    Fabric(Topology topology, FabricSpec fabric, TransportSpec transport = {});
    ~Fabric();
    Fabric(const Fabric&) = delete;
    Fabric& operator=(const Fabric&) = delete;

    const Cluster& GetCluster() const
    {
        return m_cluster;
    }

    Routing& GetRouting()
    {
        return m_routing;
    }

    Transport& GetTransport()
    {
        return *m_transport;
    }

    const Transport& GetTransport() const
    {
        return *m_transport;
    }

    /**
     * The route request of a flow between two devices. Between GPUs of different nodes the flow
     * takes the NICs nearest to them; within a node it takes NVLink if NVLink connects the two, and
     * PCIe otherwise. The caller sets the ports of the tuple.
     */
    RouteRequest RequestBetween(DeviceId source, DeviceId destination);

  private:
    Cluster m_cluster;
    Routing m_routing;
    std::unique_ptr<Transport> m_transport;
};

} // namespace weir

#endif // WEIR_FABRIC_FABRIC_H

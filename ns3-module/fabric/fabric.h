// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_FABRIC_H
#define WEIR_FABRIC_FABRIC_H

#include "fabric/routing/routing.h"
#include "fabric/topology/cluster.h"
#include "fabric/transport/make-transport.h"
#include "fabric/transport/transport.h"

#include <memory>

namespace weir
{

/** A wired cluster with what moves bytes on it: everything that a run of flows or jobs shares. */
class Fabric
{
  public:
    /**
     * Wires @p spec and puts a transport on it, as MakeTransport.
     * @throws std::invalid_argument as Cluster and MakeTransport.
     */
    explicit Fabric(ClusterSpec spec, TransportSpec transport = {});

    /** On hosts and switches without nodes. @throws std::invalid_argument as MakeTransport. */
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
     * What a flow between two devices asks of routing: between GPUs of different nodes it goes over
     * the NICs nearest to them, inside a node over NVLink where that joins them, else over PCIe.
     * The tuple's ports are the caller's.
     */
    RouteRequest RequestBetween(DeviceId source, DeviceId destination);

  private:
    Cluster m_cluster;
    Routing m_routing;
    std::unique_ptr<Transport> m_transport;
};

} // namespace weir

#endif // WEIR_FABRIC_FABRIC_H

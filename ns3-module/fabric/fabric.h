// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_FABRIC_H
#define WEIR_FABRIC_FABRIC_H

#include "fabric/routing/path-table.h"
#include "fabric/routing/router.h"
#include "fabric/topology/cluster.h"
#include "fabric/transport/transport.h"

#include <memory>

namespace weir
{

/** A wired cluster with what moves bytes on it: everything that a run of flows or jobs shares. */
class Fabric
{
  public:
    /**
     * Wires @p spec and puts a fluid transport on it.
     * @throws std::invalid_argument as Cluster.
     */
    explicit Fabric(ClusterSpec spec);
    Fabric(const Fabric&) = delete;
    Fabric& operator=(const Fabric&) = delete;

    const Cluster& GetCluster() const
    {
        return m_cluster;
    }

    PathTable& Paths()
    {
        return m_paths;
    }

    Router& GetRouter()
    {
        return m_router;
    }

    Transport& GetTransport()
    {
        return *m_transport;
    }

  private:
    Cluster m_cluster;
    PathTable m_paths;
    Router m_router;
    std::unique_ptr<Transport> m_transport;
};

} // namespace weir

#endif // WEIR_FABRIC_FABRIC_H

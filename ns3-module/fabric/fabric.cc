// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/fabric.h"

#include "fabric/transport/fluid/load-balancing-transport.h"

#include <utility>

namespace weir
{

Fabric::Fabric(ClusterSpec spec)
    : m_cluster(std::move(spec)),
      m_paths(m_cluster.GetTopology()),
      m_router(m_cluster.GetTopology(),
               m_cluster.GetSpec().fabric.routing,
               m_cluster.GetSpec().fabric.hashSeed),
      m_transport(MakeFluidTransport(m_paths, m_router, m_cluster.GetSpec().fabric))
{
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/topology/cluster.h"

#include "fabric/nodes/node-wiring.h"
#include "fabric/parameters/parameter-visitor.h"
#include "fabric/refuse.h"

#include <utility>

namespace weir
{

Cluster::Cluster(ClusterSpec spec)
    : m_spec(std::move(spec))
{
    WEIR_REFUSE_IF(m_spec.nodes == 0, "nodes: 0, expected at least 1");
    CheckNodeSpec(m_spec.node);
    for (uint32_t node = 0; node < m_spec.nodes; node++)
    {
        const NodeDevices devices = WireNode(m_topology, m_spec.node, node);
        m_gpus.insert(m_gpus.end(), devices.gpus.begin(), devices.gpus.end());
        m_nics.insert(m_nics.end(), devices.nics.begin(), devices.nics.end());
    }
    m_nearestNics = NearestNicsByGpu(m_spec.node);
    CheckRanges(*m_spec.fabric.kind, "fabric");
    m_spec.fabric.kind->Wire(m_topology, m_spec, m_nics);
}

Cluster::Cluster(Topology topology, FabricSpec fabric)
    : m_topology(std::move(topology))
{
    m_spec.nodes = 0;
    m_spec.fabric = std::move(fabric);
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/topology/cluster.h"

#include "fabric/kinds/dimensions.h"
#include "fabric/kinds/dragonfly.h"
#include "fabric/kinds/fat-tree.h"
#include "fabric/kinds/graph-fabric.h"
#include "fabric/kinds/leaf-spine.h"
#include "fabric/kinds/rail-optimized.h"
#include "fabric/nodes/node-wiring.h"

#include <stdexcept>
#include <utility>

namespace weir
{

Cluster::Cluster(ClusterSpec spec)
    : m_spec(std::move(spec))
{
    if (m_spec.nodes == 0)
    {
        throw std::invalid_argument("nodes: 0, expected at least 1");
    }
    CheckNodeSpec(m_spec.node);
    for (uint32_t node = 0; node < m_spec.nodes; node++)
    {
        const NodeDevices devices = WireNode(m_topology, m_spec.node, node);
        m_gpus.insert(m_gpus.end(), devices.gpus.begin(), devices.gpus.end());
        m_nics.insert(m_nics.end(), devices.nics.begin(), devices.nics.end());
    }
    m_nearestNics = NearestNicsByGpu(m_spec.node);
    switch (m_spec.fabric.kind)
    {
    case FabricKind::None:
        break;
    case FabricKind::RailOptimized:
        WireRailOptimized(m_topology, m_spec, m_nics);
        break;
    case FabricKind::LeafSpine:
        WireLeafSpine(m_topology, m_spec, m_nics);
        break;
    case FabricKind::FatTree:
        WireFatTree(m_topology, m_spec, m_nics);
        break;
    case FabricKind::Dragonfly:
        WireDragonfly(m_topology, m_spec, m_nics);
        break;
    case FabricKind::DragonflyPlus:
        WireDragonflyPlus(m_topology, m_spec, m_nics);
        break;
    case FabricKind::Torus:
        WireTorus(m_topology, m_spec, m_nics);
        break;
    case FabricKind::Dimensions:
        WireDimensions(m_topology, m_spec, m_nics);
        break;
    case FabricKind::Graph:
        WireGraph(m_topology, m_spec, m_nics);
        break;
    }
}

} // namespace weir

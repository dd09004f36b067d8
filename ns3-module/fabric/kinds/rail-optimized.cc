// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/kinds/rail-optimized.h"

#include "fabric/kinds/switch-layers.h"
#include "fabric/topology/cluster-spec.h"

#include <algorithm>

namespace weir
{

const char*
RailOptimized::Name() const
{
    return "rail-optimized";
}

const char*
RailOptimized::Description() const
{
    return "Leaf r of a group takes NIC r of every node in it; spines join leaves.";
}

void
RailOptimized::Wire(Topology& topology,
                    const ClusterSpec& spec,
                    const std::vector<DeviceId>& nics) const
{
    CheckLeaf(spec);
    const uint32_t rails = spec.node.nics;
    const uint32_t groupNodes = std::min(spec.nodes, DownPorts(spec, 1));
    const uint32_t groups = (spec.nodes + groupNodes - 1) / groupNodes;
    const auto leaves = AddSwitches(topology, DeviceKind::LeafSwitch, "leaf", 0, groups * rails);
    for (std::size_t nic = 0; nic < nics.size(); nic++)
    {
        const std::size_t group = nic / rails / groupNodes;
        const DeviceId leaf = leaves[group * rails + nic % rails];
        topology.AddDuplexLink(nics[nic], leaf, LinkKind::Network, spec.node.nic);
    }
    JoinBySpines(topology, spec, leaves, groupNodes);
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/kinds/leaf-spine.h"

#include "fabric/kinds/switch-layers.h"
#include "fabric/topology/cluster-spec.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace weir
{

const char*
LeafSpine::Name() const
{
    return "leaf-spine";
}

const char*
LeafSpine::Description() const
{
    return "Leaves take whole nodes; spines join leaves.";
}

void
LeafSpine::Wire(Topology& topology,
                const ClusterSpec& spec,
                const std::vector<DeviceId>& nics) const
{
    CheckLeaf(spec);
    const uint32_t down = DownPorts(spec, spec.node.nics);
    if (down == 0)
    {
        throw std::invalid_argument("fabric.leafRadix: " + std::to_string(leafRadix) +
                                    " ports, which leave room for " +
                                    std::to_string(DownPorts(spec, 1)) +
                                    " NICs beside the uplinks, expected room for the " +
                                    std::to_string(spec.node.nics) + " of a node (node.nics)");
    }
    const uint32_t leafNodes = std::min(spec.nodes, down / spec.node.nics);
    const uint32_t leafNics = leafNodes * spec.node.nics;
    const uint32_t count = (spec.nodes + leafNodes - 1) / leafNodes;
    const auto leaves = AddSwitches(topology, DeviceKind::LeafSwitch, "leaf", 0, count);
    for (std::size_t nic = 0; nic < nics.size(); nic++)
    {
        topology.AddDuplexLink(nics[nic], leaves[nic / leafNics], LinkKind::Network, spec.node.nic);
    }
    JoinBySpines(topology, spec, leaves, leafNics);
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TOPOLOGY_NODE_LAYOUT_H
#define WEIR_SCENARIOS_TOPOLOGY_NODE_LAYOUT_H

#include "fabric/topology/cluster-spec.h"
#include "scenarios/topology/svg-canvas.h"

#include <map>
#include <string>

namespace weir
{

/**
 * Positions of the devices of one node: NIC ports on top, then the PCIe tree with the sockets among
 * their switches, GPUs below, NVSwitches at the bottom. Devices attached to the same parent are
 * adjacent.
 */
struct NodeLayout
{
    std::map<std::string, SvgPoint> positions; //!< by device name in the node, "gpu0"
    double width{0};
    double height{0};
};

NodeLayout LayOutNode(const NodeSpec& spec);

} // namespace weir

#endif // WEIR_SCENARIOS_TOPOLOGY_NODE_LAYOUT_H

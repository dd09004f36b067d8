// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TOPOLOGY_NODE_LAYOUT_H
#define WEIR_SCENARIOS_TOPOLOGY_NODE_LAYOUT_H

#include "fabric/topology/cluster-spec.h"
#include "fabric/topology/topology.h"
#include "scenarios/topology/svg-canvas.h"

#include <map>
#include <string>

namespace weir
{

/**
 * Where the devices of one node are drawn: NIC ports on top, then the PCIe tree with sockets among
 * their switches, GPUs below, NVSwitches at the bottom. What is attached together stands together.
 */
struct NodeLayout
{
    std::map<std::string, SvgPoint> places; //!< by device name without the node, "gpu0"
    double width{0};
    double height{0};
};

NodeLayout LayOutNode(const NodeSpec& spec);

} // namespace weir

#endif // WEIR_SCENARIOS_TOPOLOGY_NODE_LAYOUT_H

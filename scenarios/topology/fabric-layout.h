// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TOPOLOGY_FABRIC_LAYOUT_H
#define WEIR_SCENARIOS_TOPOLOGY_FABRIC_LAYOUT_H

#include "fabric/kinds/fabric-sketch.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/topology/topology.h"
#include "scenarios/topology/svg-canvas.h"

#include <map>
#include <string>
#include <vector>

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

/** A switch between nodes, and what is written on it. */
struct PlacedSwitch
{
    DeviceId device;
    SvgPoint at; //!< its centre
    std::string word;
};

/** A box around switches that belong together. */
struct PlacedFrame
{
    SvgPoint corner;
    double width{0};
    double height{0};
    std::string word;
};

/**
 * Where the switches between nodes are drawn, the field's upper left corner being the origin: tiers
 * one above the other, groups side by side, so that links within and between them are arcs above
 * them, and the panels of a grid in a square.
 */
struct FabricLayout
{
    std::vector<PlacedSwitch> switches;
    std::vector<PlacedFrame> frames;
    double width{0};
    double height{0};
};

constexpr double SWITCH_WIDTH = 64; //!< pixels, of a switch's box
constexpr double SWITCH_HEIGHT = 20;

/** @param minWidth tiers are spread over no less. */
FabricLayout LayOutFabric(const FabricSketch& sketch, const Topology& topology, double minWidth);

} // namespace weir

#endif // WEIR_SCENARIOS_TOPOLOGY_FABRIC_LAYOUT_H

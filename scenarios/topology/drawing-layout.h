// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TOPOLOGY_DRAWING_LAYOUT_H
#define WEIR_SCENARIOS_TOPOLOGY_DRAWING_LAYOUT_H

#include "fabric/kinds/fabric-sketch.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/topology/topology.h"
#include "scenarios/topology/svg-canvas.h"

#include <map>
#include <string>
#include <vector>

namespace weir
{

/** A switch between nodes with its label. */
struct PositionedSwitch
{
    DeviceId device;
    SvgPoint at; //!< its center
    std::string word;
};

/** A box around a group of switches. */
struct PositionedFrame
{
    SvgPoint corner;
    double width{0};
    double height{0};
    std::string word;
};

/**
 * Positions of the switches between nodes, relative to the upper left corner of the fabric's area:
 * tiers stacked vertically; groups side by side, with links within and between them as arcs above;
 * panels of a grid in a square.
 */
struct FabricLayout
{
    std::vector<PositionedSwitch> switches;
    std::vector<PositionedFrame> frames;
    double width{0};
    double height{0};
};

constexpr double SWITCH_WIDTH = 64; //!< pixels, width of a switch's box
constexpr double SWITCH_HEIGHT = 20;

/** @param minWidth minimum width over which tiers are spread, in pixels */
FabricLayout LayOutFabric(const FabricSketch& sketch, const Topology& topology, double minWidth);

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

#endif // WEIR_SCENARIOS_TOPOLOGY_DRAWING_LAYOUT_H

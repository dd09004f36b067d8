// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TOPOLOGY_FABRIC_LAYOUT_H
#define WEIR_SCENARIOS_TOPOLOGY_FABRIC_LAYOUT_H

#include "fabric/topology/cluster.h"
#include "scenarios/topology/svg-canvas.h"

#include <string>
#include <vector>

namespace weir
{

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
 * Where the switches between nodes are drawn, the field's upper left corner being the origin.
 *
 * Clos networks and graphs stand in tiers, the switches nearest to NICs lowest; the groups of a
 * dragonfly side by side, so that its local and global links are arcs above them; the routers of a
 * torus or of dimensions in a grid of the first two dimensions, a panel for each place in the
 * others.
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

/** @param leastWidth tiers are spread over no less. */
FabricLayout LayOutFabric(const Cluster& cluster, double leastWidth);

} // namespace weir

#endif // WEIR_SCENARIOS_TOPOLOGY_FABRIC_LAYOUT_H

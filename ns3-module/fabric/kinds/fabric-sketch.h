// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_FABRIC_SKETCH_H
#define WEIR_FABRIC_FABRIC_SKETCH_H

#include "fabric/ids.h"
#include "fabric/topology/topology.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * The relative positions of the switches between nodes in a drawing, as plain data: rows and
 * columns, not pixels.
 */
namespace weir
{

/** The layout of a sketch. */
enum class SketchStyle : uint8_t
{
    Tiers,  //!< one part; rows from the switches farthest from NICs down to the nearest
    Groups, //!< framed parts side by side, each with its own tiers
    Grid    //!< panels of rows and columns
};

/** A switch between nodes and its position. */
struct SketchedSwitch
{
    DeviceId device;
    std::string label; //!< text on the switch
    uint32_t part{0};  //!< index of its group or panel
    uint32_t row{0};
    uint32_t column{0};    //!< in a grid; in tiers the list order applies
    bool isBetween{false}; //!< in a grid: drawn among its neighbors, not in its own cell
};

struct FabricSketch
{
    SketchStyle style{SketchStyle::Tiers};
    std::vector<SketchedSwitch> switches;
};

/** The switches between nodes, ascending by id. */
std::vector<DeviceId> NetworkSwitches(const Topology& topology);

/** Cores above spines above leaves. */
FabricSketch SketchByKind(const Topology& topology);

/**
 * Tiers by the minimum number of network links to a NIC; switches that reach no NIC are omitted.
 */
FabricSketch SketchByDistance(const Topology& topology);

} // namespace weir

#endif // WEIR_FABRIC_FABRIC_SKETCH_H

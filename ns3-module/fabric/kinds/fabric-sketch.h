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
 * How the switches between nodes stand to each other in a drawing, as plain data: rows and columns,
 * no pixels.
 */
namespace weir
{

/** What the parts of a sketch are. */
enum class SketchStyle : uint8_t
{
    Tiers,  //!< one part, rows from the switches farthest from NICs down to the nearest
    Groups, //!< parts side by side, each with tiers of its own and a frame around it
    Grid    //!< parts are panels of rows and columns
};

/** A switch between nodes, and where it stands. */
struct SketchedSwitch
{
    DeviceId device;
    std::string label; //!< what is written on it
    uint32_t part{0};  //!< the number of its group or panel
    uint32_t row{0};
    uint32_t column{0};    //!< in a grid; in tiers they stand in the order of the list
    bool isBetween{false}; //!< in a grid: amid the switches that it joins, not in a cell of its own
};

struct FabricSketch
{
    SketchStyle style{SketchStyle::Tiers};
    std::vector<SketchedSwitch> switches;
};

/** The switches between nodes, in the order of their ids. */
std::vector<DeviceId> NetworkSwitches(const Topology& topology);

/** Cores above spines above leaves. */
FabricSketch SketchByKind(const Topology& topology);

/** Tiers by the least number of network links to a NIC; what reaches none is left out. */
FabricSketch SketchByDistance(const Topology& topology);

} // namespace weir

#endif // WEIR_FABRIC_FABRIC_SKETCH_H

// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TOPOLOGY_TOPOLOGY_STYLE_H
#define WEIR_SCENARIOS_TOPOLOGY_TOPOLOGY_STYLE_H

#include "fabric/topology/topology.h"
#include "fabric/units.h"

#include <string>

/**
 * @file
 * How drawings of topologies look: a color for each kind of link and device, a width for each
 * rate.
 */
namespace weir
{

constexpr double MARGIN = 24;     //!< around what is drawn, pixels
constexpr double BOX_HEIGHT = 20; //!< of a device in a node, pixels

const char* ColorOf(LinkKind kind);
const char* FillOf(DeviceKind kind);

/** In pixels: as the square root of the rate. */
double LineWidth(Rate rate);

/** What GPUs are called: their model, of a file its name without folder and ending. */
std::string GpuWord(const std::string& gpuModel);

/** "51.2 GB/s". */
std::string RateWord(Rate rate);

} // namespace weir

#endif // WEIR_SCENARIOS_TOPOLOGY_TOPOLOGY_STYLE_H

// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TOPOLOGY_DRAW_TOPOLOGY_H
#define WEIR_SCENARIOS_TOPOLOGY_DRAW_TOPOLOGY_H

#include "fabric/topology/cluster-spec.h"

#include <string>

namespace weir
{

/**
 * Draws a cluster as SVG: the switches between nodes on top, by tier; below them the first node
 * with its devices and the other nodes as boxes with their ports; direct NVLinks in a separate
 * panel. The width of a line is proportional to the square root of its payload rate. Links that
 * differ from most of their kind are labeled with their rate.
 */
std::string DrawTopology(const ClusterSpec& cluster);

} // namespace weir

#endif // WEIR_SCENARIOS_TOPOLOGY_DRAW_TOPOLOGY_H

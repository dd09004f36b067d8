// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TOPOLOGY_DRAW_TOPOLOGY_H
#define WEIR_SCENARIOS_TOPOLOGY_DRAW_TOPOLOGY_H

#include "fabric/topology/cluster-spec.h"

#include <string>

namespace weir
{

/**
 * A cluster as an SVG picture: the switches between nodes on top, tier by tier; below them the
 * first node with all it holds, the others as boxes with their ports; direct NVLinks in a panel of
 * their own. A line is as wide as the square root of its payload rate; links unlike most of their
 * kind carry their rate.
 * @throws std::invalid_argument when @p cluster cannot be wired.
 */
std::string DrawTopology(const ClusterSpec& cluster);

} // namespace weir

#endif // WEIR_SCENARIOS_TOPOLOGY_DRAW_TOPOLOGY_H

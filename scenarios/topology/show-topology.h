// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TOPOLOGY_SHOW_TOPOLOGY_H
#define WEIR_SCENARIOS_TOPOLOGY_SHOW_TOPOLOGY_H

#include "fabric/topology/cluster-spec.h"

#include <string>

namespace weir
{

/**
 * Describes a cluster for the terminal: the device tree of its first node with the payload rate of
 * every slot, its NVLinks, the paths between GPUs and NICs in nvidia-smi's terms (NV#, PIX, PXB,
 * PHB, SYS), and the fabric: switches by tier and the links between them.
 * @throws std::invalid_argument when the cluster cannot be wired.
 */
std::string DescribeTopology(const ClusterSpec& cluster);

/**
 * Draws a cluster as SVG: the switches between nodes on top, by tier; below them the first node
 * with its devices and the other nodes as boxes with their ports; direct NVLinks in a separate
 * panel. The width of a line is proportional to the square root of its payload rate. Links that
 * differ from most of their kind are labeled with their rate.
 */
std::string DrawTopology(const ClusterSpec& cluster);

} // namespace weir

#endif // WEIR_SCENARIOS_TOPOLOGY_SHOW_TOPOLOGY_H

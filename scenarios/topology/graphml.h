// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TOPOLOGY_GRAPHML_H
#define WEIR_SCENARIOS_TOPOLOGY_GRAPHML_H

#include "collectives/nccl/node-costs.h"
#include "fabric/topology/cluster-spec.h"

#include <string>

/**
 * @file
 * GraphML, as NetworkX, Boost.Graph and yEd read it: a directed graph whose nodes are devices
 * (`kind`, `node`, `index`; NICs also what their port is made of) and whose edges are links
 * (`kind`, `rateGBps` of payload, `latencyNs`, and the profile they are made of). One wire is two
 * edges.
 */
namespace weir
{

/** @p cluster as wired: all nodes and the fabric. @throws std::invalid_argument if it cannot be. */
std::string WriteGraphMl(const ClusterSpec& cluster);

/** Under which keys a graph has a cost, in its unit, and where that is from. */
std::string CostKey(const NodeCostFigure& figure);
std::string CostSourceKey(const NodeCostFigure& figure);

/**
 * What a file written by WriteGraphMl describes: its node 0, as many nodes as it has NICs for, and
 * its network as a fabric of kind graph, none where no links join NICs. Routing that only the kind
 * of fabric it was has becomes ECMP.
 * @throws InputError with the place of missing or unknown devices and data.
 */
ClusterSpec ReadGraphMl(const std::string& path);

} // namespace weir

#endif // WEIR_SCENARIOS_TOPOLOGY_GRAPHML_H

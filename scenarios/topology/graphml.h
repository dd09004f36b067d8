// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TOPOLOGY_GRAPHML_H
#define WEIR_SCENARIOS_TOPOLOGY_GRAPHML_H

#include "fabric/kinds/graph-fabric.h"
#include "fabric/topology/cluster-spec.h"
#include "scenarios/catalog.h"

#include <string>

/**
 * @file
 * GraphML, as NetworkX, Boost.Graph and yEd read it: a directed graph whose nodes are devices
 * (`device`, `node`, `index`) and whose edges are links (`link`, `profile`, `rateGBps` of payload,
 * `latencyNs`). A bidirectional link is two edges of the same rate and latency, or one edge of an
 * undirected graph. The graph's data `system` holds the node and link properties in the format of a
 * system file, with `kind: graph` for a fabric.
 */
namespace weir
{

/**
 * Writes @p cluster as wired: all nodes and the fabric.
 * @throws std::invalid_argument if it cannot be wired.
 */
std::string WriteGraphMl(const ClusterSpec& cluster);

/**
 * Reads a file written by WriteGraphMl: its `system`, as many nodes as its NICs require, and its
 * network as a fabric of kind graph, or none where no links connect NICs. A routing policy that
 * only the original fabric kind supports becomes ECMP.
 * @throws InputError with the location of missing or unknown devices and data.
 */
ClusterSpec ReadGraphMl(const std::string& path, const Catalog& catalog);

/**
 * Reads only the network: NICs or hosts, switches, and the links between them.
 * @throws InputError with the location of missing data, unknown or repeated ids, and links of one
 *         direction.
 */
NetworkGraph ReadGraphMlNetwork(const std::string& path);

} // namespace weir

#endif // WEIR_SCENARIOS_TOPOLOGY_GRAPHML_H

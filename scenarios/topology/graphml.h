// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TOPOLOGY_GRAPHML_H
#define WEIR_SCENARIOS_TOPOLOGY_GRAPHML_H

#include "fabric/kinds/network-graph.h"
#include "fabric/topology/cluster-spec.h"
#include "scenarios/catalog.h"

#include <string>

/**
 * @file
 * GraphML, as NetworkX, Boost.Graph and yEd read it: a directed graph whose nodes are devices
 * (`device`, `node`, `index`) and whose edges are links (`link`, `profile`, `rateGBps` of payload,
 * `latencyNs`). One wire is two edges. The graph's data `system` is what its nodes and links are
 * made of, as a system file has it, with `kind: graph` for a fabric.
 */
namespace weir
{

/** @p cluster as wired: all nodes and the fabric. @throws std::invalid_argument if it cannot be. */
std::string WriteGraphMl(const ClusterSpec& cluster);

/**
 * What a file written by WriteGraphMl describes: its `system`, as many nodes as it has NICs for,
 * and its network as a fabric of kind graph, none where no links join NICs. Routing that only the
 * kind of fabric it was has becomes ECMP.
 * @throws InputError with the place of missing or unknown devices and data.
 */
ClusterSpec ReadGraphMl(const std::string& path, const Catalog& catalog);

/** The network alone: NICs or hosts, switches, and the links between them. */
NetworkGraph ReadGraphMlNetwork(const std::string& path);

} // namespace weir

#endif // WEIR_SCENARIOS_TOPOLOGY_GRAPHML_H

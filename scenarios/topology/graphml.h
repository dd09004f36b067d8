// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TOPOLOGY_GRAPHML_H
#define WEIR_SCENARIOS_TOPOLOGY_GRAPHML_H

#include "fabric/cluster-spec.h"

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

/**
 * The node that a file written by WriteGraphMl describes: its node 0. The fabric is not read.
 * @throws InputError with the place of missing or unknown devices and data.
 */
NodeSpec ReadGraphMl(const std::string& path);

} // namespace weir

#endif // WEIR_SCENARIOS_TOPOLOGY_GRAPHML_H

// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TOPOLOGY_READ_GRAPH_H
#define WEIR_SCENARIOS_TOPOLOGY_READ_GRAPH_H

#include "fabric/kinds/graph-fabric.h"
#include "fabric/topology/link-profile.h"

#include <string>

namespace weir
{

/**
 * Reads a network of hosts and switches from a file; the file name extension selects the format:
 *  - .yaml, .yml: `switches` and `hosts`, each a list of names or a number (named switch0, host0,
 *    ...), and `links`, a list of [a, b], [a, b, RATE, LATENCY] or {between: [a, b], rate, latency,
 *    count}; top-level `rate` and `latency` are the defaults of the items; `source`;
 *  - .graphml: a file of WriteGraphMl; NICs become hosts, links between nodes become links;
 *  - any other: an HPCC topology (ReadHpccTopology).
 *
 * Rates of YAML and HPCC files are raw: the encoding, framing and measured share of @p profile
 * convert them to payload rates. Rates of GraphML are payload rates.
 * @throws InputError with the file and the location of the error.
 */
NetworkGraph ReadGraph(const std::string& path, const LinkProfile& profile);

/**
 * Whether a file has a graph by its extension, .graphml, or as YAML by its key `hosts`.
 * @throws InputError with the location of an error in YAML.
 */
bool IsGraph(const std::string& path);

} // namespace weir

#endif // WEIR_SCENARIOS_TOPOLOGY_READ_GRAPH_H

// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TOPOLOGY_READ_GRAPH_H
#define WEIR_SCENARIOS_TOPOLOGY_READ_GRAPH_H

#include "fabric/kinds/network-graph.h"
#include "fabric/topology/link-profile.h"

#include <string>

namespace weir
{

/**
 * A network of hosts and switches from a file, by its ending:
 *  - .yaml, .yml: `switches` and `hosts`, each a list of names or a number of them (named switch0,
 *    host0, ...), and `links`: items [a, b], [a, b, RATE, LATENCY] or {between: [a, b], rate,
 *    latency, count}; `rate` and `latency` beside them hold where an item has none; `source`;
 *  - .graphml: what WriteGraphMl writes: its NICs are the hosts, its links between nodes the wires;
 *  - any other: an HPCC topology (ReadHpccTopology).
 *
 * Rates of YAML and HPCC files are raw: payload is what the encoding, framing and measured share of
 * @p profile leave of them. Those of GraphML are payload.
 * @throws InputError with the file and place of what is wrong.
 */
NetworkGraph ReadGraph(const std::string& path, const LinkProfile& profile);

} // namespace weir

#endif // WEIR_SCENARIOS_TOPOLOGY_READ_GRAPH_H

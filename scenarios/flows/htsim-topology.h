// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_FLOWS_HTSIM_TOPOLOGY_H
#define WEIR_SCENARIOS_FLOWS_HTSIM_TOPOLOGY_H

#include "fabric/topology/topology.h"

#include <string>

namespace weir
{

/**
 * Reads a fat tree from htsim's `.topo` files (Broadcom's csg-htsim, Ultra Ethernet's uet-htsim),
 * keys in any case:
 *
 *     Nodes N        hosts, in pods of
 *     Podsize P      hosts each; with two tiers there is one pod
 *     Tiers 2|3
 *     Tier t         0: under the hosts; then, of switches of this tier and the links below them,
 *     Downlink_speed_Gbps, Downlink_Latency_ns, Switch_Latency_ns, Radix_Down, Radix_Up, Bundle
 *
 * A switch of tier 0 has Radix_Down hosts; its Radix_Up links go, in bundles of the next tier's
 * Bundle links, to the Radix_Up / Bundle upper switches of its pod. In the same manner each of
 * these has links to Radix_Up / Bundle core switches, which no other switch of its pod connects to.
 * Hosts are the devices 0 to N - 1. A switch delays its input by Switch_Latency_ns. `Queue_Down`,
 * `Queue_Up` and `Oversubscribed` are ignored: buffers are those of the packet transport.
 * @throws InputError "file:line: key: found ..., expected ...", also where radixes do not fit.
 */
Topology ReadHtsimTopology(const std::string& path);

} // namespace weir

#endif // WEIR_SCENARIOS_FLOWS_HTSIM_TOPOLOGY_H

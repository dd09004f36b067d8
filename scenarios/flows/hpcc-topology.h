// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_FLOWS_HPCC_TOPOLOGY_H
#define WEIR_SCENARIOS_FLOWS_HPCC_TOPOLOGY_H

#include "fabric/topology/topology.h"
#include "scenarios/scenario.h"

#include <string>
#include <vector>

namespace weir
{

/**
 * Reads a topology file of the HPCC simulator (SIGCOMM 2019), ConWeave, ns3-datacenter and
 * ASTRA-sim's ns-3 back end:
 *
 *     nodes switches links                 or, in ns3-datacenter: nodes switches tors links
 *     the ids of the switches              (on one or more lines; absent when there are none)
 *     src dst rate delay error_rate        one line per link, both directions
 *
 * Node n becomes the device of index n: LeafSwitch when listed, else Host; hosts do not forward. A
 * rate has a unit ("100Gbps") or is in bits per second ("25000000000.0"); a delay has a unit
 * ("0.001ms") or is in seconds. A repeated pair of nodes is a parallel link. Text after the last
 * link is a remark. The error rate is the fraction of packets that a link loses, in both
 * directions.
 * @param lossy gets an event for each direction of a link that loses packets; null: such links are
 *        refused
 * @throws InputError "file:line: field: found ..., expected ...".
 */
Topology ReadHpccTopology(const std::string& path, std::vector<EventSpec>* lossy = nullptr);

/**
 * The event that makes @p link lose the fraction @p part of its packets from the start.
 * @param where location for messages
 */
EventSpec LossOf(const Topology& topology, LinkId link, double part, const std::string& where);

} // namespace weir

#endif // WEIR_SCENARIOS_FLOWS_HPCC_TOPOLOGY_H

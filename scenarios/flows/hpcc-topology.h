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
 * Reads a topology file as the HPCC simulator (SIGCOMM 2019), ConWeave, ns3-datacenter and
 * ASTRA-sim's ns-3 back end do:
 *
 *     nodes switches links                 or, as ns3-datacenter: nodes switches tors links
 *     the ids of the switches              (maybe over several lines; absent when there are none)
 *     src dst rate delay error_rate        one line a link, both directions
 *
 * Node n becomes the device of index n: LeafSwitch when listed, else Host; hosts pass nothing on. A
 * rate has a unit ("100Gbps") or is in bits per second ("25000000000.0"); a delay has a unit
 * ("0.001ms") or is in seconds. The same two nodes twice are two links. Text after the last link is
 * a remark. An error rate is the part of its packets that a link loses, in both directions.
 * @param lossy gets an event for each direction of a link that loses packets; null: they are
 * refused
 * @throws InputError "file:line: field: found ..., expected ...".
 */
Topology ReadHpccTopology(const std::string& path, std::vector<EventSpec>* lossy = nullptr);

/** What makes @p link of @p topology lose this part of its packets from the beginning. */
EventSpec LossOf(const Topology& topology, LinkId link, double part, const std::string& where);

} // namespace weir

#endif // WEIR_SCENARIOS_FLOWS_HPCC_TOPOLOGY_H

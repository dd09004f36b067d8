// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_GRAPH_FABRIC_H
#define WEIR_FABRIC_GRAPH_FABRIC_H

#include "fabric/ids.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/topology/topology.h"

#include <vector>

namespace weir
{

/**
 * Joins the NICs by FabricSpec::graph. Where its hosts are NICs, a NIC takes its host's place and
 * wires, at the slower of its own rate and the wire's; where they are nodes, a host becomes a
 * switch that passes on what its node's NICs send, each at its own rate. Hosts that no NIC takes
 * stay hosts without a node.
 *
 * @param nics all NICs, by node * nicsPerNode + number.
 * @throws std::invalid_argument when there are fewer hosts than NICs (or nodes), a host has no
 *         wire, or the nodes are not joined.
 */
void WireGraph(Topology& topology, const ClusterSpec& spec, const std::vector<DeviceId>& nics);

} // namespace weir

#endif // WEIR_FABRIC_GRAPH_FABRIC_H

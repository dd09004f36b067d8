// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_LEAF_SPINE_H
#define WEIR_FABRIC_LEAF_SPINE_H

#include "fabric/ids.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/topology/topology.h"

#include <vector>

namespace weir
{

/**
 * Joins the nodes by leaves that take whole nodes: as many as the down ports of a leaf hold, all
 * NICs of a node on one leaf. Uplinks and spines are as in WireRailOptimized.
 *
 * @param nics all NICs, by node * nicsPerNode + number.
 * @throws std::invalid_argument when the numbers cannot be wired.
 */
void WireLeafSpine(Topology& topology, const ClusterSpec& spec, const std::vector<DeviceId>& nics);

} // namespace weir

#endif // WEIR_FABRIC_LEAF_SPINE_H

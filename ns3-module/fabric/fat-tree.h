// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_FAT_TREE_H
#define WEIR_FABRIC_FAT_TREE_H

#include "fabric/cluster-spec.h"
#include "fabric/ids.h"
#include "fabric/topology.h"

#include <vector>

namespace weir
{

/**
 * Joins the NICs, in order of nodes, by a fat tree of switches that all have leafRadix = k ports.
 *
 * A leaf takes D NICs and has U uplinks, D / U the oversubscription, D + U <= k; above the leaves
 * nothing is oversubscribed. Two levels: leaves and spines, k leaves at most. Three levels: pods of
 * k / 2 leaves and their spines, cores above, k pods at most; spine j of every pod is joined to the
 * same group of cores. With equal rates and no oversubscription that is the k-ary fat tree of
 * Al-Fares, Loukissas and Vahdat (SIGCOMM 2008): k^3 / 4 NICs, 5 k^2 / 4 switches.
 * A fabric that fits one leaf has no spines, one that fits one pod has no cores.
 *
 * @param nics all NICs, by node * nicsPerNode + number.
 * @throws std::invalid_argument when the numbers cannot be wired.
 */
void WireFatTree(Topology& topology, const ClusterSpec& spec, const std::vector<DeviceId>& nics);

} // namespace weir

#endif // WEIR_FABRIC_FAT_TREE_H

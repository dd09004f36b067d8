// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_FAT_TREE_H
#define WEIR_FABRIC_FAT_TREE_H

#include "fabric/ids.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/topology/topology.h"

#include <vector>

namespace weir
{

/**
 * Joins the NICs, in order of nodes, by a fat tree of switches that all have leafRadix = k ports.
 *
 * A leaf takes D NICs and has U uplinks, D / U the oversubscription, D + U <= k; above the leaves
 * nothing is oversubscribed. Two levels: leaves and spines, k leaves at most. With each further
 * level the blocks of the one before become k / 2 to a block (k at the top): their top switches of
 * one number are joined to one group of switches above. With equal rates and no oversubscription
 * that is for three levels the k-ary fat tree of Al-Fares, Loukissas and Vahdat (SIGCOMM 2008):
 * k^3 / 4 NICs, 5 k^2 / 4 switches; for L levels 2 (k / 2)^L NICs and (2 L - 1) (k / 2)^(L - 1)
 * switches (Petrini and Vanneschi, IPPS 1997). Levels that are not needed are left out.
 *
 * @param nics all NICs, by node * nicsPerNode + number.
 * @throws std::invalid_argument when the numbers cannot be wired.
 */
void WireFatTree(Topology& topology, const ClusterSpec& spec, const std::vector<DeviceId>& nics);

} // namespace weir

#endif // WEIR_FABRIC_FAT_TREE_H

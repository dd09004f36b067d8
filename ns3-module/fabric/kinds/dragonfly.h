// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_DRAGONFLY_H
#define WEIR_FABRIC_DRAGONFLY_H

#include "fabric/ids.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/topology/topology.h"

#include <vector>

namespace weir
{

/**
 * Joins the NICs by a dragonfly (Kim, Dally, Scott and Abts, ISCA 2008): g groups of a routers; a
 * router has p NICs, localLinks to every other router of its group and h global links. Every two
 * groups are joined by m = floor(a h / (g - 1)) global links; ports beyond that stay free.
 *
 * Wired: g a routers, g a (a - 1) / 2 x localLinks local and m g (g - 1) / 2 global wires. Link l
 * from group i to group j leaves by global port l (g - 1) + ((j - i) mod g) - 1 of group i, whose
 * router is the port over h: the links of a pair lie on different routers. Shortest ways have one
 * global link at most, which counts three, so at most three links in all.
 *
 * @param nics all NICs, by node * nicsPerNode + number.
 * @throws std::invalid_argument when the numbers do not multiply out.
 */
void WireDragonfly(Topology& topology, const ClusterSpec& spec, const std::vector<DeviceId>& nics);

/**
 * The same of leaf-spine groups: dragonfly+ (Shpiner et al., HiPINEB 2017). A group has leaves with
 * p NICs each and spines with h global links each; every leaf has localLinks to every spine.
 */
void WireDragonflyPlus(Topology& topology,
                       const ClusterSpec& spec,
                       const std::vector<DeviceId>& nics);

} // namespace weir

#endif // WEIR_FABRIC_DRAGONFLY_H

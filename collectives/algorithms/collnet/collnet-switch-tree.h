// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_COLLNET_SWITCH_TREE_H
#define WEIR_COLLECTIVES_ALGORITHMS_COLLNET_SWITCH_TREE_H

#include "fabric/topology/topology.h"
#include "fabric/units.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace weir
{

/** The tree of switches that reduces for some NICs (SHARP's aggregation tree). */
struct SwitchTree
{
    DeviceId root;
    std::vector<LinkId> links;              //!< towards the root and away from it, each link once
    std::vector<std::vector<LinkId>> paths; //!< by NIC: links towards the root
    Time latency;                           //!< of the longest path from a NIC to the root and back
};

/** Whether a link may be used. */
using LinkFilter = std::function<bool(LinkId)>;

/**
 * The tree that SHARP's manager would choose. Its root is a switch with the smallest distance to
 * the farthest of @p nics, and among these with the smallest sum of distances. A shortest path over
 * links that are usable connects every NIC to the root; where paths merge, sums are forwarded. @p
 * choice enumerates all combinations of equal roots and of equal links on shortest paths to a
 * device (cyclically, by id, roots first), so that trees of several rails or channels spread.
 * O(NICs x links).
 * @throws std::runtime_error when no switch reaches all of them.
 */
SwitchTree FindSwitchTree(
    const Topology& topology,
    const std::vector<DeviceId>& nics,
    uint32_t choice,
    const LinkFilter& isUsable = [](LinkId) { return true; });

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_COLLNET_SWITCH_TREE_H

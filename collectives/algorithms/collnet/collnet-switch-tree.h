// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_COLLNET_SWITCH_TREE_H
#define WEIR_COLLECTIVES_ALGORITHMS_COLLNET_SWITCH_TREE_H

#include "fabric/topology/topology.h"
#include "fabric/units.h"

#include <cstdint>
#include <vector>

namespace weir
{

/** The tree of switches that reduces for some NICs (SHARP's aggregation tree). */
struct SwitchTree
{
    DeviceId root;
    std::vector<LinkId> links;              //!< towards the root and away from it, each once
    std::vector<std::vector<LinkId>> paths; //!< by NIC: towards the root
    Time latency;                           //!< of the longest path from a NIC to the root and back
};

/**
 * The tree that SHARP's manager would choose: its root is a switch that is least far from the
 * farthest of @p nics, then from all of them together; of several such the @p choice-th
 * (cyclically, by id), so that trees of several rails or channels spread. Every NIC is joined to it
 * by a shortest path, the ones of least link id; where paths meet, sums go on together. O(NICs x
 * links).
 * @throws std::runtime_error when no switch reaches all of them.
 */
SwitchTree FindSwitchTree(const Topology& topology,
                          const std::vector<DeviceId>& nics,
                          uint32_t choice);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_COLLNET_SWITCH_TREE_H

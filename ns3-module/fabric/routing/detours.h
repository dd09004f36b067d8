// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_ROUTING_DETOURS_H
#define WEIR_FABRIC_ROUTING_DETOURS_H

#include "fabric/ids.h"
#include "fabric/topology/topology.h"

#include <vector>

namespace weir
{

class Router;

/**
 * The intermediate switches of non-minimal paths, which spread load.
 *
 * In a dragonfly (Kim et al., ISCA 2008, section 4): between two groups, a third group, entered and
 * left by the switch that makes the path shortest; within a group, a third router that is connected
 * to both. Without groups, as in a torus: any other switch that NICs are attached to (Valiant, SIAM
 * J. Comput. 1982).
 */
class Detours
{
  public:
    explicit Detours(const Topology& topology);

    /** Whether switches form groups. */
    bool HasGroups() const
    {
        return m_groups.size() > 1 || (m_groups.size() == 1 && m_groups.front().size() > 1);
    }

    /**
     * The intermediate switches for a flow from switch @p first to @p last: in a dragonfly one per
     * third group, or those within the group; otherwise all other switches with NICs. O(switches).
     */
    std::vector<DeviceId> FindAll(Router& router, DeviceId first, DeviceId last) const;

    /**
     * The switches in the group of @p first that have a global link into the group of @p last, if
     * the path through them is not a shortest one: local, global, local instead of one hop less.
     * Load-aware switches use all links between two groups, as a minimal path is one with a single
     * global hop (Faanes et al., SC 2012). O(switches of the group).
     */
    std::vector<DeviceId> FindParallelGlobalLinks(Router& router,
                                                  DeviceId first,
                                                  DeviceId last) const;

  private:
    std::vector<DeviceId> FindInGroup(Router& router, DeviceId first, DeviceId last) const;
    std::vector<DeviceId> FindInThirdGroups(Router& router, DeviceId first, DeviceId last) const;

    const Topology& m_topology;
    std::vector<std::vector<DeviceId>> m_groups; //!< the switches of each group, ascending
    std::vector<DeviceId> m_edges;               //!< switches that NICs are attached to, ascending
};

} // namespace weir

#endif // WEIR_FABRIC_ROUTING_DETOURS_H

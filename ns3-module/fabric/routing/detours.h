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
 * Switches by way of which a flow may go to spread load, though the path is not the shortest.
 *
 * In a dragonfly (Kim et al., ISCA 2008, section 4): between two groups a third one, entered and
 * left by the switch that makes the path shortest; within a group a third router that is joined to
 * both. Where switches are in no groups, as in a torus: any other switch that NICs are attached to
 * (Valiant, SIAM J. Comput. 1982).
 */
class Detours
{
  public:
    explicit Detours(const Topology& topology);

    /** Whether switches are in groups. */
    bool HasGroups() const
    {
        return m_groups.size() > 1 || (m_groups.size() == 1 && m_groups.front().size() > 1);
    }

    /**
     * The switches for a flow from switch @p first to @p last: in a dragonfly one for each third
     * group, or those of the group; else all others. O(switches).
     */
    std::vector<DeviceId> FindAll(Router& router, DeviceId first, DeviceId last) const;

    /**
     * The switches of the first one's group from which a global link leads into the last one's
     * group, where that path is not among the shortest: local, global, local instead of one hop
     * less. Switches that route by load use all links between two groups: a minimal path is one of
     * a single global hop (Faanes et al., SC 2012). O(switches of the group).
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

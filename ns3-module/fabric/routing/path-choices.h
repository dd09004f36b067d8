// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_ROUTING_PATH_CHOICES_H
#define WEIR_FABRIC_ROUTING_PATH_CHOICES_H

#include "fabric/ids.h"
#include "fabric/routing/path-dag.h"
#include "fabric/routing/router.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace weir
{

/** The paths that load-aware switches may choose from; cached until links of the router change. */
class PathChoices
{
  public:
    /** @p router must outlive this object. */
    explicit PathChoices(Router& router);

    /** Whether there are non-minimal paths, i.e. switches form groups. */
    bool HasDetours() const
    {
        return m_router.GetDetours().HasGroups();
    }

    /** The shortest paths between two devices over the network; null when there are none. */
    const PathDag* Shortest(DeviceId from, DeviceId to)
    {
        return m_router.NetworkPaths(from, to);
    }

    /** The intermediate switches of non-minimal paths between two switches of a dragonfly. */
    const std::vector<DeviceId>& Intermediates(DeviceId first, DeviceId last);

    /**
     * The path of a flow from @p from to @p to that starts now; there must be a path. Of all
     * shortest paths it is the one with the smallest maximum link load including the flow. In a
     * dragonfly it is a detour if load x links of the detour is less than load x links of the
     * shortest path (UGAL: Singh 2005; Kim et al., ISCA 2008, section 4.1, with global knowledge of
     * link loads).
     * @param onLinks by LinkId: sum of flow weights / rate.
     * @param rates by LinkId, bytes/s; null: those of the topology.
     * @param weight of the flow.
     * @param turn selects which detours are compared.
     */
    std::vector<LinkId> LeastLoaded(DeviceId from,
                                    DeviceId to,
                                    const std::vector<double>& onLinks,
                                    const std::vector<double>* rates,
                                    double weight,
                                    uint64_t turn);

    const RoutingPolicy& Policy() const
    {
        return m_router.Policy();
    }

    const Topology& GetTopology() const
    {
        return m_router.GetTopology();
    }

  private:
    Router& m_router;
    uint64_t m_revision;
    std::vector<double> m_rates; //!< by link, bytes/s, of the topology
    double m_fastest{0};         //!< highest rate of a network link, bytes/s
    std::unordered_map<uint64_t, std::vector<DeviceId>> m_intermediates; //!< by both switches
};

} // namespace weir

#endif // WEIR_FABRIC_ROUTING_PATH_CHOICES_H

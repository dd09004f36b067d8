// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_ROUTE_CHOICES_H
#define WEIR_FABRIC_ROUTE_CHOICES_H

#include "fabric/ids.h"
#include "fabric/routing/detours.h"
#include "fabric/routing/route-dag.h"
#include "fabric/routing/router.h"
#include "fabric/routing/shortest-ways.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace weir
{

/** What switches that route by load may choose among, kept until links of the router go or come. */
class RouteChoices
{
  public:
    /** Both must outlive it. */
    RouteChoices(const Topology& topology, Router& router);

    /** Whether there is more than the shortest ways. */
    bool HasDetours() const
    {
        return m_detours.HasGroups();
    }

    /** The shortest ways between two devices; null when there are none. */
    const RouteDag* Shortest(DeviceId from, DeviceId to)
    {
        return m_ways.Between(from, to);
    }

    /** The switches by which ways of the dragonfly between two switches may go around. */
    const std::vector<DeviceId>& Around(DeviceId first, DeviceId last);

    /**
     * What a flow takes that starts now, from @p from to @p to, which must be joined: of all
     * shortest ways the one whose most loaded link is the least loaded with it; in a dragonfly a
     * detour instead when load x links of the shortest way is more than load x links of the detour
     * (UGAL: Singh 2005; Kim et al., ISCA 2008, section 4.1, with knowledge of all links).
     * @param onLinks by LinkId: weights of transfers over rates.
     * @param rates by LinkId, bytes/s; null: as wired.
     * @param weight of the flow.
     * @param turn says which few of the detours are weighed.
     */
    std::vector<LinkId> LeastLoaded(DeviceId from,
                                    DeviceId to,
                                    const std::vector<double>& onLinks,
                                    const std::vector<double>* rates,
                                    double weight,
                                    uint64_t turn);

    RoutingKind Kind() const
    {
        return m_router.Kind();
    }

  private:
    const Topology& m_topology;
    Router& m_router;
    ShortestWays m_ways;
    Detours m_detours;
    uint64_t m_revision;
    std::vector<double> m_rates;                                  //!< by link, bytes/s, as wired
    double m_fastest{0};                                          //!< of the network's
    std::unordered_map<uint64_t, std::vector<DeviceId>> m_around; //!< by both switches
};

} // namespace weir

#endif // WEIR_FABRIC_ROUTE_CHOICES_H

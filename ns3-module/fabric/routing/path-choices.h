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

/** What switches that choose by load may choose among, kept until links of the router change. */
class PathChoices
{
  public:
    /** @p router must outlive it. */
    explicit PathChoices(Router& router);

    /** Whether there are non-minimal paths: switches are in groups. */
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
     * What a flow takes that starts now, from @p from to @p to, which must be joined: of all
     * shortest paths the one whose most loaded link is the least loaded with it; in a dragonfly a
     * detour instead when load x links of the shortest path is more than load x links of the detour
     * (UGAL: Singh 2005; Kim et al., ISCA 2008, section 4.1, with knowledge of all links).
     * @param onLinks by LinkId: weights of flows over rates.
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
    std::vector<double> m_rates; //!< by link, bytes/s, as wired
    double m_fastest{0};         //!< of the network's
    std::unordered_map<uint64_t, std::vector<DeviceId>> m_intermediates; //!< by both switches
};

} // namespace weir

#endif // WEIR_FABRIC_ROUTING_PATH_CHOICES_H

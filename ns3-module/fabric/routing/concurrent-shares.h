// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_ROUTING_CONCURRENT_SHARES_H
#define WEIR_FABRIC_ROUTING_CONCURRENT_SHARES_H

#include "fabric/routing/link-spread.h"
#include "fabric/routing/routing.h"

#include <memory>

namespace weir
{

/** The shares of links in the traffic of concurrently loaded routes. */
class ConcurrentShares
{
  public:
    /**
     * @param routing must outlive this object
     * @param loads returns all concurrently loaded routes as std::vector<RouteLoad>; called only if
     *        switches spread flows
     */
    template <typename Loads>
    ConcurrentShares(Routing& routing, const Loads& loads)
        : m_routing(routing),
          m_spread(routing.Spread())
    {
        if (m_spread)
        {
            m_own = m_spread->Concurrent(loads());
            m_spread = m_own ? m_own.get() : m_spread;
        }
    }

    /** Calls @p use(link, share) for each link that a byte on @p route loads. */
    template <typename Use>
    void ForEach(RouteId route, const Use& use) const
    {
        if (m_spread)
        {
            for (const LinkShare& each : m_spread->SharesOf(route))
            {
                use(each.link, each.share);
            }
            return;
        }
        for (const PathLink& each : m_routing.Links(route))
        {
            use(each.link, static_cast<double>(each.multiplicity));
        }
    }

  private:
    const Routing& m_routing;
    LinkSpread* m_spread; //!< null: each flow has its own path
    std::shared_ptr<LinkSpread> m_own;
};

} // namespace weir

#endif // WEIR_FABRIC_ROUTING_CONCURRENT_SHARES_H

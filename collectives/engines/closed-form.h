// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ENGINES_CLOSED_FORM_H
#define WEIR_COLLECTIVES_ENGINES_CLOSED_FORM_H

#include "collectives/planner.h"
#include "fabric/routing/link-spread.h"
#include "fabric/units.h"

#include <unordered_map>
#include <vector>

namespace weir
{

/** The load of each leg on its route. */
std::vector<RouteLoad> LoadsOf(const std::vector<StreamLeg>& legs);

/**
 * The rates of a collective's legs while all of them run, uncontended by other calls.
 *
 * A unit of weight gets level(route) = min over its links of rate / load, with load = sum of
 * multiplicity x weight of all legs on that link. This is exact for weighted max-min sharing when
 * all legs have equal bytes and cap per unit of weight: the legs on the link of the lowest level
 * are frozen first, so no leg is slower, and they all end at the same time, after all others.
 *
 * Where switches spray packets, a link's multiplicity is its share of an even spread over all
 * shortest paths, which is exact. Where they route by load, it is the link's share when the largest
 * link utilization by all legs is as small as their paths allow (BalancedSpread).
 */
class UncontendedRates
{
  public:
    /** O(links of all legs). Both must outlive it. */
    UncontendedRates(const std::vector<StreamLeg>& legs, Routing& routing);

    /** The rate of one unit of weight on a route, and the link that limits it. */
    struct Share
    {
        Rate rate;
        LinkId bottleneck; //!< invalid where the cap limits it
    };

    Share ShareOn(RouteId route, Rate cap) const;

    /** Time of a leg's bytes at its rate. */
    Time TimeOf(const StreamLeg& leg) const
    {
        return leg.bytes / (ShareOn(leg.route, leg.cap / leg.weight).rate * leg.weight);
    }

    /** Calls @p use for every link of @p route, with the link's share of a unit of weight. */
    template <typename Use>
    void ForEachShare(RouteId route, const Use& use) const
    {
        m_shares.ForEach(route, use);
    }

    /** Whether a leg crosses a link between two switches of the network. */
    bool CrossesSwitches() const
    {
        return m_crossesSwitches;
    }

    /**
     * Whether @p route crosses links on which other jobs contend with these legs: links between
     * switches if a leg crosses any, otherwise links of the network.
     */
    bool IsContended(RouteId route) const;

    /**
     * Mean over largest utilization of the links in IsContended: of links between switches, all
     * those of the switches that the legs use; of others, those that the legs use.
     */
    double Evenness() const;

    /** Load in units of weight; 0 on a link that no leg crosses. */
    double LoadOn(LinkId link) const
    {
        const auto load = m_loads.find(link.Index());
        return load == m_loads.end() ? 0 : load->second;
    }

    Rate RateOf(LinkId link) const
    {
        return m_routing.GetTopology().GetLink(link).rate;
    }

    /** The slowest leg: its bytes over its rate, and its bottleneck link. */
    struct Slowest
    {
        Time time;
        LinkId bottleneck;
    };

    Slowest SlowestLeg() const;

  private:
    bool IsContended(LinkId link) const;

    const std::vector<StreamLeg>& m_legs;
    const Routing& m_routing;
    ConcurrentShares m_shares;
    std::unordered_map<uint32_t, double> m_loads; //!< by link
    bool m_crossesSwitches{false};
};

/**
 * Share of its channels' weight that a leg has on contended links of the network while flows of
 * other jobs load them heavily.
 *
 * A fluid flow of a hop exists only while a chunk crosses the hop, and what it leaves unused goes
 * to other flows. K chunks of a channel cross S hops one after the other in K + S - 1 chunk
 * times, of which each hop is used for K. Where paths use links of unequal load (ECMP), only the
 * slowest hop takes a whole chunk time, the others q of it on average, so the share is
 * K / (K + q(S - 1)). q is that of the call itself (UncontendedRates::Evenness).
 *
 * @param path routes that a chunk crosses one after the other; only contended ones count as hops
 * @param chunks K, at least 1
 * @return in (0, 1]; 1 without such links. O(links of all legs and links at their switches)
 */
double ContendedShare(const UncontendedRates& rates,
                      const std::vector<RouteId>& path,
                      double chunks);

/** Time of the slowest of @p legs, uncontended by other calls. */
Time UncontendedTime(const std::vector<StreamLeg>& legs, Routing& routing);

} // namespace weir

#endif // WEIR_COLLECTIVES_ENGINES_CLOSED_FORM_H

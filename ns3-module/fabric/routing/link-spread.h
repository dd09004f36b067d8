// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_ROUTING_LINK_SPREAD_H
#define WEIR_FABRIC_ROUTING_LINK_SPREAD_H

#include "fabric/ids.h"
#include "fabric/routing/load-balancer.h"
#include "fabric/routing/path-table.h"
#include "fabric/routing/routing.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weir
{

class BalancedSpread;

/**
 * The spread in which every switch splits its traffic evenly over all shortest paths: packet
 * spraying, and the starting point of load-aware routing. Only path segments through the network
 * are spread; the other links of a route stay.
 */
class EvenSpread
{
  public:
    /** @p routing must outlive this object. */
    explicit EvenSpread(Routing& routing);

    /**
     * The links of a route and their shares, ascending by link, each link once. Valid until the
     * next call.
     */
    const std::vector<LinkShare>& SharesOf(RouteId route);

    /** Whether a single flow is split like this, and not only many flows on average. */
    bool IsPerPacket() const;

    /**
     * The spread of routes that are loaded concurrently, on otherwise idle links, if routing is
     * load-aware; null if it sprays packets.
     */
    std::shared_ptr<BalancedSpread> Concurrent(const std::vector<RouteLoad>& loads);

    /**
     * A path that loads every link as the spread does. Exact while the unit is at most 2^16; see
     * SharesOf(PathDag). The latency is that of the slowest path; of a sum, whose paths are loaded
     * at once and not one after the other, that of the planned paths.
     */
    const SelectedPath& SprayedOf(RouteId route);

    /** Routing::DecompositionOf, cached. */
    const RouteDecomposition& DecompositionOf(RouteId route);

    PathChoices& Choices()
    {
        return m_choices;
    }

    /** Scratch memory for one load balancer at a time. */
    LinkScratch& Scratch()
    {
        return m_scratch;
    }

  private:
    /**
     * Routes with their weights relative to the first; weights that round to the same float are
     * equal.
     */
    using LoadKey = std::vector<std::pair<uint32_t, float>>;

    /** Clears the caches if links have gone down or come up. */
    void Refresh();

    Routing& m_routing;
    PathChoices m_choices;
    uint64_t m_revision;
    std::unordered_map<RouteId, std::vector<LinkShare>> m_shares;
    std::unordered_map<RouteId, SelectedPath> m_sprayed;
    std::map<LoadKey, std::shared_ptr<BalancedSpread>>
        m_balanced;                  //!< for repeated calls of a group
    std::size_t m_balancedRoutes{0}; //!< number of routes in all keys
    LinkScratch m_scratch;
    std::unordered_map<RouteId, RouteDecomposition> m_decompositions; //!< for any link states
};

/** The present loads and rates of links, by LinkId. */
struct LinkStates
{
    std::vector<double> loads; //!< sum of flow weights / rate
    std::vector<double> rates; //!< bytes/s; of a link that is down, its former rate
};

/**
 * The spread of several concurrently loaded routes with load-aware routing.
 *
 * A channel of a collective is a sequence of many flows over each of its paths, and each flow
 * chooses its path by the present loads. Flows on congested paths last longer, so that later flows
 * choose other paths, until the maximum link utilization is as small as the paths allow
 * (LoadBalancer).
 *
 * Flowlet routing does not reach that state: a flow that does not pause keeps the path that was the
 * least loaded when it began. In this case paths are chosen once, one after the other. If a route
 * has a segment many times, its parts choose separately.
 */
class BalancedSpread
{
  public:
    /**
     * @param others present loads and rates of the links; null: no load, at the rates of the
     *        topology.
     *
     * References must outlive this object; @p others only this call.
     */
    BalancedSpread(EvenSpread& even, const std::vector<RouteLoad>& loads, const LinkStates* others);

    /** As EvenSpread::SharesOf. */
    const std::vector<LinkShare>& SharesOf(RouteId route);

  private:
    static uint64_t KeyOf(DeviceId first, DeviceId last);

    /** Adds the traffic of one segment. @return its demand; null if there is no choice of path */
    PathDemand* AddSegment(const SegmentCount& segment, double weight);

    /** Assigns each part of a segment to the path that is least loaded at that point. */
    void ChooseOnce(PathDemand& demand,
                    const SegmentCount& segment,
                    double weight,
                    std::vector<double>& onLinks,
                    const std::vector<double>& rates);
    static void AddUp(PathDemand& demand);

    EvenSpread& m_even;
    PathChoices& m_choices;
    const Topology& m_topology;
    uint64_t m_choiceCount{0}; //!< number of path choices so far; varies the detours
    std::vector<PathDemand> m_demands;
    std::unordered_map<uint64_t, uint32_t> m_byEnds; //!< into m_demands
    std::vector<LinkShare> m_shares;                 //!< of the last SharesOf
};

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
          m_balanced(routing.Spread() ? routing.Spread()->Concurrent(Striped(routing, loads()))
                                      : nullptr)
    {
    }

    /** Calls @p use(link, share) for each link that a byte on @p route loads, each link once. */
    template <typename Use>
    void ForEach(RouteId route, const Use& use) const
    {
        if (!m_routing.IsStriped(route))
        {
            ForEachOfStripe(route, use);
            return;
        }
        for (const LinkShare& each : SharesOfStripes(route))
        {
            use(each.link, each.share);
        }
    }

  private:
    /** As ForEach, of a route without stripes. */
    template <typename Use>
    void ForEachOfStripe(RouteId route, const Use& use) const
    {
        if (EvenSpread* const even = m_routing.Spread())
        {
            for (const LinkShare& each :
                 m_balanced ? m_balanced->SharesOf(route) : even->SharesOf(route))
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

    /** @p loads with the stripes of striped routes in their place. */
    static std::vector<RouteLoad> Striped(const Routing& routing,
                                          const std::vector<RouteLoad>& loads);

    /** The shares of links in the bytes of a striped route, ascending by link. */
    std::vector<LinkShare> SharesOfStripes(RouteId route) const;

    const Routing& m_routing;
    std::shared_ptr<BalancedSpread> m_balanced; //!< null unless load-aware switches spread flows
};

} // namespace weir

#endif // WEIR_FABRIC_ROUTING_LINK_SPREAD_H

// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PATH_SELECTOR_H
#define WEIR_FABRIC_TRANSPORT_PATH_SELECTOR_H

#include "fabric/routing/link-spread.h"
#include "fabric/routing/routing.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace weir
{

/** What a flow takes while switches choose. */
struct SelectedPath
{
    PathId path;
    uint32_t unit{1}; //!< it moves 1 / unit of the bytes, with 1 / unit of its weight and cap
    Time latency;     //!< more than the planned path has; never negative
};

/**
 * Selects paths where they do not follow from the flow's tuple alone: by the load that flows under
 * way put on links (the sum of their weights over a link's rate), or all at once.
 *
 * Scope::Flow: PathChoices::LeastLoaded for each flow. Scope::Flowlet: the flows of one route keep
 * its path until they have paused for the policy's gap (CONGA, Alizadeh et al., SIGCOMM 2014).
 * Scope::Packet: all shortest paths, evenly. A sprayed flow is one flow of 1 / unit of its bytes
 * that crosses each link as often as its share in units: so it loads every link in proportion, gets
 * the share of any other flow, and finishes on all paths together.
 *
 * A sum of routes stands for many flows, as a collective's channel does in fidelity `stream`:
 * choices by load make those even over the links that they may take. Sums that start at one time
 * are divided together (BalancedSpread).
 */
class PathSelector
{
  public:
    /** @p routing must outlive it; its policy is not fixed. */
    explicit PathSelector(Routing& routing);

    /** The least loaded path, detours included, of a flow that would start now. */
    SelectedPath LeastLoaded(RouteId route, double weight);

    /** The path of a flow that starts now; it counts as load until Leave. */
    SelectedPath Enter(RouteId route, double weight, Time now);

    /** Whether Divide gives the path of what is on @p route, not Enter. */
    bool IsDivided(RouteId route);

    /** What starts now on a route that IsDivided. */
    struct Divided
    {
        RouteId route;
        double weight{1};
        uint32_t unit{1}; //!< of the path that it gets
    };

    /** Parts so small that shares are exact to a thousandth, if there are bytes enough. */
    uint32_t UnitFor(RouteId route, Bytes bytes);

    /** All of the path that a route has now, in units. */
    SelectedPath WholePath(RouteId route, uint32_t unit);

    /** The paths of all of @p starting; each counts as load until Leave. */
    std::vector<SelectedPath> Divide(const std::vector<Divided>& starting);

    /** A link has another rate now; zero: it is down. */
    void SetRate(LinkId link, Rate rate);

    /** Counts a flow on @p path as load. @param weight of a unit of it */
    void Hold(PathId path, double weight);

    /** A flow has ended, or takes another path. @param weight of a unit of it */
    void Leave(RouteId route, PathId path, double weight, Time now);

  private:
    /** What the flows of a route keep. */
    struct Flowlet
    {
        SelectedPath path;
        uint32_t underWay{0};
        Time lastEnd;
        uint64_t revision{0};
    };

    void AddLoad(LinkId link, double weight);
    void ForgetOldFlowlets(Time now);

    Routing& m_routing;
    EvenSpread& m_spread;
    RoutingPolicy::Scope m_scope;
    Time m_gap;
    LinkStates m_links;             //!< loads of network links only
    std::vector<int64_t> m_weights; //!< under them, in integers: what comes and goes leaves nothing
    uint64_t m_turns{0};            //!< of detours, so that all are weighed in time
    std::unordered_map<RouteId, Flowlet> m_flowlets;
    std::size_t m_forgetAt;
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PATH_SELECTOR_H

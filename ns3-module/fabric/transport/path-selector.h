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

/**
 * Selects paths where the flow tuple does not determine them: by the load of active flows on
 * links (the sum of their weights divided by the link rate), or all paths at once.
 *
 * Scope::Flow: each flow takes PathChoices::LeastLoaded. Scope::Flowlet: the flows of one route
 * keep its path until they have paused for the policy's gap (CONGA, Alizadeh et al., SIGCOMM 2014).
 * Scope::Packet: a flow is spread evenly over all shortest paths. A sprayed flow is one flow of
 * 1/unit of its bytes that crosses each link as often as the link's share in units. It therefore
 * loads every link in proportion, gets the share of any other flow, and finishes on all paths at
 * the same time.
 *
 * A sum of routes stands for many flows, as a collective's channel does in fidelity `stream`.
 * Choices by load spread it evenly over the links that it may take. Sums that start at the same
 * time are divided jointly (BalancedSpread).
 */
class PathSelector
{
  public:
    /** @p routing must outlive it; its policy must not be fixed (RoutingPolicy::IsFixed). */
    explicit PathSelector(Routing& routing);

    /** The least loaded path, detours included, for a flow that would start now. */
    SelectedPath LeastLoaded(RouteId route, double weight);

    /** Selects the path of a flow that starts now. The flow counts as load until Leave. */
    SelectedPath Enter(RouteId route, double weight, Time now);

    /** Whether Divide, not Enter, selects the path of traffic on @p route. */
    bool IsDivided(RouteId route);

    /** Traffic that starts now on a route that IsDivided. */
    struct Divided
    {
        RouteId route;
        double weight{1};
        uint32_t unit{1}; //!< unit of the path that it gets
    };

    /**
     * A unit (number of parts) for @p bytes: shares are exact to a thousandth if there are enough
     * bytes.
     */
    uint32_t UnitFor(RouteId route, Bytes bytes);

    /** The whole current path of a route, in units, undivided. */
    SelectedPath WholePath(RouteId route, uint32_t unit);

    /** Divides all of @p starting jointly over their paths. Each counts as load until Leave. */
    std::vector<SelectedPath> Divide(const std::vector<Divided>& starting);

    /** Updates the rate of a link; zero means that it is down. */
    void SetRate(LinkId link, Rate rate);

    /** Counts a flow on @p path as load. @param weight weight of one unit of the flow */
    void Hold(PathId path, double weight);

    /**
     * Removes the load of a flow that has ended or changes its path.
     * @param weight weight of one unit of the flow
     */
    void Leave(RouteId route, PathId path, double weight, Time now);

  private:
    /** The path that the flows of a route share until their flowlet gap. */
    struct Flowlet
    {
        SelectedPath path;
        uint32_t activeFlows{0};
        Time lastEnd;
        uint64_t revision{0};
    };

    void AddLoad(LinkId link, double weight);
    void ExpireFlowlets(Time now);

    Routing& m_routing;
    EvenSpread& m_spread;
    RoutingPolicy::Scope m_scope;
    Time m_gap;
    LinkStates m_links;             //!< loads of network links only
    std::vector<int64_t> m_weights; //!< sums of weights behind the loads, in integers, so that
                                    //!< additions and removals cancel exactly
    uint64_t m_detourCounter{0};    //!< counter that rotates which detours are considered
    std::unordered_map<RouteId, Flowlet> m_flowlets;
    std::size_t m_forgetAt;
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PATH_SELECTOR_H

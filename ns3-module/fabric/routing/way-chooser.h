// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_WAY_CHOOSER_H
#define WEIR_FABRIC_WAY_CHOOSER_H

#include "fabric/routing/path-spread.h"
#include "fabric/routing/path-table.h"
#include "fabric/routing/route-choices.h"
#include "fabric/routing/router.h"
#include "fabric/routing/way-balance.h"
#include "fabric/topology/cluster-spec.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace weir
{

/** What a transfer takes instead of the path it was planned for. */
struct ChosenWay
{
    PathId path;
    uint32_t unit{1}; //!< it moves 1 / unit of the bytes
    Time latency;     //!< more than the planned path has; never negative
};

/**
 * Chooses ways by the load that transfers under way put on links: the sum of their weights over a
 * link's rate.
 *
 * Adaptive: RouteChoices::LeastLoaded for each transfer. Flowlet: a flow keeps its way until it has
 * paused for the fabric's gap (CONGA, Alizadeh et al., SIGCOMM 2014). Spray: all shortest ways,
 * evenly.
 *
 * A path of several ways stands for many transfers, as a collective's channel does in `stream`:
 * choices by load make those even over the links that they may take. Such paths that start at one
 * time are divided together (WayBalance).
 */
class WayChooser
{
  public:
    /** References must outlive it. */
    WayChooser(PathTable& paths, Router& router, const FabricSpec& fabric);

    /** The way of a transfer of @p flow that starts now; it counts as load until Leave. */
    ChosenWay Enter(PathId planned, uint64_t flow, double weight, Time now);

    /** Whether Divide gives the way of what is planned for @p path, not Enter. */
    bool IsDivided(PathId path);

    /** A transfer that starts now, planned for a path that IsDivided. */
    struct Divided
    {
        PathId planned;
        double weight{1};
        uint32_t unit{1}; //!< of the way that it gets
    };

    /** Parts so small that shares are exact to a thousandth, if there are bytes enough. */
    uint32_t UnitFor(PathId path, Bytes bytes);

    /** The ways of all of @p starting; each counts as load until Leave. */
    std::vector<ChosenWay> Divide(const std::vector<Divided>& starting);

    /** A link has another rate now; zero: it is down. */
    void SetRate(LinkId link, Rate rate);

    /** Counts a transfer that goes on @p way as load. */
    void Hold(const ChosenWay& way, double weight);

    /** The transfer has ended. */
    void Leave(PathId planned, const ChosenWay& way, uint64_t flow, double weight, Time now);

    PathSpread& Spread()
    {
        return m_spread;
    }

  private:
    /** A flow of flowlets. */
    struct Flow
    {
        ChosenWay way;
        uint32_t underWay{0};
        Time lastEnd;
        uint64_t revision{0};
    };

    ChosenWay Sprayed(PathId planned);
    ChosenWay LeastLoaded(PathId planned, double weight);
    void AddLoad(LinkId link, double weight);
    static uint64_t KeyOf(PathId planned, uint64_t flow);
    void ForgetOldFlows(Time now);

    PathTable& m_paths;
    Router& m_router;
    RoutingKind m_kind;
    Time m_gap;
    PathSpread m_spread;
    LinkStates m_links;             //!< loads of network links only
    std::vector<int64_t> m_weights; //!< under them, in integers: what comes and goes leaves nothing
    uint64_t m_turns{0};            //!< of detours, so that all are weighed in time
    std::unordered_map<uint64_t, Flow> m_flows; //!< for Flowlet
    std::size_t m_forgetAt;
};

} // namespace weir

#endif // WEIR_FABRIC_WAY_CHOOSER_H

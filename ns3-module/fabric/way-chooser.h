// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_WAY_CHOOSER_H
#define WEIR_FABRIC_WAY_CHOOSER_H

#include "fabric/cluster-spec.h"
#include "fabric/detours.h"
#include "fabric/path-spread.h"
#include "fabric/path-table.h"
#include "fabric/router.h"

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
 * Adaptive: of all shortest ways the one whose most loaded link is the least loaded. In a dragonfly
 * with one choice more, UGAL (Singh 2005; Kim et al., ISCA 2008, section 4.1, with knowledge of all
 * links): a detour is taken instead when load x links of the shortest way is more than load x
 * links of the detour. Flowlet: a flow keeps its way until it has paused for the fabric's gap
 * (CONGA, Alizadeh et al., SIGCOMM 2014). Spray: all shortest ways, evenly.
 *
 * A path of several ways stands for many transfers, as a collective's channel does in `stream`:
 * choices by load make those even, so it is spread evenly, but in a dragonfly, where the parts of
 * it choose one after the other.
 */
class WayChooser
{
  public:
    /** References must outlive it. */
    WayChooser(PathTable& paths, Router& router, const FabricSpec& fabric);

    /** The way of a transfer of @p flow that starts now; it counts as load until Leave. */
    ChosenWay Enter(PathId planned, uint64_t flow, double weight, Time now);

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
    std::vector<LinkId> ChooseStretch(const PathStretch& stretch);
    void AddLoad(LinkId link, double weight);
    double CostOf(const std::vector<LinkId>& way) const;
    const std::vector<DeviceId>& DetoursBetween(DeviceId first, DeviceId last);
    static uint64_t KeyOf(PathId planned, uint64_t flow);
    void ForgetOldFlows(Time now);

    PathTable& m_paths;
    Router& m_router;
    RoutingKind m_kind;
    Time m_gap;
    PathSpread m_spread;
    Detours m_detours;
    std::vector<double> m_loads; //!< by LinkId: weights over rates
    uint64_t m_choices{0};
    uint64_t m_revision;
    std::unordered_map<uint64_t, std::vector<DeviceId>> m_detoursOf; //!< by both switches
    std::unordered_map<uint64_t, Flow> m_flows;                      //!< for Flowlet
    std::size_t m_forgetAt;
};

} // namespace weir

#endif // WEIR_FABRIC_WAY_CHOOSER_H

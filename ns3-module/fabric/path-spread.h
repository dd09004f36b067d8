// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_PATH_SPREAD_H
#define WEIR_FABRIC_PATH_SPREAD_H

#include "fabric/path-stretches.h"
#include "fabric/path-table.h"
#include "fabric/shortest-ways.h"

#include <unordered_map>
#include <vector>

namespace weir
{

/**
 * What becomes of paths when every switch spreads what it is given evenly over all shortest ways:
 * packet spraying, and what routing by load comes to on the average when loads are even. Only ways
 * from NIC to NIC are spread; all else of a path stays.
 */
class PathSpread : public PathSharing
{
  public:
    /** Both must outlive it. */
    PathSpread(PathTable& paths, Router& router);

    const std::vector<LinkShare>& SharesOf(PathId path) override;

    bool IsPerPacket() const override
    {
        return m_router.Kind() == RoutingKind::Spray;
    }

    /** A path whose flows, each 1 / unit of the bytes, load every link as the sprayed path does. */
    struct Sprayed
    {
        PathId path;
        uint32_t unit{1};
        Time latency; //!< of the slowest of its ways
    };

    /** Exact while the unit stays at most 2^16; see SharesOf(RouteDag). */
    const Sprayed& SprayedOf(PathId path);

    /** The path's ways through the network and the rest. */
    const PathStretches& ApartOf(PathId path);

    /** All shortest ways from where a stretch begins to where it ends; null: it keeps its own. */
    const RouteDag* WaysOf(const PathStretch& stretch);

    ShortestWays& Ways()
    {
        return m_ways;
    }

  private:
    /** Forgets everything when links of the router went or came. */
    void Refresh();

    PathTable& m_paths;
    Router& m_router;
    ShortestWays m_ways;
    uint64_t m_revision;
    std::unordered_map<PathId, std::vector<LinkShare>> m_shares;
    std::unordered_map<PathId, Sprayed> m_sprayed;
    std::unordered_map<PathId, PathStretches> m_apart; //!< does not depend on the router
};

} // namespace weir

#endif // WEIR_FABRIC_PATH_SPREAD_H

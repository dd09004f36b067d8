// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_PATH_SPREAD_H
#define WEIR_FABRIC_PATH_SPREAD_H

#include "fabric/routing/known-balances.h"
#include "fabric/routing/link-scratch.h"
#include "fabric/routing/path-table.h"
#include "fabric/routing/route-choices.h"

#include <unordered_map>
#include <vector>

namespace weir
{

/**
 * What becomes of paths when every switch spreads what it is given evenly over all shortest ways:
 * packet spraying, and where routing by load begins. Only ways from NIC to NIC are spread; all else
 * of a path stays.
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

    /** A WayBalance where switches route by load; it lasts until the next call. */
    std::unique_ptr<PathSharing> Together(const std::vector<PathLoad>& loads) override;

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
    const PathMakeup& MakeupOf(PathId path);

    RouteChoices& Choices()
    {
        return m_choices;
    }

    /** For balances, one at a time. */
    LinkScratch& Scratch()
    {
        return m_scratch;
    }

    PathTable& Paths()
    {
        return m_paths;
    }

  private:
    /** Forgets everything when links of the router went or came. */
    void Refresh();

    PathTable& m_paths;
    Router& m_router;
    RouteChoices m_choices;
    uint64_t m_revision;
    std::unordered_map<PathId, std::vector<LinkShare>> m_shares;
    std::unordered_map<PathId, Sprayed> m_sprayed;
    KnownBalances m_balances;
    LinkScratch m_scratch;
    std::unordered_map<PathId, PathMakeup> m_makeups; //!< of paths that do not tell; whatever
                                                      //!< the router does
};

} // namespace weir

#endif // WEIR_FABRIC_PATH_SPREAD_H

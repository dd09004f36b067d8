// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ENGINES_CLOSED_FORM_H
#define WEIR_COLLECTIVES_ENGINES_CLOSED_FORM_H

#include "collectives/planner.h"
#include "fabric/routing/path-table.h"
#include "fabric/units.h"

#include <memory>
#include <unordered_map>
#include <vector>

namespace weir
{

/**
 * The rates of a collective's legs when it is alone on the fabric and all of them run.
 *
 * A unit of weight gets level(path) = min over the path's links of rate / load, load = sum of
 * multiplicity x weight of all legs on that link. This is exact for weighted max-min sharing when
 * all legs have equal bytes and cap per unit of weight: the legs on the link of least level are
 * frozen first, so no leg is slower, and they all end together, so none of them is ever faster.
 *
 * Where switches spray, a link's multiplicity is its share of an even spread over all shortest
 * ways, which is exact; where they route by load, its share of what all legs together come to when
 * the most loaded links are as little loaded as their ways allow (WayBalance).
 */
class AloneRates
{
  public:
    /** O(links of all legs). Both must outlive it. */
    AloneRates(const std::vector<StreamLeg>& legs, const PathTable& paths);

    /** Share of one unit of weight on @p path, and the link that decides it. */
    struct Share
    {
        Rate rate;
        LinkId bottleneck; //!< invalid when the cap decides
    };

    Share ShareOn(PathId path, Rate cap) const;

    /** Calls @p use for every link that @p path crosses, with its share of a unit of weight. */
    template <typename Use>
    void ForEachShare(PathId path, const Use& use) const
    {
        m_paths.ForEachShare(path, Sharing(), use);
    }

    Rate RateOf(LinkId link) const
    {
        return m_paths.GetTopology().GetLink(link).rate;
    }

    /** The slowest leg's bytes over its rate. */
    struct Slowest
    {
        Time time;
        LinkId bottleneck;
    };

    Slowest SlowestLeg() const;

  private:
    PathSharing* Sharing() const;

    const std::vector<StreamLeg>& m_legs;
    const PathTable& m_paths;
    std::unique_ptr<PathSharing> m_together; //!< how switches spread the legs; null: each alone
    std::unordered_map<uint32_t, double> m_loads; //!< by link
};

/** What the slowest of @p legs takes that are alone on their links. */
Time AloneTime(const std::vector<StreamLeg>& legs, const PathTable& paths);

} // namespace weir

#endif // WEIR_COLLECTIVES_ENGINES_CLOSED_FORM_H

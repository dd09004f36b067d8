// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_WAY_BALANCE_H
#define WEIR_FABRIC_WAY_BALANCE_H

#include "fabric/ids.h"
#include "fabric/routing/path-spread.h"
#include "fabric/routing/path-table.h"
#include "fabric/routing/route-choices.h"
#include "fabric/routing/way-demand.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace weir
{

/**
 * How switches that route by load divide what several paths carry at once.
 *
 * A channel of a collective is many transfers, one after the other over each of its ways, and each
 * chooses by what it finds: what is slow stays longer, so that others choose other ways, until the
 * most loaded links are as little loaded as the ways allow: LoadLevelling.
 *
 * Flowlets do not come to that: a flow that does not pause keeps the way that was the least loaded
 * when it began. There each way chooses once, one after the other; parts of one, where a path has
 * it many times.
 */
class WayBalance : public PathSharing
{
  public:
    /**
     * @param others what is on the links already; null: nothing, and they have their rates.
     * References must outlive it, the links' states only this call.
     */
    WayBalance(PathSpread& spread,
               RouteChoices& choices,
               const std::vector<PathLoad>& loads,
               const LinkStates* others);

    const std::vector<LinkShare>& SharesOf(PathId path) override;

    bool IsPerPacket() const override
    {
        return false;
    }

    std::unique_ptr<PathSharing> Together(const std::vector<PathLoad>& loads) override;

  private:
    static uint64_t KeyOf(DeviceId first, DeviceId last);

    /** Counts what one way of a path carries. @return null where there is nothing to choose. */
    WayDemand* AddWay(const PathWay& way, double weight);

    /** Each part of a way of @p demand takes the way that is least loaded by now. */
    void ChooseOnce(WayDemand& demand,
                    const PathWay& way,
                    double weight,
                    std::vector<double>& onLinks,
                    const std::vector<double>* rates);
    static void AddUp(WayDemand& demand);

    PathSpread& m_spread;
    RouteChoices& m_choices;
    const Topology& m_topology;
    uint64_t m_turns{0}; //!< of detours
    std::vector<WayDemand> m_demands;
    std::unordered_map<uint64_t, uint32_t> m_byEnds; //!< into m_demands
    std::vector<LinkShare> m_shares;                 //!< of the last path asked for
};

} // namespace weir

#endif // WEIR_FABRIC_WAY_BALANCE_H

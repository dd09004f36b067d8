// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_SHARING_MAX_MIN_H
#define WEIR_FABRIC_SHARING_MAX_MIN_H

#include "fabric/sharing/bottleneck-groups.h"
#include "fabric/sharing/group-mover.h"
#include "fabric/sharing/level-order.h"
#include "fabric/sharing/local-max-min.h"
#include "fabric/sharing/max-min-system.h"
#include "fabric/sharing/slack-links.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::maxmin
{

/**
 * Exact max-min sharing (SharingSolver) for many variables on shared saturated links. All variables
 * of one bottleneck link change their level in one operation.
 *
 * The variables that have a link as bottleneck are its group (BottleneckGroups). Progressive
 * filling sweeps the level up from zero and freezes variables where links saturate. A solve replays
 * only the part of that sweep that may differ from the last answer: a change alters the loads of
 * links, and these are queued by the level at which they now saturate (SaturationQueue) and visited
 * in that order. Links far from saturation keep only an upper bound of their load and ignore most
 * changes (SlackLinks).
 *
 *  - A link that is visited at its old level and could go higher is raised at once, or opened: its
 *    group rises on all its links.
 *  - A link that is visited at the level at which it saturates freezes its risers there. Members
 *    that other links freeze above that level join its group.
 *
 * Loads are never underestimated, so no link is visited too late, and frozen variables are final.
 * Where a load returns to its old value, the replay ends.
 *
 * **Walk.** Where a change reaches most links, all links are visited in the order of their levels
 * (LevelOrder), repeatedly until no level changes. In such a change, as in an all-to-all, most
 * levels move very little and their order stays. The walk assumes this: it moves each group to the
 * level at which its link saturates, adds the effect to the loads of all other links, and checks
 * those only when it visits them. If a link does pass another, one of the two has members frozen
 * above its own level; the walk detects this when it visits the link, which then takes these
 * members over. The sweep does the same in another order. At the end all links saturate at their
 * levels and no member of a link is above its level, which holds for the unique solution only.
 * Links that are not regular are left to the sweep in between.
 *
 * **Cost.** For each link whose level changes: a multiplication, an addition and a comparison (in a
 * walk, an addition) for each crossing of its members over a link that is not slack; O(members)
 * more if a member of the link is at a higher level; O(log links) for the queue. So a change that
 * moves every level of an all-to-all over n end points costs O(n^2). A change that moves the level
 * of a single saturated link, whose members otherwise cross slack links only, costs O(log links),
 * plus O(members) once in 128 solves, when the load is recomputed to remove rounding errors. An
 * uncontended variable costs O(1) per link of its path, and O(1) in total when it stops and starts
 * again. There is no allocation once the vectors have grown.
 */
class MaxMin : public GroupedSystem<MaxMin>
{
  public:
    explicit MaxMin(const std::vector<double>& capacities)
        : GroupedSystem(capacities)
    {
    }

    /**
     * Takes over the state of @p other, which must be solved, under the same indices. All variables
     * count as moved.
     */
    explicit MaxMin(const LocalMaxMin& other);
    MaxMin(const MaxMin&) = delete;
    MaxMin& operator=(const MaxMin&) = delete;

    /**
     * Updates all levels for the changes since the last Solve.
     * @throws std::logic_error if the sweep does not terminate (a bug)
     */
    void Solve();

    /** The total rate on a link, bytes per second. O(1); O(members) for a slack link. */
    double Load(uint32_t link) const
    {
        return IsSlack(link) ? SumOfRates(link) : m_groups.Load(link);
    }

    bool IsSlack(uint32_t link) const
    {
        return m_tables.links[link].isSlack;
    }

    void KeepLoads(bool keep)
    {
        m_slack.KeepLoads(keep);
    }

  protected:
    /** Sets how many links a solve must touch at least before it may walk. */
    void SetMinLinksOfWalk(std::size_t links)
    {
        m_minLinksOfWalk = links;
    }

  private:
    friend System;

    // Called by System.
    void ApplyCapacity(uint32_t link, double capacity);

    void Withdraw(uint32_t variable)
    {
        m_mover.Withdraw(variable);
    }

    void Enter(uint32_t variable)
    {
        m_mover.Enter(variable);
    }

    void Left(uint32_t link, uint32_t position, uint32_t v)
    {
        GroupedSystem::Left(link, position, v);
        GroupedLink& l = m_tables.links[link];
        if (l.members.empty())
        {
            l.isSlack = false;
            m_groups.RecomputeLoad(link);
        }
    }

    void EndSolve();

    // Sweep.
    void VisitFirst();
    void Raise(uint32_t link);
    void Saturate(uint32_t link, double level);
    void FreezeRisers(uint32_t link, double level);

    // Walk.
    bool HasSpread();
    void Walk();
    void OpenAll();
    bool WalkOnce();
    void VisitApart();
    bool IsOff(uint32_t link);
    bool Visit(uint32_t link);
    bool FindSaturation(uint32_t link, Saturation& at);
    void TakeOver(uint32_t link, double level);

    LevelOrder m_order{m_tables, m_groups};
    SaturationQueue m_queue{m_tables, m_groups, m_order};
    SlackLinks m_slack{m_tables, m_groups, m_order, m_queue};
    GroupMover m_mover{m_tables, m_groups, m_order, m_queue, m_slack};
    double m_level{0};              //!< of the sweep; levels that differ only by rounding are set
                                    //!< to it
    std::vector<uint32_t> m_toLink; //!< scratch of FreezeRisers
    std::vector<uint32_t> m_toCap;  //!< scratch of FreezeRisers
    std::size_t m_minLinksOfWalk{48};
    bool m_mayWalk{true};               //!< in this solve
    bool m_hasSpreadBefore{false};      //!< in the last solve; a prediction for this one
    std::vector<HigherMember> m_higher; //!< scratch of Visit
};

} // namespace weir::maxmin

#endif // WEIR_FABRIC_SHARING_MAX_MIN_H

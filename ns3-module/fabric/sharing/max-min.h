// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_SHARING_MAX_MIN_H
#define WEIR_FABRIC_SHARING_MAX_MIN_H

#include "fabric/sharing/bottleneck-groups.h"
#include "fabric/sharing/group-mover.h"
#include "fabric/sharing/level-order.h"
#include "fabric/sharing/level-sweep.h"
#include "fabric/sharing/level-walk.h"
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
 * only the part of that sweep that may differ from the last answer (LevelSweep): a change alters
 * the loads of links, and these are queued by the level at which they now saturate
 * (SaturationQueue). Links far from saturation keep only an upper bound of their load and ignore
 * most changes (SlackLinks). Where a change reaches most links, a walk over all links replaces the
 * queue (LevelWalk).
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
        m_walk.SetMinLinks(links);
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

    LevelOrder m_order{m_tables, m_groups};
    SaturationQueue m_queue{m_tables, m_groups, m_order};
    SlackLinks m_slack{m_tables, m_groups, m_order, m_queue};
    GroupMover m_mover{m_tables, m_groups, m_order, m_queue, m_slack};
    LevelWalk m_walk{m_tables, m_groups, m_order, m_queue, m_slack, m_mover};
};

} // namespace weir::maxmin

#endif // WEIR_FABRIC_SHARING_MAX_MIN_H

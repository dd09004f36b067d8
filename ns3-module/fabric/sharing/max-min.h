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
#include "fabric/sharing/saturation-queue.h"
#include "fabric/sharing/slack-links.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::maxmin
{

/**
 * Max-min sharing (SharingSolver) where many variables meet on saturated links: what a link holds
 * moves as one.
 *
 * The variables that have a link as bottleneck are its group (BottleneckGroups). Progressive
 * filling sweeps the level up from zero and freezes variables where links saturate; a solve replays
 * that sweep only where it can differ from the last answer (LevelSweep): a change anywhere alters
 * the loads of links, and those wait by the level at which they saturate now (SaturationQueue).
 * Links that are far from saturated keep an upper bound of their load and hear of no change
 * (SlackLinks). Where a change reaches most links, a walk takes the place of the queue (LevelWalk).
 *
 * **Cost.** For each link whose level changes: a multiply, an add and a comparison (in a walk,
 * an add) for each link that its members cross and that is not slack; O(members) more where a
 * neighbor is higher; O(log links) for the queue. So a change that moves every level of an
 * all-to-all over n end points costs O(n^2). One that moves the level of a single saturated link,
 * all others that its members cross being slack, costs O(log links), and O(members) once in 128
 * solves, when the load is summed afresh against rounding. O(1) per path link for an uncontended
 * variable, and O(1) in all when such a variable stops and starts again. No allocation once vectors
 * have grown.
 */
class MaxMin : public GroupedSystem<MaxMin>
{
  public:
    explicit MaxMin(const std::vector<double>& capacities)
        : GroupedSystem(capacities)
    {
    }

    /** Goes on from another solver, solved, under the same indices; all has moved. */
    explicit MaxMin(const LocalMaxMin& other);
    MaxMin(const MaxMin&) = delete;
    MaxMin& operator=(const MaxMin&) = delete;

    /** Makes levels right for all changes since the last Solve. */
    void Solve();

    /** O(1), but O(members) for a slack link. */
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
    /** Solves that touch fewer links do not walk. */
    void SetMinLinksOfWalk(std::size_t links)
    {
        m_walk.SetMinLinks(links);
    }

  private:
    friend System;

    // Changes between sweeps, as the System calls for them.
    void ApplyCapacity(uint32_t link, double capacity);

    void Withdraw(uint32_t variable)
    {
        m_mover.Withdraw(variable);
    }

    void Enter(uint32_t variable)
    {
        m_mover.Enter(variable);
    }

    void Joined(uint32_t link, uint32_t v)
    {
        GroupedLink& l = m_tables.links[link];
        l.bottlenecks.push_back(m_groups.None());
        l.capped += m_tables.variables[v].cap < INFINITE ? 1 : 0;
    }

    void Left(uint32_t link, uint32_t position, uint32_t v)
    {
        GroupedLink& l = m_tables.links[link];
        l.bottlenecks[position] = l.bottlenecks.back();
        l.bottlenecks.pop_back();
        l.capped -= m_tables.variables[v].cap < INFINITE ? 1 : 0;
        if (l.members.empty())
        {
            l.isSlack = false;
            m_groups.SumAfresh(link);
        }
    }

    void EndSolve();

    LevelOrder m_order{m_tables, m_groups};
    SaturationQueue m_queue{m_tables, m_groups, m_order};
    SlackLinks m_slack{m_tables, m_groups, m_order, m_queue};
    GroupMover m_mover{m_tables, m_groups, m_order, m_queue, m_slack};
    LevelSweep m_sweep{m_tables, m_groups, m_order, m_queue, m_slack, m_mover};
    LevelWalk m_walk{m_tables, m_groups, m_order, m_queue, m_slack, m_mover, m_sweep};
};

} // namespace weir::maxmin

#endif // WEIR_FABRIC_SHARING_MAX_MIN_H

// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_SHARING_LEVEL_WALK_H
#define WEIR_FABRIC_SHARING_LEVEL_WALK_H

#include "fabric/sharing/bottleneck-groups.h"
#include "fabric/sharing/group-mover.h"
#include "fabric/sharing/level-order.h"
#include "fabric/sharing/level-sweep.h"
#include "fabric/sharing/saturation-queue.h"
#include "fabric/sharing/slack-links.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::maxmin
{

/**
 * Walks through all links in the order of their levels, again and again until nothing moves, for
 * changes that reach most links.
 *
 * Where a change reaches most links, as in an all-to-all, by far the most of them move by next to
 * nothing, and none passes another. The walk takes that for granted: it moves each group to where
 * its link saturates, adds what that does to all other loads, and looks at them only when it comes
 * by. Where a link does pass another, one of the two has members that are frozen above its own
 * level; that shows when the walk comes to it, and it takes them over then. As the sweep does, but
 * in another order; at the end all links saturate at their levels and nobody is too high, which
 * only the one answer does. Links that are not regular are left to the sweep in between.
 */
class LevelWalk
{
  public:
    LevelWalk(GroupedTables& tables,
              BottleneckGroups& groups,
              LevelOrder& order,
              SaturationQueue& queue,
              SlackLinks& slack,
              GroupMover& mover,
              LevelSweep& sweep)
        : m_tables(tables),
          m_groups(groups),
          m_order(order),
          m_queue(queue),
          m_slack(slack),
          m_mover(mover),
          m_sweep(sweep)
    {
    }

    /** A solve that touches fewer links does not walk. */
    void SetMinLinks(std::size_t links)
    {
        m_minLinks = links;
    }

    void BeginSolve()
    {
        m_mayRun = true;
    }

    /** Whether a change has spread so far that a walk is cheaper by now than the sweep. */
    bool Pays() const
    {
        return m_mayRun && (m_hasSpreadBefore || HasSpread());
    }

    /** Walks until nothing moves, or leaves all groups open to the sweep. */
    void Run();

    /** A solve that has spread far says that the next will, too. */
    void EndSolve()
    {
        m_hasSpreadBefore = m_mayRun && HasSpread();
    }

  private:
    bool HasSpread() const;
    void OpenAll();
    bool RunOnce();
    void VisitApart();
    bool IsOff(uint32_t link) const;
    bool Visit(uint32_t link);
    bool FindSaturation(uint32_t link, Saturation& at);
    void TakeOver(uint32_t link, double level);

    GroupedTables& m_tables;
    BottleneckGroups& m_groups;
    LevelOrder& m_order;
    SaturationQueue& m_queue;
    SlackLinks& m_slack;
    GroupMover& m_mover;
    LevelSweep& m_sweep;
    std::size_t m_minLinks{48};
    bool m_mayRun{true};                //!< in this solve
    bool m_hasSpreadBefore{false};      //!< the last solve has
    std::vector<HigherMember> m_higher; //!< scratch of Visit
};

} // namespace weir::maxmin

#endif // WEIR_FABRIC_SHARING_LEVEL_WALK_H

// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_SHARING_LEVEL_SWEEP_H
#define WEIR_FABRIC_SHARING_LEVEL_SWEEP_H

#include "fabric/sharing/bottleneck-groups.h"
#include "fabric/sharing/group-mover.h"
#include "fabric/sharing/level-order.h"
#include "fabric/sharing/slack-links.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::maxmin
{

/**
 * Replays the part of progressive filling that can differ from the last answer: visits links in the
 * order in which they saturate.
 *
 *  - A link that is visited at its old level and could go higher is raised at once, or opened: its
 *    group rises on all its links.
 *  - A link that is visited at the level at which it saturates freezes its risers there. Members
 *    that other links freeze above that level join its group.
 *
 * Loads are never underestimated, so no link is visited too late, and frozen variables are final.
 * Where a load returns to its old value, the replay ends.
 */
class LevelSweep
{
  public:
    LevelSweep(GroupedTables& tables,
               BottleneckGroups& groups,
               LevelOrder& order,
               SaturationQueue& queue,
               SlackLinks& slack,
               GroupMover& mover)
        : m_tables(tables),
          m_groups(groups),
          m_order(order),
          m_queue(queue),
          m_slack(slack),
          m_mover(mover)
    {
    }

    /**
     * Sets the current level of the sweep. Levels that differ from it only by rounding are set to
     * it.
     */
    void SetLevel(double level)
    {
        m_level = level;
    }

    /**
     * Removes the first link from the queue and raises, opens or saturates it according to its
     * load.
     */
    void VisitFirst();

  protected:
    GroupedTables& m_tables;
    BottleneckGroups& m_groups;
    LevelOrder& m_order;
    SaturationQueue& m_queue;
    SlackLinks& m_slack;
    GroupMover& m_mover;

  private:
    void Raise(uint32_t link);
    void Saturate(uint32_t link, double level);
    void FreezeRisers(uint32_t link, double level);

    double m_level{0};
    std::vector<uint32_t> m_toLink; //!< scratch of FreezeRisers
    std::vector<uint32_t> m_toCap;  //!< scratch of FreezeRisers
};

} // namespace weir::maxmin

#endif // WEIR_FABRIC_SHARING_LEVEL_SWEEP_H

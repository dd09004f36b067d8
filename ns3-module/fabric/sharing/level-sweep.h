// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_SHARING_LEVEL_SWEEP_H
#define WEIR_FABRIC_SHARING_LEVEL_SWEEP_H

#include "fabric/sharing/bottleneck-groups.h"
#include "fabric/sharing/group-mover.h"
#include "fabric/sharing/level-order.h"
#include "fabric/sharing/saturation-queue.h"
#include "fabric/sharing/slack-links.h"

#include <cstdint>
#include <vector>

namespace weir::maxmin
{

/**
 * Replays progressive filling where it can differ from the last answer: looks at one link after
 * another in the order in which they saturate.
 *
 *  - A link that comes up at its old level and could go higher is raised, or opened: its group
 *    rises on all its links.
 *  - A link that comes up where it saturates freezes its risers there. Members that are frozen
 *    above that level elsewhere are taken over.
 *
 * Loads are never understated, so no link comes up too late, and what is frozen is final. A load
 * that comes back to what it was ends the replay there.
 */
class LevelSweep
{
  public:
    LevelSweep(GroupedTables& tables,
               BottleneckGroups& groups,
               const LevelOrder& order,
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

    /** Says where the sweep is: levels that are equal to it but for rounding are made equal. */
    void SetLevel(double level)
    {
        m_level = level;
    }

    /** Takes the link that comes up first out of the queue, and does what its load says. */
    void VisitFirst();

  private:
    void Raise(uint32_t link);
    void Saturate(uint32_t link, double level);
    void FreezeRisers(uint32_t link, double level);

    GroupedTables& m_tables;
    BottleneckGroups& m_groups;
    const LevelOrder& m_order;
    SaturationQueue& m_queue;
    SlackLinks& m_slack;
    GroupMover& m_mover;
    double m_level{0};
    std::vector<uint32_t> m_toLink; //!< scratch of FreezeRisers
    std::vector<uint32_t> m_toCap;  //!< scratch of FreezeRisers
};

} // namespace weir::maxmin

#endif // WEIR_FABRIC_SHARING_LEVEL_SWEEP_H

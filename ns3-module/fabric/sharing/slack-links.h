// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_SHARING_SLACK_LINKS_H
#define WEIR_FABRIC_SHARING_SLACK_LINKS_H

#include "fabric/sharing/bottleneck-groups.h"
#include "fabric/sharing/level-order.h"
#include "fabric/sharing/saturation-queue.h"

#include <cstdint>
#include <vector>

namespace weir::maxmin
{

/**
 * Links that are far from saturated, and so hold nobody: *slack* links.
 *
 * Such a link knows no load but an upper bound, which counts each member of a group at an
 * *allowance* above its level; it hears of a group that crosses it only when that rises past its
 * allowance, which is rare. A slack link has no group, and no member at level zero.
 */
class SlackLinks
{
  public:
    SlackLinks(GroupedTables& tables,
               BottleneckGroups& groups,
               LevelOrder& order,
               SaturationQueue& queue)
        : m_tables(tables),
          m_groups(groups),
          m_order(order),
          m_queue(queue)
    {
    }

    /** Whether no link may be slack; those that are get their loads back. */
    void KeepLoads(bool keep);

    /** Makes a link that a solve has touched slack, or no longer, by its load. O(members) */
    void Review(uint32_t link);

    /** Gives a slack link its load again. O(members) */
    void Tighten(uint32_t link);

    /** Looks at the slack links that a group crosses where its new level asks for it. */
    void HeedAllowances(uint32_t group);

  private:
    bool CanBeSlack(uint32_t link) const;
    void Relax(uint32_t link);
    void PassCeiling(uint32_t group);
    bool AllowMore(Allowance& allowance, double level);
    void AllowAll(uint32_t link, double growth);

    GroupedTables& m_tables;
    BottleneckGroups& m_groups;
    LevelOrder& m_order;
    SaturationQueue& m_queue;
    bool m_keepsLoads{false};
    std::vector<uint32_t> m_passed; //!< scratch of PassCeiling
};

} // namespace weir::maxmin

#endif // WEIR_FABRIC_SHARING_SLACK_LINKS_H

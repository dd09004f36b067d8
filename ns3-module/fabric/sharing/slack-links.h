// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_SHARING_SLACK_LINKS_H
#define WEIR_FABRIC_SHARING_SLACK_LINKS_H

#include "fabric/sharing/bottleneck-groups.h"
#include "fabric/sharing/level-order.h"

#include <cstdint>
#include <vector>

namespace weir::maxmin
{

/**
 * *Slack* links: links that are far from saturated and so limit no variable.
 *
 * For such a link only an upper bound of the load is kept. The bound counts each member of a group
 * at an *allowance* above its level. The link is updated only when a group that crosses it rises
 * past its allowance, which is rare. A slack link has no group and no member at level zero.
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

    /**
     * Sets whether exact loads are required of all links. If so, slack links get exact loads and no
     * link becomes slack.
     */
    void KeepLoads(bool keep);

    /** Decides from its load whether a link that a solve has touched is slack. O(members) */
    void Review(uint32_t link);

    /** Makes a slack link a link with an exact load. O(members) */
    void Tighten(uint32_t link);

    /**
     * Updates the slack links that a group crosses: those whose allowance its new level exceeds, or
     * all if the level is zero.
     */
    void CheckAllowances(uint32_t group);

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

// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_SHARING_GROUP_MOVER_H
#define WEIR_FABRIC_SHARING_GROUP_MOVER_H

#include "fabric/sharing/bottleneck-groups.h"
#include "fabric/sharing/level-order.h"
#include "fabric/sharing/slack-links.h"

#include <cstdint>
#include <vector>

namespace weir::maxmin
{

/**
 * Changes the levels of variables and groups, updates the loads of all links that they cross, and
 * queues the links that must be checked as a result.
 */
class GroupMover
{
  public:
    GroupMover(GroupedTables& tables,
               BottleneckGroups& groups,
               LevelOrder& order,
               SaturationQueue& queue,
               SlackLinks& slack)
        : m_tables(tables),
          m_groups(groups),
          m_order(order),
          m_queue(queue),
          m_slack(slack)
    {
    }

    /** Lets a variable that is in no load rise on all its links, at its next weight. O(path) */
    void Enter(uint32_t variable);

    /** Removes a variable from the loads of its links and from its group. O(path) */
    void Withdraw(uint32_t variable);

    /** Marks a variable as rising without a group. The caller updates the loads. O(1) */
    void Free(uint32_t variable);

    /**
     * Freezes a variable at @p level, in the group of @p bottleneck or in none (None()). The caller
     * updates the load of the bottleneck. O(path)
     */
    void Freeze(uint32_t variable, double level, uint32_t bottleneck);

    /** Lets the group of a link rise. O(links that it crosses) */
    void Open(uint32_t link);

    /** Freezes the group of a link at @p level. O(links that it crosses) */
    void Move(uint32_t link, double level);

    /** Freezes at their caps the rising variables that no link has frozen. */
    void FreezeRest();

  private:
    void Close(uint32_t link);
    void Raise(const GroupedLink& raised, double change);
    void Lower(const GroupedLink& lowered, double change);
    void NotePassed(const GroupedLink& risen);

    GroupedTables& m_tables;
    BottleneckGroups& m_groups;
    LevelOrder& m_order;
    SaturationQueue& m_queue;
    SlackLinks& m_slack;
    std::vector<uint32_t> m_freed;  //!< variables that started to rise without a group
    std::vector<uint32_t> m_opened; //!< links whose groups started to rise
    std::vector<uint32_t> m_rest;   //!< scratch of FreezeRest
};

} // namespace weir::maxmin

#endif // WEIR_FABRIC_SHARING_GROUP_MOVER_H

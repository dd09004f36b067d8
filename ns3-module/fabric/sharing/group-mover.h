// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_SHARING_GROUP_MOVER_H
#define WEIR_FABRIC_SHARING_GROUP_MOVER_H

#include "fabric/sharing/bottleneck-groups.h"
#include "fabric/sharing/level-order.h"
#include "fabric/sharing/saturation-queue.h"
#include "fabric/sharing/slack-links.h"

#include <cstdint>
#include <vector>

namespace weir::maxmin
{

/**
 * Moves variables and groups: changes their levels, and with them the loads of all links that they
 * cross, and queues the links that must be looked at for it.
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

    /** A variable that no load counts rises on all its links, at its next weight. O(path) */
    void Enter(uint32_t variable);

    /** Takes a variable out of the loads of its links, and out of its group. O(path) */
    void Withdraw(uint32_t variable);

    /** A variable rises by itself; loads are left to the caller. O(1) */
    void Free(uint32_t variable);

    /**
     * Freezes a variable at @p level, in the group of @p bottleneck or by itself (None()); the load
     * of the bottleneck is left to the caller. O(path)
     */
    void Freeze(uint32_t variable, double level, uint32_t bottleneck);

    /** Lets the group of a link rise. O(links that it crosses) */
    void Open(uint32_t link);

    /** Freezes the group of a link at @p level. O(links that it crosses) */
    void Move(uint32_t link, double level);

    /** Freezes at their caps the variables that no link has frozen. */
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
    std::vector<uint32_t> m_freed;  //!< variables that have come to rise by themselves
    std::vector<uint32_t> m_opened; //!< links whose groups have come to rise
    std::vector<uint32_t> m_rest;   //!< scratch of FreezeRest
};

} // namespace weir::maxmin

#endif // WEIR_FABRIC_SHARING_GROUP_MOVER_H

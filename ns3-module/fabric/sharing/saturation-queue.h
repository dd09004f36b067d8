// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_SHARING_SATURATION_QUEUE_H
#define WEIR_FABRIC_SHARING_SATURATION_QUEUE_H

#include "fabric/indexed-heap.h"
#include "fabric/sharing/bottleneck-groups.h"
#include "fabric/sharing/level-order.h"

#include <cstdint>

namespace weir::maxmin
{

/**
 * The links that a sweep must look at, by the level at which they saturate now, but no higher than
 * their old level.
 *
 * A link whose load has sunk keeps its key until it comes up: only then it moves back.
 */
class SaturationQueue
{
  public:
    SaturationQueue(GroupedTables& tables, BottleneckGroups& groups, LevelOrder& order)
        : m_tables(tables),
          m_groups(groups),
          m_order(order),
          m_heap(tables.links.size())
    {
    }

    /** Notes that a solve changes a link. O(1). */
    void Touch(uint32_t link)
    {
        if (!m_tables.links[link].isTouched)
        {
            TouchFirst(link);
        }
    }

    bool IsEmpty() const
    {
        return m_heap.Empty();
    }

    /** The lowest level at which a link waits; infinite: none does. O(log links). */
    double FirstLevel();

    /** The link that waits there, once FirstLevel has been asked. */
    uint32_t FirstLink() const
    {
        return m_heap.TopIndex();
    }

    /** The level at which a sweep must look at a link. */
    double KeyOf(uint32_t link) const;

    /** The level at which a link saturates, as far as its risers and its bound say. */
    double SaturationOf(uint32_t link) const;

    /** Queues a link whose load has changed, or moves it ahead. O(log links). */
    void Update(uint32_t link);

    /** Updates a link that a group has put more load on, which was at level @p from. */
    void UpdateRaised(uint32_t link, double from);

    /** Queues a link that a group has taken load from: its own group could rise. */
    void UpdateLowered(uint32_t link);

    void Set(uint32_t link, double key)
    {
        m_tables.links[link].key = key;
        m_heap.Set(link, key);
    }

    void Remove(uint32_t link)
    {
        m_tables.links[link].key = INFINITE;
        m_heap.Remove(link);
    }

    /** Takes out what a walk that begins visits anyway. */
    void BeginWalk();

    /** Whether a walk is on and sees to a link, so that no change of it needs a look. */
    bool IsWalked(uint32_t link) const
    {
        const GroupedLink& l = m_tables.links[link];
        return m_order.Has(link) && l.key == INFINITE && m_groups.IsRegular(l);
    }

  private:
    void TouchFirst(uint32_t link);

    GroupedTables& m_tables;
    BottleneckGroups& m_groups;
    LevelOrder& m_order;
    IndexedHeap<double> m_heap;
};

} // namespace weir::maxmin

#endif // WEIR_FABRIC_SHARING_SATURATION_QUEUE_H

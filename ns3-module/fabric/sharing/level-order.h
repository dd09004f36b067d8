// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_SHARING_LEVEL_ORDER_H
#define WEIR_FABRIC_SHARING_LEVEL_ORDER_H

#include "fabric/indexed-heap.h"
#include "fabric/sharing/bottleneck-groups.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::maxmin
{

/**
 * The links that a walk visits: the regular links in the order of their levels, and the other busy
 * links in a separate list.
 */
class LevelOrder
{
  public:
    struct Entry
    {
        double level; //!< level of the link's group; in the separate list, its fixed load
        uint32_t link;
    };

    LevelOrder(GroupedTables& tables, BottleneckGroups& groups)
        : m_tables(tables),
          m_groups(groups)
    {
    }

    /** Adds a link that a walk must visit, unless it is present. O(1). */
    void Enlist(uint32_t link);

    /** Begins a walk: sorts the regular links by level. O(n log n) for n links. */
    void Begin();

    void End()
    {
        m_isInUse = false;
    }

    /** Whether a walk is in progress. */
    bool IsInUse() const
    {
        return m_isInUse;
    }

    /** Whether a walk is in progress and the link is in the order, not in the separate list. */
    bool Has(uint32_t link) const
    {
        return m_isInUse && m_groups.Function(link).rank < APART;
    }

    /**
     * Moves the cursor of the walk back to a link of the order, if the cursor is beyond it. O(1).
     */
    void GoBackTo(uint32_t link)
    {
        m_cursor = std::min<std::size_t>(m_cursor, m_groups.Function(link).rank);
    }

    /**
     * Moves a link to the position of its new level. If the order before the cursor changes, the
     * cursor returns to that position.
     */
    void Move(uint32_t link, double level);

    std::vector<Entry>& Ordered()
    {
        return m_ordered;
    }

    std::vector<Entry>& Apart()
    {
        return m_apart;
    }

    /** The position that the walk visits next. */
    std::size_t& Cursor()
    {
        return m_cursor;
    }

  private:
    /** The rank of a link in the separate list. */
    static constexpr uint32_t APART = NONE - 1;

    void Sort();

    GroupedTables& m_tables;
    BottleneckGroups& m_groups;
    std::vector<Entry> m_ordered;
    std::vector<Entry> m_apart;
    std::size_t m_cursor{0};
    bool m_isInUse{false};
};

/**
 * The links that a sweep must visit, keyed by the level at which they saturate now, but not above
 * their old level.
 *
 * A link whose load has decreased keeps its key until it reaches the top of the queue, and only
 * then gets its new key.
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

    /** Records that a solve changes a link. O(1). */
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

    /** The lowest key in the queue; infinite if the queue is empty. O(log links). */
    double FirstLevel();

    /** The link with the lowest key; valid after FirstLevel. */
    uint32_t FirstLink() const
    {
        return m_heap.TopIndex();
    }

    /** The level at which a sweep must visit a link. */
    double KeyOf(uint32_t link) const;

    /** The level at which a link saturates according to its risers and its bound. */
    double SaturationOf(uint32_t link) const;

    /** Queues a link whose load has changed, or lowers its key. O(log links). */
    void Update(uint32_t link);

    /** Updates a link whose load a group has increased. @param from former level of the group */
    void UpdateRaised(uint32_t link, double from);

    /** Queues a link whose load a group has decreased, as the link's own group may rise. */
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

    /** Removes the links that a starting walk visits anyway. */
    void BeginWalk();

    /**
     * Whether a walk is in progress and will check a link, so that changes of it need no queueing.
     */
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

#endif // WEIR_FABRIC_SHARING_LEVEL_ORDER_H

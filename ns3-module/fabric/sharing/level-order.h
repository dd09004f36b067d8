// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_SHARING_LEVEL_ORDER_H
#define WEIR_FABRIC_SHARING_LEVEL_ORDER_H

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
     * cursor goes back to that position.
     */
    void Move(uint32_t link, double level);

    std::vector<Entry>& Ordered()
    {
        return m_ordered;
    }

    const std::vector<Entry>& Ordered() const
    {
        return m_ordered;
    }

    std::vector<Entry>& Apart()
    {
        return m_apart;
    }

    const std::vector<Entry>& Apart() const
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

} // namespace weir::maxmin

#endif // WEIR_FABRIC_SHARING_LEVEL_ORDER_H

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

/** The links that a walk goes through: regular ones by level, and all others that are busy apart.
 */
class LevelOrder
{
  public:
    struct Entry
    {
        double level; //!< of the link's group; or, apart, its fixed load
        uint32_t link;
    };

    LevelOrder(GroupedTables& tables, BottleneckGroups& groups)
        : m_tables(tables),
          m_groups(groups)
    {
    }

    /** Lists a link that a walk must visit, if it is not listed. O(1). */
    void Enlist(uint32_t link);

    /** Begins a walk: sorts the links by level. O(n log n) in the links listed. */
    void Begin();

    void End()
    {
        m_isInUse = false;
    }

    /** Whether a walk is on. */
    bool IsInUse() const
    {
        return m_isInUse;
    }

    /** Whether a walk has a link in its order, not apart. */
    bool Has(uint32_t link) const
    {
        return m_isInUse && m_groups.Function(link).rank < APART;
    }

    /** Has the walk visit a link that it has in its order, if it is past it. O(1). */
    void GoBackTo(uint32_t link)
    {
        m_cursor = std::min<std::size_t>(m_cursor, m_groups.Function(link).rank);
    }

    /** Puts a link where its new level belongs; the walk goes back to where that changes the
     *  order. */
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

    /** The rank that the walk visits next. */
    std::size_t& Cursor()
    {
        return m_cursor;
    }

  private:
    /** The rank of a link that is listed apart. */
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

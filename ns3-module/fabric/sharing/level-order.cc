// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/sharing/level-order.h"

namespace weir::maxmin
{

void
LevelOrder::Enlist(uint32_t link)
{
    const GroupedLink& l = m_tables.links[link];
    uint32_t& rank = m_groups.Function(link).rank;
    if (rank < APART || l.isSlack || l.members.empty() || l.capacity == INFINITE)
    {
        return;
    }
    if (m_groups.IsRegular(l) && !m_isInUse)
    {
        rank = static_cast<uint32_t>(m_ordered.size());
        m_ordered.push_back({l.level, link});
    }
    else if (rank == NONE)
    {
        rank = APART;
        m_apart.push_back({m_groups.Fixed(link), link});
    }
}

void
LevelOrder::Begin()
{
    for (uint32_t link : m_tables.touched)
    {
        Enlist(link);
    }
    std::size_t kept = 0;
    for (const Entry& entry : m_ordered)
    {
        m_groups.Function(entry.link).rank = NONE;
        if (m_groups.IsRegular(m_tables.links[entry.link]))
        {
            m_ordered[kept++] = {m_tables.links[entry.link].level, entry.link};
        }
        else
        {
            Enlist(entry.link);
        }
    }
    m_ordered.resize(kept);
    Sort();
    kept = 0;
    double highestApart = 0; // highest level of a group outside the order
    for (const Entry& entry : m_apart)
    {
        LoadFunction& f = m_groups.Function(entry.link);
        const GroupedLink& l = m_tables.links[entry.link];
        if (f.rank == APART && !l.members.empty() && !l.isSlack && l.capacity < INFINITE)
        {
            m_apart[kept++] = {m_groups.Fixed(entry.link), entry.link};
            highestApart = l.HasGroup() ? std::max(highestApart, l.level) : highestApart;
        }
        else if (f.rank == APART)
        {
            f.rank = NONE;
        }
    }
    m_apart.resize(kept);
    for (std::size_t rank = 0; rank < m_ordered.size(); rank++)
    {
        LoadFunction& f = m_groups.Function(m_ordered[rank].link);
        const double level = m_ordered[rank].level;
        f.rank = static_cast<uint32_t>(rank);
        f.highest = f.highest > level ? f.highest : std::min(level, highestApart);
    }
    m_isInUse = true;
}

/**
 * Sorts by insertion, as the links are mostly in order already; falls back to std::sort after many
 * shifts.
 */
void
LevelOrder::Sort()
{
    const auto isLower = [](const Entry& a, const Entry& b) {
        return a.level < b.level || (a.level == b.level && a.link < b.link);
    };
    std::size_t shifts = 0;
    for (std::size_t i = 1; i < m_ordered.size() && shifts <= 16 * m_ordered.size(); i++)
    {
        const Entry entry = m_ordered[i];
        std::size_t at = i;
        for (; at > 0 && isLower(entry, m_ordered[at - 1]); at--, shifts++)
        {
            m_ordered[at] = m_ordered[at - 1];
        }
        m_ordered[at] = entry;
    }
    if (shifts > 16 * m_ordered.size())
    {
        std::sort(m_ordered.begin(), m_ordered.end(), isLower);
    }
}

void
LevelOrder::Move(uint32_t link, double level)
{
    std::size_t at = m_groups.Function(link).rank;
    const auto put = [this](std::size_t rank, const Entry& entry) {
        m_ordered[rank] = entry;
        m_groups.Function(entry.link).rank = static_cast<uint32_t>(rank);
    };
    m_cursor = std::min(m_cursor, at);
    for (; at + 1 < m_ordered.size() && m_ordered[at + 1].level < level; at++)
    {
        put(at, m_ordered[at + 1]);
    }
    for (; at > 0 && m_ordered[at - 1].level > level; at--)
    {
        put(at, m_ordered[at - 1]);
    }
    put(at, {level, link});
    m_cursor = std::min(m_cursor, at);
}

} // namespace weir::maxmin

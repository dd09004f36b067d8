// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/sharing/max-min.h"

#include <algorithm>

namespace weir
{

/** Lists a link that a walk must pass, if it does not yet. O(1). */
void
MaxMin::Enlist(uint32_t link)
{
    const Link& l = m_links[link];
    uint32_t& rank = m_lines[link].rank;
    if (rank < LOOSE || l.slack || l.members.empty() || l.capacity == INFINITE)
    {
        return;
    }
    if (l.HasGroup() && IsPlain(l) && !m_walks)
    {
        rank = static_cast<uint32_t>(m_order.size());
        m_order.push_back({l.level, link});
    }
    else if (rank == NONE)
    {
        rank = LOOSE;
        m_loose.push_back({m_fixed[link], link});
    }
}

/** Sorts the listed links by level, those without a group apart. O(links listed). */
void
MaxMin::OrderLinks()
{
    for (uint32_t link : m_touched)
    {
        Enlist(link);
    }
    std::size_t kept = 0;
    for (const Place& place : m_order)
    {
        m_lines[place.link].rank = NONE;
        if (IsPlain(m_links[place.link]))
        {
            m_order[kept++] = {m_links[place.link].level, place.link};
        }
        else
        {
            Enlist(place.link);
        }
    }
    m_order.resize(kept);
    SortOrder();
    kept = 0;
    double most = 0; // level of a group that is not in m_order
    for (const Place& place : m_loose)
    {
        Line& line = m_lines[place.link];
        const Link& l = m_links[place.link];
        if (line.rank == LOOSE && !l.members.empty() && !l.slack && l.capacity < INFINITE)
        {
            m_loose[kept++] = {m_fixed[place.link], place.link};
            most = l.HasGroup() ? std::max(most, l.level) : most;
        }
        else if (line.rank == LOOSE)
        {
            line.rank = NONE;
        }
    }
    m_loose.resize(kept);
    m_looseMost = most;
    for (std::size_t rank = 0; rank < m_order.size(); rank++)
    {
        Line& line = m_lines[m_order[rank].link];
        const double level = m_order[rank].level;
        line.rank = static_cast<uint32_t>(rank);
        line.lone = NONE;
        line.highest = line.highest > level ? line.highest : std::min(level, most);
    }
}

/** Sorts m_order: by insertion, as it mostly is nearly sorted. */
void
MaxMin::SortOrder()
{
    const auto lower = [](const Place& a, const Place& b) {
        return a.level < b.level || (a.level == b.level && a.link < b.link);
    };
    std::size_t shifts = 0;
    for (std::size_t i = 1; i < m_order.size(); i++)
    {
        const Place place = m_order[i];
        std::size_t at = i;
        for (; at > 0 && lower(place, m_order[at - 1]); at--)
        {
            m_order[at] = m_order[at - 1];
            shifts++;
        }
        m_order[at] = place;
        if (shifts > 16 * m_order.size())
        {
            std::sort(m_order.begin(), m_order.end(), lower);
            return;
        }
    }
}

/** Puts a link where its new level belongs in m_order; the walk goes back to where it changes. */
void
MaxMin::Reorder(uint32_t link, double level)
{
    std::size_t at = m_lines[link].rank;
    const auto put = [this](std::size_t rank, const Place& place) {
        m_order[rank] = place;
        m_lines[place.link].rank = static_cast<uint32_t>(rank);
    };
    m_cursor = std::min(m_cursor, at);
    for (; at + 1 < m_order.size() && m_order[at + 1].level < level; at++)
    {
        put(at, m_order[at + 1]);
    }
    for (; at > 0 && m_order[at - 1].level > level; at--)
    {
        put(at, m_order[at - 1]);
    }
    put(at, {level, link});
    m_cursor = std::min(m_cursor, at);
}

} // namespace weir

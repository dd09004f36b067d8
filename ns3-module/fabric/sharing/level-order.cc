// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/sharing/level-order.h"

#include <algorithm>

namespace weir::maxmin
{

namespace
{

/**
 * A link without risers must lower its members if its load exceeds the capacity by more than this
 * fraction.
 */
constexpr double OVERFULL = 1e-12;

} // namespace

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

void
SaturationQueue::TouchFirst(uint32_t link)
{
    GroupedLink& l = m_tables.links[link];
    l.isTouched = true;
    l.bound = 0;
    l.peak = std::max(l.peak, m_groups.Load(link));
    l.solves++;
    m_tables.touched.push_back(link);
    if (m_order.IsInUse())
    {
        m_order.Enlist(link);
    }
}

double
SaturationQueue::FirstLevel()
{
    while (!m_heap.Empty())
    {
        const uint32_t link = m_heap.TopIndex();
        const double key = KeyOf(link);
        if (key <= m_heap.TopKey())
        {
            return m_heap.TopKey();
        }
        if (key == INFINITE)
        {
            Remove(link);
        }
        else
        {
            Set(link, key);
        }
    }
    return INFINITE;
}

double
SaturationQueue::SaturationOf(uint32_t link) const
{
    const GroupedLink& l = m_tables.links[link];
    if (l.risers == 0)
    {
        return m_groups.Fixed(link) > l.capacity * (1 + OVERFULL) ? l.bound : INFINITE;
    }
    return std::max(l.bound, m_groups.MeetingLevel(link));
}

double
SaturationQueue::KeyOf(uint32_t link) const
{
    const GroupedLink& l = m_tables.links[link];
    const double saturation = SaturationOf(link);
    return l.isOpen || !l.HasGroup() ? saturation : std::min(saturation, l.level);
}

void
SaturationQueue::Update(uint32_t link)
{
    const GroupedLink& l = m_tables.links[link];
    if (IsWalked(link))
    {
        m_order.GoBackTo(link);
    }
    else if (l.capacity < INFINITE &&
             (l.key == INFINITE ||
              m_groups.Fixed(link) + m_groups.Function(link).rising * l.key > l.capacity))
    {
        const double key = KeyOf(link);
        if (key < l.key)
        {
            Set(link, key);
        }
    }
}

void
SaturationQueue::UpdateRaised(uint32_t link, double from)
{
    Touch(link);
    GroupedLink& l = m_tables.links[link];
    l.bound = std::min(l.bound, from);
    const double level = l.key < INFINITE ? l.key : l.level;
    const double rising = l.risers > 0 ? m_groups.Function(link).rising * level : 0;
    if (m_groups.Fixed(link) + rising > l.capacity)
    {
        l.peak = std::max(l.peak, m_groups.Fixed(link));
        Update(link);
    }
}

void
SaturationQueue::UpdateLowered(uint32_t link)
{
    Touch(link);
    const GroupedLink& l = m_tables.links[link];
    if (l.key == INFINITE && l.HasGroup())
    {
        Set(link, l.level);
    }
}

void
SaturationQueue::BeginWalk()
{
    m_heap.Clear();
    for (uint32_t link : m_tables.touched)
    {
        GroupedLink& l = m_tables.links[link];
        const double key = l.key;
        l.key = INFINITE;
        if (key < INFINITE && !IsWalked(link))
        {
            Set(link, key);
        }
    }
}

} // namespace weir::maxmin

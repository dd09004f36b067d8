// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/sharing/max-min.h"

#include <algorithm>

namespace weir
{

namespace
{

/** A link without risers is overfull, and must lower its members, past this part of capacity. */
constexpr double OVERFULL = 1e-12;

} // namespace

/** Notes that a link is touched for the first time in this solve. */
void
MaxMin::TouchFirst(uint32_t link)
{
    Link& l = m_links[link];
    l.mark = m_solve;
    l.bound = 0;
    l.peak = std::max(l.peak, LineLoad(link));
    l.solves++;
    m_touched.push_back(link);
    if (m_walks)
    {
        Enlist(link);
    }
}

/** What the line of a link says of its load. */
double
MaxMin::LineLoad(uint32_t link) const
{
    const Line& line = m_lines[link];
    return m_links[link].risers > 0 ? m_fixed[link] + line.rising * m_links[link].level
                                    : m_fixed[link];
}

/** Sums the line of a link from its members, so that rounding never piles up. O(members). */
void
MaxMin::SumAfresh(uint32_t link)
{
    Link& l = m_links[link];
    Line& line = m_lines[link];
    m_fixed[link] = 0;
    line.rising = 0;
    line.highest = 0;
    l.risers = 0;
    l.guests = 0;
    l.solves = 0;
    l.peak = 0;
    if (l.capacity == INFINITE || AloneOn(link) != NONE)
    {
        return;
    }
    for (std::size_t i = 0; i < l.members.size(); i++)
    {
        const double weight = l.members[i].weight;
        const uint32_t bottleneck = l.bottlenecks[i];
        double level = m_groupLevels[bottleneck];
        if (bottleneck == m_none)
        {
            const Variable& v = m_variables[l.members[i].variable];
            level = IsFree(v) ? INFINITE : v.level;
        }
        if (bottleneck == link || level == INFINITE)
        {
            line.rising += weight;
            l.risers++;
            l.guests += bottleneck == link ? 0 : 1;
        }
        else
        {
            m_fixed[link] += weight * (l.slack ? BoundOf(link, i) : level);
            line.highest = std::max(line.highest, level);
        }
    }
    l.peak = m_fixed[link];
}

/** Whether a line meets the capacity earlier than the heap, or the link's level, says. */
bool
MaxMin::IsBentUp(uint32_t link) const
{
    const Link& l = m_links[link];
    const Line& line = m_lines[link];
    const double level = l.key < INFINITE ? l.key : l.level;
    return m_fixed[link] + (l.risers > 0 ? line.rising * level : 0) > l.capacity;
}

/** Where the line of a link meets its capacity, or the bound where that is known to be higher. */
double
MaxMin::MeetingLevel(uint32_t link) const
{
    const Link& l = m_links[link];
    const Line& line = m_lines[link];
    if (l.risers == 0)
    {
        return m_fixed[link] > l.capacity * (1 + OVERFULL) ? l.bound : INFINITE;
    }
    return std::max(l.bound, (l.capacity - m_fixed[link]) / line.rising);
}

/** When the sweep must look at a link: where its line meets, or at its old level if that is lower.
 */
double
MaxMin::KeyOf(uint32_t link) const
{
    const Link& l = m_links[link];
    const double meeting = MeetingLevel(link);
    return l.opened || !l.HasGroup() ? meeting : std::min(meeting, l.level);
}

/** Puts a link in the heap, or moves it ahead; moving back waits until it comes up. */
void
MaxMin::Rekey(uint32_t link)
{
    const Link& l = m_links[link];
    const Line& line = m_lines[link];
    if (IsWalked(link))
    {
        m_cursor = std::min<std::size_t>(m_cursor, line.rank);
    }
    else if (l.key == INFINITE || m_fixed[link] + line.rising * l.key > l.capacity)
    {
        const double key = l.capacity < INFINITE ? KeyOf(link) : INFINITE;
        if (key < l.key)
        {
            // Some way ahead, so that the next changes of that size find it still right.
            const double ahead = 4 * ((l.key < INFINITE ? l.key : l.level) - key);
            SetKey(link, key < INFINITE ? std::max(std::min(key, m_level), key - ahead) : key);
        }
    }
    SetLimit(link);
}

/** Says which moves of other groups need a look at a link: those that show, or any. */
void
MaxMin::SetLimit(uint32_t link)
{
    const Link& l = m_links[link];
    Line& line = m_lines[link];
    if (l.key < INFINITE)
    {
        line.limit = l.capacity - line.rising * l.key;
    }
    else if (IsWalked(link))
    {
        line.limit = INFINITE;
    }
    else
    {
        line.limit = l.risers > 0 ? -INFINITE : l.capacity;
    }
}

void
MaxMin::SetKey(uint32_t link, double key)
{
    m_links[link].key = key;
    m_heap.Set(link, key);
}

void
MaxMin::DropKey(uint32_t link)
{
    m_links[link].key = INFINITE;
    m_heap.Remove(link);
    SetLimit(link);
}

/** The lowest key in the heap, after moving back links whose lines have sunk since they got it. */
double
MaxMin::FirstKey()
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
            DropKey(link);
        }
        else
        {
            SetKey(link, key);
            SetLimit(link);
        }
    }
    return INFINITE;
}

/** Looks at a link after a group that was at @p from has put more on it. */
void
MaxMin::LookAtRaised(uint32_t link, double from)
{
    Touch(link);
    Link& l = m_links[link];
    l.bound = std::min(l.bound, from);
    if (IsBentUp(link))
    {
        l.peak = std::max(l.peak, m_fixed[link]);
        Rekey(link);
    }
    SetLimit(link);
}

/** Looks at a link after a group has taken load from it: it could go higher. */
void
MaxMin::LookAtLowered(uint32_t link)
{
    Touch(link);
    const Link& l = m_links[link];
    if (l.key == INFINITE && l.HasGroup())
    {
        SetKey(link, l.level);
    }
    SetLimit(link);
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/max-min.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace weir
{

namespace
{

/**
 * Loads that differ by less than this part of the capacity are the same load: the rounding of
 * sums of thousands of doubles, far below the 1e-9 that rates are right to. It keeps noise from
 * being replayed as change, and makes equal links fill at one and the same level.
 */
constexpr double SAME_LOAD = 1e-14;

/** A link without risers is overfull, and must lower its members, past this part of capacity. */
constexpr double OVERFULL = 1e-12;

} // namespace

void
MaxMin::Sweep()
{
    // Each look stops, raises or opens a group; far more looks than that are a mistake of ours.
    const std::size_t looksMost = 1000 + 100 * (m_links.size() + m_variables.size());
    std::size_t looks = 0;
    do
    {
        while (FirstKey() < INFINITE)
        {
            if (++looks > looksMost)
            {
                throw std::logic_error("MaxMin: the sweep does not end");
            }
            const uint32_t link = m_heap.TopIndex();
            const Link& l = m_links[link];
            const double key = KeyOf(l);
            DropKey(link);
            if (l.capacity < l.peak * 1e-3)
            {
                SumAfresh(link); // what the line has been through could show at this capacity
            }
            if (l.opened || !l.HasGroup() || key < l.level)
            {
                Fill(link, key);
            }
            else if ((MeetingLevel(l) - l.level) * l.rising > SAME_LOAD * l.capacity)
            {
                Raise(link);
            }
            else if (l.guests > 0 || l.highest > l.level)
            {
                Fill(link, l.level);
            }
        }
        StopFree();
    } while (!m_heap.Empty());
}

/** Lets the group of a link rise. */
void
MaxMin::Raise(uint32_t link)
{
    const Link& l = m_links[link];
    const double level = (l.capacity - l.fixed) / l.rising;
    if (l.guests == 0 && l.capped == 0 && level > l.level && level >= l.highest)
    {
        MoveGroup(link, level); // as high as it can come; whoever holds it back takes it over
    }
    else
    {
        Open(link);
    }
}

/** Stops at their caps what no link holds. */
void
MaxMin::StopFree()
{
    m_toCap.clear();
    for (uint32_t link : m_opened)
    {
        if (m_links[link].opened)
        {
            for (const Member& m : m_links[link].members)
            {
                if (m.bottleneck == link)
                {
                    m_toCap.push_back(m.variable);
                }
            }
        }
    }
    for (uint32_t v : m_freed)
    {
        if (m_variables[v].freed == m_solve)
        {
            m_toCap.push_back(v);
        }
    }
    for (uint32_t v : m_toCap)
    {
        if (IsFree(m_variables[v]))
        {
            Stop(v, m_variables[v].cap, m_none);
        }
    }
    for (uint32_t link : m_opened)
    {
        m_links[link].opened = false;
    }
    m_opened.clear();
    m_freed.clear();
}

/** Where the line of a link meets its capacity, or the bound where that is known to be higher. */
double
MaxMin::MeetingLevel(const Link& l)
{
    if (l.risers == 0)
    {
        return l.fixed > l.capacity * (1 + OVERFULL) ? l.bound : INFINITE;
    }
    return std::max(l.bound, (l.capacity - l.fixed) / l.rising);
}

/** When the sweep must look at a link: where its line meets, or at its old level if that is lower.
 */
double
MaxMin::KeyOf(const Link& l)
{
    const double meeting = MeetingLevel(l);
    return l.opened || !l.HasGroup() ? meeting : std::min(meeting, l.level);
}

/** Puts a link in the heap, or moves it ahead; moving back waits until it comes up. */
void
MaxMin::Rekey(uint32_t link)
{
    const Link& l = m_links[link];
    if (l.key < INFINITE && l.fixed + l.rising * l.key <= l.capacity)
    {
        return; // the line meets the capacity no earlier than the key says
    }
    const double key = l.capacity < INFINITE ? KeyOf(l) : INFINITE;
    if (key < l.key)
    {
        // Some way ahead, so that the next small change finds it still right.
        SetKey(link, key > m_level && key < INFINITE ? 0.5 * (key + m_level) : key);
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
}

/** The lowest key in the heap, after moving back links whose lines have sunk since they got it. */
double
MaxMin::FirstKey()
{
    while (!m_heap.Empty())
    {
        const uint32_t link = m_heap.TopIndex();
        const double key = KeyOf(m_links[link]);
        if (key <= m_heap.TopKey())
        {
            return m_heap.TopKey();
        }
        key == INFINITE ? DropKey(link) : SetKey(link, key);
    }
    return INFINITE;
}

/** The level at which a member would stop if its link held it not. */
double
MaxMin::LimitOf(const Member& member) const
{
    return std::min(m_groupLevels[member.bottleneck], m_variables[member.variable].cap);
}

/** Counts who of a link's members would stop at or below @p level, and who would rise past it. */
MaxMin::Count
MaxMin::CountMembers(uint32_t link, double level)
{
    const Link& l = m_links[link];
    Count count;
    const double ownLevel = m_groupLevels[link];
    m_groupLevels[link] = INFINITE; // its own group is held by nothing but caps
    for (const Member& m : l.members)
    {
        const double limit = l.capped > 0 ? LimitOf(m) : m_groupLevels[m.bottleneck];
        const bool rises = limit > level;
        count.rising += rises ? m.weight : 0;
        count.fixed += rises ? 0 : m.weight * limit;
        count.risers += rises ? 1 : 0;
    }
    m_groupLevels[link] = ownLevel;
    return count;
}

/** Finds the level at which a link fills, from @p level on, and stops its risers there. */
void
MaxMin::Fill(uint32_t link, double level)
{
    Link& l = m_links[link];
    double rising = l.rising;
    const double meeting = l.risers > 0 ? (l.capacity - l.fixed) / l.rising : 0;
    const bool isExact = l.capped == 0 && l.risers > 0 && meeting >= l.highest;
    if (isExact)
    {
        level = meeting;
    }
    else
    {
        Count count = CountMembers(link, level);
        // The first step may come from above the root, all others come from below: fewer rise.
        for (std::size_t step = 0; count.risers > 0 && step <= l.members.size(); step++)
        {
            const double next = std::max(0.0, (l.capacity - count.fixed) / count.rising);
            const uint32_t before = count.risers;
            const bool same = std::abs(next - level) * count.rising <= SAME_LOAD * l.capacity;
            const bool below = next >= level;
            level = next;
            if (same)
            {
                break;
            }
            count = CountMembers(link, level);
            if (below && count.risers == before)
            {
                break;
            }
        }
        if (count.risers == 0)
        {
            l.bound = INFINITE; // whoever is free stops at a cap
            return;
        }
        rising = count.rising;
    }
    const auto same = [&](double other) {
        return std::abs(level - other) * rising <= SAME_LOAD * l.capacity;
    };
    const double before = l.HasGroup() ? l.level : INFINITE;
    if (before != INFINITE && same(before))
    {
        level = before;
    }
    else if (same(m_level))
    {
        level = m_level;
    }
    if (!l.opened && level > before)
    {
        Open(link); // caps leave more than the line says
        return;
    }
    if ((level - FirstKey()) * rising > SAME_LOAD * l.capacity)
    {
        l.bound = level;
        SetKey(link, level);
        return;
    }
    m_level = level;
    if (isExact && l.guests == 0 && level >= l.highest)
    {
        MoveGroup(link, level);
    }
    else
    {
        StopRisers(link, level);
    }
    l.bound = 0;
    DropKey(link);
}

/** Stops at @p level every member of a link that is not stopped lower. */
void
MaxMin::StopRisers(uint32_t link, double level)
{
    Link& l = m_links[link];
    m_toLink.clear();
    m_toCap.clear();
    double fixed = 0;
    double rising = 0;
    double highest = 0;
    uint32_t risers = 0;
    const double ownLevel = m_groupLevels[link];
    m_groupLevels[link] = INFINITE;
    for (const Member& m : l.members)
    {
        const double limit = l.capped > 0 ? LimitOf(m) : m_groupLevels[m.bottleneck];
        if (limit > level)
        {
            rising += m.weight;
            risers++;
            if (m.bottleneck != link)
            {
                m_toLink.push_back(m.variable);
            }
            continue;
        }
        fixed += m.weight * limit;
        highest = std::max(highest, limit);
        if (l.capped > 0 && limit == m_variables[m.variable].cap &&
            (m.bottleneck == link || IsFree(m_variables[m.variable])))
        {
            m_toCap.push_back(m.variable);
        }
    }
    m_groupLevels[link] = ownLevel;
    for (uint32_t v : m_toCap)
    {
        Stop(v, m_variables[v].cap, m_none);
    }
    MoveGroup(link, level);
    for (uint32_t v : m_toLink)
    {
        Stop(v, level, link);
    }
    l.fixed = fixed;
    l.rising = rising;
    l.highest = highest;
    l.risers = risers;
    l.guests = 0;
    l.solves = 0;
    l.peak = fixed;
}

} // namespace weir

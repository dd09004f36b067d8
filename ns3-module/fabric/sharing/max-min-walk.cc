// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/sharing/max-min.h"

#include <algorithm>
#include <cmath>

namespace weir
{

namespace
{

/** Where less than one of so many links is touched, a walk does not pay. */
constexpr std::size_t WALK_PART = 4;

/** A link that counts its members may be off by this part of its capacity: the sums are others. */
constexpr double SAME_SUM = 1e-12;

/** So many times a walk may start again before the strict order of the sweep takes over. */
constexpr std::size_t WALKS_MOST = 64;

} // namespace

/** Whether a change has spread so far that looking at all links in order is the cheaper way. */
bool
MaxMin::PaysToWalk() const
{
    return m_mayWalk && (m_walksAtOnce || HasSpread());
}

/** Whether this solve has touched so many links that a walk pays. */
bool
MaxMin::HasSpread() const
{
    return m_touched.size() >= m_walkFrom && m_touched.size() <= WALK_PART * m_order.size() &&
           m_touched.size() * WALK_PART >= m_order.size() + m_loose.size();
}

/** Whether a link's level is where its line meets its capacity, and nothing else matters. */
bool
MaxMin::IsPlain(const Link& l) const
{
    return l.risers > 0 && l.guests == 0 && l.capped == 0 && !l.opened && !l.slack &&
           l.capacity < INFINITE;
}

/** Whether the walk sees to a link, so that no move of others needs a look at it. */
bool
MaxMin::IsWalked(uint32_t link) const
{
    return m_walks && m_lines[link].rank < LOOSE && m_links[link].key == INFINITE &&
           IsPlain(m_links[link]);
}

/**
 * Brings all lines to their capacities by going through the links in the order of their levels,
 * again and again until nothing moves.
 *
 * Where a change reaches most links, by far the most of them move by next to nothing, and none
 * passes another. The walk takes that for granted: it moves each group to where its line meets,
 * adds what that does to all other lines, and looks at them only when it comes by. Where a link
 * does pass another, one of the two has members that stand higher than its own level; that shows
 * when the walk comes to it, and it takes them over then. As the sweep does, but in another order;
 * at the end all lines meet and nobody stands too high, which only the one answer does.
 */
void
MaxMin::Walk()
{
    OrderLinks();
    m_walks = true;
    m_heap.Clear();
    for (uint32_t link : m_touched)
    {
        Link& l = m_links[link];
        const double key = l.key;
        l.key = INFINITE;
        if (key < INFINITE && !IsWalked(link))
        {
            SetKey(link, key);
        }
    }
    for (const Place& place : m_order)
    {
        SetLimit(place.link);
    }
    std::size_t walks = 0;
    m_surged = false;
    for (bool moved = true; moved && walks < WALKS_MOST; walks++)
    {
        moved = WalkOnce();
        if (!moved && m_surged)
        {
            SumAllAfresh();
            m_surged = false;
            moved = true;
        }
    }
    m_walks = false;
    for (const Place& place : m_order)
    {
        Line& line = m_lines[place.link];
        line.limit = -INFINITE;
        line.highest = IsPlain(m_links[place.link]) ? m_links[place.link].level : INFINITE;
    }
    for (const Place& place : m_loose)
    {
        m_lines[place.link].highest = INFINITE;
    }
    if (walks == WALKS_MOST)
    {
        m_mayWalk = false;
        OpenAll();
    }
}

/** Sums the lines of all listed links afresh: what has surged through them could show. */
void
MaxMin::SumAllAfresh()
{
    for (const auto* places : {&m_order, &m_loose})
    {
        for (const Place& place : *places)
        {
            SumAfresh(place.link);
        }
    }
}

/** Frees all groups, so that the sweep finds all levels anew. */
void
MaxMin::OpenAll()
{
    for (const auto* places : {&m_order, &m_loose})
    {
        for (const Place& place : *places)
        {
            if (m_links[place.link].HasGroup() && !m_links[place.link].opened)
            {
                Touch(place.link);
                Open(place.link);
            }
        }
    }
}

/** Goes through all links once. @return whether something has moved. */
bool
MaxMin::WalkOnce()
{
    bool moved = false;
    std::size_t steps = 0;
    const std::size_t stepsMost = 1000 + 100 * m_order.size();
    for (m_cursor = 0; m_cursor < m_order.size() && steps < stepsMost; steps++)
    {
        if (!m_heap.Empty() && FirstKey() <= m_order[m_cursor].level)
        {
            Look(m_heap.TopIndex());
            moved = true;
            continue;
        }
        PrefetchAhead();
        const uint32_t link = m_order[m_cursor++].link;
        if (IsWalked(link))
        {
            moved = WalkBy(link) || moved;
        }
        else if (m_links[link].key == INFINITE && IsBent(link))
        {
            Touch(link);
            m_links[link].bound = 0;
            if (KeyOf(link) < INFINITE)
            {
                SetKey(link, KeyOf(link));
            }
        }
    }
    for (Place& place : m_loose)
    {
        const uint32_t link = place.link;
        if (m_fixed[link] != place.level || (m_links[link].key == INFINITE && IsBent(link)))
        {
            Touch(link);
            m_links[link].peak = std::max({m_links[link].peak, place.level, m_fixed[link]});
            m_links[link].bound = 0;
            place.level = m_fixed[link];
            Rekey(link);
        }
    }
    while (FirstKey() < INFINITE)
    {
        Look(m_heap.TopIndex());
        moved = true;
    }
    return moved || steps == stepsMost;
}

/** Asks for what the walk needs soon: links lie in memory in another order than the walk's. */
void
MaxMin::PrefetchAhead() const
{
    constexpr std::size_t LINK_AHEAD = 6;
    constexpr std::size_t REACH_AHEAD = 2;
    if (m_cursor + LINK_AHEAD < m_order.size())
    {
        const char* const link =
            reinterpret_cast<const char*>(&m_links[m_order[m_cursor + LINK_AHEAD].link]);
        for (std::size_t at = 0; at < sizeof(Link); at += 64)
        {
            __builtin_prefetch(link + at);
        }
        const Reach& reach = m_links[m_order[m_cursor + REACH_AHEAD].link].reach;
        __builtin_prefetch(reach.Links());
        __builtin_prefetch(reach.Links() + 16);
        __builtin_prefetch(reach.Weights());
    }
}

/** Whether the line of a link does not meet its capacity at its level, or is above it. */
bool
MaxMin::IsBent(uint32_t link)
{
    const Link& l = m_links[link];
    if (!l.HasGroup() && l.guests > 0)
    {
        Filling filling{0, 0};
        return FillByCount(link, filling); // who is free might have no room any more
    }
    if (!l.HasGroup())
    {
        return m_fixed[link] > l.capacity * (1 + SAME_SUM);
    }
    if (l.opened)
    {
        return false;
    }
    const double bend = l.capacity - m_fixed[link] - m_lines[link].rising * l.level;
    return std::abs(bend) > (IsPlain(l) ? SAME_LOAD : SAME_SUM) * l.capacity;
}

/** Sees to one link. @return whether it moved. */
bool
MaxMin::WalkBy(uint32_t link)
{
    Link& l = m_links[link];
    Line& line = m_lines[link];
    if (!IsBent(link) && line.highest <= l.level)
    {
        return false;
    }
    l.peak = std::max(l.peak, m_fixed[link]);
    if (l.capacity < l.peak * LOST)
    {
        SumAfresh(link); // what the line has been through could show at this capacity
    }
    const double same = SAME_LOAD * l.capacity;
    const std::size_t rank = m_cursor - 1;
    const double before = rank > 0 ? m_order[rank - 1].level : 0;
    double level = std::max(0.0, (l.capacity - m_fixed[link]) / line.rising);
    if (std::abs(level - before) * line.rising <= same)
    {
        level = before;
    }
    // Who has the same level may be held here as well as there.
    const bool tiesAbove =
        m_cursor < m_order.size() && m_order[m_cursor].level <= l.level * (1 + SAME_SUM);
    const bool ties = tiesAbove || before >= l.level * (1 - SAME_SUM);
    const bool sinks = level < before || level == l.level || (ties && level < l.level);
    if (sinks || level < line.highest)
    {
        Filling filling{0, 0};
        if (tiesAbove || !FillBelowLone(link, level, before, filling))
        {
            FindHigher(link, level);
            if (!m_higher.empty() && !FillBelowHigher(link, filling))
            {
                Touch(link);
                SetKey(link, KeyOf(link)); // sums lose digits: the sweep counts
                return true;
            }
        }
        if (!m_higher.empty())
        {
            Touch(link);
            m_level = filling.level;
            MoveGroup(link, filling.level);
            TakeHigher(link, filling.level);
            return true;
        }
        level = std::max(level, filling.level); // who stood higher did so by rounding only
        line.highest = level;
    }
    if (level == l.level)
    {
        return false;
    }
    Touch(link);
    m_level = level;
    if ((ties && level > l.level) || (m_cursor < m_order.size() && m_order[m_cursor].level < level))
    {
        MoveGroup(link, level); // past others, who must know
        return true;
    }
    const double change = level - l.level;
    m_surged = m_surged || change > l.level;
    l.level = level;
    m_groupLevels[link] = level;
    AddToReach(l.reach, change);
    if (level < before)
    {
        Reorder(link, level);
        m_cursor = rank + 1;
    }
    else
    {
        m_order[rank].level = level;
    }
    HeedAllowances(link);
    return true;
}

/**
 * Where a link fills below the one member that Line::lone tells of, if no other can stand above
 * that: as nobody can who is held by a link that the walk has passed.
 */
bool
MaxMin::FillBelowLone(uint32_t link, double level, double passed, Filling& filling)
{
    const Link& l = m_links[link];
    const uint32_t lone = m_lines[link].lone;
    if (lone == NONE)
    {
        return false;
    }
    const uint32_t at = m_steps[lone].position;
    const uint32_t bottleneck = l.bottlenecks[at];
    const double other = m_groupLevels[bottleneck];
    if (bottleneck == link || other <= level || other == INFINITE)
    {
        return false;
    }
    m_higher.clear();
    m_higher.push_back({other, l.members[at].weight, l.members[at].variable});
    if (FillBelowHigher(link, filling) &&
        filling.level > std::max(passed, m_looseMost) * (1 + SAME_SUM))
    {
        return true;
    }
    filling.rising = 0;
    return false;
}

/** Adds to the fixed loads of all links that a group crosses what its change of level does. */
void
MaxMin::AddToReach(const Reach& reach, double change)
{
    const std::size_t size = reach.Size();
    const uint32_t* const links = reach.Links();
    const double* const weights = reach.Weights();
    double* const fixed = m_fixed.data();
    if (reach.IsEven() && size > 0)
    {
        const double load = weights[0] * change;
        for (std::size_t i = 0; i < size; i++)
        {
            fixed[links[i]] += load;
        }
        return;
    }
    for (std::size_t i = 0; i < size; i++)
    {
        fixed[links[i]] += weights[i] * change;
    }
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/sharing/max-min.h"

#include <algorithm>
#include <cmath>

namespace weir
{

/** The level at which a member would stop if its link held it not. */
double
MaxMin::LimitOf(const Link& link, std::size_t member) const
{
    const double ofGroup = m_groupLevels[link.bottlenecks[member]];
    return link.capped > 0 ? std::min(ofGroup, m_variables[link.members[member].variable].cap)
                           : ofGroup;
}

/** Counts who of a link's members would stop at or below @p level, and who would rise past it. */
MaxMin::Count
MaxMin::CountMembers(uint32_t link, double level)
{
    const Link& l = m_links[link];
    Count count;
    const double ownLevel = m_groupLevels[link];
    m_groupLevels[link] = INFINITE; // its own group is held by nothing but caps
    for (std::size_t i = 0; i < l.members.size(); i++)
    {
        const double weight = l.members[i].weight;
        const double limit = LimitOf(l, i);
        const bool rises = limit > level;
        count.rising += rises ? weight : 0;
        count.fixed += rises ? 0 : weight * limit;
        count.risers += rises ? 1 : 0;
    }
    m_groupLevels[link] = ownLevel;
    return count;
}

/** Finds the members that stop above @p level elsewhere. */
void
MaxMin::FindHigher(uint32_t link, double level)
{
    const Link& l = m_links[link];
    const std::size_t size = l.bottlenecks.size();
    const uint32_t* const bottlenecks = l.bottlenecks.data();
    const double* const levels = m_groupLevels.data();
    const double ownLevel = m_groupLevels[link];
    m_groupLevels[link] = 0; // its own group does not stop elsewhere
    m_higher.clear();
    for (std::size_t i = 0; i < size; i++)
    {
        const double other = levels[bottlenecks[i]];
        if (other > level && other < INFINITE)
        {
            m_higher.push_back({other, l.members[i].weight, l.members[i].variable});
        }
    }
    m_groupLevels[link] = ownLevel;
}

/**
 * Where a link fills that has members above the level at which its line meets its capacity
 * (m_higher): these rise with the link until they are where they stand. Newton's method, from
 * below; leaves those in m_higher that the link stops.
 * @return false where the sums lose digits.
 */
bool
MaxMin::FillBelowHigher(uint32_t link, Filling& filling)
{
    const Link& l = m_links[link];
    const Line& line = m_lines[link];
    filling.level = std::max(0.0, (l.capacity - m_fixed[link]) / line.rising);
    double fixed = m_fixed[link];
    for (std::size_t before = NONE; before != m_higher.size();)
    {
        before = m_higher.size();
        fixed = m_fixed[link];
        filling.rising = line.rising;
        for (const Higher& h : m_higher)
        {
            fixed -= h.weight * h.level;
            filling.rising += h.weight;
        }
        filling.level = std::max(filling.level, (l.capacity - fixed) / filling.rising);
        const auto stands = [&](const Higher& h) { return h.level <= filling.level; };
        m_higher.erase(std::remove_if(m_higher.begin(), m_higher.end(), stands), m_higher.end());
    }
    return fixed > LOST * std::max(l.peak, m_fixed[link]);
}

/** Where a link fills, by counting its members, from about @p filling.level. @return false: never.
 */
bool
MaxMin::FillByCount(uint32_t link, Filling& filling)
{
    const Link& l = m_links[link];
    Count count = CountMembers(link, filling.level);
    // The first step may come from above the root, all others come from below: fewer rise.
    for (std::size_t step = 0; count.risers > 0 && step <= l.members.size(); step++)
    {
        const double next = std::max(0.0, (l.capacity - count.fixed) / count.rising);
        const uint32_t before = count.risers;
        const bool same = std::abs(next - filling.level) * count.rising <= SAME_LOAD * l.capacity;
        const bool below = next >= filling.level;
        filling.level = next;
        if (same)
        {
            break;
        }
        count = CountMembers(link, filling.level);
        if (below && count.risers == before)
        {
            break;
        }
    }
    filling.rising = count.rising;
    return count.risers > 0;
}

/** Finds the level at which a link fills, from @p level on, and stops its risers there. */
void
MaxMin::Fill(uint32_t link, double level)
{
    Link& l = m_links[link];
    Line& line = m_lines[link];
    double rising = line.rising;
    const bool hasLine = l.capped == 0 && l.risers > 0;
    const double meeting = l.risers > 0 ? (l.capacity - m_fixed[link]) / line.rising : 0;
    if (hasLine && meeting < line.highest)
    {
        const double from = std::max(0.0, meeting);
        FindHigher(link, from);
        line.highest = m_higher.empty() ? from : line.highest;
    }
    const bool isExact = hasLine && meeting >= line.highest;
    bool byLine = isExact;
    if (isExact)
    {
        level = meeting;
    }
    else
    {
        Filling filling{level, 0};
        byLine = hasLine && FillBelowHigher(link, filling);
        if (!byLine)
        {
            filling.level = level;
            if (!FillByCount(link, filling))
            {
                l.bound = INFINITE; // whoever is free stops at a cap
                return;
            }
        }
        level = filling.level;
        rising = filling.rising;
    }
    const auto same = [&](double other) {
        return std::abs(level - other) * rising <= SAME_LOAD * l.capacity;
    };
    const double before = l.HasGroup() ? l.level : INFINITE;
    const double found = level;
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
        SetLimit(link);
        return;
    }
    m_level = level;
    if (byLine && l.guests == 0)
    {
        MoveGroup(link, level);
        if (level != found)
        {
            FindHigher(link, level);
            TakeHigher(link, level);
        }
        else if (!isExact)
        {
            TakeHigher(link, level);
        }
    }
    else
    {
        StopRisers(link, level);
    }
    l.bound = 0;
    DropKey(link);
}

/** Takes over the members of a link that were found to stand higher elsewhere. */
void
MaxMin::TakeHigher(uint32_t link, double level)
{
    Link& l = m_links[link];
    Line& line = m_lines[link];
    for (const Higher& h : m_higher)
    {
        m_fixed[link] -= h.weight * h.level;
        line.rising += h.weight;
        l.risers++;
    }
    line.highest = level;
    for (const Higher& h : m_higher)
    {
        Stop(h.variable, level, link);
    }
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
    for (std::size_t i = 0; i < l.members.size(); i++)
    {
        const Member& m = l.members[i];
        const double limit = LimitOf(l, i);
        if (limit > level)
        {
            rising += m.weight;
            risers++;
            if (l.bottlenecks[i] != link)
            {
                m_toLink.push_back(m.variable);
            }
            continue;
        }
        fixed += m.weight * limit;
        highest = std::max(highest, limit);
        if (l.capped > 0 && limit == m_variables[m.variable].cap &&
            (l.bottlenecks[i] == link || IsFree(m_variables[m.variable])))
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
    Line& line = m_lines[link];
    m_fixed[link] = fixed;
    line.rising = rising;
    line.highest = highest;
    l.risers = risers;
    l.guests = 0;
    l.solves = 0;
    l.peak = fixed;
}

} // namespace weir

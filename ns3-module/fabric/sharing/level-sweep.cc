// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/sharing/level-sweep.h"

#include <algorithm>
#include <cmath>

namespace weir::maxmin
{

void
LevelSweep::VisitFirst()
{
    const uint32_t link = m_queue.FirstLink();
    const GroupedLink& l = m_tables.links[link];
    const double key = m_queue.KeyOf(link);
    m_queue.Remove(link);
    if (l.isSlack)
    {
        m_slack.Tighten(link);
        return;
    }
    if (m_order.IsInUse() || l.capacity < l.peak * LOST)
    {
        // A walk does not maintain `highest`; and rounding errors of a much higher former load may
        // matter.
        m_groups.RecomputeLoad(link);
    }
    const LoadFunction& f = m_groups.Function(link);
    if (l.isOpen || !l.HasGroup() || key < l.level)
    {
        Saturate(link, key);
    }
    else if ((m_queue.SaturationOf(link) - l.level) * f.rising > SAME_LOAD * l.capacity)
    {
        Raise(link);
    }
    else if (l.foreign > 0 || f.highest > l.level)
    {
        Saturate(link, l.level);
    }
}

/** Lets the group of a link rise. */
void
LevelSweep::Raise(uint32_t link)
{
    const GroupedLink& l = m_tables.links[link];
    const LoadFunction& f = m_groups.Function(link);
    if (f.highest == INFINITE)
    {
        m_groups.RecomputeLoad(link); // unknown after a walk
    }
    const double level = m_groups.MeetingLevel(link);
    if (l.foreign == 0 && l.capped == 0 && level > l.level && level >= f.highest)
    {
        m_mover.Move(link, level); // a link that limits a member to less takes it over
    }
    else
    {
        m_mover.Open(link);
    }
}

/**
 * Finds the level at which a link saturates, starting at @p level, and freezes its risers there.
 */
void
LevelSweep::Saturate(uint32_t link, double level)
{
    GroupedLink& l = m_tables.links[link];
    Saturation at{level, 0};
    if (!m_groups.FindSaturation(link, at))
    {
        l.bound = INFINITE; // all risers will be frozen at their caps
        return;
    }
    const auto isSame = [&](double other) {
        return std::abs(at.level - other) * at.rising <= SAME_LOAD * l.capacity;
    };
    const double before = l.HasGroup() ? l.level : INFINITE;
    level = before != INFINITE && isSame(before) ? before : isSame(m_level) ? m_level : at.level;
    if (!l.isOpen && level > before)
    {
        m_mover.Open(link); // caps leave more capacity than the load suggests
        return;
    }
    if ((level - m_queue.FirstLevel()) * at.rising > SAME_LOAD * l.capacity)
    {
        l.bound = level;
        m_queue.Set(link, level);
        return;
    }
    m_level = level;
    FreezeRisers(link, level);
    l.bound = 0;
    m_queue.Remove(link);
}

/** Freezes at @p level every member of a link that is not frozen at a lower level. */
void
LevelSweep::FreezeRisers(uint32_t link, double level)
{
    GroupedLink& l = m_tables.links[link];
    m_toLink.clear();
    m_toCap.clear();
    double fixed = 0;
    double rising = 0;
    double highest = 0;
    uint32_t risers = 0;
    for (std::size_t i = 0; i < l.members.size(); i++)
    {
        const Member& m = l.members[i];
        const double limit = m_groups.LimitOf(link, i);
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
        if (l.capped > 0 && limit == m_tables.variables[m.variable].cap &&
            (l.bottlenecks[i] == link || m_groups.IsFree(m_tables.variables[m.variable])))
        {
            m_toCap.push_back(m.variable);
        }
    }
    for (uint32_t v : m_toCap)
    {
        m_mover.Freeze(v, m_tables.variables[v].cap, m_groups.None());
    }
    m_mover.Move(link, level);
    for (uint32_t v : m_toLink)
    {
        m_mover.Freeze(v, level, link);
    }
    LoadFunction& f = m_groups.Function(link);
    m_groups.Fixed(link) = fixed;
    f.rising = rising;
    f.highest = highest;
    l.risers = risers;
    l.foreign = 0;
    l.solves = 0;
    l.peak = fixed;
}

} // namespace weir::maxmin

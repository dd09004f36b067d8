// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/sharing/max-min.h"

#include <algorithm>
#include <stdexcept>

namespace weir
{

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
            if (PaysToWalk())
            {
                Walk();
                continue;
            }
            Look(m_heap.TopIndex());
        }
        StopFree();
    } while (!m_heap.Empty());
}

/** Takes the link that comes up first out of the heap, and does what its line says. */
void
MaxMin::Look(uint32_t link)
{
    const Link& l = m_links[link];
    const Line& line = m_lines[link];
    const double key = KeyOf(link);
    DropKey(link);
    if (l.slack)
    {
        Tighten(link);
        return;
    }
    if (m_walks)
    {
        SumAfresh(link); // the walk does not tell how high members stand
    }
    else if (l.capacity < l.peak * LOST)
    {
        SumAfresh(link); // what the line has been through could show at this capacity
    }
    if (l.opened || !l.HasGroup() || key < l.level)
    {
        Fill(link, key);
    }
    else if ((MeetingLevel(link) - l.level) * line.rising > SAME_LOAD * l.capacity)
    {
        Raise(link);
    }
    else if (l.guests > 0 || line.highest > l.level)
    {
        Fill(link, l.level);
    }
}

/** Lets the group of a link rise. */
void
MaxMin::Raise(uint32_t link)
{
    const Link& l = m_links[link];
    const Line& line = m_lines[link];
    if (line.highest == INFINITE)
    {
        SumAfresh(link); // a walk has not told
    }
    const double level = (l.capacity - m_fixed[link]) / line.rising;
    if (l.guests == 0 && l.capped == 0 && level > l.level && level >= line.highest)
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
            const Link& l = m_links[link];
            for (std::size_t i = 0; i < l.members.size(); i++)
            {
                if (l.bottlenecks[i] == link)
                {
                    m_toCap.push_back(l.members[i].variable);
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

} // namespace weir

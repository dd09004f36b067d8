// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/sharing/local-max-min.h"

#include <algorithm>

namespace weir
{

namespace
{

/** Loads that differ by less than this part of the capacity are the same: rounding of a sum. */
constexpr double SAME_LOAD = 1e-14;

/** A level is higher than another, or a link not full, past this part: far below 1e-9. */
constexpr double DIFFERENT = 1e-12;

} // namespace

/**
 * Progressive filling of those that are set anew, the levels of all others given.
 * @return false when it has spent too much.
 */
bool
LocalMaxMin::Fill(uint64_t spendMost)
{
    OpenLinks();
    while (!m_rising.empty())
    {
        if (m_spent > spendMost)
        {
            return false;
        }
        StopAt(NextStop());
        m_rising.erase(
            std::remove_if(m_rising.begin(),
                           m_rising.end(),
                           [this](uint32_t v) { return m_variables[v].stopped == m_filling; }),
            m_rising.end());
    }
    return true;
}

/** Looks up what the links of those that are set anew have left for them. */
void
LocalMaxMin::OpenLinks()
{
    m_filling++;
    m_open.clear();
    m_rising.clear();
    for (uint32_t v : m_joined)
    {
        const Variable& variable = m_variables[v];
        if (variable.standing != Variable::Shared)
        {
            continue; // it has left since
        }
        m_rising.push_back(v);
        m_spent += variable.length;
        for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
        {
            Link& l = m_links[m_steps[i].link];
            if (l.capacity == INFINITE)
            {
                continue;
            }
            if (l.filling != m_filling)
            {
                l.filling = m_filling;
                l.place = static_cast<uint32_t>(m_open.size());
                m_open.push_back({m_steps[i].link, 0, l.capacity, 0, INFINITE, 0, l.capacity});
                m_spent += l.members.size();
                double others = 0;
                for (const Member& m : l.members)
                {
                    const Variable& member = m_variables[m.variable];
                    others += member.joined == m_solve ? 0 : m.weight * member.level;
                }
                m_open.back().left -= others;
            }
            Open& open = m_open[l.place];
            open.rising += l.members[m_steps[i].position].weight;
            open.rises++;
        }
    }
}

/** The lowest level at which a link fills or a cap is reached; infinite: nothing stops them. */
double
LocalMaxMin::NextStop() const
{
    double level = INFINITE;
    for (const Open& open : m_open)
    {
        if (open.rises > 0)
        {
            level = std::min(level, std::max(open.left, 0.0) / open.rising);
        }
    }
    for (uint32_t v : m_rising)
    {
        level = std::min(level, m_variables[v].cap);
    }
    return level;
}

/** Stops whom a link or a cap stops at @p level. */
void
LocalMaxMin::StopAt(double level)
{
    m_spent += m_open.size() + m_rising.size();
    for (uint32_t v : m_rising)
    {
        if (m_variables[v].cap <= level)
        {
            Stop(v, m_variables[v].cap, NONE);
        }
    }
    for (Open& open : m_open)
    {
        if (open.rises == 0 || open.left - open.rising * level > SAME_LOAD * open.capacity)
        {
            continue;
        }
        open.heldAt = level;
        const auto& members = m_links[open.link].members;
        m_spent += members.size();
        for (const Member& m : members)
        {
            const Variable& variable = m_variables[m.variable];
            if (variable.joined == m_solve && variable.stopped != m_filling)
            {
                Stop(m.variable, level, open.link);
            }
        }
    }
}

void
LocalMaxMin::Stop(uint32_t v, double level, uint32_t held)
{
    Variable& variable = m_variables[v];
    variable.next = level;
    variable.held = held;
    variable.stopped = m_filling;
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        const Link& l = m_links[m_steps[i].link];
        if (l.filling != m_filling)
        {
            continue; // of infinite capacity
        }
        Open& open = m_open[l.place];
        const double weight = l.members[m_steps[i].position].weight;
        open.left -= weight * level;
        open.rising = --open.rises > 0 ? open.rising - weight : 0;
        open.highest = std::max(open.highest, level);
    }
}

/** Has those join who are in the way. @return whether there are any. */
bool
LocalMaxMin::TakeIn()
{
    const std::size_t before = m_joined.size();
    for (const Open& open : m_open)
    {
        const auto& members = m_links[open.link].members;
        const bool full = open.left <= DIFFERENT * open.capacity;
        const bool overfull = open.left < -DIFFERENT * open.capacity;
        m_spent += members.size();
        for (const Member& m : members)
        {
            const Variable& variable = m_variables[m.variable];
            if (variable.joined == m_solve)
            {
                continue;
            }
            const double level = variable.level * (1 + DIFFERENT);
            if (overfull || variable.level > open.heldAt * (1 + DIFFERENT) ||
                (variable.held == open.link && (!full || open.highest > level)))
            {
                Join(m.variable);
            }
        }
    }
    return m_joined.size() > before;
}

} // namespace weir

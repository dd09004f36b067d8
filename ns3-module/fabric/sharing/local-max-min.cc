// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/sharing/local-max-min.h"

#include <algorithm>

namespace weir::maxmin
{

namespace
{

// WARRANTED is the number of members that a solve may examine for each changed variable and each
// link of its path. MAX_DEBT is the total excess over this at which the solver gives up; it
// corresponds to some milliseconds.
constexpr uint64_t WARRANTED = 64;
constexpr uint64_t MAX_DEBT = 1 << 22;
constexpr uint64_t MAX_WARRANTED = 1 << 21; //!< for one solve, independent of the number of changes

/**
 * Levels that differ by less than this fraction count as equal, and links within this fraction of
 * their capacity as full; far below 1e-9.
 */
constexpr double DIFFERENT = 1e-12;

} // namespace

bool
LocalMaxMin::Solve()
{
    m_tables.moved.clear();
    m_tables.touched.clear();
    m_joined.clear();
    m_solve++;
    m_spent = 0;
    uint64_t warranted = WARRANTED * (1 + m_changedLinks.size());
    for (uint32_t v : m_changedVariables)
    {
        warranted += WARRANTED * (1 + m_tables.variables[v].length);
    }
    warranted = std::min(warranted, MAX_WARRANTED);
    m_maxSpent = warranted + MAX_DEBT;
    ApplyChanges();
    do
    {
        if (m_spent > m_maxSpent || !Fill())
        {
            return false;
        }
    } while (TakeIn());
    Commit();
    m_debt += m_spent;
    m_debt -= std::min(m_debt, warranted);
    return m_debt <= MAX_DEBT;
}

void
LocalMaxMin::ApplyCapacity(uint32_t link, double capacity)
{
    Link& l = m_tables.links[link];
    l.capacity = capacity;
    for (const Member& m : l.members)
    {
        Join(m.variable);
    }
    m_tables.touched.push_back(link);
}

/** Gives a variable that shares links its next weight and has its level recomputed. */
void
LocalMaxMin::Enter(uint32_t v)
{
    Variable& variable = m_tables.variables[v];
    variable.weight = variable.nextWeight;
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        const Crossing& crossing = m_tables.crossings[i];
        m_tables.links[crossing.link].members[crossing.position].weight =
            m_tables.multiplicities[i] * variable.weight;
    }
    Join(v);
}

/**
 * Has the variables recomputed that the links of @p v limit, as @p v leaves them or changes its
 * weight. Does nothing once the solve has exceeded its limit, as it will give up.
 */
void
LocalMaxMin::Withdraw(uint32_t v)
{
    if (m_spent > m_maxSpent)
    {
        return;
    }
    const Variable& variable = m_tables.variables[v];
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        const uint32_t link = m_tables.crossings[i].link;
        m_spent += m_tables.links[link].members.size();
        for (const Member& m : m_tables.links[link].members)
        {
            if (m_tables.variables[m.variable].held == link && m.variable != v)
            {
                Join(m.variable);
            }
        }
        m_tables.touched.push_back(link);
    }
}

/** Adds a variable to those that this solve recomputes. */
void
LocalMaxMin::Join(uint32_t v)
{
    if (m_tables.variables[v].joined != m_solve)
    {
        m_tables.variables[v].joined = m_solve;
        m_joined.push_back(v);
    }
}

/**
 * Progressive filling of the variables to recompute, at fixed levels of all others.
 * @return false if the solve exceeds its limit
 */
bool
LocalMaxMin::Fill()
{
    OpenLinks();
    while (!m_rising.empty())
    {
        if (m_spent > m_maxSpent)
        {
            return false;
        }
        StopAt(NextStop());
        m_rising.erase(std::remove_if(m_rising.begin(),
                                      m_rising.end(),
                                      [this](uint32_t v) {
                                          return m_tables.variables[v].stopped == m_filling;
                                      }),
                       m_rising.end());
    }
    return true;
}

/** Computes the capacity that each link of a variable to recompute has left for such variables. */
void
LocalMaxMin::OpenLinks()
{
    m_filling++;
    m_open.clear();
    m_rising.clear();
    for (uint32_t v : m_joined)
    {
        const Variable& variable = m_tables.variables[v];
        if (variable.standing != Variable::Contending)
        {
            continue; // it has left its links since
        }
        m_rising.push_back(v);
        m_spent += variable.length;
        for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
        {
            Link& l = m_tables.links[m_tables.crossings[i].link];
            if (l.capacity == INFINITE)
            {
                continue;
            }
            if (l.filling != m_filling)
            {
                l.filling = m_filling;
                l.index = static_cast<uint32_t>(m_open.size());
                m_open.push_back(
                    {m_tables.crossings[i].link, 0, l.capacity, 0, INFINITE, 0, l.capacity});
                m_spent += l.members.size();
                double others = 0;
                for (const Member& m : l.members)
                {
                    const Variable& member = m_tables.variables[m.variable];
                    others += member.joined == m_solve ? 0 : m.weight * member.level;
                }
                m_open.back().left -= others;
            }
            OpenLink& open = m_open[l.index];
            open.rising += l.members[m_tables.crossings[i].position].weight;
            open.rises++;
        }
    }
}

/** The lowest level at which a link fills or a cap is reached; infinite if there is none. */
double
LocalMaxMin::NextStop() const
{
    double level = INFINITE;
    for (const OpenLink& open : m_open)
    {
        if (open.rises > 0)
        {
            level = std::min(level, std::max(open.left, 0.0) / open.rising);
        }
    }
    for (uint32_t v : m_rising)
    {
        level = std::min(level, m_tables.variables[v].cap);
    }
    return level;
}

/** Freezes the variables that a link or a cap limits to @p level. */
void
LocalMaxMin::StopAt(double level)
{
    m_spent += m_open.size() + m_rising.size();
    for (uint32_t v : m_rising)
    {
        if (m_tables.variables[v].cap <= level)
        {
            Stop(v, m_tables.variables[v].cap, NONE);
        }
    }
    for (OpenLink& open : m_open)
    {
        if (open.rises == 0 || open.left - open.rising * level > SAME_LOAD * open.capacity)
        {
            continue;
        }
        open.heldAt = level;
        const auto& members = m_tables.links[open.link].members;
        m_spent += members.size();
        for (const Member& m : members)
        {
            const Variable& variable = m_tables.variables[m.variable];
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
    Variable& variable = m_tables.variables[v];
    variable.next = level;
    variable.held = held;
    variable.stopped = m_filling;
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        const Link& l = m_tables.links[m_tables.crossings[i].link];
        if (l.filling != m_filling)
        {
            continue; // the link has infinite capacity
        }
        OpenLink& open = m_open[l.index];
        const double weight = l.members[m_tables.crossings[i].position].weight;
        open.left -= weight * level;
        open.rising = --open.rises > 0 ? open.rising - weight : 0;
        open.highest = std::max(open.highest, level);
    }
}

/**
 * Adds the variables that limit recomputed ones or could rise now.
 * @return whether there are any
 */
bool
LocalMaxMin::TakeIn()
{
    const std::size_t before = m_joined.size();
    for (const OpenLink& open : m_open)
    {
        const auto& members = m_tables.links[open.link].members;
        const bool full = open.left <= DIFFERENT * open.capacity;
        const bool overfull = open.left < -DIFFERENT * open.capacity;
        m_spent += members.size();
        for (const Member& m : members)
        {
            const Variable& variable = m_tables.variables[m.variable];
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

void
LocalMaxMin::Commit()
{
    for (uint32_t v : m_joined)
    {
        Variable& variable = m_tables.variables[v];
        if (variable.standing == Variable::Contending && variable.level != variable.next)
        {
            variable.level = variable.next;
            m_tables.moved.push_back(v);
        }
    }
    for (const OpenLink& open : m_open)
    {
        m_tables.touched.push_back(open.link);
    }
}

} // namespace weir::maxmin

// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/local-max-min.h"

#include <algorithm>
#include <stdexcept>

namespace weir
{

namespace
{

// What a solve may look at for each changed variable and each link of its path before it counts as
// too much, and how much too much, in all, is too much: some milliseconds.
constexpr uint64_t WARRANTED = 64;
constexpr uint64_t DEBT_MOST = 1 << 21;
constexpr uint64_t WARRANTED_MOST = 1 << 21; //!< for one solve, however much has changed

} // namespace

LocalMaxMin::LocalMaxMin(const std::vector<double>& capacities)
    : m_links(capacities.size())
{
    for (std::size_t i = 0; i < capacities.size(); i++)
    {
        m_links[i].capacity = capacities[i];
    }
}

uint32_t
LocalMaxMin::Add(PathTable::Span path, double cap)
{
    const std::size_t length = path.size();
    if (m_unused.size() <= length)
    {
        m_unused.resize(length + 1);
    }
    uint32_t v;
    if (!m_unused[length].empty())
    {
        v = m_unused[length].back();
        m_unused[length].pop_back();
    }
    else
    {
        v = static_cast<uint32_t>(m_variables.size());
        m_variables.emplace_back();
        m_variables[v].first = static_cast<uint32_t>(m_steps.size());
        m_variables[v].length = static_cast<uint32_t>(length);
        m_steps.resize(m_steps.size() + length);
    }
    m_variables[v].cap = cap;
    m_variables[v].removed = false;
    Step* step = m_steps.data() + m_variables[v].first;
    for (const PathLink& l : path)
    {
        *step++ = {l.link.Index(), l.multiplicity, NONE};
    }
    return v;
}

void
LocalMaxMin::Remove(uint32_t v)
{
    Variable& variable = m_variables[v];
    if (variable.changed || variable.weight != 0)
    {
        throw std::logic_error("LocalMaxMin: a variable in use is removed");
    }
    if (variable.standing != Variable::Off)
    {
        Leave(v);
    }
    variable.removed = true;
    m_unused[variable.length].push_back(v);
}

void
LocalMaxMin::SetWeight(uint32_t v, double weight)
{
    Variable& variable = m_variables[v];
    variable.nextWeight = weight;
    if (!variable.changed)
    {
        variable.changed = true;
        m_changedVariables.push_back(v);
    }
}

void
LocalMaxMin::SetCapacity(uint32_t link, double capacity)
{
    m_changedLinks.push_back({link, capacity});
}

double
LocalMaxMin::SharedLoad(uint32_t link) const
{
    double load = 0;
    for (const Member& m : m_links[link].members)
    {
        load += m.weight * m_variables[m.variable].level;
    }
    return load;
}

std::vector<PathLink>
LocalMaxMin::PathOf(uint32_t v) const
{
    std::vector<PathLink> path;
    const Variable& variable = m_variables[v];
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        path.push_back({LinkId(m_steps[i].link), m_steps[i].multiplicity});
    }
    return path;
}

bool
LocalMaxMin::Solve()
{
    m_moved.clear();
    m_touched.clear();
    m_joined.clear();
    m_solve++;
    m_spent = 0;
    uint64_t warranted = WARRANTED * (1 + m_changedLinks.size());
    for (uint32_t v : m_changedVariables)
    {
        warranted += WARRANTED * (1 + m_variables[v].length);
    }
    warranted = std::min(warranted, WARRANTED_MOST);
    m_spendMost = warranted + DEBT_MOST;
    for (const auto& change : m_changedLinks)
    {
        ApplyCapacity(change.link, change.capacity);
    }
    // Those that go make room before those that come look who is there.
    for (const bool coming : {false, true})
    {
        for (uint32_t v : m_changedVariables)
        {
            if ((m_variables[v].nextWeight > 0) == coming)
            {
                ApplyWeight(v);
            }
        }
    }
    for (uint32_t v : m_changedVariables)
    {
        m_variables[v].changed = false;
    }
    m_changedVariables.clear();
    m_changedLinks.clear();
    do
    {
        if (m_spent > m_spendMost || !Fill(m_spendMost))
        {
            return false;
        }
    } while (TakeIn());
    Commit();
    m_debt += m_spent;
    m_debt -= std::min(m_debt, warranted);
    return m_debt <= DEBT_MOST;
}

void
LocalMaxMin::ApplyCapacity(uint32_t link, double capacity)
{
    Link& l = m_links[link];
    l.capacity = capacity;
    if (const uint32_t v = AloneOn(link); v != NONE)
    {
        m_variables[v].narrowest = NarrowestOf(v);
        SetAlone(v);
        return;
    }
    for (const Member& m : l.members)
    {
        Join(m.variable);
    }
    m_touched.push_back(link);
}

void
LocalMaxMin::ApplyWeight(uint32_t v)
{
    Variable& variable = m_variables[v];
    if (variable.nextWeight == variable.weight)
    {
        return;
    }
    switch (variable.standing)
    {
    case Variable::Off:
        Attach(v);
        break;
    case Variable::Alone:
        SetAlone(v);
        break;
    case Variable::Shared:
        Free(v);
        if (variable.nextWeight > 0)
        {
            Enter(v);
        }
        else
        {
            Leave(v);
            variable.weight = 0;
            variable.level = 0;
        }
        break;
    }
}

/** Puts a variable on its links: alone if nobody active is there, else sharing with them. */
void
LocalMaxMin::Attach(uint32_t v)
{
    const uint32_t first = m_variables[v].first;
    const uint32_t last = first + m_variables[v].length;
    bool alone = true;
    for (uint32_t i = first; i < last; i++)
    {
        const Link& l = m_links[m_steps[i].link];
        if (l.members.empty())
        {
            continue;
        }
        const uint32_t other = AloneOn(m_steps[i].link);
        if (other != NONE && m_variables[other].nextWeight == 0)
        {
            Leave(other);
            continue;
        }
        alone = false;
        if (other != NONE)
        {
            m_variables[other].standing = Variable::Shared;
            m_moved.push_back(other);
            Enter(other);
        }
    }
    for (uint32_t i = first; i < last; i++)
    {
        auto& members = m_links[m_steps[i].link].members;
        m_steps[i].position = static_cast<uint32_t>(members.size());
        members.push_back({0, v, i});
    }
    if (alone)
    {
        m_variables[v].standing = Variable::Alone;
        m_variables[v].narrowest = NarrowestOf(v);
        SetAlone(v);
    }
    else
    {
        m_variables[v].standing = Variable::Shared;
        Enter(v);
    }
}

/** Takes a variable off its links. */
void
LocalMaxMin::Leave(uint32_t v)
{
    Variable& variable = m_variables[v];
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        const Step& step = m_steps[i];
        auto& members = m_links[step.link].members;
        members[step.position] = members.back();
        m_steps[members[step.position].step].position = step.position;
        members.pop_back();
    }
    variable.standing = Variable::Off;
    variable.held = NONE;
    m_moved.push_back(v);
}

/** The answer for a variable that shares no link. O(1). */
void
LocalMaxMin::SetAlone(uint32_t v)
{
    Variable& variable = m_variables[v];
    variable.weight = variable.nextWeight;
    variable.level =
        variable.weight > 0 ? std::min(variable.cap, variable.narrowest / variable.weight) : 0;
    m_moved.push_back(v);
}

/** The least capacity / multiplicity of a variable's links. O(path). */
double
LocalMaxMin::NarrowestOf(uint32_t v) const
{
    const Variable& variable = m_variables[v];
    double least = INFINITE;
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        least = std::min(least, m_links[m_steps[i].link].capacity / m_steps[i].multiplicity);
    }
    return least;
}

/** Gives a variable that shares links its next weight; its level is to be found. */
void
LocalMaxMin::Enter(uint32_t v)
{
    Variable& variable = m_variables[v];
    variable.weight = variable.nextWeight;
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        const Step& step = m_steps[i];
        m_links[step.link].members[step.position].weight = step.multiplicity * variable.weight;
    }
    Join(v);
}

/**
 * Sets whom the links of a variable hold free: it leaves them or changes its weight. Nothing, once
 * the solve has spent all that it may: it will give up.
 */
void
LocalMaxMin::Free(uint32_t v)
{
    if (m_spent > m_spendMost)
    {
        return;
    }
    const Variable& variable = m_variables[v];
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        const uint32_t link = m_steps[i].link;
        m_spent += m_links[link].members.size();
        for (const Member& m : m_links[link].members)
        {
            if (m_variables[m.variable].held == link && m.variable != v)
            {
                Join(m.variable);
            }
        }
        m_touched.push_back(link);
    }
}

/** Sets a variable anew in this solve. */
void
LocalMaxMin::Join(uint32_t v)
{
    if (m_variables[v].joined != m_solve)
    {
        m_variables[v].joined = m_solve;
        m_joined.push_back(v);
    }
}

void
LocalMaxMin::Commit()
{
    for (uint32_t v : m_joined)
    {
        Variable& variable = m_variables[v];
        if (variable.standing == Variable::Shared && variable.level != variable.next)
        {
            variable.level = variable.next;
            m_moved.push_back(v);
        }
    }
    for (const Open& open : m_open)
    {
        m_touched.push_back(open.link);
    }
}

} // namespace weir

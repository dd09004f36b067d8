// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/max-min.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace weir
{

MaxMin::MaxMin(std::vector<double> capacities)
    : m_none(static_cast<uint32_t>(capacities.size())),
      m_links(capacities.size()),
      m_groupLevels(capacities.size() + 1, INFINITE),
      m_heap(capacities.size())
{
    for (std::size_t i = 0; i < capacities.size(); i++)
    {
        m_links[i].capacity = capacities[i];
    }
}

uint32_t
MaxMin::Add(PathTable::Span path, double cap)
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
        m_variables[v].bottleneck = m_none;
        m_steps.resize(m_steps.size() + length);
    }
    m_variables[v].cap = cap;
    Step* step = m_steps.data() + m_variables[v].first;
    for (const PathLink& l : path)
    {
        *step++ = {l.link.Index(), l.multiplicity, NONE, NONE};
    }
    return v;
}

void
MaxMin::Remove(uint32_t v)
{
    const Variable& variable = m_variables[v];
    if (variable.changed || variable.weight != 0)
    {
        throw std::logic_error("MaxMin: a variable in use is removed");
    }
    if (variable.standing != Variable::Off)
    {
        Leave(v);
    }
    m_unused[variable.length].push_back(v);
}

void
MaxMin::SetWeight(uint32_t v, double weight)
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
MaxMin::SetCapacity(uint32_t link, double capacity)
{
    m_changedLinks.push_back({link, capacity});
}

void
MaxMin::Solve()
{
    BeginSolve();
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
    Sweep();
    EndSolve();
}

void
MaxMin::BeginSolve()
{
    m_moved.clear();
    m_touched.clear();
    m_level = 0;
    if (++m_solve == NONE)
    {
        m_solve = 1;
        for (auto& v : m_variables)
        {
            v.freed = 0;
        }
        for (auto& l : m_links)
        {
            l.mark = 0;
        }
    }
}

void
MaxMin::ApplyCapacity(uint32_t link, double capacity)
{
    Link& l = m_links[link];
    const double before = l.capacity;
    if (capacity == before)
    {
        return;
    }
    l.capacity = capacity;
    if (const uint32_t v = AloneOn(link); v != NONE)
    {
        m_variables[v].narrowest = NarrowestOf(v);
        SetAlone(v);
        return;
    }
    Touch(link);
    if (before == INFINITE)
    {
        // An infinite link keeps no line, and may hold members that nothing else limited.
        for (const Member& m : l.members)
        {
            if (!IsFree(m_variables[m.variable]) && Level(m.variable) == INFINITE)
            {
                m_variables[m.variable].freed = m_solve;
                m_freed.push_back(m.variable);
            }
        }
    }
    else if (capacity == INFINITE)
    {
        Open(link);
    }
    SumAfresh(link); // rounding at the old capacity could show at the new one
    Rekey(link);
}

void
MaxMin::ApplyWeight(uint32_t v)
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
        Withdraw(v);
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
MaxMin::Attach(uint32_t v)
{
    const uint32_t first = m_variables[v].first;
    const uint32_t last = first + m_variables[v].length;
    bool alone = true;
    for (uint32_t i = first; i < last; i++)
    {
        const uint32_t link = m_steps[i].link;
        if (m_links[link].members.empty())
        {
            continue;
        }
        const uint32_t other = AloneOn(link);
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
    TakePlaces(v);
    m_variables[v].standing = alone ? Variable::Alone : Variable::Shared;
    if (alone)
    {
        m_variables[v].narrowest = NarrowestOf(v);
        SetAlone(v);
    }
    else
    {
        Enter(v);
    }
}

void
MaxMin::TakePlaces(uint32_t v)
{
    const Variable& variable = m_variables[v];
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        Step& step = m_steps[i];
        Link& l = m_links[step.link];
        step.position = static_cast<uint32_t>(l.members.size());
        l.members.push_back({0, m_none, v, i});
        l.capped += variable.cap < INFINITE ? 1 : 0;
    }
}

/** Takes a variable that is in no line off its links. */
void
MaxMin::Leave(uint32_t v)
{
    Variable& variable = m_variables[v];
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        const Step& step = m_steps[i];
        Link& l = m_links[step.link];
        l.members[step.position] = l.members.back();
        m_steps[l.members[step.position].step].position = step.position;
        l.members.pop_back();
        l.capped -= variable.cap < INFINITE ? 1 : 0;
        if (l.members.empty())
        {
            SumAfresh(step.link);
        }
    }
    variable.standing = Variable::Off;
    m_moved.push_back(v);
}

/** The least capacity / multiplicity of a variable's links. O(path). */
double
MaxMin::NarrowestOf(uint32_t v) const
{
    const Variable& variable = m_variables[v];
    double least = INFINITE;
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        least = std::min(least, m_links[m_steps[i].link].capacity / m_steps[i].multiplicity);
    }
    return least;
}

/** The answer for a variable that shares no link. O(1). */
void
MaxMin::SetAlone(uint32_t v)
{
    Variable& variable = m_variables[v];
    variable.weight = variable.nextWeight;
    variable.level =
        variable.weight > 0 ? std::min(variable.cap, variable.narrowest / variable.weight) : 0;
    m_moved.push_back(v);
}

/** Takes a variable out of the lines of its links, and out of its group. */
void
MaxMin::Withdraw(uint32_t v)
{
    Variable& variable = m_variables[v];
    const bool free = IsFree(variable);
    const double level = Level(v);
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        const Step& step = m_steps[i];
        Link& l = m_links[step.link];
        if (l.capacity == INFINITE)
        {
            continue;
        }
        Touch(step.link);
        const double weight = l.members[step.position].weight;
        const bool own = variable.bottleneck == step.link;
        if (own || free)
        {
            l.rising = --l.risers > 0 ? l.rising - weight : 0;
            l.guests -= own ? 0 : 1;
        }
        else
        {
            l.fixed -= weight * level;
        }
    }
    SetBottleneck(v, m_none);
    variable.freed = 0;
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        Rekey(m_steps[i].link);
    }
}

/** Makes a variable that is in no line a free one of its next weight: it rises on all its links. */
void
MaxMin::Enter(uint32_t v)
{
    Variable& variable = m_variables[v];
    variable.weight = variable.nextWeight;
    variable.freed = m_solve;
    m_freed.push_back(v);
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        const Step& step = m_steps[i];
        Link& l = m_links[step.link];
        const double weight = step.multiplicity * variable.weight;
        l.members[step.position].weight = weight;
        if (l.capacity == INFINITE)
        {
            continue;
        }
        Touch(step.link);
        l.rising += weight;
        l.risers++;
        l.guests++;
        l.bound = 0;
        Rekey(step.link);
    }
}

void
MaxMin::EndSolve()
{
    for (uint32_t link : m_touched)
    {
        Link& l = m_links[link];
        l.level = l.risers > 0 ? l.level : INFINITE;
        // After many changes, and where most of the load is gone, rounding could show.
        if (l.solves > 32 || SharedLoad(link) < l.peak * 1e-3)
        {
            SumAfresh(link);
        }
    }
}

/** Sums the line of a link from its members, so that rounding never piles up. O(members). */
void
MaxMin::SumAfresh(uint32_t link)
{
    Link& l = m_links[link];
    l.fixed = 0;
    l.rising = 0;
    l.highest = 0;
    l.risers = 0;
    l.guests = 0;
    l.solves = 0;
    l.peak = 0;
    if (l.capacity == INFINITE || AloneOn(link) != NONE)
    {
        return;
    }
    for (const Member& m : l.members)
    {
        const Variable& v = m_variables[m.variable];
        const bool own = v.bottleneck == link;
        if (own || IsFree(v))
        {
            l.rising += m.weight;
            l.risers++;
            l.guests += own ? 0 : 1;
        }
        else
        {
            const double level = Level(m.variable);
            l.fixed += m.weight * level;
            l.highest = std::max(l.highest, level);
        }
    }
    l.peak = l.fixed;
}

} // namespace weir

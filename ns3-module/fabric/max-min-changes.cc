// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/max-min.h"

#include <algorithm>

namespace weir
{

void
MaxMin::ApplyCapacity(uint32_t link, double capacity)
{
    Link& l = m_links[link];
    const double before = l.capacity;
    if (capacity == before)
    {
        return;
    }
    if (l.slack)
    {
        Tighten(link);
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
        l.members.push_back({0, v, i});
        l.bottlenecks.push_back(m_none);
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
        l.bottlenecks[step.position] = l.bottlenecks.back();
        m_steps[l.members[step.position].step].position = step.position;
        l.members.pop_back();
        l.bottlenecks.pop_back();
        l.capped -= variable.cap < INFINITE ? 1 : 0;
        if (l.members.empty())
        {
            l.slack = false;
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
        Line& line = m_lines[step.link];
        const double weight = l.members[step.position].weight;
        const bool own = variable.bottleneck == step.link;
        if (own || free)
        {
            line.rising = --l.risers > 0 ? line.rising - weight : 0;
            l.guests -= own ? 0 : 1;
        }
        else
        {
            m_fixed[step.link] -= weight * (l.slack ? BoundOf(step.link, step.position) : level);
        }
    }
    SetBottleneck(v, m_none, 0);
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
        m_lines[step.link].rising += weight;
        l.risers++;
        l.guests++;
        l.bound = 0;
        Rekey(step.link);
    }
}

} // namespace weir

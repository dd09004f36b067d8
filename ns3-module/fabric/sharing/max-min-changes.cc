// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/sharing/max-min.h"

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

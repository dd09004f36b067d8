// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/max-min.h"

#include <stdexcept>

namespace weir
{

MaxMin::MaxMin(std::vector<double> capacities)
    : m_none(static_cast<uint32_t>(capacities.size())),
      m_links(capacities.size()),
      m_lines(capacities.size()),
      m_fixed(capacities.size(), 0),
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

double
MaxMin::SharedLoad(uint32_t link) const
{
    const Link& l = m_links[link];
    if (!l.slack)
    {
        return LineLoad(link);
    }
    double load = 0;
    for (const Member& m : l.members)
    {
        load += m.weight * Level(m.variable);
    }
    return load;
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
    m_mayWalk = true;
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
MaxMin::EndSolve()
{
    m_walksAtOnce = m_mayWalk && HasSpread();
    for (uint32_t link : m_touched)
    {
        Link& l = m_links[link];
        l.level = l.risers > 0 ? l.level : INFINITE;
        // After many changes, and where most of the load is gone, rounding could show.
        if (l.solves > SOLVES_MOST || LineLoad(link) < l.peak * LOST)
        {
            SumAfresh(link);
        }
        if (l.slack && IsNearlyFull(link))
        {
            Tighten(link);
        }
        if (CouldBeSlack(link))
        {
            Relax(link);
        }
        m_lines[link].limit = -INFINITE;
        Enlist(link);
    }
}

} // namespace weir

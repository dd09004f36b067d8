// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/max-min.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace weir
{

namespace
{

constexpr double INFINITE = std::numeric_limits<double>::infinity();

} // namespace

MaxMin::MaxMin(std::vector<double> capacities)
    : m_links(capacities.size()),
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
        m_paths.emplace_back();
        m_paths[v].first = static_cast<uint32_t>(m_steps.size());
        m_paths[v].length = static_cast<uint32_t>(length);
        m_steps.resize(m_steps.size() + length);
    }
    m_variables[v] = Variable();
    m_variables[v].cap = cap;
    Step* step = m_steps.data() + m_paths[v].first;
    for (const PathLink& l : path)
    {
        *step++ = {l.link.Index(), l.multiplicity, NONE};
    }
    return v;
}

void
MaxMin::Remove(uint32_t v)
{
    Path& path = m_paths[v];
    if (path.changed || m_variables[v].weight != 0)
    {
        throw std::logic_error("MaxMin: a variable in use is removed");
    }
    if (path.standing != Standing::Off)
    {
        Leave(v);
    }
    m_unused[path.length].push_back(v);
}

void
MaxMin::SetWeight(uint32_t v, double weight)
{
    Path& path = m_paths[v];
    path.nextWeight = weight;
    if (!path.changed)
    {
        path.changed = true;
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
            if ((m_paths[v].nextWeight > 0) == coming)
            {
                ApplyWeight(v);
            }
        }
    }
    for (uint32_t v : m_changedVariables)
    {
        m_paths[v].changed = false;
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
    m_free.clear();
    m_level = 0;
    if (++m_solve >= NONE / 2)
    {
        m_solve = 1;
        for (auto& v : m_variables)
        {
            v.mark = 0;
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
        SetAlone(v);
        return;
    }
    Touch(link);
    if (before == INFINITE)
    {
        // An infinite link keeps no line, and may hold members that nothing else limited.
        for (const Member& m : l.members)
        {
            const Variable& v = m_variables[m.variable];
            if (v.level == INFINITE && v.mark < FreeMark())
            {
                Free(m.variable);
            }
        }
        SumAfresh(link);
    }
    else if (capacity == INFINITE)
    {
        Open(link);
        l.fixed = 0;
        l.rising = 0;
        l.risers = 0;
        l.free = 0;
    }
    Rekey(link);
}

void
MaxMin::ApplyWeight(uint32_t v)
{
    Path& path = m_paths[v];
    Variable& variable = m_variables[v];
    if (path.nextWeight == variable.weight)
    {
        return;
    }
    switch (path.standing)
    {
    case Standing::Off:
        Attach(v);
        break;
    case Standing::Alone:
        SetAlone(v);
        break;
    case Standing::Shared:
        Withdraw(v);
        variable.weight = path.nextWeight;
        if (path.nextWeight > 0)
        {
            Enter(v);
        }
        else
        {
            Leave(v);
            variable.level = 0;
            variable.mark = 0;
        }
        break;
    }
}

/** Puts a variable on its links: alone if nobody active is there, else sharing with them. */
void
MaxMin::Attach(uint32_t v)
{
    const uint32_t first = m_paths[v].first;
    const uint32_t last = first + m_paths[v].length;
    bool alone = true;
    for (uint32_t i = first; i < last; i++)
    {
        const uint32_t link = m_steps[i].link;
        if (m_links[link].members.empty())
        {
            continue;
        }
        const uint32_t other = AloneOn(link);
        if (other != NONE && m_paths[other].nextWeight == 0)
        {
            Leave(other);
            continue;
        }
        alone = false;
        if (other != NONE)
        {
            Join(other);
        }
    }
    TakePlaces(v);
    if (alone)
    {
        m_paths[v].standing = Standing::Alone;
        SetAlone(v);
        return;
    }
    m_paths[v].standing = Standing::Shared;
    m_variables[v].weight = m_paths[v].nextWeight;
    Enter(v);
}

void
MaxMin::TakePlaces(uint32_t v)
{
    const Path& path = m_paths[v];
    for (uint32_t i = 0; i < path.length; i++)
    {
        Step& step = m_steps[path.first + i];
        auto& members = m_links[step.link].members;
        step.position = static_cast<uint32_t>(members.size());
        members.push_back({v, step.multiplicity, path.first + i});
    }
}

/** Takes a variable that is in no line off its links. */
void
MaxMin::Leave(uint32_t v)
{
    Path& path = m_paths[v];
    for (uint32_t i = path.first; i < path.first + path.length; i++)
    {
        const Step& step = m_steps[i];
        Link& l = m_links[step.link];
        l.members[step.position] = l.members.back();
        m_steps[l.members[step.position].step].position = step.position;
        l.members.pop_back();
        if (l.members.empty())
        {
            l.fixed = 0;
            l.rising = 0;
            l.risers = 0;
        }
    }
    path.standing = Standing::Off;
    m_variables[v].bottleneck = NONE;
    m_moved.push_back(v);
}

/** Makes a variable that was alone one that shares. */
void
MaxMin::Join(uint32_t v)
{
    m_paths[v].standing = Standing::Shared;
    m_variables[v].weight = m_paths[v].nextWeight;
    m_moved.push_back(v);
    Enter(v);
}

/** The answer for a variable that shares no link. */
void
MaxMin::SetAlone(uint32_t v)
{
    Path& path = m_paths[v];
    Variable& variable = m_variables[v];
    double least = INFINITE;
    for (uint32_t i = path.first; i < path.first + path.length; i++)
    {
        const Step& step = m_steps[i];
        least = std::min(least, m_links[step.link].capacity / step.multiplicity);
    }
    variable.weight = path.nextWeight;
    variable.level = variable.weight > 0 ? std::min(variable.cap, least / variable.weight) : 0;
    variable.bottleneck = NONE;
    m_moved.push_back(v);
}

/** Takes a variable out of the lines of its links. */
void
MaxMin::Withdraw(uint32_t v)
{
    const Path& path = m_paths[v];
    const Variable& variable = m_variables[v];
    const bool free = variable.mark == FreeMark();
    for (uint32_t i = path.first; i < path.first + path.length; i++)
    {
        const Step& step = m_steps[i];
        Link& l = m_links[step.link];
        if (l.capacity == INFINITE)
        {
            continue;
        }
        Touch(step.link);
        const double weight = step.multiplicity * variable.weight;
        if (free || variable.bottleneck == step.link)
        {
            l.rising = --l.risers > 0 ? l.rising - weight : 0;
            l.free -= free ? 1 : 0;
        }
        else
        {
            l.fixed -= weight * variable.level;
        }
        Rekey(step.link);
    }
}

/** Makes a variable that is in no line a free one: it rises on all its links. */
void
MaxMin::Enter(uint32_t v)
{
    const Path& path = m_paths[v];
    Variable& variable = m_variables[v];
    variable.mark = FreeMark();
    m_free.push_back(v);
    for (uint32_t i = path.first; i < path.first + path.length; i++)
    {
        const Step& step = m_steps[i];
        Link& l = m_links[step.link];
        if (l.capacity == INFINITE)
        {
            continue;
        }
        Touch(step.link);
        l.rising += step.multiplicity * variable.weight;
        l.risers++;
        l.free++;
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
        // After many updates, and where most of the load is gone, rounding could show.
        if (l.updates > 64 + 4 * l.members.size() || SharedLoad(link) < l.loadBefore * 1e-3)
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
    l.risers = 0;
    l.free = 0;
    l.updates = 0;
    if (l.capacity == INFINITE || AloneOn(link) != NONE)
    {
        return;
    }
    for (const Member& m : l.members)
    {
        const Variable& v = m_variables[m.variable];
        const double weight = m.multiplicity * v.weight;
        const bool free = v.mark == FreeMark();
        if (free || v.bottleneck == link)
        {
            l.rising += weight;
            l.risers++;
            l.free += free ? 1 : 0;
        }
        else
        {
            l.fixed += weight * v.level;
        }
    }
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/max-min.h"

#include <algorithm>
#include <cmath>

namespace weir
{

namespace
{

constexpr double INFINITE = std::numeric_limits<double>::infinity();

/**
 * Loads that differ by less than this part of the capacity are the same load: the rounding of
 * sums of thousands of doubles, far below the 1e-9 that rates are right to. It keeps noise from
 * being replayed as change, and makes equal links fill at one and the same level.
 */
constexpr double SAME_LOAD = 1e-14;

/** A link without risers is overfull, and must lower its members, past this part of capacity. */
constexpr double OVERFULL = 1e-12;

} // namespace

void
MaxMin::Sweep()
{
    do
    {
        while (FirstKey() < INFINITE)
        {
            const uint32_t link = m_heap.TopIndex();
            const Link& l = m_links[link];
            const double key = KeyOf(l);
            m_heap.Remove(link);
            if (l.opened || l.risers == 0 || key < l.level)
            {
                Fill(link, key);
            }
            else if ((MeetingLevel(l) - l.level) * l.rising > SAME_LOAD * l.capacity)
            {
                Open(link);
            }
            else if (l.free > 0)
            {
                Fill(link, l.level);
            }
        }
        // No link holds what is still free.
        for (std::size_t i = 0; i < m_free.size(); i++)
        {
            if (m_variables[m_free[i]].mark == FreeMark())
            {
                Stop(m_free[i], m_variables[m_free[i]].cap, NONE);
            }
        }
        m_free.clear();
    } while (!m_heap.Empty());
}

void
MaxMin::Touch(uint32_t link)
{
    Link& l = m_links[link];
    if (l.mark != m_solve)
    {
        l.mark = m_solve;
        l.loadBefore = SharedLoad(link);
        l.opened = false;
        l.bound = 0;
        l.free = 0;
        m_touched.push_back(link);
    }
    l.updates++;
}

/** Where the line of a link meets its capacity, or the bound where that is known to be higher. */
double
MaxMin::MeetingLevel(const Link& l) const
{
    if (l.risers == 0)
    {
        return l.fixed > l.capacity * (1 + OVERFULL) ? l.bound : INFINITE;
    }
    return std::max(l.bound, (l.capacity - l.fixed) / l.rising);
}

/** When the sweep must look at a link: where its line meets, or at its old level if that is lower.
 */
double
MaxMin::KeyOf(const Link& l) const
{
    const double meeting = MeetingLevel(l);
    return l.opened || l.risers == 0 ? meeting : std::min(meeting, l.level);
}

/** Puts a link in the heap, or moves it ahead; moving back waits until it comes up. */
void
MaxMin::Rekey(uint32_t link)
{
    const double key = KeyOf(m_links[link]);
    if (m_heap.Contains(link) ? key < m_heap.KeyOf(link) : key < INFINITE)
    {
        m_heap.Set(link, key);
    }
}

/** The lowest key in the heap, after moving back the links whose lines have sunk since they got it.
 */
double
MaxMin::FirstKey()
{
    while (!m_heap.Empty())
    {
        const uint32_t link = m_heap.TopIndex();
        const double key = KeyOf(m_links[link]);
        if (key <= m_heap.TopKey())
        {
            return m_heap.TopKey();
        }
        key == INFINITE ? m_heap.Remove(link) : m_heap.Set(link, key);
    }
    return INFINITE;
}

/** Frees the variables that a link was the bottleneck of: it could let them rise. */
void
MaxMin::Open(uint32_t link)
{
    Link& l = m_links[link];
    l.opened = true;
    for (const Member& m : l.members)
    {
        const Variable& v = m_variables[m.variable];
        if (v.bottleneck == link && v.mark < FreeMark())
        {
            Free(m.variable);
        }
    }
    Rekey(link);
}

/** Makes a variable that stands where the last solve put it a riser on all its links. */
void
MaxMin::Free(uint32_t v)
{
    Variable& variable = m_variables[v];
    const Path& path = m_paths[v];
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
        l.free++;
        if (variable.bottleneck == step.link)
        {
            continue; // it rises there already
        }
        const double weight = step.multiplicity * variable.weight;
        l.fixed -= weight * variable.level;
        l.rising += weight;
        l.risers++;
        l.bound = std::min(l.bound, variable.level);
        Rekey(step.link);
    }
}

/** Counts who of a link's members would stop below @p level elsewhere, and who would rise to it. */
MaxMin::Count
MaxMin::CountMembers(uint32_t link, double level) const
{
    Count count;
    const uint32_t freeMark = FreeMark();
    for (const Member& m : m_links[link].members)
    {
        const Variable& v = m_variables[m.variable];
        const double weight = m.multiplicity * v.weight;
        if (v.mark > freeMark) // stopped
        {
            const bool here = v.bottleneck == link;
            count.fixed += weight * v.level;
            count.stoppedHere += here ? weight : 0;
            count.stoppedRisers += here ? 1 : 0;
            continue;
        }
        const bool free = v.mark == freeMark;
        const double limit = free ? v.cap : v.bottleneck == link ? INFINITE : v.level;
        if (limit > level)
        {
            count.rising += weight;
            count.risers++;
        }
        else
        {
            count.fixed += weight * limit;
            count.capped += free ? 1 : 0;
        }
    }
    return count;
}

/** Finds the level at which a link fills, from @p level on, and stops its risers there. */
void
MaxMin::Fill(uint32_t link, double level)
{
    Link& l = m_links[link];
    Count count = CountMembers(link, level);
    // The first step may come from above the root, all others come from below and fewer rise.
    for (std::size_t step = 0; count.risers > 0 && step <= l.members.size(); step++)
    {
        const double next = std::max(0.0, (l.capacity - count.fixed) / count.rising);
        const uint32_t before = count.risers;
        const bool same = std::abs(next - level) * count.rising <= SAME_LOAD * l.capacity;
        const bool below = next >= level;
        level = next;
        if (same)
        {
            break;
        }
        count = CountMembers(link, level);
        if (below && count.risers == before)
        {
            break;
        }
    }
    if (count.risers == 0)
    {
        l.bound = INFINITE; // whoever is free stops at a cap
        return;
    }
    const auto same = [&](double other) {
        return std::abs(level - other) * count.rising <= SAME_LOAD * l.capacity;
    };
    if (l.level != INFINITE && same(l.level))
    {
        level = l.level;
    }
    else if (same(m_level))
    {
        level = m_level;
    }
    if (!l.opened && level > l.level)
    {
        Open(link); // caps leave more than the line says
        return;
    }
    if ((level - FirstKey()) * count.rising > SAME_LOAD * l.capacity)
    {
        l.bound = level;
        m_heap.Set(link, level);
        return;
    }
    m_level = std::max(m_level, level);
    StopRisers(link, level);
}

/** Stops at @p level every member of a link that is not stopped lower. */
void
MaxMin::StopRisers(uint32_t link, double level)
{
    Link& l = m_links[link];
    double fixed = 0;
    double rising = 0;
    uint32_t risers = 0;
    const double levelBefore = l.level;
    m_stopping.clear();
    for (const Member& m : l.members)
    {
        const Variable& v = m_variables[m.variable];
        const double weight = m.multiplicity * v.weight;
        const bool stopped = v.mark > FreeMark();
        const bool free = v.mark == FreeMark();
        const bool mine = v.bottleneck == link;
        const double limit = free ? v.cap : (stopped || !mine) ? v.level : INFINITE;
        const bool rises = !stopped && limit > level;
        if (rises || (stopped && mine))
        {
            rising += weight;
            risers++;
        }
        else
        {
            fixed += weight * limit;
        }
        if (free || (rises && !(mine && level == levelBefore)))
        {
            m_stopping.push_back(m);
        }
    }
    for (const Member& m : m_stopping)
    {
        const Variable& v = m_variables[m.variable];
        const bool atCap = v.mark == FreeMark() && v.cap <= level;
        Stop(m.variable, atCap ? v.cap : level, atCap ? NONE : link);
    }
    l.fixed = fixed;
    l.rising = rising;
    l.risers = risers;
    l.free = 0;
    l.updates = 0;
    l.bound = 0;
    l.level = level;
    l.opened = false;
    m_heap.Remove(link);
}

/** Fixes a variable at @p level on all its links; the line of @p bottleneck is left to the caller.
 */
void
MaxMin::Stop(uint32_t v, double level, uint32_t bottleneck)
{
    Variable& variable = m_variables[v];
    const Path& path = m_paths[v];
    const bool free = variable.mark == FreeMark();
    for (uint32_t i = path.first; i < path.first + path.length; i++)
    {
        const Step& step = m_steps[i];
        Link& l = m_links[step.link];
        if (step.link == bottleneck || l.capacity == INFINITE)
        {
            continue;
        }
        Touch(step.link);
        const double weight = step.multiplicity * variable.weight;
        if (free || variable.bottleneck == step.link)
        {
            l.fixed += weight * level;
            l.rising = --l.risers > 0 ? l.rising - weight : 0;
            l.free -= free ? 1 : 0;
        }
        else
        {
            l.fixed += weight * (level - variable.level);
        }
        if (!free || !m_heap.Contains(step.link))
        {
            Rekey(step.link);
        }
    }
    if (variable.bottleneck != bottleneck || bottleneck == NONE)
    {
        m_moved.push_back(v);
    }
    variable.mark = StoppedMark();
    variable.level = level;
    variable.bottleneck = bottleneck;
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/sharing/bottleneck-groups.h"

#include <cmath>

namespace weir::maxmin
{

BottleneckGroups::BottleneckGroups(GroupedTables& tables)
    : m_tables(tables),
      m_none(static_cast<uint32_t>(tables.links.size())),
      m_fixed(tables.links.size(), 0),
      m_functions(tables.links.size()),
      m_levels(tables.links.size() + 1, INFINITE)
{
}

void
BottleneckGroups::AddToReach(uint32_t link, double change)
{
    const Reach& reach = m_tables.links[link].reach;
    const std::size_t size = reach.links.size();
    const uint32_t* const links = reach.links.data();
    const double* const weights = reach.weights.data();
    double* const fixed = m_fixed.data();
    for (std::size_t i = 0; i < size; i++)
    {
        fixed[links[i]] += weights[i] * change;
    }
}

void
BottleneckGroups::RecomputeLoad(uint32_t link)
{
    GroupedLink& l = m_tables.links[link];
    LoadFunction& f = m_functions[link];
    double fixed = 0;
    f.rising = 0;
    f.highest = 0;
    l.risers = 0;
    l.foreign = 0;
    l.solves = 0;
    const bool isCounted = l.capacity < INFINITE && m_tables.UncontendedOn(link) == NONE;
    for (std::size_t i = 0; isCounted && i < l.members.size(); i++)
    {
        const double weight = l.members[i].weight;
        const uint32_t bottleneck = l.bottlenecks[i];
        double level = m_levels[bottleneck];
        if (bottleneck == m_none)
        {
            const GroupedVariable& v = m_tables.variables[l.members[i].variable];
            level = v.isFree ? INFINITE : v.level;
        }
        if (bottleneck == link || level == INFINITE)
        {
            f.rising += weight;
            l.risers++;
            l.foreign += bottleneck == link ? 0 : 1;
        }
        else
        {
            fixed += weight * (l.isSlack ? AllowedLevel(link, i) : level);
            f.highest = std::max(f.highest, level);
        }
    }
    m_fixed[link] = fixed;
    l.peak = fixed;
}

bool
BottleneckGroups::FindSaturation(uint32_t link, Saturation& at) const
{
    const GroupedLink& l = m_tables.links[link];
    const std::size_t size = l.members.size();
    std::size_t risersBefore = size + 1;
    // The first step may start above the root. All later steps approach it from below, so that the
    // number of risers decreases.
    for (std::size_t step = 0; step <= size + 1; step++)
    {
        double fixed = 0; // load of the members frozen at or below the level
        std::size_t risers = 0;
        at.rising = 0;
        for (std::size_t i = 0; i < size; i++)
        {
            const double weight = l.members[i].weight;
            const double limit = LimitOf(link, i);
            const bool rises = limit > at.level;
            at.rising += rises ? weight : 0;
            fixed += rises ? 0 : weight * limit;
            risers += rises ? 1 : 0;
        }
        if (risers == 0)
        {
            return false;
        }
        if (risers == risersBefore)
        {
            return true;
        }
        const double next = std::max(0.0, (l.capacity - fixed) / at.rising);
        if (std::abs(next - at.level) * at.rising <= SAME_LOAD * l.capacity)
        {
            at.level = next;
            return true;
        }
        risersBefore = next >= at.level ? risers : size + 1;
        at.level = next;
    }
    return true;
}

void
BottleneckGroups::FindHigher(uint32_t link, double level, std::vector<HigherMember>& higher)
{
    const GroupedLink& l = m_tables.links[link];
    const std::size_t size = l.bottlenecks.size();
    const uint32_t* const bottlenecks = l.bottlenecks.data();
    const double* const levels = m_levels.data();
    const double ownLevel = m_levels[link];
    m_levels[link] = 0; // excludes the link's own group
    higher.clear();
    for (std::size_t i = 0; i < size; i++)
    {
        const double other = levels[bottlenecks[i]];
        if (other > level && other < INFINITE)
        {
            higher.push_back({other, l.members[i].weight, l.members[i].variable});
        }
    }
    m_levels[link] = ownLevel;
}

void
BottleneckGroups::SetBottleneck(uint32_t v, uint32_t bottleneck, double level)
{
    GroupedVariable& variable = m_tables.variables[v];
    const uint32_t from = variable.bottleneck;
    if (from == bottleneck)
    {
        return;
    }
    variable.bottleneck = bottleneck;
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        const GroupedCrossing& crossing = m_tables.crossings[i];
        m_tables.links[crossing.link].bottlenecks[crossing.position] = bottleneck;
        if (from != m_none && crossing.link != from)
        {
            TakeCrossing(i, from);
        }
        if (bottleneck != m_none && crossing.link != bottleneck)
        {
            GiveCrossing(i, bottleneck, m_tables.multiplicities[i] * variable.weight, level);
        }
    }
}

double
BottleneckGroups::AllowedLevel(uint32_t link, std::size_t member) const
{
    const GroupedLink& l = m_tables.links[link];
    const uint32_t group = l.bottlenecks[member];
    const Member& m = l.members[member];
    return group == m_none
               ? m_tables.variables[m.variable].level
               : m_tables.links[group].allowances[m_tables.crossings[m.crossing].inGroup].maxLevel;
}

void
BottleneckGroups::TakeCrossing(uint32_t c, uint32_t group)
{
    const GroupedCrossing& crossing = m_tables.crossings[c];
    const uint32_t at = crossing.inGroup;
    GroupedLink& g = m_tables.links[group];
    if (m_tables.links[crossing.link].isSlack)
    {
        g.allowances[at] = g.allowances.back();
        m_tables.crossings[g.allowances[at].crossing].inGroup = at;
        g.allowances.pop_back();
        return;
    }
    const uint32_t last = g.reach.crossings.back();
    g.reach.links[at] = g.reach.links.back();
    g.reach.weights[at] = g.reach.weights.back();
    g.reach.crossings[at] = last;
    g.reach.links.pop_back();
    g.reach.weights.pop_back();
    g.reach.crossings.pop_back();
    m_tables.crossings[last].inGroup = at;
}

void
BottleneckGroups::GiveCrossing(uint32_t c, uint32_t group, double weight, double maxLevel)
{
    GroupedCrossing& crossing = m_tables.crossings[c];
    const GroupedLink& crossed = m_tables.links[crossing.link];
    GroupedLink& g = m_tables.links[group];
    if (crossed.isSlack)
    {
        crossing.inGroup = static_cast<uint32_t>(g.allowances.size());
        g.allowances.push_back({maxLevel, crossing.link, c});
        g.ceiling = std::min(g.ceiling, maxLevel);
        return;
    }
    crossing.inGroup = static_cast<uint32_t>(g.reach.links.size());
    g.reach.links.push_back(crossing.link);
    g.reach.weights.push_back(weight);
    g.reach.crossings.push_back(c);
}

} // namespace weir::maxmin

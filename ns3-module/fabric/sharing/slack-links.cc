// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/sharing/slack-links.h"

#include <algorithm>

namespace weir::maxmin
{

namespace
{

/** A link remains slack as long as its bound is at most this fraction of its capacity. */
constexpr double MAX_SLACK = 1 - 1.0 / (1 << 20);

/** A link becomes slack when its load is at most this fraction of its capacity. */
constexpr double SLACK_FROM = 15.0 / 16;

/** Ratio of a new allowance to the level that requires it. */
constexpr double GROWTH = 17.0 / 16;

} // namespace

void
SlackLinks::KeepLoads(bool keep)
{
    m_keepsLoads = keep;
    for (uint32_t link = 0; keep && link < m_groups.None(); link++)
    {
        if (m_tables.links[link].isSlack)
        {
            Tighten(link);
            m_order.Enlist(link);                   // as at the end of a solve
            m_tables.links[link].isTouched = false; // Tighten touched it outside a solve
        }
    }
}

void
SlackLinks::Review(uint32_t link)
{
    if (m_tables.links[link].isSlack &&
        m_groups.Fixed(link) > MAX_SLACK * m_tables.links[link].capacity)
    {
        Tighten(link);
    }
    if (CanBeSlack(link))
    {
        Relax(link);
    }
}

bool
SlackLinks::CanBeSlack(uint32_t link) const
{
    const GroupedLink& l = m_tables.links[link];
    const double fixed = m_groups.Fixed(link);
    return !l.isSlack && l.risers == 0 && l.capacity < INFINITE && fixed > 0 &&
           fixed <= SLACK_FROM * l.capacity && !m_keepsLoads &&
           m_tables.UncontendedOn(link) == NONE;
}

void
SlackLinks::CheckAllowances(uint32_t group)
{
    const GroupedLink& g = m_tables.links[group];
    if (g.level > g.ceiling)
    {
        PassCeiling(group);
    }
    while (g.level == 0 && !g.allowances.empty())
    {
        Tighten(g.allowances.back().link);
    }
}

/** Increases the allowances that the level of a group exceeds, or makes their links tight. */
void
SlackLinks::PassCeiling(uint32_t group)
{
    GroupedLink& g = m_tables.links[group];
    m_passed.clear();
    for (Allowance& a : g.allowances)
    {
        if (a.maxLevel < g.level && !AllowMore(a, g.level))
        {
            m_passed.push_back(a.link);
        }
    }
    for (uint32_t passed : m_passed)
    {
        const GroupedLink& l = m_tables.links[passed];
        if (!l.isSlack)
        {
            continue;
        }
        double load = 0;
        for (const Member& m : l.members)
        {
            load += m.weight * m_groups.Level(m.variable);
        }
        if (l.risers == 0 && load <= SLACK_FROM * l.capacity)
        {
            AllowAll(passed, (1 + MAX_SLACK * l.capacity / load) / 2); // uses half of the room
        }
        else
        {
            Tighten(passed);
        }
    }
    g.ceiling = INFINITE;
    for (const Allowance& a : g.allowances)
    {
        g.ceiling = std::min(g.ceiling, a.maxLevel);
    }
}

/**
 * Increases the allowance of a group at a slack link if the bound of the link permits it; O(1).
 * @return whether the allowance now covers @p level
 */
bool
SlackLinks::AllowMore(Allowance& allowance, double level)
{
    GroupedLink& l = m_tables.links[allowance.link];
    const double maxLevel = level * GROWTH;
    const double weight = l.members[m_tables.crossings[allowance.crossing].position].weight;
    const double bound = m_groups.Fixed(allowance.link) + weight * (maxLevel - allowance.maxLevel);
    if (l.isSlack && l.risers == 0 && bound <= MAX_SLACK * l.capacity)
    {
        m_groups.Fixed(allowance.link) = bound;
        allowance.maxLevel = maxLevel;
        l.peak = std::max(l.peak, bound);
    }
    return allowance.maxLevel >= level;
}

/** Sets the allowance of every member of a slack link to @p growth times its level. */
void
SlackLinks::AllowAll(uint32_t link, double growth)
{
    const GroupedLink& l = m_tables.links[link];
    for (std::size_t i = 0; i < l.members.size(); i++)
    {
        if (l.bottlenecks[i] != m_groups.None())
        {
            GroupedLink& group = m_tables.links[l.bottlenecks[i]];
            const double maxLevel = group.level * growth;
            group.allowances[m_tables.crossings[l.members[i].crossing].inGroup].maxLevel = maxLevel;
            group.ceiling = std::min(group.ceiling, maxLevel);
        }
    }
    m_groups.RecomputeLoad(link);
}

/** Makes a link slack. O(members). */
void
SlackLinks::Relax(uint32_t link)
{
    GroupedLink& l = m_tables.links[link];
    for (const Member& m : l.members)
    {
        if (m_groups.Level(m.variable) == 0)
        {
            return; // a slack link with members must have a load
        }
    }
    const double growth = MAX_SLACK * l.capacity / m_groups.Fixed(link);
    for (std::size_t i = 0; i < l.members.size(); i++)
    {
        const uint32_t group = l.bottlenecks[i];
        if (group != m_groups.None())
        {
            m_groups.TakeCrossing(l.members[i].crossing, group);
            l.isSlack = true;
            m_groups.GiveCrossing(l.members[i].crossing,
                                  group,
                                  l.members[i].weight,
                                  growth * m_tables.links[group].level);
            l.isSlack = false;
        }
    }
    l.isSlack = true;
    m_groups.RecomputeLoad(link);
}

void
SlackLinks::Tighten(uint32_t link)
{
    GroupedLink& l = m_tables.links[link];
    m_queue.Touch(link);
    for (std::size_t i = 0; i < l.members.size(); i++)
    {
        const uint32_t group = l.bottlenecks[i];
        if (group != m_groups.None())
        {
            m_groups.TakeCrossing(l.members[i].crossing, group);
            l.isSlack = false;
            m_groups.GiveCrossing(l.members[i].crossing, group, l.members[i].weight, 0);
            l.isSlack = true;
        }
    }
    l.isSlack = false;
    l.bound = 0;
    m_groups.RecomputeLoad(link);
    if (m_order.IsInUse())
    {
        m_order.Enlist(link);
    }
    m_queue.Update(link);
}

} // namespace weir::maxmin

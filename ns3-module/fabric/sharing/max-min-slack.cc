// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/sharing/max-min.h"

#include <algorithm>

namespace weir
{

namespace
{

/** A link is slack as long as its bound is no more than this part of its capacity, */
constexpr double SLACK_MOST = 1 - 1.0 / (1 << 20);

/** and becomes so when its load is no more than this part: it pays to watch it less. */
constexpr double SLACK_FROM = 15.0 / 16;

/** A group that needs more allowance gets this much more than it needs, */
constexpr double GROWTH = 17.0 / 16;

/** and with it, at other links, what it would need soon. */
constexpr double MARGIN = 33.0 / 32;

} // namespace

/** Whether a link that has a line could do with a bound. */
bool
MaxMin::CouldBeSlack(uint32_t link) const
{
    const Link& l = m_links[link];
    const double fixed = m_fixed[link];
    return !l.slack && l.risers == 0 && l.capacity < INFINITE && fixed > 0 &&
           fixed <= SLACK_FROM * l.capacity && !m_keepsLoads && AloneOn(link) == NONE;
}

/** Whether the bound of a slack link is too near its capacity. */
bool
MaxMin::IsNearlyFull(uint32_t link) const
{
    return m_fixed[link] > SLACK_MOST * m_links[link].capacity;
}

/** What the bound of a slack link counts a member as that does not rise. */
double
MaxMin::BoundOf(uint32_t link, std::size_t member) const
{
    const Link& l = m_links[link];
    const uint32_t group = l.bottlenecks[member];
    return group == m_none ? m_variables[l.members[member].variable].level
                           : m_links[group].allowances[m_steps[l.members[member].step].reach].most;
}

/** How far a member that has stopped at @p level may rise without a look at a slack link. */
double
MaxMin::FirstAllowance(uint32_t link, double weight, double level) const
{
    const double some = 1.25 * level;
    const double bound = m_fixed[link] + weight * (some - level);
    return bound <= SLACK_MOST * m_links[link].capacity ? some : level;
}

/** Looks at the slack links that the group of @p link crosses after it has risen past allowances.
 */
void
MaxMin::PassCeiling(uint32_t link)
{
    Link& group = m_links[link];
    m_passed.clear();
    for (Allowance& a : group.allowances)
    {
        if (a.most < group.level * MARGIN && !AllowMore(a, group.level))
        {
            m_passed.push_back(a.link);
        }
    }
    for (uint32_t passed : m_passed)
    {
        const Link& l = m_links[passed];
        const double load = l.slack ? SharedLoad(passed) : 0;
        if (l.slack && l.risers == 0 && load <= SLACK_FROM * l.capacity)
        {
            Allow(passed, (1 + SLACK_MOST * l.capacity / load) / 2); // and keeps some room
        }
        else if (l.slack)
        {
            Tighten(passed);
        }
    }
    group.ceiling = INFINITE;
    for (const Allowance& a : group.allowances)
    {
        group.ceiling = std::min(group.ceiling, a.most);
    }
}

/**
 * Lets a group rise past its allowance at a slack link where the bound leaves room for that; O(1).
 * @return whether the allowance is enough for @p level
 */
bool
MaxMin::AllowMore(Allowance& allowance, double level)
{
    Link& l = m_links[allowance.link];
    const double most = level * GROWTH;
    const double weight = l.members[m_steps[allowance.step].position].weight;
    const double bound = m_fixed[allowance.link] + weight * (most - allowance.most);
    if (l.slack && l.risers == 0 && bound <= SLACK_MOST * l.capacity)
    {
        m_fixed[allowance.link] = bound;
        allowance.most = most;
        l.peak = std::max(l.peak, bound);
    }
    return allowance.most >= level;
}

/** Lets every member of a slack link rise to @p growth times its level without a look. */
void
MaxMin::Allow(uint32_t link, double growth)
{
    Link& l = m_links[link];
    for (std::size_t i = 0; i < l.members.size(); i++)
    {
        if (l.bottlenecks[i] != m_none)
        {
            Link& group = m_links[l.bottlenecks[i]];
            const double most = group.level * growth;
            group.allowances[m_steps[l.members[i].step].reach].most = most;
            group.ceiling = std::min(group.ceiling, most);
        }
    }
    SumAfresh(link);
}

/** Makes a link slack, which is far from full. O(members). */
void
MaxMin::Relax(uint32_t link)
{
    Link& l = m_links[link];
    for (const Member& m : l.members)
    {
        if (Level(m.variable) == 0)
        {
            return; // a slack link is busy as long as anybody is on it
        }
    }
    const double growth = SLACK_MOST * l.capacity / m_fixed[link];
    for (std::size_t i = 0; i < l.members.size(); i++)
    {
        const uint32_t group = l.bottlenecks[i];
        if (group != m_none)
        {
            TakeFromGroup(l.members[i].step, group);
            l.slack = true;
            GiveToGroup(l.members[i].step, group, growth * m_links[group].level);
            l.slack = false;
        }
    }
    l.slack = true;
    SumAfresh(link);
}

/** Gives a slack link its line again. O(members). */
void
MaxMin::Tighten(uint32_t link)
{
    Link& l = m_links[link];
    Touch(link);
    for (std::size_t i = 0; i < l.members.size(); i++)
    {
        const uint32_t group = l.bottlenecks[i];
        if (group != m_none)
        {
            TakeFromGroup(l.members[i].step, group);
            l.slack = false;
            GiveToGroup(l.members[i].step, group, 0);
            l.slack = true;
        }
    }
    l.slack = false;
    l.bound = 0;
    SumAfresh(link);
    if (m_walks)
    {
        Enlist(link);
    }
    Rekey(link);
}

/** Gives all slack links that a group crosses their lines. */
void
MaxMin::TightenReach(uint32_t link)
{
    while (!m_links[link].allowances.empty())
    {
        Tighten(m_links[link].allowances.back().link);
    }
}

void
MaxMin::KeepLoads(bool keep)
{
    m_keepsLoads = keep;
    for (uint32_t link = 0; keep && link < m_none; link++)
    {
        if (m_links[link].slack)
        {
            Tighten(link);
        }
    }
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/max-min.h"

#include <algorithm>

namespace weir
{

bool
MaxMin::IsFree(const Variable& v) const
{
    return v.freed == m_solve || (v.bottleneck != m_none && m_links[v.bottleneck].opened);
}

/** Frees the group of a link: it could rise. */
void
MaxMin::Open(uint32_t link)
{
    Link& opened = m_links[link];
    opened.opened = true;
    m_groupLevels[link] = INFINITE;
    m_opened.push_back(link);
    const double level = opened.level;
    for (const Reach& reach : opened.reach)
    {
        Link& l = m_links[reach.link];
        if (l.capacity == INFINITE)
        {
            continue;
        }
        Touch(reach.link);
        Line& line = m_lines[reach.link];
        line.fixed -= reach.weight * level;
        line.rising += reach.weight;
        l.risers++;
        l.guests++;
        l.bound = std::min(l.bound, level);
        Rekey(reach.link);
    }
    for (const Allowance& a : opened.allowances)
    {
        Link& l = m_links[a.link];
        Touch(a.link);
        Line& line = m_lines[a.link];
        const double weight = l.members[m_steps[a.step].position].weight;
        line.fixed -= weight * a.most;
        line.rising += weight;
        l.risers++;
        l.guests++;
        l.bound = std::min(l.bound, level);
        Rekey(a.link);
    }
    Rekey(link);
}

/** Moves the group of a link to @p level on all other links, and closes the link. */
void
MaxMin::MoveGroup(uint32_t link, double level)
{
    Link& moved = m_links[link];
    const double before = moved.level;
    moved.level = level;
    m_groupLevels[link] = level;
    if (moved.opened)
    {
        moved.opened = false;
        StopGroup(link);
    }
    else if (level > before)
    {
        RaiseGroup(moved, level - before);
    }
    else if (level < before)
    {
        LowerGroup(moved, level - before);
    }
    if (level > moved.ceiling)
    {
        PassCeiling(link);
    }
    else if (level == 0)
    {
        TightenReach(link); // a slack link has no member that stands still
    }
}

/** Makes the free group of a link stop at its level. */
void
MaxMin::StopGroup(uint32_t link)
{
    Link& stopped = m_links[link];
    for (const Reach& reach : stopped.reach)
    {
        Link& l = m_links[reach.link];
        if (l.capacity == INFINITE)
        {
            continue;
        }
        Touch(reach.link);
        Line& line = m_lines[reach.link];
        line.highest = std::max(line.highest, stopped.level);
        line.fixed += reach.weight * stopped.level;
        l.peak = std::max(l.peak, line.fixed);
        line.rising = --l.risers > 0 ? line.rising - reach.weight : 0;
        l.guests--;
        if (l.key == INFINITE)
        {
            Rekey(reach.link);
        }
    }
    for (Allowance& a : stopped.allowances)
    {
        Link& l = m_links[a.link];
        Touch(a.link);
        Line& line = m_lines[a.link];
        const double weight = l.members[m_steps[a.step].position].weight;
        a.most = std::max(a.most, stopped.level);
        line.fixed += weight * a.most;
        l.peak = std::max(l.peak, line.fixed);
        line.rising = --l.risers > 0 ? line.rising - weight : 0;
        l.guests--;
        if (l.key == INFINITE)
        {
            Rekey(a.link);
        }
    }
}

void
MaxMin::RaiseGroup(const Link& raised, double change)
{
    const double level = raised.level;
    Line* const lines = m_lines.data();
    for (const Reach& reach : raised.reach)
    {
        Line& line = lines[reach.link];
        line.fixed += reach.weight * change;
        line.highest = std::max(line.highest, level);
        if (line.fixed > line.limit)
        {
            LookAtRaised(reach.link, level - change);
        }
    }
}

void
MaxMin::LowerGroup(const Link& lowered, double change)
{
    Line* const lines = m_lines.data();
    for (const Reach& reach : lowered.reach)
    {
        Line& line = lines[reach.link];
        line.fixed += reach.weight * change;
        if (line.limit < 0)
        {
            LookAtLowered(reach.link);
        }
    }
}

/**
 * Stops a variable at @p level, in the group of @p bottleneck or by itself (m_none); the line of
 * the bottleneck is left to the caller.
 */
void
MaxMin::Stop(uint32_t v, double level, uint32_t bottleneck)
{
    Variable& variable = m_variables[v];
    const bool free = IsFree(variable);
    const double before = free ? 0 : Level(v);
    const uint32_t from = variable.bottleneck;
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        const Step& step = m_steps[i];
        Link& l = m_links[step.link];
        if (step.link == bottleneck || l.capacity == INFINITE)
        {
            continue;
        }
        Touch(step.link);
        Line& line = m_lines[step.link];
        const double weight = l.members[step.position].weight;
        const bool own = from == step.link;
        line.highest = std::max(line.highest, level);
        if (free || own)
        {
            line.fixed += weight * level;
            l.peak = std::max(l.peak, line.fixed);
            line.rising = --l.risers > 0 ? line.rising - weight : 0;
            l.guests -= own ? 0 : 1;
        }
        else
        {
            line.fixed += weight * (level - (l.slack ? BoundOf(step.link, step.position) : before));
        }
    }
    SetBottleneck(v, bottleneck, level);
    variable.freed = 0;
    variable.level = level;
    m_moved.push_back(v);
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        const uint32_t link = m_steps[i].link;
        if (link == bottleneck)
        {
            continue;
        }
        if (level == 0 && m_links[link].slack)
        {
            Tighten(link); // a slack link has no member that stands still
        }
        Rekey(link);
    }
}

/** Takes a variable out of one group and puts it in another, at @p level. */
void
MaxMin::SetBottleneck(uint32_t v, uint32_t bottleneck, double level)
{
    Variable& variable = m_variables[v];
    const uint32_t from = variable.bottleneck;
    if (from == bottleneck)
    {
        return;
    }
    variable.bottleneck = bottleneck;
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        const Step& step = m_steps[i];
        Link& l = m_links[step.link];
        l.bottlenecks[step.position] = bottleneck;
        if (from != m_none && step.link != from)
        {
            TakeFromGroup(i, from);
        }
        if (bottleneck != m_none && step.link != bottleneck)
        {
            const double weight = l.members[step.position].weight;
            const double most = l.slack ? FirstAllowance(step.link, weight, level) : level;
            m_lines[step.link].fixed += weight * (most - level);
            GiveToGroup(i, bottleneck, most);
        }
    }
}

/** Takes a crossing out of the reach or the allowances of a group. */
void
MaxMin::TakeFromGroup(uint32_t s, uint32_t group)
{
    const Step& step = m_steps[s];
    const auto take = [&](auto& crossings) {
        crossings[step.reach] = crossings.back();
        m_steps[crossings[step.reach].step].reach = step.reach;
        crossings.pop_back();
    };
    if (m_links[step.link].slack)
    {
        take(m_links[group].allowances);
    }
    else
    {
        take(m_links[group].reach);
    }
}

/** Puts a crossing in the reach of a group, or in its allowances if the crossed link is slack. */
void
MaxMin::GiveToGroup(uint32_t s, uint32_t group, double most)
{
    Step& step = m_steps[s];
    Link& g = m_links[group];
    if (m_links[step.link].slack)
    {
        step.reach = static_cast<uint32_t>(g.allowances.size());
        g.allowances.push_back({most, step.link, s});
        g.ceiling = std::min(g.ceiling, most);
    }
    else
    {
        step.reach = static_cast<uint32_t>(g.reach.size());
        g.reach.push_back({m_links[step.link].members[step.position].weight, step.link, s});
    }
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/sharing/max-min.h"

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
    for (std::size_t i = 0; i < opened.reach.Size(); i++)
    {
        const uint32_t reached = opened.reach.Links()[i];
        const double weight = opened.reach.Weights()[i];
        Link& l = m_links[reached];
        if (l.capacity == INFINITE)
        {
            continue;
        }
        Touch(reached);
        Line& line = m_lines[reached];
        m_fixed[reached] -= weight * level;
        line.rising += weight;
        l.risers++;
        l.guests++;
        l.bound = std::min(l.bound, level);
        Rekey(reached);
    }
    for (const Allowance& a : opened.allowances)
    {
        Link& l = m_links[a.link];
        Touch(a.link);
        Line& line = m_lines[a.link];
        const double weight = l.members[m_steps[a.step].position].weight;
        m_fixed[a.link] -= weight * a.most;
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
    else if (m_walks && m_lines[link].rank < LOOSE && level != before)
    {
        m_surged = m_surged || level > 2 * before;
        AddToReach(moved.reach, level - before);
        if (level > before)
        {
            NotePassed(moved);
        }
    }
    else if (level > before)
    {
        m_surged = m_surged || level > 2 * before;
        RaiseGroup(moved, level - before);
    }
    else if (level < before)
    {
        LowerGroup(moved, level - before);
    }
    if (m_walks && m_lines[link].rank < LOOSE)
    {
        Reorder(link, level);
    }
    else if (m_walks)
    {
        m_looseMost = std::max(m_looseMost, level);
    }
    HeedAllowances(link);
}

/** Looks at the slack links that a group crosses where its level asks for it. */
void
MaxMin::HeedAllowances(uint32_t link)
{
    const Link& moved = m_links[link];
    if (moved.level > moved.ceiling)
    {
        PassCeiling(link);
    }
    else if (moved.level == 0)
    {
        TightenReach(link); // a slack link has no member that stands still
    }
}

/** Makes the free group of a link stop at its level. */
void
MaxMin::StopGroup(uint32_t link)
{
    Link& stopped = m_links[link];
    for (std::size_t i = 0; i < stopped.reach.Size(); i++)
    {
        const uint32_t reached = stopped.reach.Links()[i];
        const double weight = stopped.reach.Weights()[i];
        Link& l = m_links[reached];
        if (l.capacity == INFINITE)
        {
            continue;
        }
        Touch(reached);
        Line& line = m_lines[reached];
        line.highest = std::max(line.highest, stopped.level);
        line.lone = NONE;
        m_fixed[reached] += weight * stopped.level;
        l.peak = std::max(l.peak, m_fixed[reached]);
        line.rising = --l.risers > 0 ? line.rising - weight : 0;
        l.guests--;
        if (l.key == INFINITE)
        {
            Rekey(reached);
        }
    }
    for (Allowance& a : stopped.allowances)
    {
        Link& l = m_links[a.link];
        Touch(a.link);
        Line& line = m_lines[a.link];
        const double weight = l.members[m_steps[a.step].position].weight;
        a.most = std::max(a.most, stopped.level);
        m_fixed[a.link] += weight * a.most;
        l.peak = std::max(l.peak, m_fixed[a.link]);
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
    const Reach& reach = raised.reach;
    for (std::size_t i = 0; i < reach.Size();)
    {
        const uint32_t link = reach.Links()[i];
        const Reach::Run run = reach.RunFrom(i);
        i = run.end;
        Line& line = m_lines[link];
        m_fixed[link] += run.weight * change;
        line.highest = std::max(line.highest, level);
        if (m_fixed[link] > line.limit)
        {
            LookAtRaised(link, level - change);
        }
    }
}

/** In a walk: notes at links that a risen group crosses that it has passed them. */
void
MaxMin::NotePassed(const Link& risen)
{
    const std::size_t size = risen.reach.Size();
    const uint32_t* const links = risen.reach.Links();
    const double* const levels = m_groupLevels.data();
    for (std::size_t i = 0; i < size; i++)
    {
        const uint32_t link = links[i];
        if (levels[link] < risen.level)
        {
            Line& line = m_lines[link];
            line.lone = line.highest > levels[link] ? NONE : risen.reach.StepOf(i);
            line.highest = std::max(line.highest, risen.level);
        }
    }
}

void
MaxMin::LowerGroup(const Link& lowered, double change)
{
    const Reach& reach = lowered.reach;
    for (std::size_t i = 0; i < reach.Size();)
    {
        const uint32_t link = reach.Links()[i];
        const Reach::Run run = reach.RunFrom(i);
        i = run.end;
        m_fixed[link] += run.weight * change;
        if (m_lines[link].limit < 0)
        {
            LookAtLowered(link);
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
        line.lone = level > m_groupLevels[step.link] ? NONE : line.lone;
        if (free || own)
        {
            m_fixed[step.link] += weight * level;
            l.peak = std::max(l.peak, m_fixed[step.link]);
            line.rising = --l.risers > 0 ? line.rising - weight : 0;
            l.guests -= own ? 0 : 1;
        }
        else
        {
            m_fixed[step.link] +=
                weight * (level - (l.slack ? BoundOf(step.link, step.position) : before));
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
            m_fixed[step.link] += weight * (most - level);
            GiveToGroup(i, bottleneck, most);
        }
    }
}

/** Takes a crossing out of the reach or the allowances of a group. */
void
MaxMin::TakeFromGroup(uint32_t s, uint32_t group)
{
    const Step& step = m_steps[s];
    Link& g = m_links[group];
    if (m_links[step.link].slack)
    {
        g.allowances[step.reach] = g.allowances.back();
        m_steps[g.allowances[step.reach].step].reach = step.reach;
        g.allowances.pop_back();
    }
    else
    {
        m_steps[g.reach.Take(step.reach)].reach = step.reach;
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
        step.reach = g.reach.Add(step.link, m_links[step.link].members[step.position].weight, s);
    }
}

} // namespace weir

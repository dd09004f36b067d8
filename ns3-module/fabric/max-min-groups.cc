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

/** Notes that a link is touched for the first time in this solve. */
void
MaxMin::TouchFirst(uint32_t link)
{
    Link& l = m_links[link];
    l.mark = m_solve;
    l.bound = 0;
    l.peak = std::max(l.peak, SharedLoad(link));
    l.solves++;
    m_touched.push_back(link);
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
        l.fixed -= reach.weight * level;
        l.rising += reach.weight;
        l.risers++;
        l.guests++;
        l.bound = std::min(l.bound, level);
        Rekey(reach.link);
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
}

/** Makes the free group of a link stop at its level. */
void
MaxMin::StopGroup(uint32_t link)
{
    const Link& stopped = m_links[link];
    for (const Reach& reach : stopped.reach)
    {
        Link& l = m_links[reach.link];
        if (l.capacity == INFINITE)
        {
            continue;
        }
        Touch(reach.link);
        l.highest = std::max(l.highest, stopped.level);
        l.fixed += reach.weight * stopped.level;
        l.peak = std::max(l.peak, l.fixed);
        l.rising = --l.risers > 0 ? l.rising - reach.weight : 0;
        l.guests--;
        if (l.key == INFINITE)
        {
            Rekey(reach.link);
        }
    }
}

void
MaxMin::RaiseGroup(const Link& raised, double change)
{
    for (const Reach& reach : raised.reach)
    {
        Link& l = m_links[reach.link];
        Touch(reach.link);
        l.fixed += reach.weight * change;
        l.highest = std::max(l.highest, raised.level);
        l.bound = std::min(l.bound, raised.level - change);
        if (IsBentUp(l))
        {
            l.peak = std::max(l.peak, l.fixed);
            Rekey(reach.link);
        }
    }
}

void
MaxMin::LowerGroup(const Link& lowered, double change)
{
    for (const Reach& reach : lowered.reach)
    {
        Link& l = m_links[reach.link];
        Touch(reach.link);
        l.fixed += reach.weight * change;
        if (l.key == INFINITE && l.HasGroup())
        {
            SetKey(reach.link, l.level); // it could go higher
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
        const double weight = l.members[step.position].weight;
        const bool own = from == step.link;
        l.highest = std::max(l.highest, level);
        if (free || own)
        {
            l.fixed += weight * level;
            l.peak = std::max(l.peak, l.fixed);
            l.rising = --l.risers > 0 ? l.rising - weight : 0;
            l.guests -= own ? 0 : 1;
        }
        else
        {
            l.fixed += weight * (level - before);
        }
    }
    SetBottleneck(v, bottleneck);
    variable.freed = 0;
    variable.level = level;
    m_moved.push_back(v);
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        if (m_steps[i].link != bottleneck)
        {
            Rekey(m_steps[i].link);
        }
    }
}

/** Takes a variable out of one group and puts it in another. */
void
MaxMin::SetBottleneck(uint32_t v, uint32_t bottleneck)
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
        Step& step = m_steps[i];
        Member& member = m_links[step.link].members[step.position];
        member.bottleneck = bottleneck;
        if (from != m_none && step.link != from)
        {
            auto& reach = m_links[from].reach;
            reach[step.reach] = reach.back();
            m_steps[reach[step.reach].step].reach = step.reach;
            reach.pop_back();
        }
        if (bottleneck != m_none && step.link != bottleneck)
        {
            auto& reach = m_links[bottleneck].reach;
            step.reach = static_cast<uint32_t>(reach.size());
            reach.push_back({member.weight, step.link, i});
        }
    }
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/sharing/group-mover.h"

#include <algorithm>

namespace weir::maxmin
{

void
GroupMover::Enter(uint32_t v)
{
    GroupedVariable& variable = m_tables.variables[v];
    variable.weight = variable.nextWeight;
    Free(v);
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        const GroupedCrossing& crossing = m_tables.crossings[i];
        GroupedLink& l = m_tables.links[crossing.link];
        const double weight = m_tables.multiplicities[i] * variable.weight;
        l.members[crossing.position].weight = weight;
        if (l.capacity == INFINITE)
        {
            continue;
        }
        m_queue.Touch(crossing.link);
        m_groups.FreeMember(crossing.link, weight, 0);
        l.bound = 0;
        m_queue.Update(crossing.link);
    }
}

void
GroupMover::Withdraw(uint32_t v)
{
    GroupedVariable& variable = m_tables.variables[v];
    const bool isFree = m_groups.IsFree(variable);
    const double level = m_groups.Level(v);
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        const GroupedCrossing& crossing = m_tables.crossings[i];
        const uint32_t link = crossing.link;
        const GroupedLink& l = m_tables.links[link];
        if (l.capacity == INFINITE)
        {
            continue;
        }
        m_queue.Touch(link);
        const double weight = l.members[crossing.position].weight;
        const bool own = variable.bottleneck == link;
        if (own || isFree)
        {
            m_groups.TakeRiser(link, weight, own);
        }
        else
        {
            m_groups.Fixed(link) -=
                weight * (l.isSlack ? m_groups.AllowedLevel(link, crossing.position) : level);
        }
    }
    m_groups.SetBottleneck(v, m_groups.None(), 0);
    variable.isFree = false;
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        m_queue.Update(m_tables.crossings[i].link);
    }
}

void
GroupMover::Free(uint32_t v)
{
    m_tables.variables[v].isFree = true;
    m_freed.push_back(v);
}

void
GroupMover::Freeze(uint32_t v, double level, uint32_t bottleneck)
{
    GroupedVariable& variable = m_tables.variables[v];
    const bool isFree = m_groups.IsFree(variable);
    const double before = isFree ? 0 : m_groups.Level(v);
    const uint32_t from = variable.bottleneck;
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        const GroupedCrossing& crossing = m_tables.crossings[i];
        const uint32_t link = crossing.link;
        const GroupedLink& l = m_tables.links[link];
        if (link == bottleneck || l.capacity == INFINITE)
        {
            continue;
        }
        m_queue.Touch(link);
        LoadFunction& f = m_groups.Function(link);
        f.highest = std::max(f.highest, level);
        const double weight = l.members[crossing.position].weight;
        if (isFree || from == link)
        {
            m_groups.FreezeMember(link, weight, level, from == link);
        }
        else
        {
            const double counted =
                l.isSlack ? m_groups.AllowedLevel(link, crossing.position) : before;
            m_groups.Fixed(link) += weight * (level - counted);
        }
    }
    m_groups.SetBottleneck(v, bottleneck, level);
    variable.isFree = false;
    variable.level = level;
    m_tables.moved.push_back(v);
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        const uint32_t link = m_tables.crossings[i].link;
        if (link == bottleneck)
        {
            continue;
        }
        if (level == 0 && m_tables.links[link].isSlack)
        {
            m_slack.Tighten(link); // a slack link has no member at level zero
        }
        m_queue.Update(link);
    }
}

void
GroupMover::Open(uint32_t link)
{
    m_groups.SetOpen(link);
    m_opened.push_back(link);
    const GroupedLink& opened = m_tables.links[link];
    const auto free = [&](uint32_t reached, double weight, double counted) {
        GroupedLink& l = m_tables.links[reached];
        m_queue.Touch(reached);
        m_groups.FreeMember(reached, weight, counted);
        l.bound = std::min(l.bound, opened.level);
        m_queue.Update(reached);
    };
    const Reach& reach = opened.reach;
    for (std::size_t i = 0; i < reach.links.size(); i++)
    {
        if (m_tables.links[reach.links[i]].capacity < INFINITE)
        {
            free(reach.links[i], reach.weights[i], opened.level);
        }
    }
    for (const Allowance& a : opened.allowances)
    {
        const uint32_t position = m_tables.crossings[a.crossing].position;
        free(a.link, m_tables.links[a.link].members[position].weight, a.maxLevel);
    }
    m_queue.Update(link);
}

void
GroupMover::Move(uint32_t link, double level)
{
    GroupedLink& moved = m_tables.links[link];
    const double before = moved.level;
    m_groups.SetLevel(link, level);
    const bool isOrdered = m_order.Has(link);
    if (moved.isOpen)
    {
        Close(link);
    }
    else if (isOrdered && level != before)
    {
        m_groups.AddToReach(link, level - before);
        if (level > before)
        {
            NotePassed(moved);
        }
    }
    else if (level > before)
    {
        Raise(moved, level - before);
    }
    else if (level < before)
    {
        Lower(moved, level - before);
    }
    if (isOrdered)
    {
        m_order.Move(link, level);
    }
    m_slack.CheckAllowances(link);
}

/** Freezes the rising group of a link at the link's level. */
void
GroupMover::Close(uint32_t link)
{
    GroupedLink& closed = m_tables.links[link];
    closed.isOpen = false;
    const auto freeze = [&](uint32_t reached, double weight, double counted) {
        m_queue.Touch(reached);
        m_groups.FreezeMember(reached, weight, counted, false);
        if (m_tables.links[reached].key == INFINITE)
        {
            m_queue.Update(reached);
        }
    };
    const Reach& reach = closed.reach;
    for (std::size_t i = 0; i < reach.links.size(); i++)
    {
        if (m_tables.links[reach.links[i]].capacity < INFINITE)
        {
            LoadFunction& f = m_groups.Function(reach.links[i]);
            f.highest = std::max(f.highest, closed.level);
            freeze(reach.links[i], reach.weights[i], closed.level);
        }
    }
    for (Allowance& a : closed.allowances)
    {
        const uint32_t position = m_tables.crossings[a.crossing].position;
        a.maxLevel = std::max(a.maxLevel, closed.level);
        freeze(a.link, m_tables.links[a.link].members[position].weight, a.maxLevel);
    }
}

void
GroupMover::Raise(const GroupedLink& raised, double change)
{
    const Reach& reach = raised.reach;
    for (std::size_t i = 0; i < reach.links.size(); i++)
    {
        const uint32_t link = reach.links[i];
        LoadFunction& f = m_groups.Function(link);
        m_groups.Fixed(link) += reach.weights[i] * change;
        f.highest = std::max(f.highest, raised.level);
        m_queue.UpdateRaised(link, raised.level - change);
    }
}

void
GroupMover::Lower(const GroupedLink& lowered, double change)
{
    const Reach& reach = lowered.reach;
    for (std::size_t i = 0; i < reach.links.size(); i++)
    {
        m_groups.Fixed(reach.links[i]) += reach.weights[i] * change;
        m_queue.UpdateLowered(reach.links[i]);
    }
}

/**
 * In a walk: records at each link that a raised group crosses that the group's level is now above
 * the link's.
 */
void
GroupMover::NotePassed(const GroupedLink& risen)
{
    const std::vector<uint32_t>& links = risen.reach.links;
    const double* const levels = m_groups.Levels();
    for (std::size_t i = 0; i < links.size(); i++)
    {
        if (levels[links[i]] < risen.level)
        {
            LoadFunction& f = m_groups.Function(links[i]);
            f.highest = std::max(f.highest, risen.level);
        }
    }
}

void
GroupMover::FreezeRest()
{
    m_rest.clear();
    for (uint32_t link : m_opened)
    {
        const GroupedLink& l = m_tables.links[link];
        for (std::size_t i = 0; l.isOpen && i < l.members.size(); i++)
        {
            if (l.bottlenecks[i] == link)
            {
                m_rest.push_back(l.members[i].variable);
            }
        }
    }
    for (uint32_t v : m_freed)
    {
        if (m_tables.variables[v].isFree)
        {
            m_rest.push_back(v);
        }
    }
    for (uint32_t v : m_rest)
    {
        if (m_groups.IsFree(m_tables.variables[v]))
        {
            Freeze(v, m_tables.variables[v].cap, m_groups.None());
        }
    }
    for (uint32_t link : m_opened)
    {
        m_tables.links[link].isOpen = false;
    }
    m_opened.clear();
    m_freed.clear();
}

} // namespace weir::maxmin

// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/sharing/level-walk.h"

#include <algorithm>
#include <cmath>

namespace weir::maxmin
{

namespace
{

/** A walk pays only if at least one in this many links is touched. */
constexpr std::size_t TOUCHED_PART = 4;

/** Tolerance, as a fraction of capacity, of loads that are sums over members in another order. */
constexpr double SAME_SUM = 1e-12;

/** After this many rounds the walk gives up and the sweep takes over. */
constexpr std::size_t MAX_ROUNDS = 64;

} // namespace

bool
LevelWalk::HasSpread() const
{
    const std::size_t touched = m_tables.touched.size();
    const std::size_t ordered = m_order.Ordered().size();
    return touched >= m_minLinks && touched <= TOUCHED_PART * ordered &&
           touched * TOUCHED_PART >= ordered + m_order.Apart().size();
}

void
LevelWalk::Run()
{
    m_order.Begin();
    m_queue.BeginWalk();
    std::size_t rounds = 0;
    for (bool hasMoved = true; hasMoved && rounds < MAX_ROUNDS; rounds++)
    {
        hasMoved = RunOnce();
    }
    m_order.End();
    for (const LevelOrder::Entry& entry : m_order.Ordered())
    {
        const GroupedLink& l = m_tables.links[entry.link];
        m_groups.Function(entry.link).highest = m_groups.IsRegular(l) ? l.level : INFINITE;
    }
    for (const LevelOrder::Entry& entry : m_order.Apart())
    {
        m_groups.Function(entry.link).highest = INFINITE;
    }
    if (rounds == MAX_ROUNDS)
    {
        m_mayRun = false;
        OpenAll();
    }
}

/** Opens all groups, so that the sweep recomputes all levels. */
void
LevelWalk::OpenAll()
{
    for (const auto* entries : {&m_order.Ordered(), &m_order.Apart()})
    {
        for (const LevelOrder::Entry& entry : *entries)
        {
            const GroupedLink& l = m_tables.links[entry.link];
            if (l.HasGroup() && !l.isOpen)
            {
                m_queue.Touch(entry.link);
                m_mover.Open(entry.link);
            }
        }
    }
}

/** Visits all links once. @return whether any level changed */
bool
LevelWalk::RunOnce()
{
    bool hasMoved = false;
    std::size_t visits = 0;
    const std::vector<LevelOrder::Entry>& ordered = m_order.Ordered();
    std::size_t& cursor = m_order.Cursor();
    const std::size_t maxVisits = 1000 + 100 * ordered.size();
    for (cursor = 0; cursor < ordered.size() && visits < maxVisits; visits++)
    {
        if (!m_queue.IsEmpty() && m_queue.FirstLevel() <= ordered[cursor].level)
        {
            VisitFirst();
            hasMoved = true;
            continue;
        }
        const uint32_t link = ordered[cursor++].link;
        if (m_queue.IsWalked(link))
        {
            hasMoved = Visit(link) || hasMoved;
        }
        else if (m_tables.links[link].key == INFINITE && IsOff(link))
        {
            m_queue.Touch(link);
            m_tables.links[link].bound = 0;
            if (m_queue.KeyOf(link) < INFINITE)
            {
                m_queue.Set(link, m_queue.KeyOf(link));
            }
        }
    }
    VisitApart();
    while (m_queue.FirstLevel() < INFINITE)
    {
        VisitFirst();
        hasMoved = true;
    }
    return hasMoved || visits == maxVisits;
}

/** Queues the links of the separate list whose loads have changed. */
void
LevelWalk::VisitApart()
{
    for (LevelOrder::Entry& entry : m_order.Apart())
    {
        GroupedLink& l = m_tables.links[entry.link];
        const double fixed = m_groups.Fixed(entry.link);
        if (fixed != entry.level || (l.key == INFINITE && IsOff(entry.link)))
        {
            m_queue.Touch(entry.link);
            l.peak = std::max({l.peak, entry.level, fixed});
            l.bound = 0;
            entry.level = fixed;
            m_queue.Update(entry.link);
        }
    }
}

/** Whether a link does not saturate at its level, or is overfull. */
bool
LevelWalk::IsOff(uint32_t link) const
{
    const GroupedLink& l = m_tables.links[link];
    if (!l.HasGroup() && l.foreign > 0)
    {
        Saturation at{0, 0};
        return m_groups.FindSaturation(link, at); // the rising members may exceed the capacity now
    }
    if (!l.HasGroup())
    {
        return m_groups.Fixed(link) > l.capacity * (1 + SAME_SUM);
    }
    if (l.isOpen)
    {
        return false;
    }
    const double off = l.capacity - m_groups.Fixed(link) - m_groups.Function(link).rising * l.level;
    return std::abs(off) > (m_groups.IsRegular(l) ? SAME_LOAD : SAME_SUM) * l.capacity;
}

/** Visits a regular link. @return whether its level changed */
bool
LevelWalk::Visit(uint32_t link)
{
    GroupedLink& l = m_tables.links[link];
    LoadFunction& f = m_groups.Function(link);
    const double same = SAME_LOAD * l.capacity;
    if (f.highest <= l.level &&
        std::abs(l.capacity - m_groups.Fixed(link) - f.rising * l.level) <= same)
    {
        return false;
    }
    l.peak = std::max(l.peak, m_groups.Fixed(link));
    if (l.capacity < l.peak * LOST)
    {
        m_groups.RecomputeLoad(
            link); // rounding errors of the former load may matter at this capacity
    }
    std::vector<LevelOrder::Entry>& ordered = m_order.Ordered();
    const std::size_t next = m_order.Cursor();
    const double lower = next > 1 ? ordered[next - 2].level : 0;
    const double upper = next < ordered.size() ? ordered[next].level : INFINITE;
    double level = std::max(0.0, m_groups.MeetingLevel(link));
    if (std::abs(level - lower) * f.rising <= same)
    {
        level = lower;
    }
    // A variable on two links of the same level may belong to the group of either.
    const bool hasTie = upper <= l.level * (1 + SAME_SUM) || lower >= l.level * (1 - SAME_SUM);
    const bool sinks = level < lower || level == l.level || (hasTie && level < l.level);
    if (sinks || level < f.highest)
    {
        Saturation at{0, 0};
        m_groups.FindHigher(link, level, m_higher);
        if (!m_higher.empty() && !FindSaturation(link, at))
        {
            m_queue.Touch(link);
            m_queue.Set(link, m_queue.KeyOf(link)); // inaccurate sums: left to the sweep
            return true;
        }
        if (!m_higher.empty())
        {
            TakeOver(link, at.level);
            return true;
        }
        level = std::max(level, at.level); // no member is higher except by rounding
        f.highest = level;
    }
    if (level == l.level)
    {
        return false;
    }
    m_queue.Touch(link);
    SetLevel(level);
    if ((hasTie && level > l.level) || upper < level)
    {
        m_mover.Move(link, level); // it passes other links, which must be updated
        return true;
    }
    const double change = level - l.level;
    m_groups.SetLevel(link, level);
    m_groups.AddToReach(link, change);
    if (level < lower)
    {
        m_order.Move(link, level);
        m_order.Cursor() = next;
    }
    else
    {
        ordered[next - 1].level = level;
    }
    m_slack.CheckAllowances(link);
    return true;
}

/**
 * Finds the level at which a link saturates if it has members (m_higher) that are frozen above the
 * level at which its risers saturate it: these rise with the link up to the level at which they are
 * frozen. Newton's method from below. On return m_higher has only the members that this link
 * freezes.
 * @return false if the sums are inaccurate
 */
bool
LevelWalk::FindSaturation(uint32_t link, Saturation& at)
{
    const GroupedLink& l = m_tables.links[link];
    at.level = std::max(0.0, m_groups.MeetingLevel(link));
    double fixed = m_groups.Fixed(link);
    for (std::size_t before = NONE; before != m_higher.size();)
    {
        before = m_higher.size();
        fixed = m_groups.Fixed(link);
        at.rising = m_groups.Function(link).rising;
        for (const HigherMember& h : m_higher)
        {
            fixed -= h.weight * h.level;
            at.rising += h.weight;
        }
        at.level = std::max(at.level, (l.capacity - fixed) / at.rising);
        const auto isFrozen = [&](const HigherMember& h) { return h.level <= at.level; };
        m_higher.erase(std::remove_if(m_higher.begin(), m_higher.end(), isFrozen), m_higher.end());
    }
    return fixed > LOST * std::max(l.peak, m_groups.Fixed(link));
}

/** Moves a link to @p level and adds the members in m_higher to its group at that level. */
void
LevelWalk::TakeOver(uint32_t link, double level)
{
    m_queue.Touch(link);
    SetLevel(level);
    m_mover.Move(link, level);
    LoadFunction& f = m_groups.Function(link);
    for (const HigherMember& h : m_higher)
    {
        m_groups.Fixed(link) -= h.weight * h.level;
        f.rising += h.weight;
        m_tables.links[link].risers++;
    }
    f.highest = level;
    for (const HigherMember& h : m_higher)
    {
        m_mover.Freeze(h.variable, level, link);
    }
}

} // namespace weir::maxmin

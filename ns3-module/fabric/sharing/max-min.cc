// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/sharing/max-min.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace weir::maxmin
{

namespace
{

/** Number of solves that touch a link before its load is recomputed from its members. */
constexpr uint32_t MAX_SOLVES = 128;

/** A walk pays only if at least one in this many links is touched. */
constexpr std::size_t TOUCHED_PART = 4;

/** Tolerance, as a fraction of capacity, of loads that are sums over members in another order. */
constexpr double SAME_SUM = 1e-12;

/** After this many rounds the walk gives up and the sweep takes over. */
constexpr std::size_t MAX_ROUNDS = 64;

} // namespace

MaxMin::MaxMin(const LocalMaxMin& other)
    : GroupedSystem(other)
{
    SolveAll();
}

void
MaxMin::Solve()
{
    m_tables.moved.clear();
    m_tables.touched.clear();
    m_level = 0;
    m_mayWalk = true;
    ApplyChanges();
    // Each visit freezes, raises or opens a group. Far more visits than this indicate a bug.
    const std::size_t maxVisits = 1000 + 100 * (m_tables.links.size() + m_tables.variables.size());
    std::size_t visits = 0;
    do
    {
        while (m_queue.FirstLevel() < INFINITE)
        {
            if (++visits > maxVisits)
            {
                throw std::logic_error("MaxMin: the sweep does not end");
            }
            if (m_mayWalk && (m_hasSpreadBefore || HasSpread()))
            {
                Walk();
                continue;
            }
            VisitFirst();
        }
        m_mover.FreezeRest();
    } while (!m_queue.IsEmpty());
    EndSolve();
}

void
MaxMin::EndSolve()
{
    m_hasSpreadBefore = m_mayWalk && HasSpread();
    for (uint32_t link : m_tables.touched)
    {
        GroupedLink& l = m_tables.links[link];
        l.level = l.risers > 0 ? l.level : INFINITE;
        // Rounding errors matter after many changes, and after most of the load has been removed.
        if (l.solves > MAX_SOLVES || m_groups.Load(link) < l.peak * LOST)
        {
            m_groups.RecomputeLoad(link);
        }
        m_slack.Review(link);
        m_order.Enlist(link);
        l.isTouched = false;
    }
}

void
MaxMin::ApplyCapacity(uint32_t link, double capacity)
{
    GroupedLink& l = m_tables.links[link];
    const double before = l.capacity;
    if (capacity == before)
    {
        return;
    }
    if (l.isSlack)
    {
        m_slack.Tighten(link);
    }
    l.capacity = capacity;
    m_queue.Touch(link);
    if (before == INFINITE)
    {
        // A link of infinite capacity has no load and may have members that nothing limited.
        for (const Member& m : l.members)
        {
            if (!m_groups.IsFree(m_tables.variables[m.variable]) && Level(m.variable) == INFINITE)
            {
                m_mover.Free(m.variable);
            }
        }
    }
    else if (capacity == INFINITE)
    {
        m_mover.Open(link);
    }
    m_groups.RecomputeLoad(link); // removes rounding errors at the old capacity
    m_queue.Update(link);
}

void
MaxMin::VisitFirst()
{
    const uint32_t link = m_queue.FirstLink();
    const GroupedLink& l = m_tables.links[link];
    const double key = m_queue.KeyOf(link);
    m_queue.Remove(link);
    if (l.isSlack)
    {
        m_slack.Tighten(link);
        return;
    }
    if (m_order.IsInUse() || l.capacity < l.peak * LOST)
    {
        // A walk does not maintain `highest`; and rounding errors of a much higher former load may
        // matter.
        m_groups.RecomputeLoad(link);
    }
    const LoadFunction& f = m_groups.Function(link);
    if (l.isOpen || !l.HasGroup() || key < l.level)
    {
        Saturate(link, key);
    }
    else if ((m_queue.SaturationOf(link) - l.level) * f.rising > SAME_LOAD * l.capacity)
    {
        Raise(link);
    }
    else if (l.foreign > 0 || f.highest > l.level)
    {
        Saturate(link, l.level);
    }
}

/** Lets the group of a link rise. */
void
MaxMin::Raise(uint32_t link)
{
    const GroupedLink& l = m_tables.links[link];
    const LoadFunction& f = m_groups.Function(link);
    if (f.highest == INFINITE)
    {
        m_groups.RecomputeLoad(link); // unknown after a walk
    }
    const double level = m_groups.MeetingLevel(link);
    if (l.foreign == 0 && l.capped == 0 && level > l.level && level >= f.highest)
    {
        m_mover.Move(link, level); // a link that limits a member to less takes it over
    }
    else
    {
        m_mover.Open(link);
    }
}

/**
 * Finds the level at which a link saturates, starting at @p level, and freezes its risers there.
 */
void
MaxMin::Saturate(uint32_t link, double level)
{
    GroupedLink& l = m_tables.links[link];
    Saturation at{level, 0};
    if (!m_groups.FindSaturation(link, at))
    {
        l.bound = INFINITE; // all risers will be frozen at their caps
        return;
    }
    const auto isSame = [&](double other) {
        return std::abs(at.level - other) * at.rising <= SAME_LOAD * l.capacity;
    };
    const double before = l.HasGroup() ? l.level : INFINITE;
    level = before != INFINITE && isSame(before) ? before : isSame(m_level) ? m_level : at.level;
    if (!l.isOpen && level > before)
    {
        m_mover.Open(link); // caps leave more capacity than the load suggests
        return;
    }
    if ((level - m_queue.FirstLevel()) * at.rising > SAME_LOAD * l.capacity)
    {
        l.bound = level;
        m_queue.Set(link, level);
        return;
    }
    m_level = level;
    FreezeRisers(link, level);
    l.bound = 0;
    m_queue.Remove(link);
}

/** Freezes at @p level every member of a link that is not frozen at a lower level. */
void
MaxMin::FreezeRisers(uint32_t link, double level)
{
    GroupedLink& l = m_tables.links[link];
    m_toLink.clear();
    m_toCap.clear();
    double fixed = 0;
    double rising = 0;
    double highest = 0;
    uint32_t risers = 0;
    for (std::size_t i = 0; i < l.members.size(); i++)
    {
        const Member& m = l.members[i];
        const double limit = m_groups.LimitOf(link, i);
        if (limit > level)
        {
            rising += m.weight;
            risers++;
            if (l.bottlenecks[i] != link)
            {
                m_toLink.push_back(m.variable);
            }
            continue;
        }
        fixed += m.weight * limit;
        highest = std::max(highest, limit);
        if (l.capped > 0 && limit == m_tables.variables[m.variable].cap &&
            (l.bottlenecks[i] == link || m_groups.IsFree(m_tables.variables[m.variable])))
        {
            m_toCap.push_back(m.variable);
        }
    }
    for (uint32_t v : m_toCap)
    {
        m_mover.Freeze(v, m_tables.variables[v].cap, m_groups.None());
    }
    m_mover.Move(link, level);
    for (uint32_t v : m_toLink)
    {
        m_mover.Freeze(v, level, link);
    }
    LoadFunction& f = m_groups.Function(link);
    m_groups.Fixed(link) = fixed;
    f.rising = rising;
    f.highest = highest;
    l.risers = risers;
    l.foreign = 0;
    l.solves = 0;
    l.peak = fixed;
}

bool
MaxMin::HasSpread()
{
    const std::size_t touched = m_tables.touched.size();
    const std::size_t ordered = m_order.Ordered().size();
    return touched >= m_minLinksOfWalk && touched <= TOUCHED_PART * ordered &&
           touched * TOUCHED_PART >= ordered + m_order.Apart().size();
}

void
MaxMin::Walk()
{
    m_order.Begin();
    m_queue.BeginWalk();
    std::size_t rounds = 0;
    for (bool hasMoved = true; hasMoved && rounds < MAX_ROUNDS; rounds++)
    {
        hasMoved = WalkOnce();
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
        m_mayWalk = false;
        OpenAll();
    }
}

/** Opens all groups, so that the sweep recomputes all levels. */
void
MaxMin::OpenAll()
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
MaxMin::WalkOnce()
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
MaxMin::VisitApart()
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
MaxMin::IsOff(uint32_t link)
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
MaxMin::Visit(uint32_t link)
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
    m_level = level;
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
MaxMin::FindSaturation(uint32_t link, Saturation& at)
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
MaxMin::TakeOver(uint32_t link, double level)
{
    m_queue.Touch(link);
    m_level = level;
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

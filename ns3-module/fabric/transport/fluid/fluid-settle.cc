// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/fluid/fluid-transport.h"

#include <cmath>

namespace weir
{

namespace
{

/** A group's timer may be early by about this part of the time to go, */
constexpr int64_t EARLY_PART = 64;

/** if that is more than this, so that rounding to picoseconds is nothing beside it. */
constexpr Time EARLY_FROM = Time::Picoseconds(1000000);

} // namespace

/** Makes levels, clocks and timers right for all that has changed at this instant. */
void
FluidTransport::Settle()
{
    if (m_isSettled)
    {
        return;
    }
    if (!m_undivided.empty())
    {
        DivideStarted();
    }
    if (m_solver.NeedsSolve())
    {
        m_solver.Solve();
        for (uint32_t b : m_solver.MovedVariables())
        {
            Regroup(b);
            MeterAlone(b);
        }
        for (uint32_t link : m_solver.TouchedLinks())
        {
            if (m_solver.HasGroups())
            {
                SetGroupLevel(link);
            }
            MeterLink(link);
        }
        if (m_notesChanges)
        {
            NoteChangedLinks();
        }
    }
    for (uint32_t b : m_staleBundles)
    {
        SetTimer(b);
    }
    m_staleBundles.clear();
    for (uint32_t link : m_staleGroups)
    {
        SetGroupTimer(link);
    }
    m_staleGroups.clear();
    MakeFirstGroupTimerExact();
    Retire();
    m_isSettled = true;
}

/** Puts a bundle under the clock that the solver says, showing what it has been served. */
void
FluidTransport::Regroup(uint32_t b)
{
    Bundle& bundle = m_bundles[b];
    const uint32_t after = m_solver.Bottleneck(b);
    if (bundle.group != NONE && bundle.group == after)
    {
        return;
    }
    const double served = ServedOf(bundle);
    if (bundle.group != NONE)
    {
        Group& group = m_groups[bundle.group];
        if (bundle.isInGroupHeap)
        {
            group.first = PairingHeap<BundleItems>({&m_bundles}).Remove(group.first, b);
            bundle.isInGroupHeap = false;
            SetGroupStale(bundle.group);
        }
        group.bundles--;
    }
    bundle.group = after;
    if (after == NONE)
    {
        bundle.clock.Set(bundle.moving > 0 ? served : 0, m_now);
        bundle.clock.SetRate(m_solver.Level(b), m_now);
    }
    else
    {
        Group& group = m_groups[after];
        if (group.bundles++ == 0)
        {
            group.clock.Set(0, m_now);
        }
        bundle.offset = served - group.clock.At(m_now);
        m_timers.Remove(b);
    }
    SetStale(b);
}

/** Runs the clock of a link's group at the link's level. */
void
FluidTransport::SetGroupLevel(uint32_t link)
{
    Group& group = m_groups[link];
    const double level = group.bundles > 0 ? m_solver.LinkLevel(link) : 0;
    if (group.clock.Rate() == level)
    {
        return;
    }
    group.clock.SetRate(level, m_now);
    if (level <= group.timedRate)
    {
        group.isTimedEarly = true;
    }
    else
    {
        SetGroupStale(link);
    }
    const double shown = group.clock.At(m_now);
    if (shown > REBASE_ABOVE)
    {
        group.clock.Set(0, m_now);
        SetGroupStale(link);
        m_solver.ForEachOn(link, [&](uint32_t b, double /* multiplicity */) {
            Bundle& bundle = m_bundles[b];
            if (bundle.group == link)
            {
                bundle.offset += shown;
                bundle.key -= shown;
            }
        });
    }
}

/** Sets the timer of a bundle, or its place in its group, by its first flow to end. */
void
FluidTransport::SetTimer(uint32_t b)
{
    Bundle& bundle = m_bundles[b];
    bundle.isStale = false;
    if (bundle.group == NONE)
    {
        m_timers.Remove(b);
        if (bundle.moving > 0)
        {
            const Time time = bundle.clock.TimeOf(m_flows[bundle.first].due);
            if (!time.IsInfinite())
            {
                m_timers.Insert(b, time);
            }
        }
        return;
    }
    Group& group = m_groups[bundle.group];
    PairingHeap<BundleItems> heap({&m_bundles});
    if (bundle.isInGroupHeap)
    {
        group.first = heap.Remove(group.first, b);
        bundle.isInGroupHeap = false;
    }
    if (bundle.moving > 0)
    {
        bundle.key = m_flows[bundle.first].due - bundle.offset;
        group.first = heap.Insert(group.first, b);
        bundle.isInGroupHeap = true;
    }
    SetGroupStale(bundle.group);
}

/**
 * Sets the timer of a group somewhat too early, so that it stays good while its clock gets a little
 * faster: where most levels change at every event, most of them by next to nothing.
 */
void
FluidTransport::SetGroupTimer(uint32_t link)
{
    Group& group = m_groups[link];
    group.isStale = false;
    const Time time = TimeOfGroup(group);
    const Time left = time.IsInfinite() ? Time() : time - m_now;
    group.timedRate = group.clock.Rate();
    group.isTimedEarly = left > EARLY_FROM;
    if (group.isTimedEarly)
    {
        group.timedRate *= 1 + 1.0 / EARLY_PART; // the timer has more than this room
        m_groupTimers.Set(link, time - Time::Picoseconds(left.ToPicoseconds() / (EARLY_PART - 1)));
    }
    else
    {
        TimeGroup(link, time);
    }
}

void
FluidTransport::TimeGroup(uint32_t link, Time time)
{
    if (time.IsInfinite())
    {
        m_groupTimers.Remove(link);
    }
    else
    {
        m_groupTimers.Set(link, time);
    }
}

/** When the first flow of a group ends at the present rate of its clock. */
Time
FluidTransport::TimeOfGroup(const Group& group) const
{
    return group.first == NONE ? Time::Infinite() : group.clock.TimeOf(m_bundles[group.first].key);
}

/** Corrects timers of groups that may be too early until the first is not. */
void
FluidTransport::MakeFirstGroupTimerExact()
{
    while (!m_groupTimers.Empty() && m_groups[m_groupTimers.TopIndex()].isTimedEarly)
    {
        const uint32_t link = m_groupTimers.TopIndex();
        Group& group = m_groups[link];
        group.isTimedEarly = false;
        group.timedRate = group.clock.Rate();
        TimeGroup(link, TimeOfGroup(group));
    }
}

void
FluidTransport::SetGroupStale(uint32_t link)
{
    m_isSettled = false;
    if (!m_groups[link].isStale)
    {
        m_groups[link].isStale = true;
        m_staleGroups.push_back(link);
    }
}

} // namespace weir

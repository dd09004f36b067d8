// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/fluid/fluid-transport.h"

#include <cmath>

namespace weir
{
namespace
{

/** The timer of a group may be early by about 1/EARLY_PART of the remaining time. */
constexpr int64_t EARLY_PART = 64;

/**
 * Group timers are early only if more time than this remains, so that rounding to picoseconds is
 * negligible.
 */
constexpr Time EARLY_FROM = Time::Picoseconds(1000000);

} // namespace

/** Updates levels, clocks and timers for all changes at this instant. */
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
            __builtin_prefetch(&m_bundles[b]);
        }
        for (uint32_t b : m_solver.MovedVariables())
        {
            Regroup(b);
            MeterUncontended(b);
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

/** Moves a bundle to the clock of its bottleneck as the solver says, keeping its service. */
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
        if (m_positions[b] != PositionedHeap<double>::ABSENT)
        {
            group.heap.Remove(b, m_positions);
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

/** Sets the rate of the clock of a link's group to the link's level. */
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
            }
        });
        group.heap.LowerKeys(shown);
    }
}

/** Sets the timer of a bundle, or its key in its group's heap, by its first flow to end. */
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
            const Time time = bundle.clock.TimeOf(bundle.due);
            if (!time.IsInfinite())
            {
                m_timers.Insert(b, time);
            }
        }
        return;
    }
    Group& group = m_groups[bundle.group];
    if (bundle.moving > 0)
    {
        group.heap.Set(b, bundle.due - bundle.offset, m_positions);
    }
    else
    {
        group.heap.Remove(b, m_positions);
    }
    SetGroupStale(bundle.group);
}

/**
 * Sets the timer of a group somewhat too early, so that it stays valid while its clock gets
 * slightly faster. This helps where most levels change a little at every event.
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
        group.timedRate *= 1 + 1.0 / EARLY_PART; // the timer allows for more
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

/** Time at which the first flow of a group ends at the current rate of its clock. */
Time
FluidTransport::TimeOfGroup(const Group& group) const
{
    return group.heap.Empty() ? Time::Infinite() : group.clock.TimeOf(group.heap.TopKey());
}

/** Recomputes the first group timer while it may be too early. */
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

/** Rate on a link, bytes/s. */
double
FluidTransport::LoadOf(uint32_t link) const
{
    const uint32_t uncontended = m_solver.UncontendedOn(link);
    if (uncontended == NONE && !std::isinf(m_solver.Capacity(link)))
    {
        return m_solver.Load(link);
    }
    double load = 0;
    m_solver.ForEachOn(link, [&](uint32_t b, double multiplicity) {
        const double weight = multiplicity * m_bundles[b].weight * m_bundles[b].moving;
        load += weight > 0 ? weight * m_solver.Level(b) : 0;
    });
    return load;
}

/** Updates the meter of a shared link with its new rate. */
void
FluidTransport::MeterLink(uint32_t link)
{
    LinkMeter& meter = m_meters[link];
    if (m_solver.IsSlack(link) && meter.Rate() > 0 && !meter.IsFull())
    {
        return; // busy but not saturated: its exact rate does not matter
    }
    const double level = m_solver.LinkLevel(link);
    if (!m_observers.WantLinkRates() && meter.IsFull() && level > 0 && !std::isinf(level))
    {
        return; // still saturated: flows with a level on a link are limited by it
    }
    // While a bundle is uncontended on a link, the bundle accumulates the time.
    const double rate = m_solver.UncontendedOn(link) == NONE ? LoadOf(link) : 0;
    const bool full = LinkMeter::Saturates(rate, m_solver.Capacity(link));
    if (rate == meter.Rate() && full == meter.IsFull())
    {
        return;
    }
    const bool changed = rate != meter.Rate();
    meter.SetRate(rate, m_solver.Capacity(link), m_now);
    if (m_observers.WantLinkRates() && changed && m_solver.UncontendedOn(link) == NONE)
    {
        m_observers.OnLinkRate(LinkId(link), Rate::BytesPerSecond(rate), m_now);
    }
}

/** Updates the accumulated time of an uncontended bundle with its new rate. */
void
FluidTransport::MeterUncontended(uint32_t b)
{
    Bundle& bundle = m_bundles[b];
    const bool isUncontended = m_solver.IsUncontended(b);
    const double rate =
        isUncontended && bundle.moving > 0 ? bundle.moving * bundle.weight * m_solver.Level(b) : 0;
    if (isUncontended ? rate != bundle.uncontendedRate : bundle.wasUncontended)
    {
        UncontendedSpan& time = m_uncontendedSpans[b];
        if (!isUncontended || (rate > 0 && rate != bundle.lastUncontendedRate))
        {
            AddUncontendedTime(b);
            bundle.lastUncontendedRate = rate;
        }
        else if (bundle.uncontendedRate > 0)
        {
            time.busy += m_now - time.since;
        }
        const bool wasUncontended = bundle.uncontendedRate > 0;
        bundle.wasUncontended = isUncontended;
        time.since = m_now;
        bundle.uncontendedRate = rate;
        if (m_observers.WantLinkRates() && (isUncontended || wasUncontended))
        {
            ReportUncontendedRate(b);
        }
    }
    if (!m_solver.IsAttached(b))
    {
        AddCarried(b);
    }
}

/**
 * Reports the rate of the links on which a bundle is uncontended, or rate zero for links that it
 * has left idle. Other links are reported by MeterLink, or by the bundle that is uncontended there.
 */
void
FluidTransport::ReportUncontendedRate(uint32_t b)
{
    const Bundle& bundle = m_bundles[b];
    for (const PathLink& l : m_paths.Links(bundle.path))
    {
        const uint32_t link = l.link.Index();
        if (m_solver.UncontendedOn(link) == b || LoadOf(link) == 0)
        {
            const double rate = l.multiplicity * bundle.uncontendedRate;
            m_observers.OnLinkRate(l.link, Rate::BytesPerSecond(rate), m_now);
        }
    }
}

/** Adds the time for which a bundle was uncontended to the meters of its links. */
void
FluidTransport::AddUncontendedTime(uint32_t b)
{
    const Bundle& bundle = m_bundles[b];
    UncontendedSpan& time = m_uncontendedSpans[b];
    if (bundle.uncontendedRate > 0)
    {
        time.busy += m_now - time.since;
        time.since = m_now;
    }
    if (time.busy == Time())
    {
        return;
    }
    for (const PathLink& l : m_paths.Links(bundle.path))
    {
        const double rate = l.multiplicity * bundle.lastUncontendedRate;
        m_meters[l.link.Index()].AddTime(
            time.busy, LinkMeter::Saturates(rate, m_solver.Capacity(l.link.Index())));
    }
    time.busy = Time();
}

/** Adds the bytes that a bundle has moved to the meters of its links. */
void
FluidTransport::AddCarried(uint32_t b)
{
    Bundle& bundle = m_bundles[b];
    if (bundle.carried == 0)
    {
        return;
    }
    for (const PathLink& l : m_paths.Links(bundle.path))
    {
        m_meters[l.link.Index()].AddBytes(bundle.carried * l.multiplicity);
    }
    bundle.carried = 0;
}

Rate
FluidTransport::CurrentLinkRate(LinkId link)
{
    Settle();
    return Rate::BytesPerSecond(LoadOf(link.Index()));
}

LinkUsage
FluidTransport::GetLinkUsage(LinkId link)
{
    Settle();
    const uint32_t l = link.Index();
    const LinkMeter& meter = m_meters[l];
    LinkUsage usage;
    usage.busy = meter.Busy(m_now);
    usage.saturated = meter.Saturated(m_now);
    int64_t whole = meter.Bytes();
    double moving = 0;
    m_solver.ForEachOn(l, [&](uint32_t b, double multiplicity) {
        const Bundle& bundle = m_bundles[b];
        whole += bundle.carried * static_cast<int64_t>(multiplicity);
        double ofBundle = 0;
        PairingHeap<FlowItems>({&m_flows}).ForEach(bundle.first, [&](uint32_t t) {
            ofBundle += static_cast<double>(m_flows[t].bytes) - LeftOf(m_flows[t]);
        });
        moving += ofBundle * multiplicity;
        if (m_solver.IsUncontended(b))
        {
            const UncontendedSpan& time = m_uncontendedSpans[b];
            const Time busy =
                bundle.uncontendedRate > 0 ? time.busy + (m_now - time.since) : time.busy;
            const double full = multiplicity * bundle.lastUncontendedRate;
            usage.busy += busy;
            usage.saturated += LinkMeter::Saturates(full, m_solver.Capacity(l)) ? busy : Time();
        }
    });
    usage.bytes = static_cast<double>(whole) + moving;
    return usage;
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/corrected/rate-recovery.h"

#include <algorithm>
#include <limits>

namespace weir
{

namespace
{

constexpr double FULL = 0.99; //!< fraction of the line rate at which recovery is complete

} // namespace

RecoveringRates::RecoveringRates(const RateRecovery& values,
                                 FluidTransport& fluid,
                                 std::size_t links)
    : m_values(values),
      m_fluid(fluid),
      m_rates(links),
      m_flowsAt(links),
      m_isWatched(links)
{
}

void
RecoveringRates::Schedule(Time time, EventKind kind, uint64_t of)
{
    m_events.emplace(std::pair(time, m_sequence++), Event{kind, of});
}

void
RecoveringRates::Add(
    FlowId id, Bytes bytes, Time begin, double line, const std::vector<LinkId>& links)
{
    m_flows[id.value] = {bytes.ToDouble(), line, line, begin, Time(), false, false, links};
    Schedule(begin, EventKind::Begin, id.value);
}

void
RecoveringRates::AddOther(FlowId id, Time begin, double rate, const std::vector<LinkId>& links)
{
    constexpr double ENDLESS = std::numeric_limits<double>::infinity();
    m_flows[id.value] = {ENDLESS, rate, rate, begin, Time(), false, true, links};
    Schedule(begin, EventKind::Begin, id.value);
}

void
RecoveringRates::SetOther(FlowId id, double rate, Time now)
{
    const auto found = m_flows.find(id.value);
    if (found != m_flows.end())
    {
        Flow& flow = found->second;
        const double before = flow.cap;
        flow.cap = std::min(rate, flow.line);
        if (flow.cap > before && flow.begin <= now)
        {
            Watch(flow, now);
        }
    }
}

void
RecoveringRates::Remove(FlowId id)
{
    const auto found = m_flows.find(id.value);
    if (found == m_flows.end())
    {
        return;
    }
    for (const LinkId link : found->second.ports)
    {
        std::vector<uint64_t>& flows = m_flowsAt[link.Index()];
        const auto at = std::find(flows.begin(), flows.end(), id.value);
        if (at != flows.end())
        {
            flows.erase(at);
        }
    }
    m_flows.erase(found);
    if (m_flows.empty())
    {
        for (const auto& [time, event] : m_events)
        {
            if (event.kind == EventKind::Cut)
            {
                m_isWatched[event.of] = false;
            }
        }
        m_events.clear(); // no flows are left
    }
}

void
RecoveringRates::AdvanceTo(Time now)
{
    while (NextEventTime() <= now)
    {
        const Event event = m_events.begin()->second;
        m_events.erase(m_events.begin());
        const auto found = m_flows.find(event.of);
        if (event.kind == EventKind::Cut)
        {
            CutAt(static_cast<uint32_t>(event.of), now);
        }
        else if (found != m_flows.end() && event.kind == EventKind::Begin)
        {
            for (const LinkId link : found->second.ports)
            {
                m_flowsAt[link.Index()].push_back(event.of);
            }
            Watch(found->second, now);
        }
        else if (found != m_flows.end() && event.kind == EventKind::Drained)
        {
            ApplyCap(event.of, now);
        }
        else if (found != m_flows.end())
        {
            Recover(event.of, now);
        }
    }
}

/** Total rate of the flows at a port that have more to send, bytes/s. */
double
RecoveringRates::OfferedAt(uint32_t link, Time now) const
{
    double sum = 0;
    for (const uint64_t id : m_flowsAt[link])
    {
        const Flow& flow = m_flows.at(id);
        const bool hasMore = flow.wasCut || flow.line * (now - flow.begin).ToSeconds() < flow.bytes;
        sum += hasMore ? flow.cap : 0;
    }
    return sum;
}

/** Schedules a cut at each port of a flow whose queue grows. */
void
RecoveringRates::Watch(const Flow& flow, Time now)
{
    for (const LinkId link : flow.ports)
    {
        const double excess = OfferedAt(link.Index(), now) - m_rates[link.Index()];
        if (excess > m_rates[link.Index()] * (1 - FULL) && !m_isWatched[link.Index()])
        {
            m_isWatched[link.Index()] = true;
            const Time grows = Time::Seconds(m_values.markFrom.ToDouble() / excess);
            Schedule(now + grows, EventKind::Cut, link.Index());
        }
    }
}

/** The queue of a port has reached the marking threshold: cuts its flows. */
void
RecoveringRates::CutAt(uint32_t link, Time now)
{
    m_isWatched[link] = false;
    const double offered = OfferedAt(link, now);
    if (m_rates[link] <= 0 || offered <= m_rates[link] * (2 - FULL))
    {
        return;
    }
    const double part = m_rates[link] / offered;
    const Time drained = now + Time::Seconds(m_values.markFrom.ToDouble() / m_rates[link]);
    for (const uint64_t id : m_flowsAt[link])
    {
        Flow& flow = m_flows.at(id);
        if (flow.isOther)
        {
            continue;
        }
        if (flow.wasCut)
        {
            flow.cap = std::max(flow.cap * part, flow.line * m_values.floor);
        }
        else if (flow.line * (now - flow.begin).ToSeconds() < flow.bytes)
        {
            flow.wasCut = true;
            flow.cap = flow.line * m_values.floor;
        }
        else
        {
            continue;
        }
        flow.lastCut = drained;
        Schedule(drained, EventKind::Drained, id);
        Schedule(drained + m_values.period, EventKind::Recovery, id);
    }
}

void
RecoveringRates::Recover(uint64_t id, Time now)
{
    Flow& flow = m_flows.at(id);
    if (now < flow.lastCut + m_values.period || flow.cap >= flow.line)
    {
        return; // a later recovery event is scheduled
    }
    const double cap = (flow.cap + flow.line) / 2;
    flow.cap = cap >= FULL * flow.line ? flow.line : cap;
    ApplyCap(id, now);
    Schedule(now + m_values.period, EventKind::Recovery, id);
    Watch(flow, now);
}

/**
 * Sets the cap of a flow in the fluid. After a cut it is called only once the queue has drained:
 * until then, the bytes already sent pass at the rate of the port.
 */
void
RecoveringRates::ApplyCap(uint64_t id, Time now)
{
    m_fluid.SetCap(FlowId{id}, Rate::BytesPerSecond(m_flows.at(id).cap), now);
}

} // namespace weir

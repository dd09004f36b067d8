// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/replay/settling-packets.h"

#include <algorithm>

namespace weir
{

SettlingPackets::SettlingPackets(Routing& routing,
                                 const PacketSpec& spec,
                                 FlowClient& client,
                                 TransportObserver& observer)
    : m_routing(routing),
      m_tolerance(spec.settle.tolerance),
      m_period(spec.congestionControl->Period()),
      m_mtu(spec.format.mtu),
      m_client(client),
      m_observer(observer),
      m_packets(routing, spec),
      m_windows(m_tolerance),
      m_indexOfLink(m_tolerance > 0 ? routing.GetTopology().LinkCount() : 0, NONE)
{
    m_packets.AddObserver(*this, false);
}

void
SettlingPackets::Start(const FlowRequest& request, const std::vector<uint32_t>& links, Time now)
{
    m_now = std::max(m_now, now.ToPicoseconds());
    const auto number = static_cast<uint32_t>(m_flows.size());
    m_flows.emplace_back();
    Flow& flow = m_flows.back();
    flow.request = request;
    flow.start = m_now;
    m_active++;
    if (m_tolerance > 0)
    {
        flow.connection = m_windows.NumberOf(ConnectionKey(request));
        m_open.resize(m_windows.Size());
        m_parked.resize(m_windows.Size());
        ServiceWindows::Connection& connection = m_windows.At(flow.connection);
        if (m_isServed && (!connection.IsKnown() || request.bytes.Count() > connection.maxBytes))
        {
            Interrupt(m_now);
        }
        if (m_active == 1 && !m_isServed)
        {
            m_windows.Restart(m_now);
        }
        for (const uint32_t link : links)
        {
            if (m_indexOfLink[link] == NONE)
            {
                m_indexOfLink[link] = static_cast<uint32_t>(m_links.size());
                m_links.push_back(link);
                m_done.emplace_back();
            }
        }
        const int64_t latency = LatencyOf(request);
        // A congestion control with a period of round trips oscillates within a few of them. The
        // packets in flight when packets are parked, about a round trip, may belong to a flow that
        // ends meanwhile; this error must be within the tolerance.
        constexpr double MAX_ROUND_TRIPS = 1e6; // keeps the product within the range of picoseconds
        const double roundTrips = std::clamp(1 / (3 * m_tolerance), 8.0, MAX_ROUND_TRIPS);
        m_windows.Widen(
            std::max(m_period.ToPicoseconds(),
                     static_cast<int64_t>(roundTrips * 2 * static_cast<double>(latency))));
        if (!m_isServed && m_open[flow.connection].empty() && !connection.services.empty())
        {
            connection.longestIdle = std::max(connection.longestIdle, m_now - connection.idleSince);
        }
        connection.maxBytes = std::max(connection.maxBytes, request.bytes.Count());
        m_open[flow.connection].push_back(number);
    }
    if (m_isServed)
    {
        Serve(number, m_now);
    }
    else
    {
        Post(number, request.bytes, m_now);
    }
}

/** Lets a flow move as packets. */
void
SettlingPackets::Post(uint32_t number, Bytes bytes, int64_t now)
{
    Flow& flow = m_flows[number];
    flow.state = State::Packets;
    flow.inner = static_cast<uint32_t>(m_outer.size());
    m_outer.push_back(number);
    FlowRequest request = flow.request;
    request.bytes = bytes;
    request.client = this;
    request.token = flow.inner;
    if (now > flow.start)
    {
        request.overhead = Time(); // its overhead is over
    }
    m_packets.Start(request, Inner(now));
}

void
SettlingPackets::OnFlowStarted(FlowId id, const FlowRequest& request, Time /* now */)
{
    m_flows[m_outer[request.token]].id = id;
}

void
SettlingPackets::OnFlowStalled(FlowId id, const FlowRequest& request, bool isStalled, Time now)
{
    m_hasTold = true;
    FlowRequest outer = request;
    outer.token = m_outer[request.token];
    m_observer.OnFlowStalled(id, outer, isStalled, Outer(now));
}

void
SettlingPackets::OnFlowSent(uint64_t token, Time now)
{
    Flow& flow = m_flows[m_outer[token]];
    flow.sentAt = Outer(now).ToPicoseconds();
    if (!flow.isSent)
    {
        flow.isSent = true;
        m_hasTold = true;
        m_client.OnFlowSent(m_outer[token], Time::Picoseconds(flow.sentAt));
    }
}

void
SettlingPackets::OnFlowDone(uint64_t token, Time now)
{
    const uint32_t number = m_outer[token];
    Flow& flow = m_flows[number];
    flow.counters = *m_packets.GetFlowCounters(flow.id);
    const int64_t time = Outer(now).ToPicoseconds();
    if (m_tolerance > 0)
    {
        ServiceWindows::Connection& connection = m_windows.At(flow.connection);
        ServiceWindows::Service service;
        const int64_t end = std::max(flow.start, time - LatencyOf(flow.request));
        service.end = time;
        service.time = std::max(int64_t{0}, end - std::max(flow.start, connection.free));
        service.bytes = flow.request.bytes.Count();
        service.sentBefore = flow.isSent ? time - flow.sentAt : 0;
        service.counters = flow.counters;
        if (flow.begin == 0) // otherwise it was partly served
        {
            connection.services.push_back(service);
        }
        connection.free = std::max(connection.free, end);
    }
    TellDone(number, time);
}

/** Ends a flow, whether packets or service moved it. */
void
SettlingPackets::TellDone(uint32_t number, int64_t now)
{
    Flow& flow = m_flows[number];
    flow.state = State::Done;
    m_active--;
    m_hasTold = true;
    if (m_tolerance > 0)
    {
        ServiceWindows::Connection& connection = m_windows.At(flow.connection);
        std::deque<uint32_t>& open = m_open[flow.connection];
        open.erase(std::find(open.begin(), open.end(), number));
        connection.served += flow.request.bytes.ToDouble();
        connection.idleSince = now;
        if (m_isServed && open.empty())
        {
            Push(now + MaxIdle(connection), ServiceEventKind::Idle, flow.connection);
        }
    }
    m_client.OnFlowDone(number, Time::Picoseconds(now));
}

Time
SettlingPackets::NextEventTime()
{
    if (m_isServed)
    {
        return m_active == 0 ? Time::Infinite() : Time::Picoseconds(m_events.top().time);
    }
    const Time next = m_packets.NextEventTime();
    if (next.IsInfinite())
    {
        return next;
    }
    return m_tolerance > 0 && m_active > 0
               ? std::min(Outer(next), Time::Picoseconds(m_windows.NextMark()))
               : Outer(next);
}

void
SettlingPackets::AdvanceTo(Time now)
{
    const int64_t until = now.ToPicoseconds();
    while (m_now < until || NextEventTime() <= now)
    {
        if (m_isServed)
        {
            if (m_active == 0 || m_events.top().time > until)
            {
                break;
            }
            const ServiceEvent event = m_events.top();
            m_events.pop();
            m_now = std::max(m_now, event.time);
            Do(event);
            continue;
        }
        const bool hasMark = m_tolerance > 0 && m_active > 0 && m_windows.NextMark() <= until;
        const int64_t next = hasMark ? std::max(m_now, m_windows.NextMark()) : until;
        m_packets.AdvanceTo(Inner(next));
        m_now = next;
        if (hasMark && m_active > 0)
        {
            Mark();
        }
        else if (!hasMark)
        {
            break;
        }
    }
    m_now = std::max(m_now, until);
}

Time
SettlingPackets::AdvanceExclusively(Time limit)
{
    m_hasTold = false;
    const Time mark = m_tolerance > 0 && m_active > 0 ? Time::Picoseconds(m_windows.NextMark())
                                                      : Time::Infinite();
    if (!m_isServed)
    {
        const Time bound = std::min(limit, mark);
        const Time stands =
            m_packets.AdvanceExclusively(bound.IsInfinite() ? bound : Inner(bound.ToPicoseconds()));
        m_now = std::max(m_now, Outer(stands).ToPicoseconds());
    }
    const Time next = NextEventTime();
    if (!m_hasTold && next < limit && (m_isServed || next == mark))
    {
        AdvanceTo(next);
    }
    return Time::Picoseconds(m_now);
}

/** Records the service of all connections, and parks packets if it has settled. */
void
SettlingPackets::Mark()
{
    double queued = 0;
    std::vector<PortCounters> counters;
    for (const uint32_t link : m_links)
    {
        queued += static_cast<double>(m_packets.GetNetwork().QueuedBytes(link));
        counters.push_back(CountersAt(link, Time::Picoseconds(m_now)));
    }
    for (uint32_t i = 0; i < m_open.size(); i++)
    {
        double came = 0;
        for (const uint32_t number : m_open[i])
        {
            const Flow& flow = m_flows[number];
            came +=
                flow.request.bytes.ToDouble() - static_cast<double>(m_packets.BytesLeft(flow.id));
        }
        m_windows.At(i).open = came;
    }
    m_windows.Mark(m_now, queued, std::move(counters));
    Settle();
}

void
SettlingPackets::Settle()
{
    const std::optional<ServiceWindows::Span> span = m_windows.Find();
    if (!span)
    {
        return;
    }
    m_averaged = span->time;
    for (uint32_t i = 0; i < m_open.size(); i++)
    {
        const ServiceWindows::Connection& connection = m_windows.At(i);
        const bool isIdle = m_open[i].empty();
        if ((!isIdle && !connection.IsKnown()) || // it waits for another event
            (isIdle && connection.IsKnown() && connection.idleSince + MaxIdle(connection) <= m_now))
        {
            return;
        }
    }
    if (!m_packets.StalledFlows().empty())
    {
        return;
    }
    m_perWindow.assign(m_links.size(), {});
    for (std::size_t i = 0; i < m_links.size(); i++)
    {
        m_perWindow[i] = CountersAt(m_links[i], Time::Picoseconds(m_now));
        m_perWindow[i] -= i < span->counters.size() ? span->counters[i] : PortCounters();
    }
    m_parkedAt = m_now;
    m_isServed = true;
    m_counters.periods++;
    m_events = {};
    constexpr int64_t MAX_PATIENCE = 16;
    Push(m_now + (m_averaged << std::min(m_patience + 1, MAX_PATIENCE)),
         ServiceEventKind::Horizon,
         0);
    for (uint32_t i = 0; i < m_open.size(); i++)
    {
        ServiceWindows::Connection& connection = m_windows.At(i);
        connection.next = 0;
        connection.free = m_now;
        for (const uint32_t number : m_open[i])
        {
            m_parked[i].push_back({m_flows[number].id, m_flows[number].inner});
            ServeRest(number, m_now);
        }
        if (m_open[i].empty() && connection.IsKnown())
        {
            Push(connection.idleSince + MaxIdle(connection), ServiceEventKind::Idle, i);
        }
    }
}

/** Longest idle time of a connection before it counts as changed, ps. */
int64_t
SettlingPackets::MaxIdle(const ServiceWindows::Connection& connection) const
{
    return 2 * connection.longestIdle +
           static_cast<int64_t>(m_tolerance * static_cast<double>(m_averaged));
}

void
SettlingPackets::Push(int64_t time, ServiceEventKind kind, uint32_t subject)
{
    m_events.push({time, m_pushed++, kind, subject});
}

/** Serves the rest of a packet flow at the mean rate of its connection. */
void
SettlingPackets::ServeRest(uint32_t number, int64_t now)
{
    Flow& flow = m_flows[number];
    ServiceWindows::Connection& connection = m_windows.At(flow.connection);
    flow.state = State::Served;
    flow.left = static_cast<double>(m_packets.BytesLeft(flow.id));
    flow.begin = connection.free;
    flow.end = connection.free + 1;
    flow.end += flow.left > 0 ? static_cast<int64_t>(flow.left / connection.rate) : 0;
    connection.free = std::max(now, flow.end - LatencyOf(flow.request));
    const int64_t sentBefore =
        connection.services.empty() ? 0 : connection.services.front().sentBefore;
    flow.counters =
        connection.services.empty() ? FlowCounters() : connection.services.front().counters;
    if (!flow.isSent)
    {
        Push(std::max(now, flow.end - sentBefore), ServiceEventKind::Sent, number);
    }
    Push(flow.end, ServiceEventKind::Done, number);
}

/** Serves a new flow as an earlier flow of its connection was served. */
void
SettlingPackets::Serve(uint32_t number, int64_t now)
{
    Flow& flow = m_flows[number];
    ServiceWindows::Connection& connection = m_windows.At(flow.connection);
    m_counters.flows++;
    flow.state = State::Served;
    flow.left = flow.request.bytes.ToDouble();
    flow.begin = std::max(now, connection.free);
    int64_t time = flow.left > 0 ? static_cast<int64_t>(flow.left / connection.rate) : 0;
    int64_t sentBefore = 0;
    if (!connection.services.empty())
    {
        const ServiceWindows::Service& like = connection.services[connection.next];
        connection.next = (connection.next + 1) % connection.services.size();
        time = like.bytes == flow.request.bytes.Count() ? like.time : time;
        sentBefore = like.sentBefore;
        flow.counters = like.counters;
    }
    connection.free = flow.begin + time;
    flow.end = connection.free + LatencyOf(flow.request);
    Push(std::max(now, flow.end - sentBefore), ServiceEventKind::Sent, number);
    Push(flow.end, ServiceEventKind::Done, number);
}

void
SettlingPackets::Do(const ServiceEvent& event)
{
    switch (event.kind)
    {
    case ServiceEventKind::Sent:
        if (!m_flows[event.flow].isSent && m_flows[event.flow].state == State::Served)
        {
            m_flows[event.flow].isSent = true;
            m_hasTold = true;
            m_client.OnFlowSent(event.flow, Time::Picoseconds(m_now));
        }
        return;
    case ServiceEventKind::Done:
        if (m_flows[event.flow].state == State::Served)
        {
            TellDone(event.flow, m_now);
        }
        return;
    case ServiceEventKind::Idle: {
        const ServiceWindows::Connection& connection = m_windows.At(event.flow);
        if (m_open[event.flow].empty() && connection.idleSince + MaxIdle(connection) <= m_now)
        {
            Interrupt(m_now);
        }
        return;
    }
    case ServiceEventKind::Horizon:
        Resume(m_now);
        m_patience++;
        m_windows.Widen(m_averaged / 3);
        return;
    }
}

/** Bytes left of a served flow at @p now. */
double
SettlingPackets::LeftOf(const Flow& flow, int64_t now) const
{
    if (now <= flow.begin)
    {
        return flow.left;
    }
    return flow.left * static_cast<double>(flow.end - now) /
           static_cast<double>(std::max(int64_t{1}, flow.end - flow.begin));
}

/** Discards the recorded windows: packets move again and new windows start. */
void
SettlingPackets::Interrupt(int64_t now)
{
    if (m_isServed)
    {
        Resume(now);
    }
    else
    {
        RestartWindows(now);
    }
    m_patience = 0;
}

void
SettlingPackets::RestartWindows(int64_t now)
{
    m_windows.Restart(now);
    for (uint32_t i = 0; i < m_open.size(); i++)
    {
        ServiceWindows::Connection& connection = m_windows.At(i);
        for (const uint32_t number : m_open[i])
        {
            connection.maxBytes =
                std::max(connection.maxBytes, m_flows[number].request.bytes.Count());
        }
    }
}

/** Resumes the parked packets for the flows that are active now. */
void
SettlingPackets::Resume(int64_t now)
{
    for (std::size_t i = 0; i < m_done.size(); i++)
    {
        m_done[i] += ServedCounters(i, now);
    }
    m_counters.time += now - m_parkedAt;
    m_skipped += now - m_parkedAt;
    m_isServed = false;
    m_events = {};
    RestartWindows(now);
    for (std::size_t i = 0; i < m_open.size(); i++)
    {
        std::deque<Parked> parked = std::move(m_parked[i]);
        m_parked[i].clear();
        for (const uint32_t number : m_open[i])
        {
            Flow& flow = m_flows[number];
            const auto left = std::max(int64_t{1}, static_cast<int64_t>(LeftOf(flow, now) + 0.5));
            if (!parked.empty())
            {
                const Parked packets = parked.front();
                parked.pop_front();
                if (m_packets.SetBytesLeft(packets.id, left, Inner(now)))
                {
                    m_outer[packets.inner] = number;
                    flow.inner = packets.inner;
                    flow.id = packets.id;
                    flow.state = State::Packets;
                    continue;
                }
                m_packets.Cancel(packets.id, Inner(now));
            }
            Post(number, Bytes(left), now);
        }
        for (const Parked& packets : parked)
        {
            m_packets.Cancel(packets.id, Inner(now));
        }
    }
}

/** Estimated counters of a port from the parking of packets to @p time (ps). */
PortCounters
SettlingPackets::ServedCounters(std::size_t index, int64_t time) const
{
    return index < m_perWindow.size()
               ? m_perWindow[index].PartOf(static_cast<double>(time - m_parkedAt) /
                                           static_cast<double>(m_averaged))
               : PortCounters();
}

void
SettlingPackets::Cancel(uint64_t token, Time now)
{
    const auto number = static_cast<uint32_t>(token);
    m_now = std::max(m_now, now.ToPicoseconds());
    Flow& flow = m_flows[number];
    Interrupt(m_now);
    m_packets.Cancel(flow.id, Inner(m_now));
    flow.state = State::Done;
    m_active--;
    if (m_tolerance > 0)
    {
        std::deque<uint32_t>& open = m_open[flow.connection];
        open.erase(std::find(open.begin(), open.end(), number));
    }
}

void
SettlingPackets::SetLinkRate(LinkId link, Rate rate, Time now)
{
    m_now = std::max(m_now, now.ToPicoseconds());
    Interrupt(m_now);
    m_packets.SetLinkRate(link, rate, Inner(m_now));
}

void
SettlingPackets::SetLinksUp(const std::vector<LinkId>& links, bool up, Time now)
{
    m_now = std::max(m_now, now.ToPicoseconds());
    Interrupt(m_now);
    m_packets.SetLinksUp(links, up, Inner(m_now));
}

Rate
SettlingPackets::RateOf(uint64_t token)
{
    return m_flows[token].state == State::Packets ? m_packets.CurrentRate(m_flows[token].id)
                                                  : Rate();
}

FlowPath
SettlingPackets::PathOf(uint64_t token)
{
    return m_flows[token].state == State::Packets ? m_packets.CurrentPath(m_flows[token].id)
                                                  : FlowPath();
}

PortCounters
SettlingPackets::CountersAt(uint32_t link, Time now)
{
    const int64_t time = std::max(now.ToPicoseconds(), m_isServed ? m_parkedAt : int64_t{0});
    const int64_t inner = (m_isServed ? m_parkedAt : time) - m_skipped;
    PortCounters counters = m_packets.GetNetwork().CountersAt(link, inner);
    const uint32_t index = m_indexOfLink.empty() ? NONE : m_indexOfLink[link];
    if (index != NONE)
    {
        counters += m_done[index];
        if (m_isServed)
        {
            counters += ServedCounters(index, time);
        }
    }
    return counters;
}

std::vector<StalledFlow>
SettlingPackets::StalledFlows()
{
    std::vector<StalledFlow> stalled =
        m_isServed ? std::vector<StalledFlow>() : m_packets.StalledFlows();
    for (StalledFlow& each : stalled)
    {
        each.request.token = m_outer[each.request.token];
    }
    return stalled;
}

} // namespace weir

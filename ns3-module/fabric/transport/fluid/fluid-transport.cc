// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/fluid/fluid-transport.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace weir
{

namespace
{

std::vector<double>
CapacitiesOf(const Topology& topology)
{
    std::vector<double> capacities(topology.LinkCount());
    for (std::size_t i = 0; i < capacities.size(); i++)
    {
        capacities[i] = topology.GetLink(LinkId(i)).rate.ToBytesPerSecond();
    }
    return capacities;
}

void
Require(bool holds, const char* what, double found)
{
    if (!holds)
    {
        throw std::invalid_argument(std::string("FluidTransport: ") + what + ", not " +
                                    std::to_string(found));
    }
}

} // namespace

FluidTransport::FluidTransport(Routing& routing, const SharingSpec& sharing)
    : m_routing(routing),
      m_paths(routing.Paths()),
      m_solver(CapacitiesOf(routing.GetTopology()), sharing.tolerance),
      m_groups(routing.GetTopology().LinkCount()),
      m_meters(routing.GetTopology().LinkCount()),
      m_delays(DelayItems{&m_flows}),
      m_timers(TimerItems{&m_bundles}),
      m_groupTimers(routing.GetTopology().LinkCount()),
      m_rates(CapacitiesOf(routing.GetTopology())),
      m_isDown(routing.GetTopology().LinkCount())
{
    if (!routing.Policy().IsFixed())
    {
        m_selector = std::make_unique<PathSelector>(routing);
    }
}

Time
FluidTransport::NextEventTime()
{
    Settle();
    return FirstTimer();
}

Time
FluidTransport::FirstTimer() const
{
    const Time ofGroups = m_groupTimers.Empty() ? Time::Infinite() : m_groupTimers.TopKey();
    return std::min({m_delays.FirstTime(), m_timers.FirstTime(), ofGroups});
}

/**
 * Advances time to @p now, after solving the changes made before.
 * @throws std::invalid_argument if @p now is in the past or would skip an event.
 */
void
FluidTransport::MoveTo(Time now)
{
    if (now == m_now)
    {
        return;
    }
    Settle();
    if (now < m_now || now > FirstTimer())
    {
        throw std::invalid_argument(
            "FluidTransport: cannot advance from " + std::to_string(m_now.ToPicoseconds()) +
            " ps to " + std::to_string(now.ToPicoseconds()) + " ps, the next event is at " +
            std::to_string(FirstTimer().ToPicoseconds()) + " ps");
    }
    m_now = now;
}

void
FluidTransport::AdvanceTo(Time now)
{
    MoveTo(now);
    Settle();
    EndDelays();
    while (m_timers.FirstTime() <= now)
    {
        const uint32_t b = m_timers.PopFirst();
        EndFlows(b, m_bundles[b].clock, 0);
    }
    while (!m_groupTimers.Empty() && m_groupTimers.TopKey() <= now)
    {
        EndFlowsOfGroup(m_groupTimers.TopIndex());
    }
    if (!m_done.empty())
    {
        Tell();
    }
}

/** Starts the flows whose overhead and latency end now. */
void
FluidTransport::EndDelays()
{
    while (m_delays.FirstTime() <= m_now)
    {
        const uint32_t t = m_delays.PopFirst();
        Flow& flow = m_flows[t];
        if (flow.bytes == 0)
        {
            flow.state = State::Done;
            m_done.push_back(t);
        }
        else
        {
            Enter(t, flow.left);
        }
    }
}

void
FluidTransport::EndFlowsOfGroup(uint32_t link)
{
    Group& group = m_groups[link];
    while (!group.heap.Empty() && group.clock.TimeOf(group.heap.TopKey()) <= m_now)
    {
        const uint32_t b = group.heap.TopIndex();
        group.heap.Remove(b, m_positions);
        EndFlows(b, group.clock, m_bundles[b].offset);
    }
    m_groupTimers.Remove(link);
    SetGroupStale(link);
}

/** Ends the flows of a bundle whose last byte has passed by now. */
void
FluidTransport::EndFlows(uint32_t b, const ServiceClock& clock, double offset)
{
    Bundle& bundle = m_bundles[b];
    PairingHeap<FlowItems> heap({&m_flows});
    while (bundle.first != NONE && clock.TimeOf(bundle.due - offset) <= m_now)
    {
        const uint32_t t = bundle.first;
        SetFirst(bundle, heap.Pop(t));
        bundle.moving--;
        bundle.carried += m_flows[t].bytes;
        m_flows[t].state = State::Done;
        m_done.push_back(t);
    }
    m_solver.SetWeight(b, bundle.moving * bundle.weight);
    SetStale(b);
}

/** Calls the clients of the flows that have ended, in the order of their starts. */
void
FluidTransport::Tell()
{
    const auto earlier = [this](uint32_t a, uint32_t b) { return m_flows[a].id < m_flows[b].id; };
    if (!std::is_sorted(m_done.begin(), m_done.end(), earlier))
    {
        std::sort(m_done.begin(), m_done.end(), earlier);
    }
    m_active -= m_done.size();
    for (uint32_t t : m_done)
    {
        const Flow& flow = m_flows[t];
        FlowClient* const client = flow.client;
        const uint64_t token = flow.token;
        const uint32_t bundle = flow.bundle;
        if (!m_observers.IsEmpty())
        {
            m_observers.OnFlowFinished(FlowId{flow.id}, RequestOf(flow), flow.started, m_now);
        }
        LeavePath(t);
        Release(bundle);
        FreeFlow(t);
        if (client)
        {
            client->OnFlowDone(token, m_now); // may start flows
        }
    }
    m_done.clear();
}

void
FluidTransport::CheckRequest(const FlowRequest& request) const
{
    Require(request.bytes.Count() >= 0, "bytes must be zero or more", request.bytes.ToDouble());
    Require(request.overhead >= Time() && !request.overhead.IsInfinite(),
            "the overhead must be finite and zero or more",
            request.overhead.ToSeconds());
    Require(request.weight > 0 && std::isfinite(request.weight),
            "the weight must be positive",
            request.weight);
    Require(request.cap > Rate(), "the cap must be positive", request.cap.ToBytesPerSecond());
    Require(
        request.route.Index() < m_routing.Size(), "the route must exist", request.route.Index());
}

FlowId
FluidTransport::Start(const FlowRequest& request, Time now)
{
    CheckRequest(request);
    MoveTo(now);
    const bool isUndivided = m_selector && m_selector->IsDivided(request.route);
    const SelectedPath selected = SelectPath(request, isUndivided);
    const uint32_t t = NewFlow(request, selected);
    if (isUndivided)
    {
        m_flows[t].isUndivided = true;
        // Its shares of links will be rounded to units. In whole units it is not too fast.
        m_flows[t].left = static_cast<double>(m_flows[t].bytes);
        m_undivided.push_back(t);
        m_isSettled = false;
    }
    const FlowId id{m_flows[t].id};
    Begin(t, DelayOf(request, selected));
    if (!m_observers.IsEmpty())
    {
        m_observers.OnFlowStarted(id, request, now);
        if (m_down > 0)
        {
            ReportStallState(t);
        }
    }
    return id;
}

/** Lets a flow take its share of the links after @p delay. */
void
FluidTransport::Begin(uint32_t t, Time delay)
{
    Flow& flow = m_flows[t];
    if (flow.bytes > 0 && delay == Time())
    {
        Enter(t, flow.left);
        return;
    }
    flow.state = State::Delayed;
    m_delays.Insert(t, m_now + delay);
}

bool
FluidTransport::Cancel(FlowId id, Time now)
{
    MoveTo(now);
    const uint32_t t = Find(id);
    if (t == NONE)
    {
        return false;
    }
    if (m_flows[t].state == State::Moving)
    {
        Leave(t);
    }
    m_delays.Remove(t);
    LeavePath(t);
    Release(m_flows[t].bundle);
    FreeFlow(t);
    m_active--;
    return true;
}

Rate
FluidTransport::CurrentRate(FlowId id)
{
    Settle();
    const uint32_t t = Find(id);
    if (t == NONE || m_flows[t].state != State::Moving)
    {
        return Rate();
    }
    const uint32_t b = m_flows[t].bundle;
    return Rate::BytesPerSecond(m_solver.Level(b) * m_bundles[b].weight * m_flows[t].unit);
}

void
FluidTransport::AddObserver(TransportObserver& observer, bool linkRates)
{
    Settle();
    m_observers.Add(observer, linkRates);
    m_solver.KeepLoads(m_notesChanges || m_observers.WantLinkRates());
}

void
FluidTransport::RemoveObserver(TransportObserver& observer)
{
    Settle();
    m_observers.Remove(observer);
    m_solver.KeepLoads(m_notesChanges || m_observers.WantLinkRates());
}

} // namespace weir

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

FluidTransport::FluidTransport(PathTable& paths)
    : m_paths(paths),
      m_solver(CapacitiesOf(paths.GetTopology())),
      m_groups(paths.GetTopology().LinkCount()),
      m_meters(paths.GetTopology().LinkCount()),
      m_delays(DelayItems{&m_transfers}),
      m_timers(TimerItems{&m_bundles}),
      m_groupTimers(paths.GetTopology().LinkCount())
{
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

/** Makes @p now the present; what changed before is solved in its own time. */
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
            "FluidTransport: told to go from " + std::to_string(m_now.ToPicoseconds()) + " ps to " +
            std::to_string(now.ToPicoseconds()) + " ps, but its next event is at " +
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
        EndTransfers(b, m_bundles[b].clock, 0);
    }
    while (!m_groupTimers.Empty() && m_groupTimers.TopKey() <= now)
    {
        EndTransfersOfGroup(m_groupTimers.TopIndex());
    }
    if (!m_done.empty())
    {
        Tell();
    }
}

/** Lets in the transfers whose start-up delay ends now. */
void
FluidTransport::EndDelays()
{
    while (m_delays.FirstTime() <= m_now)
    {
        const uint32_t t = m_delays.PopFirst();
        Transfer& transfer = m_transfers[t];
        if (transfer.bytes == 0)
        {
            transfer.state = State::Done;
            m_done.push_back(t);
        }
        else
        {
            Enter(t, transfer.left);
        }
    }
}

void
FluidTransport::EndTransfersOfGroup(uint32_t link)
{
    Group& group = m_groups[link];
    PairingHeap<BundleItems> heap({&m_bundles});
    while (group.first != NONE && group.clock.TimeOf(m_bundles[group.first].key) <= m_now)
    {
        const uint32_t b = group.first;
        group.first = heap.Pop(b);
        m_bundles[b].isInGroupHeap = false;
        EndTransfers(b, group.clock, m_bundles[b].offset);
    }
    m_groupTimers.Remove(link);
    SetGroupStale(link);
}

/** Ends the transfers of a bundle whose last byte has passed. */
void
FluidTransport::EndTransfers(uint32_t b, const ServiceClock& clock, double offset)
{
    Bundle& bundle = m_bundles[b];
    PairingHeap<TransferItems> heap({&m_transfers});
    while (bundle.first != NONE && clock.TimeOf(m_transfers[bundle.first].due - offset) <= m_now)
    {
        const uint32_t t = bundle.first;
        bundle.first = heap.Pop(t);
        bundle.moving--;
        bundle.carried += m_transfers[t].bytes;
        m_transfers[t].state = State::Done;
        m_done.push_back(t);
    }
    m_solver.SetWeight(b, bundle.moving * bundle.weight);
    SetStale(b);
}

/** Tells the clients of transfers that have ended, in the order of their starts. */
void
FluidTransport::Tell()
{
    const auto earlier = [this](uint32_t a, uint32_t b) {
        return m_transfers[a].id < m_transfers[b].id;
    };
    if (!std::is_sorted(m_done.begin(), m_done.end(), earlier))
    {
        std::sort(m_done.begin(), m_done.end(), earlier);
    }
    m_active -= m_done.size();
    for (uint32_t t : m_done)
    {
        const Transfer transfer = m_transfers[t];
        if (m_observer)
        {
            m_observer->OnTransferFinished(
                TransferId{transfer.id}, RequestOf(transfer), transfer.started, m_now);
        }
        Release(transfer.bundle);
        FreeTransfer(t);
        if (transfer.client)
        {
            transfer.client->OnTransferDone(transfer.token, m_now);
        }
    }
    m_done.clear();
}

TransferId
FluidTransport::Start(const TransferRequest& request, Time now)
{
    Require(request.bytes.Count() >= 0, "bytes must be zero or more", request.bytes.ToDouble());
    Require(request.latency >= Time() && !request.latency.IsInfinite(),
            "the latency must be finite and zero or more",
            request.latency.ToSeconds());
    Require(request.weight > 0 && std::isfinite(request.weight),
            "the weight must be positive",
            request.weight);
    Require(request.cap > Rate(), "the cap must be positive", request.cap.ToBytesPerSecond());
    Require(request.path.Index() < m_paths.Size(), "the path must exist", request.path.Index());
    MoveTo(now);
    const uint32_t b = BundleFor(request.path, request.cap.ToBytesPerSecond(), request.weight);
    const uint32_t t = NewTransfer();
    Transfer& transfer = m_transfers[t];
    transfer.client = request.client;
    transfer.token = request.token;
    transfer.size = request.bytes.Count();
    transfer.bytes = request.bytes.Count();
    transfer.left = request.bytes.ToDouble();
    transfer.started = now;
    transfer.latency = request.latency;
    transfer.bundle = b;
    const TransferId id{transfer.id};
    if (transfer.bytes > 0 && transfer.latency == Time())
    {
        Enter(t, transfer.left);
    }
    else
    {
        transfer.state = State::Delayed;
        m_delays.Insert(t, now + request.latency);
    }
    if (m_observer)
    {
        m_observer->OnTransferStarted(id, request, now);
    }
    return id;
}

bool
FluidTransport::SetPath(TransferId id, PathId path, Time now)
{
    Require(path.Index() < m_paths.Size(), "the path must exist", path.Index());
    MoveTo(now);
    const uint32_t t = Find(id);
    if (t == NONE)
    {
        return false;
    }
    const uint32_t before = m_transfers[t].bundle;
    const uint32_t after = BundleFor(path, m_bundles[before].cap, m_bundles[before].weight);
    if (m_transfers[t].state == State::Moving)
    {
        const double left = Leave(t);
        m_transfers[t].bundle = after;
        Enter(t, left);
    }
    m_transfers[t].bundle = after;
    Release(before);
    return true;
}

bool
FluidTransport::Cancel(TransferId id, Time now)
{
    MoveTo(now);
    const uint32_t t = Find(id);
    if (t == NONE)
    {
        return false;
    }
    if (m_transfers[t].state == State::Moving)
    {
        Leave(t);
    }
    m_delays.Remove(t);
    Release(m_transfers[t].bundle);
    FreeTransfer(t);
    m_active--;
    return true;
}

void
FluidTransport::SetLinkRate(LinkId link, Rate rate, Time now)
{
    Require(link.Index() < m_groups.size(), "the link must exist", link.Index());
    Require(rate >= Rate(), "a link's rate must be zero or more", rate.ToBytesPerSecond());
    MoveTo(now);
    const uint32_t alone = m_solver.AloneOn(link.Index());
    if (alone != NONE)
    {
        AddAloneTime(m_bundles[alone]); // what was saturated is judged by the old rate
    }
    m_solver.SetCapacity(link.Index(), rate.ToBytesPerSecond());
    m_isSettled = false;
}

Rate
FluidTransport::CurrentRate(TransferId id)
{
    Settle();
    const uint32_t t = Find(id);
    if (t == NONE || m_transfers[t].state != State::Moving)
    {
        return Rate();
    }
    const uint32_t b = m_transfers[t].bundle;
    return Rate::BytesPerSecond(m_solver.Level(b) * m_bundles[b].weight);
}

void
FluidTransport::SetObserver(TransportObserver* observer, bool linkRates)
{
    Settle();
    m_observer = observer;
    m_observesRates = observer && linkRates;
    m_solver.KeepLoads(m_observesRates);
}

} // namespace weir

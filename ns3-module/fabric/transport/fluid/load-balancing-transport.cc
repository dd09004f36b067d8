// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/fluid/load-balancing-transport.h"

#include "fabric/transport/fluid/fluid-transport.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace weir
{

namespace
{

/** What of @p request crosses @p way. */
TransferRequest
OnWay(TransferRequest request, const ChosenWay& way)
{
    request.path = way.path;
    request.latency += way.latency;
    if (way.unit > 1)
    {
        request.bytes = Bytes((request.bytes.Count() + way.unit - 1) / way.unit);
        request.cap = request.cap / way.unit;
        request.weight /= way.unit;
    }
    return request;
}

} // namespace

LoadBalancingTransport::LoadBalancingTransport(std::unique_ptr<Transport> inner,
                                               PathTable& paths,
                                               Router& router,
                                               const FabricSpec& fabric)
    : m_inner(std::move(inner)),
      m_paths(paths),
      m_chooser(paths, router, fabric)
{
    m_paths.SetSharing(&m_chooser.Spread());
}

LoadBalancingTransport::~LoadBalancingTransport()
{
    m_paths.SetSharing(nullptr);
}

Time
LoadBalancingTransport::NextEventTime()
{
    DivideStarted();
    return m_inner->NextEventTime();
}

void
LoadBalancingTransport::AdvanceTo(Time now)
{
    DivideStarted();
    m_inner->AdvanceTo(now);
}

TransferId
LoadBalancingTransport::Start(const TransferRequest& request, Time now)
{
    if (request.path.Index() >= m_paths.Size())
    {
        throw std::invalid_argument("LoadBalancingTransport::Start: no such path");
    }
    if (!m_started.empty() && m_startedAt < now)
    {
        DivideStarted();
    }
    const bool isOpen = m_chooser.IsDivided(request.path);
    const ChosenWay way =
        isOpen ? WholeWay(request.path, m_chooser.UnitFor(request.path, request.bytes))
               : m_chooser.Enter(request.path, request.token, request.weight, now);
    uint32_t place = static_cast<uint32_t>(m_moving.size());
    if (m_free.empty())
    {
        m_moving.emplace_back();
    }
    else
    {
        place = m_free.back();
        m_free.pop_back();
    }
    m_moving[place] = {request, way, 0, isOpen};
    if (isOpen)
    {
        m_started.push_back(place);
        m_startedAt = now;
    }
    TransferRequest inner = OnWay(request, way);
    inner.client = this;
    inner.token = place;
    const TransferId id = m_inner->Start(inner, now);
    m_moving[place].id = id.value;
    m_places.emplace(id.value, place);
    return id;
}

void
LoadBalancingTransport::SetLinkRate(LinkId link, Rate rate, Time now)
{
    m_chooser.SetRate(link, rate);
    m_inner->SetLinkRate(link, rate, now);
}

ChosenWay
LoadBalancingTransport::WholeWay(PathId path, uint32_t unit)
{
    std::vector<PathLink> links;
    for (const PathLink& each : m_paths.Links(path))
    {
        links.push_back({each.link, each.multiplicity * unit});
    }
    return {m_paths.InternCounted(links), unit, Time()};
}

void
LoadBalancingTransport::DivideStarted()
{
    if (m_started.empty())
    {
        return;
    }
    std::vector<WayChooser::Divided> starting;
    for (const uint32_t place : m_started)
    {
        const Moving& moving = m_moving[place];
        starting.push_back({moving.request.path, moving.request.weight, moving.way.unit});
    }
    const auto ways = m_chooser.Divide(starting);
    const auto started = std::move(m_started);
    m_started.clear();
    for (std::size_t i = 0; i < started.size(); i++)
    {
        Moving& moving = m_moving[started[i]];
        moving.way = ways[i];
        moving.isOpen = false;
        m_inner->SetPath(TransferId{moving.id}, moving.way.path, m_startedAt);
    }
}

bool
LoadBalancingTransport::SetPath(TransferId id, PathId path, Time now)
{
    const auto found = m_places.find(id.value);
    if (found == m_places.end())
    {
        return false;
    }
    const uint32_t place = found->second;
    Moving& moving = m_moving[place];
    const TransferRequest& request = moving.request;
    if (!moving.isOpen)
    {
        m_chooser.Leave(request.path, moving.way, request.token, request.weight, now);
    }
    // What is left cannot be counted in other units.
    const uint32_t unit = moving.way.unit;
    moving.request.path = path;
    if (m_chooser.IsDivided(path))
    {
        moving.way = WholeWay(path, unit);
        if (!moving.isOpen)
        {
            moving.isOpen = true;
            m_started.push_back(place);
        }
        m_startedAt = now;
        return m_inner->SetPath(id, moving.way.path, now);
    }
    if (moving.isOpen)
    {
        moving.isOpen = false;
        m_started.erase(std::find(m_started.begin(), m_started.end(), place));
    }
    moving.way = m_chooser.Enter(path, request.token, request.weight, now);
    if (moving.way.unit != unit)
    {
        m_chooser.Leave(path, moving.way, request.token, request.weight, now);
        moving.way = WholeWay(path, unit); // one of the ways carries it
        m_chooser.Hold(moving.way, request.weight);
    }
    return m_inner->SetPath(id, moving.way.path, now);
}

bool
LoadBalancingTransport::Cancel(TransferId id, Time now)
{
    const auto found = m_places.find(id.value);
    if (found == m_places.end() || !m_inner->Cancel(id, now))
    {
        return false; // when it is done but not told, OnTransferDone follows
    }
    Release(found->second, now);
    return true;
}

Rate
LoadBalancingTransport::CurrentRate(TransferId id)
{
    DivideStarted();
    const auto found = m_places.find(id.value);
    const Rate rate = m_inner->CurrentRate(id);
    return found == m_places.end() ? rate : rate * m_moving[found->second].way.unit;
}

Rate
LoadBalancingTransport::CurrentLinkRate(LinkId link)
{
    DivideStarted();
    return m_inner->CurrentLinkRate(link);
}

LinkUsage
LoadBalancingTransport::GetLinkUsage(LinkId link)
{
    return m_inner->GetLinkUsage(link);
}

std::size_t
LoadBalancingTransport::ActiveTransfers() const
{
    return m_inner->ActiveTransfers();
}

void
LoadBalancingTransport::SetObserver(TransportObserver* observer, bool linkRates)
{
    m_observer = observer;
    m_inner->SetObserver(observer ? this : nullptr, linkRates);
}

void
LoadBalancingTransport::Release(uint32_t place, Time now)
{
    const Moving& moving = m_moving[place];
    const TransferRequest& request = moving.request;
    if (moving.isOpen)
    {
        m_started.erase(std::find(m_started.begin(), m_started.end(), place));
    }
    else
    {
        m_chooser.Leave(request.path, moving.way, request.token, request.weight, now);
    }
    m_places.erase(moving.id);
    m_free.push_back(place);
}

void
LoadBalancingTransport::OnTransferDone(uint64_t token, Time now)
{
    const auto place = static_cast<uint32_t>(token);
    const TransferRequest request = m_moving[place].request;
    Release(place, now);
    if (request.client)
    {
        request.client->OnTransferDone(request.token, now);
    }
}

TransferRequest
LoadBalancingTransport::AsAsked(const TransferRequest& inner) const
{
    const Moving& moving = m_moving[static_cast<uint32_t>(inner.token)];
    TransferRequest asked = moving.request;
    asked.latency = inner.latency;
    if (moving.way.unit == 1)
    {
        asked.path = inner.path;
    }
    return asked;
}

void
LoadBalancingTransport::OnTransferStarted(TransferId id, const TransferRequest& request, Time now)
{
    m_observer->OnTransferStarted(id, AsAsked(request), now);
}

void
LoadBalancingTransport::OnTransferFinished(TransferId id,
                                           const TransferRequest& request,
                                           Time started,
                                           Time now)
{
    m_observer->OnTransferFinished(id, AsAsked(request), started, now);
}

void
LoadBalancingTransport::OnLinkRate(LinkId link, Rate rate, Time now)
{
    m_observer->OnLinkRate(link, rate, now);
}

bool
IsByLoad(RoutingKind kind)
{
    return kind == RoutingKind::Adaptive || kind == RoutingKind::Flowlet ||
           kind == RoutingKind::Spray;
}

std::unique_ptr<Transport>
MakeFluidTransport(PathTable& paths, Router& router, const FabricSpec& fabric)
{
    auto fluid = std::make_unique<FluidTransport>(paths);
    if (!IsByLoad(fabric.routing))
    {
        return fluid;
    }
    return std::make_unique<LoadBalancingTransport>(std::move(fluid), paths, router, fabric);
}

} // namespace weir

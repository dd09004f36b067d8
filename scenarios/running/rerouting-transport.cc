// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/running/rerouting-transport.h"

#include "scenarios/running/path-repair.h"

namespace weir
{

ReroutingTransport::ReroutingTransport(Transport& inner,
                                       PathTable& paths,
                                       Router& router,
                                       bool expectsFailures)
    : m_inner(inner),
      m_paths(paths),
      m_router(router),
      m_expectsFailures(expectsFailures)
{
    SetObserver(nullptr, false);
}

ReroutingTransport::~ReroutingTransport()
{
    m_inner.SetObserver(nullptr, false);
}

void
ReroutingTransport::TakeDown(LinkId link, Time now)
{
    m_down.resize(m_paths.GetTopology().LinkCount());
    for (const LinkId direction : {link, m_paths.GetTopology().GetLink(link).opposite})
    {
        if (direction.IsValid())
        {
            m_down[direction.Index()] = true;
            m_router.SetUsable(direction, false);
            m_inner.SetLinkRate(direction, Rate(), now);
        }
    }
    m_repaired.clear();
    for (auto& [id, path] : m_underWay)
    {
        const PathId repaired = Repaired(path);
        if (repaired != path && m_inner.SetPath(TransferId{id}, repaired, now))
        {
            path = repaired;
        }
    }
}

Time
ReroutingTransport::NextEventTime()
{
    return m_inner.NextEventTime();
}

void
ReroutingTransport::AdvanceTo(Time now)
{
    m_inner.AdvanceTo(now);
}

TransferId
ReroutingTransport::Start(const TransferRequest& request, Time now)
{
    if (m_down.empty())
    {
        return m_inner.Start(request, now);
    }
    TransferRequest repaired = request;
    repaired.path = Repaired(request.path);
    return m_inner.Start(repaired, now);
}

void
ReroutingTransport::SetLinkRate(LinkId link, Rate rate, Time now)
{
    if (m_down.empty() || !m_down[link.Index()])
    {
        m_inner.SetLinkRate(link, rate, now);
    }
}

bool
ReroutingTransport::SetPath(TransferId id, PathId path, Time now)
{
    return m_inner.SetPath(id, m_down.empty() ? path : Repaired(path), now);
}

bool
ReroutingTransport::Cancel(TransferId id, Time now)
{
    m_underWay.erase(id.value);
    return m_inner.Cancel(id, now);
}

Rate
ReroutingTransport::CurrentRate(TransferId id)
{
    return m_inner.CurrentRate(id);
}

Rate
ReroutingTransport::CurrentLinkRate(LinkId link)
{
    return m_inner.CurrentLinkRate(link);
}

LinkUsage
ReroutingTransport::GetLinkUsage(LinkId link)
{
    return m_inner.GetLinkUsage(link);
}

std::size_t
ReroutingTransport::ActiveTransfers() const
{
    return m_inner.ActiveTransfers();
}

void
ReroutingTransport::SetObserver(TransportObserver* observer, bool linkRates)
{
    m_observer = observer;
    m_inner.SetObserver(m_expectsFailures ? this : observer, linkRates);
}

void
ReroutingTransport::OnTransferStarted(TransferId id, const TransferRequest& request, Time now)
{
    m_underWay.emplace(id.value, request.path);
    if (m_observer)
    {
        m_observer->OnTransferStarted(id, request, now);
    }
}

void
ReroutingTransport::OnTransferFinished(TransferId id,
                                       const TransferRequest& request,
                                       Time started,
                                       Time now)
{
    m_underWay.erase(id.value);
    if (m_observer)
    {
        m_observer->OnTransferFinished(id, request, started, now);
    }
}

void
ReroutingTransport::OnLinkRate(LinkId link, Rate rate, Time now)
{
    if (m_observer)
    {
        m_observer->OnLinkRate(link, rate, now);
    }
}

PathId
ReroutingTransport::Repaired(PathId path)
{
    const auto known = m_repaired.find(path);
    if (known != m_repaired.end())
    {
        return known->second;
    }
    const PathId repaired = RepairPath(m_paths, m_router, m_down, path).value_or(path);
    m_repaired.emplace(path, repaired);
    return repaired;
}

} // namespace weir

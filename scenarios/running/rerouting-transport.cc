// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/running/rerouting-transport.h"

#include "fabric/transport/fluid/load-balancing-transport.h"
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
    RepairAll(now);
}

void
ReroutingTransport::BringUp(LinkId link, Time now)
{
    const Topology& topology = m_paths.GetTopology();
    for (const LinkId direction : {link, topology.GetLink(link).opposite})
    {
        if (direction.IsValid() && !m_down.empty() && m_down[direction.Index()])
        {
            m_down[direction.Index()] = false;
            m_router.SetUsable(direction, true);
            const auto given = m_rates.find(direction);
            m_inner.SetLinkRate(direction,
                                given == m_rates.end() ? topology.GetLink(direction).rate
                                                       : given->second,
                                now);
        }
    }
    RepairAll(now);
}

std::vector<LinkId>
ReroutingTransport::LinksDown() const
{
    std::vector<LinkId> links;
    for (std::size_t i = 0; i < m_down.size(); i++)
    {
        if (m_down[i])
        {
            links.emplace_back(i);
        }
    }
    return links;
}

void
ReroutingTransport::RepairAll(Time now)
{
    m_repaired.clear();
    const bool isByLoad = IsByLoad(m_router.Kind()); // what a transfer takes is not its path
    for (auto& [id, paths] : m_underWay)
    {
        const PathId repaired = Repaired(paths.asked);
        if ((repaired != paths.taken || isByLoad) && m_inner.SetPath(TransferId{id}, repaired, now))
        {
            paths.taken = repaired;
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
    TransferRequest repaired = request;
    if (!m_down.empty())
    {
        repaired.path = Repaired(request.path);
    }
    const TransferId id = m_inner.Start(repaired, now);
    if (m_expectsFailures)
    {
        m_underWay.emplace(id.value, UnderWay{request.path, repaired.path});
    }
    return id;
}

void
ReroutingTransport::SetLinkRate(LinkId link, Rate rate, Time now)
{
    if (m_expectsFailures)
    {
        m_rates[link] = rate;
    }
    if (m_down.empty() || !m_down[link.Index()])
    {
        m_inner.SetLinkRate(link, rate, now);
    }
}

bool
ReroutingTransport::SetPath(TransferId id, PathId path, Time now)
{
    const PathId repaired = m_down.empty() ? path : Repaired(path);
    const bool isUnderWay = m_inner.SetPath(id, repaired, now);
    if (isUnderWay && m_expectsFailures)
    {
        m_underWay[id.value] = {path, repaired};
    }
    return isUnderWay;
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
    if (IsByLoad(m_router.Kind()))
    {
        return path; // what chooses ways by load finds those that are left
    }
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

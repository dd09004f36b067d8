// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/corrected/corrected-transport.h"

#include <algorithm>

namespace weir
{

CorrectedTransport::CorrectedTransport(Routing& routing,
                                       CorrectionSpec spec,
                                       const SharingSpec& sharing)
    : FluidTransport(routing, sharing),
      m_routing(routing),
      m_topology(routing.GetTopology()),
      m_spec(std::move(spec)),
      m_recovering(m_spec.recovery, *this, m_topology.LinkCount())
{
    for (uint32_t i = 0; i < m_topology.LinkCount(); i++)
    {
        SetLinkRate(LinkId(i), m_topology.GetLink(LinkId(i)).rate, Time());
    }
    if (m_spec.recovery.IsOn())
    {
        AddObserver(*this, false);
    }
}

CorrectedTransport::~CorrectedTransport()
{
    RemoveObserver(*this);
}

/** The rate that the fluid has where a link has @p rate. */
Rate
CorrectedTransport::FluidRate(uint32_t link, Rate rate) const
{
    const bool isNetwork = m_topology.GetLink(LinkId(link)).kind == LinkKind::Network;
    return isNetwork ? rate * m_spec.utilization.ofLink : rate;
}

/** The ports of switches whose rate a flow has to share. */
std::vector<LinkId>
CorrectedTransport::SharedPortsOf(RouteId route)
{
    std::vector<LinkId> links;
    for (const PathLink& each : m_routing.Paths().Links(m_routing.CurrentPath(route)))
    {
        if (m_topology.GetLink(each.link).kind == LinkKind::Network)
        {
            links.push_back(each.link);
        }
    }
    const bool isSpread = m_routing.Policy().GetScope() == RoutingPolicy::Scope::Packet;
    if (links.size() > 1)
    {
        links.erase(links.begin(), isSpread ? links.end() - 1 : links.begin() + 1);
    }
    return links;
}

FlowId
CorrectedTransport::Start(const FlowRequest& request, Time now)
{
    if (request.route.Index() >= m_routing.Size() || m_routing.IsSum(request.route))
    {
        return FluidTransport::Start(request, now);
    }
    FlowRequest corrected = request;
    const PathId path = m_routing.CurrentPath(request.route);
    if (m_spec.forwarding.IsOn())
    {
        corrected.overhead +=
            m_spec.forwarding.DelayOf(request.bytes, m_routing.Paths().Links(path), m_topology);
    }
    const FlowId id = FluidTransport::Start(corrected, now);
    const std::vector<LinkId> ports =
        m_spec.recovery.IsOn() ? SharedPortsOf(request.route) : std::vector<LinkId>();
    if (!ports.empty())
    {
        const Time latency = request.addsLatency ? m_routing.Latency(request.route) : Time();
        const Rate line = std::min(m_routing.BottleneckRate(request.route), request.cap);
        m_recovering.Add(
            id, request.bytes, now + corrected.overhead + latency, line.ToBytesPerSecond(), ports);
    }
    return id;
}

void
CorrectedTransport::OnFlowFinished(FlowId id,
                                   const FlowRequest& /* request */,
                                   Time /* started */,
                                   Time /* now */)
{
    m_recovering.Remove(id);
}

bool
CorrectedTransport::Cancel(FlowId id, Time now)
{
    m_recovering.Remove(id);
    return FluidTransport::Cancel(id, now);
}

void
CorrectedTransport::SetLinkRate(LinkId link, Rate rate, Time now)
{
    if (link.Index() >= m_topology.LinkCount())
    {
        FluidTransport::SetLinkRate(link, rate, now); // refuses it
        return;
    }
    FluidTransport::SetLinkRate(link, FluidRate(link.Index(), rate), now);
    m_recovering.SetPortRate(link, rate.ToBytesPerSecond());
}

Time
CorrectedTransport::NextEventTime()
{
    return std::min(FluidTransport::NextEventTime(), m_recovering.NextEventTime());
}

void
CorrectedTransport::AdvanceTo(Time now)
{
    FluidTransport::AdvanceTo(now);
    m_recovering.AdvanceTo(now);
}

} // namespace weir

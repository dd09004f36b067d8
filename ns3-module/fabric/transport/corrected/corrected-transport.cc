// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/corrected/corrected-transport.h"

#include "fabric/refuse.h"

#include <algorithm>
#include <utility>

namespace weir
{

CorrectedTransport::CorrectedTransport(Routing& routing,
                                       CorrectionSpec spec,
                                       const SharingSpec& sharing)
    : FluidTransport(routing, sharing),
      m_routing(routing),
      m_topology(routing.GetTopology()),
      m_spec(std::move(spec)),
      m_recovering(m_spec.recovery, *this, m_topology.LinkCount()),
      m_byIngress(m_spec.ingress, *this, m_topology.LinkCount())
{
    WEIR_REFUSE_IF(m_spec.recovery.IsOn() && m_spec.ingress.IsOn(),
                   "corrections: found both recovery and ingress, expected one of them: ingress is "
                   "for senders that are slowed only by pauses or credits");
    for (uint32_t i = 0; i < m_topology.LinkCount(); i++)
    {
        SetLinkRate(LinkId(i), m_topology.GetLink(LinkId(i)).rate, Time());
    }
    if (m_spec.recovery.IsOn() || m_spec.ingress.IsOn())
    {
        AddObserver(*this, false);
    }
}

std::vector<LinkId>
CorrectedTransport::NetworkLinksOf(PathId path) const
{
    std::vector<LinkId> links;
    for (const PathLink& each : m_routing.Paths().Links(path))
    {
        if (m_topology.GetLink(each.link).kind == LinkKind::Network)
        {
            links.push_back(each.link);
        }
    }
    return links;
}

/** The switch ports whose rate a flow shares with other flows. */
std::vector<LinkId>
CorrectedTransport::SharedPortsOf(PathId path) const
{
    std::vector<LinkId> links = NetworkLinksOf(path);
    const bool isSpread = m_routing.Policy().GetScope() == RoutingPolicy::Scope::Packet;
    if (links.size() > 1)
    {
        links.erase(links.begin(), isSpread ? links.end() - 1 : links.begin() + 1);
    }
    return links;
}

/** Highest rate of a sender, bytes/s. */
double
CorrectedTransport::LineOf(const FlowRequest& request) const
{
    return std::min(m_routing.BottleneckRate(request.route), request.cap).ToBytesPerSecond();
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
    const Time latency = request.addsLatency ? m_routing.Latency(request.route) : Time();
    const Time begin = now + corrected.overhead + latency;
    const double line = LineOf(request);
    const std::vector<LinkId> ports =
        m_spec.recovery.IsOn() ? SharedPortsOf(path) : std::vector<LinkId>();
    if (!ports.empty())
    {
        m_recovering.Add(id, request.bytes, begin, line, ports);
    }
    if (m_spec.ingress.IsOn() && m_routing.Policy().GetScope() != RoutingPolicy::Scope::Packet)
    {
        std::vector<LinkId> links = NetworkLinksOf(path);
        if (!links.empty() && line > 0)
        {
            m_byIngress.Add(id, begin, {line, std::move(links)});
        }
    }
    return id;
}

FlowId
CorrectedTransport::Occupy(const FlowRequest& request, FlowPath path, Time now)
{
    const FlowId id = FluidTransport::Occupy(request, path, now);
    const PathId taken = path.path.IsValid() ? path.path : m_routing.CurrentPath(request.route);
    if (m_spec.recovery.IsOn())
    {
        const Time begin = now + request.overhead + m_routing.Latency(request.route);
        m_recovering.AddOther(id, begin, LineOf(request), SharedPortsOf(taken));
    }
    return id;
}

bool
CorrectedTransport::SetOccupant(FlowId id, Rate cap, FlowPath path, double weight, Time now)
{
    const bool isPresent = FluidTransport::SetOccupant(id, cap, path, weight, now);
    m_recovering.SetOther(id, cap.ToBytesPerSecond(), now);
    return isPresent;
}

void
CorrectedTransport::OnFlowFinished(FlowId id,
                                   const FlowRequest& /* request */,
                                   Time /* started */,
                                   Time now)
{
    m_recovering.Remove(id);
    m_byIngress.Remove(id, now);
}

bool
CorrectedTransport::Cancel(FlowId id, Time now)
{
    const bool wasActive = FluidTransport::Cancel(id, now); // throws if now skips an event
    m_recovering.Remove(id);
    m_byIngress.Remove(id, now);
    return wasActive;
}

void
CorrectedTransport::SetLinkRate(LinkId link, Rate rate, Time now)
{
    if (link.Index() >= m_topology.LinkCount())
    {
        FluidTransport::SetLinkRate(link, rate, now); // throws
        return;
    }
    const bool isNetwork = m_topology.GetLink(link).kind == LinkKind::Network;
    const Rate fluidRate = isNetwork ? rate * m_spec.utilization.ofLink : rate;
    FluidTransport::SetLinkRate(link, fluidRate, now);
    m_recovering.SetPortRate(link, rate.ToBytesPerSecond());
    m_byIngress.SetPortRate(link, fluidRate.ToBytesPerSecond(), now);
}

Time
CorrectedTransport::NextEventTime()
{
    return std::min({FluidTransport::NextEventTime(),
                     m_recovering.NextEventTime(),
                     m_byIngress.NextEventTime()});
}

void
CorrectedTransport::AdvanceTo(Time now)
{
    FluidTransport::AdvanceTo(now);
    m_recovering.AdvanceTo(now);
    m_byIngress.AdvanceTo(now);
}

std::unique_ptr<FluidTransport>
MakeFluidTransport(Routing& routing, const CorrectionSpec& corrections, const SharingSpec& sharing)
{
    if (corrections.IsOn())
    {
        return std::make_unique<CorrectedTransport>(routing, corrections, sharing);
    }
    return std::make_unique<FluidTransport>(routing, sharing);
}

} // namespace weir

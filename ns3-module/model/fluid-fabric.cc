// SPDX-License-Identifier: GPL-2.0-only
#include "fluid-fabric.h"

#include "fabric-port.h"
#include "spec-descriptions.h"

#include "fabric/transport/hybrid/hybrid-transport.h"
#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/pointer.h"

#include <exception>
#include <limits>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FluidFabric");

NS_OBJECT_ENSURE_REGISTERED(FluidFabric);

TypeId
FluidFabric::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FluidFabric")
            .SetParent<Object>()
            .SetGroupName("Weir")
            .AddConstructor<FluidFabric>()
            .AddAttribute(
                "Driver",
                "Engine driver, which keeps the fabric and its jobs at the simulator's time.",
                TypeId::ATTR_GET,
                PointerValue(),
                MakePointerAccessor(&FluidFabric::m_driver),
                MakePointerChecker<EngineDriver>())
            .AddAttribute("Corrections",
                          "CorrectionDescription of packet effects that the fluid model neglects; "
                          "null: no corrections. It must be set before the fabric is wired.",
                          PointerValue(),
                          MakePointerAccessor(&FluidFabric::m_corrections),
                          MakePointerChecker<CorrectionDescription>())
            .AddTraceSource("FlowStarted",
                            "A flow was started; it shares its links after its latency.",
                            MakeTraceSourceAccessor(&FluidFabric::m_flowStarted),
                            "ns3::FluidFabric::FlowStartedTracedCallback")
            .AddTraceSource("FlowFinished",
                            "The last byte of a flow was delivered.",
                            MakeTraceSourceAccessor(&FluidFabric::m_flowFinished),
                            "ns3::FluidFabric::FlowFinishedTracedCallback")
            .AddTraceSource("LinkRate",
                            "The total rate of the fluid flows on a link changed.",
                            MakeTraceSourceAccessor(&FluidFabric::m_linkRate),
                            "ns3::FluidFabric::LinkRateTracedCallback");
    return tid;
}

FluidFabric::FluidFabric()
    : m_driver(CreateObject<EngineDriver>())
{
    NS_LOG_FUNCTION(this);
}

FluidFabric::~FluidFabric() = default;

void
FluidFabric::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_flows = {};
    for (auto& port : m_ports)
    {
        port.second->Dispose();
    }
    m_ports.clear();
    if (!m_driver->IsOver()) // otherwise the driver is releasing the fabric
    {
        m_driver->Dispose();
    }
    m_corrections = nullptr;
    Object::DoDispose();
}

void
FluidFabric::Wire(const weir::ClusterSpec& spec, weir::TransportSpec transport)
{
    NS_LOG_FUNCTION(this << spec.name << spec.nodes);
    NS_ABORT_MSG_IF(m_fabric, "FluidFabric: wired twice");
    transport.corrections = m_corrections ? m_corrections->GetSpec() : weir::CorrectionSpec();
    NS_ABORT_MSG_IF(transport.packets && !transport.coupling && transport.corrections.IsOn(),
                    "FluidFabric: Corrections are set and all flows are packets, expected a fluid");
    NS_ABORT_MSG_IF(transport.coupling && transport.packets && transport.packets->settle.IsOn(),
                    "FluidFabric: Settle is on in a hybrid, expected the packet transport: packets "
                    "that share links with a fluid are not replayed");
    try
    {
        m_fabric = std::make_unique<weir::Fabric>(spec, transport);
    }
    catch (const std::exception& error)
    {
        NS_ABORT_MSG("FluidFabric: " << error.what());
    }
    m_transport = std::move(transport);
    m_driver->Add(m_fabric->GetTransport(), this);
    m_fabric->GetTransport().AddObserver(*this, false);
    m_driver->BeforeRun(MakeCallback(&FluidFabric::Observe, this));
}

uint64_t
FluidFabric::StartFlow(
    uint32_t source, uint32_t destination, uint64_t bytes, FlowCallback done, weir::FlowForm form)
{
    NS_LOG_FUNCTION(this << source << destination << bytes);
    const weir::Cluster& cluster = GetFabric().GetCluster();
    NS_ABORT_MSG_IF(source >= cluster.GpuCount() || destination >= cluster.GpuCount(),
                    "FluidFabric: found a flow from GPU " << source << " to " << destination
                                                          << ", expected indices below "
                                                          << cluster.GpuCount());
    return StartFlow(cluster.GpuDevice(weir::GpuId(source)),
                     cluster.GpuDevice(weir::GpuId(destination)),
                     bytes,
                     done,
                     form);
}

uint64_t
FluidFabric::StartFlowBetween(const std::string& source,
                              const std::string& destination,
                              uint64_t bytes,
                              FlowCallback done,
                              weir::FlowForm form)
{
    NS_LOG_FUNCTION(this << source << destination << bytes);
    return StartFlow(FindDevice(source), FindDevice(destination), bytes, done, form);
}

uint64_t
FluidFabric::StartFlow(weir::DeviceId from,
                       weir::DeviceId to,
                       uint64_t bytes,
                       const FlowCallback& done,
                       weir::FlowForm form)
{
    NS_ABORT_MSG_IF(bytes > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()),
                    "FluidFabric: found a flow of " << bytes << " bytes, expected less than 2^63");
    const weir::Time now = m_driver->Synchronize();
    Observe();
    weir::FlowRequest request;
    try
    {
        weir::RouteRequest route = m_fabric->RequestBetween(from, to);
        route.sourcePort = m_nextPort++;
        request.route = m_fabric->GetRouting().Add(route);
    }
    catch (const std::exception& error)
    {
        NS_ABORT_MSG("FluidFabric: " << error.what());
    }
    request.bytes = weir::Bytes(static_cast<int64_t>(bytes));
    request.form = form;
    request.client = this;
    const uint32_t slot = m_flows.Take();
    request.token = slot;
    m_flows[slot].done = done;
    m_flows[slot].number = m_fabric->GetTransport().Start(request, now).value;
    m_driver->Update();
    return m_flows[slot].number;
}

void
FluidFabric::ScaleLinkRate(const std::string& a, const std::string& b, double factor)
{
    NS_LOG_FUNCTION(this << a << b << factor);
    NS_ABORT_MSG_IF(factor != 0 && !(factor >= MIN_SCALE && factor <= MAX_SCALE),
                    "FluidFabric: found a link rate scaled by "
                        << factor << ", expected 0, or " << MIN_SCALE << " to " << MAX_SCALE);
    const std::vector<weir::LinkId> links = FindLinks(a, b);
    if (factor == 0)
    {
        SetLinksUp(links, false);
        return;
    }
    const weir::Time now = m_driver->Synchronize();
    const weir::Topology& topology = m_fabric->GetCluster().GetTopology();
    for (const weir::LinkId link : links)
    {
        m_fabric->GetTransport().SetLinkRate(link, topology.GetLink(link).rate * factor, now);
    }
    SetLinksUp(links, true);
}

void
FluidFabric::SetLinkLoss(const std::string& a, const std::string& b, double part)
{
    NS_LOG_FUNCTION(this << a << b << part);
    NS_ABORT_MSG_IF(!(part >= 0 && part < 1),
                    "FluidFabric: found a loss probability of "
                        << part << ", expected at least 0 and below 1");
    const std::vector<weir::LinkId> links = FindLinks(a, b);
    const weir::Time now = m_driver->Synchronize();
    try
    {
        for (const weir::LinkId link : links)
        {
            m_fabric->GetTransport().SetLinkLoss(link, part, now);
        }
    }
    catch (const std::exception& error) // fluid transport, or a link inside a node
    {
        NS_ABORT_MSG("FluidFabric: " << error.what());
    }
    m_driver->Update(); // a livelock may have ended
}

void
FluidFabric::SetLinkUp(const std::string& a, const std::string& b, bool up)
{
    NS_LOG_FUNCTION(this << a << b << up);
    SetLinksUp(FindLinks(a, b), up);
}

void
FluidFabric::SetDeviceUp(const std::string& name, bool up)
{
    NS_LOG_FUNCTION(this << name << up);
    const weir::DeviceId device = FindDevice(name);
    const weir::Topology& topology = m_fabric->GetCluster().GetTopology();
    std::vector<weir::LinkId> links;
    for (std::size_t i = 0; i < topology.LinkCount(); i++)
    {
        const weir::Link& link = topology.GetLink(weir::LinkId(i));
        if (link.from == device || link.to == device)
        {
            links.emplace_back(i);
        }
    }
    SetLinksUp(links, up);
}

std::string
FluidFabric::DescribeWaiting()
{
    NS_LOG_FUNCTION(this);
    weir::Routing& routing = GetFabric().GetRouting();
    const weir::Topology& topology = routing.GetTopology();
    m_driver->Synchronize();
    std::string text;
    for (const weir::StalledFlow& flow : m_fabric->GetTransport().StalledFlows())
    {
        const weir::RouteId route = flow.request.route;
        text += text.empty() ? "" : "\n";
        text += "a flow of " + std::to_string(flow.request.bytes.Count()) + " bytes";
        if (routing.HasEnds(route))
        {
            text += " from " + topology.GetDevice(routing.SourceOf(route)).name + " to " +
                    topology.GetDevice(routing.DestinationOf(route)).name;
        }
        text += " waits for " + topology.LinkName(flow.link) + " to come up";
    }
    const std::string cycle = m_fabric->GetTransport().DescribeWaiting();
    return text + (text.empty() || cycle.empty() ? "" : "\n") + cycle;
}

std::vector<weir::LinkId>
FluidFabric::FindLinks(const std::string& a, const std::string& b)
{
    const weir::DeviceId ends[] = {FindDevice(a), FindDevice(b)};
    const weir::Topology& topology = m_fabric->GetCluster().GetTopology();
    std::vector<weir::LinkId> links;
    for (int direction = 0; direction < 2; direction++)
    {
        for (const weir::LinkId link : topology.LinksFrom(ends[direction]))
        {
            if (topology.GetLink(link).to == ends[1 - direction])
            {
                links.push_back(link);
            }
        }
    }
    NS_ABORT_MSG_IF(links.empty(), "FluidFabric: no link connects '" << a << "' and '" << b << "'");
    return links;
}

void
FluidFabric::SetLinksUp(const std::vector<weir::LinkId>& links, bool up)
{
    m_fabric->GetTransport().SetLinksUp(links, up, m_driver->Synchronize());
    m_driver->Update();
}

weir::LinkUsage
FluidFabric::GetLinkUsage(uint32_t link)
{
    const weir::LinkId id = CheckLink(link);
    m_driver->Synchronize();
    return m_fabric->GetTransport().GetLinkUsage(id);
}

uint32_t
FluidFabric::FindLink(const std::string& from, const std::string& to)
{
    const weir::DeviceId start = FindDevice(from);
    const weir::DeviceId end = FindDevice(to);
    const weir::Topology& topology = m_fabric->GetCluster().GetTopology();
    for (const weir::LinkId link : topology.LinksFrom(start))
    {
        if (topology.GetLink(link).to == end)
        {
            return link.Index();
        }
    }
    NS_ABORT_MSG("FluidFabric: no link goes from '" << from << "' to '" << to << "'");
}

std::string
FluidFabric::GetLinkName(uint32_t link)
{
    const weir::LinkId id = CheckLink(link);
    return m_fabric->GetCluster().GetTopology().LinkName(id);
}

weir::Rate
FluidFabric::GetLinkCapacity(uint32_t link)
{
    const weir::LinkId id = CheckLink(link);
    return m_fabric->GetCluster().GetTopology().GetLink(id).rate;
}

weir::PacketTransport&
FluidFabric::GetPackets()
{
    weir::Transport& transport = GetFabric().GetTransport();
    auto* hybrid = dynamic_cast<weir::HybridTransport*>(&transport);
    auto* packets =
        hybrid ? &hybrid->GetPackets() : dynamic_cast<weir::PacketTransport*>(&transport);
    NS_ABORT_MSG_IF(!packets,
                    "FluidFabric: found a fluid, expected packets (ClusterHelper::SetTransport)");
    return *packets;
}

Ptr<FabricPort>
FluidFabric::GetPort(uint32_t link)
{
    NS_LOG_FUNCTION(this << link);
    Ptr<FabricPort>& port = m_ports[CheckLink(link).Index()];
    if (!port)
    {
        m_driver->Synchronize();
        port = CreateObject<FabricPort>();
        port->Observe(m_driver, GetPackets(), weir::LinkId(link));
    }
    return port;
}

weir::Rate
FluidFabric::GetFlowRate(uint64_t flow)
{
    m_driver->Synchronize();
    return GetFabric().GetTransport().CurrentRate({flow});
}

weir::Fabric&
FluidFabric::GetFabric()
{
    NS_ABORT_MSG_IF(!m_fabric, "FluidFabric: not wired yet");
    return *m_fabric;
}

void
FluidFabric::Observe()
{
    if (m_linkRate.IsEmpty() == m_linkRates)
    {
        m_linkRates = !m_linkRates;
        GetFabric().GetTransport().AddObserver(*this, m_linkRates);
    }
}

weir::DeviceId
FluidFabric::FindDevice(const std::string& name)
{
    const weir::DeviceId id = GetFabric().GetCluster().GetTopology().FindDevice(name);
    NS_ABORT_MSG_IF(!id.IsValid(), "FluidFabric: there is no device '" << name << "'");
    return id;
}

weir::LinkId
FluidFabric::CheckLink(uint32_t link)
{
    NS_ABORT_MSG_IF(link >= GetFabric().GetCluster().GetTopology().LinkCount(),
                    "FluidFabric: there is no link " << link);
    return weir::LinkId(link);
}

void
FluidFabric::OnFlowDone(uint64_t token, weir::Time now)
{
    const Flow flow = std::exchange(m_flows[token], Flow());
    m_flows.Free(static_cast<uint32_t>(token));
    if (!flow.done.IsNull())
    {
        flow.done(flow.number);
    }
}

} // namespace ns3

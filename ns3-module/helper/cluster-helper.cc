// SPDX-License-Identifier: GPL-2.0-only
#include "cluster-helper.h"

#include "ns3/abort.h"
#include "ns3/gpu-server.h"
#include "ns3/node.h"
#include "ns3/pointer.h"
#include "ns3/string.h"

namespace ns3
{

ClusterHelper::ClusterHelper()
    : m_server(CreateObject<ServerDescription>()),
      m_network(CreateObject<NetworkDescription>()),
      m_packets(CreateObject<PacketDescription>()),
      m_congestionControl(CreateObject<CongestionControlDescription>()),
      m_corrections(CreateObject<CorrectionDescription>()),
      m_coupling(CreateObject<CouplingDescription>())
{
}

ClusterHelper::ClusterHelper(const weir::ClusterSpec& spec)
    : ClusterHelper()
{
    m_spec = spec;
    m_server->SetSpec(spec.node);
    m_network->SetSpec(spec.fabric);
}

void
ClusterHelper::SetServerAttribute(const std::string& name, const AttributeValue& value)
{
    m_server->SetAttribute(name, value);
}

void
ClusterHelper::SetNetworkAttribute(const std::string& name, const AttributeValue& value)
{
    m_network->SetAttribute(name, value);
}

void
ClusterHelper::SetTransport(const std::string& transport)
{
    NS_ABORT_MSG_IF(transport != "fluid" && transport != "packet" && transport != "hybrid",
                    "ClusterHelper: transport is '" << transport
                                                    << "', expected one of: fluid, packet, hybrid");
    m_transport = transport;
}

void
ClusterHelper::SetCouplingAttribute(const std::string& name, const AttributeValue& value)
{
    m_coupling->SetAttribute(name, value);
}

void
ClusterHelper::SetPacketLinks(const std::vector<std::string>& links)
{
    m_packetLinks = links;
}

void
ClusterHelper::SetPacketAttribute(const std::string& name, const AttributeValue& value)
{
    m_packets->SetAttribute(name, value);
}

void
ClusterHelper::SetSwitch(const weir::SwitchSpec& spec)
{
    weir::PacketSpec packets = m_packets->GetSpec();
    packets.switches = spec;
    m_packets->SetSpec(packets);
}

void
ClusterHelper::SetCongestionControl(const std::string& kind)
{
    m_congestionControl->SetAttribute("Kind", StringValue(kind));
}

void
ClusterHelper::SetCongestionControlAttribute(const std::string& name, const AttributeValue& value)
{
    m_congestionControl->SetAttribute(name, value);
}

void
ClusterHelper::SetCorrections(const weir::CorrectionSpec& spec)
{
    m_corrections->SetSpec(spec);
}

void
ClusterHelper::SetCorrectionAttribute(const std::string& name, const AttributeValue& value)
{
    m_corrections->SetAttribute(name, value);
}

ClusterContainer
ClusterHelper::Install(uint32_t servers) const
{
    weir::ClusterSpec spec = m_spec;
    spec.nodes = servers;
    spec.node = m_server->GetSpec();
    spec.fabric = m_network->GetSpec();

    Ptr<FluidFabric> fabric = CreateObject<FluidFabric>();
    weir::TransportSpec transport;
    if (m_transport != "fluid")
    {
        transport.packets = m_packets->GetSpec();
        transport.packets->congestionControl = m_congestionControl->GetSpec();
    }
    if (m_transport == "hybrid")
    {
        transport.coupling = m_coupling->GetSpec();
        transport.coupling->links = m_packetLinks;
    }
    fabric->SetAttribute("Corrections", PointerValue(m_corrections));
    fabric->Wire(spec, transport);
    NodeContainer nodes;
    nodes.Create(servers);
    for (uint32_t i = 0; i < servers; i++)
    {
        Ptr<GpuServer> server = CreateObject<GpuServer>();
        server->Attach(fabric, i);
        nodes.Get(i)->AggregateObject(server);
    }
    return ClusterContainer(fabric, nodes);
}

ClusterContainer
ClusterHelper::Install() const
{
    return Install(m_spec.nodes);
}

} // namespace ns3

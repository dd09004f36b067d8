// SPDX-License-Identifier: GPL-2.0-only
#include "cluster-helper.h"

#include "ns3/abort.h"
#include "ns3/gpu-server.h"
#include "ns3/node.h"
#include "ns3/pointer.h"
#include "ns3/string.h"

namespace ns3
{

namespace
{

/**
 * Sets an attribute of a description. Aborts if there is no such attribute, and lists the
 * attributes of single kinds that end with that name.
 */
void
SetOf(Ptr<Object> description, const std::string& name, const AttributeValue& value)
{
    const TypeId tid = description->GetInstanceTypeId();
    TypeId::AttributeInformation found;
    std::string ofKinds;
    for (std::size_t i = 0; i < tid.GetAttributeN(); i++)
    {
        const std::string each = tid.GetAttribute(i).name;
        const bool isOfKind = each.size() > name.size() &&
                              each.compare(each.size() - name.size(), name.size(), name) == 0;
        ofKinds += isOfKind ? (ofKinds.empty() ? "" : ", ") + each : "";
    }
    NS_ABORT_MSG_IF(
        !tid.LookupAttributeByName(name, &found),
        "ClusterHelper: found attribute '"
            << name << "', expected one of " << tid.GetName() << "'s"
            << (ofKinds.empty() ? "" : ", such as one with the prefix of the kind: " + ofKinds));
    description->SetAttribute(name, value);
}

} // namespace

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

ClusterHelper::ClusterHelper(const ClusterHelper& other)
    : m_spec(other.m_spec),
      m_server(CopyObject(other.m_server)),
      m_network(CopyObject(other.m_network)),
      m_packets(CopyObject(other.m_packets)),
      m_congestionControl(CopyObject(other.m_congestionControl)),
      m_corrections(CopyObject(other.m_corrections)),
      m_coupling(CopyObject(other.m_coupling)),
      m_packetLinks(other.m_packetLinks),
      m_transport(other.m_transport)
{
}

ClusterHelper&
ClusterHelper::operator=(const ClusterHelper& other)
{
    return *this = ClusterHelper(other);
}

void
ClusterHelper::SetServerAttribute(const std::string& name, const AttributeValue& value)
{
    SetOf(m_server, name, value);
}

void
ClusterHelper::SetNetworkAttribute(const std::string& name, const AttributeValue& value)
{
    SetOf(m_network, name, value);
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
    SetOf(m_coupling, name, value);
}

void
ClusterHelper::SetPacketAttribute(const std::string& name, const AttributeValue& value)
{
    SetOf(m_packets, name, value);
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
    SetOf(m_congestionControl, name, value);
}

void
ClusterHelper::SetCorrections(const weir::CorrectionSpec& spec)
{
    m_corrections->SetSpec(spec);
}

void
ClusterHelper::SetCorrectionAttribute(const std::string& name, const AttributeValue& value)
{
    SetOf(m_corrections, name, value);
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
    fabric->SetAttribute("Corrections", PointerValue(CopyObject(m_corrections)));
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

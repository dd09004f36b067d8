// SPDX-License-Identifier: GPL-2.0-only
#include "spec-descriptions.h"

#include "fabric/kinds/fabric-kind.h"
#include "fabric/routing/routing-policies.h"
#include "fabric/topology/link-profile.h"
#include "fabric/transport/packet/congestion/congestion-control.h"
#include "fabric/transport/packet/congestion/no-congestion-control.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(ServerDescription);

namespace
{

/**
 * A link profile.
 * @param gbps its raw rate in Gb/s, one direction
 * @param efficiency the fraction of it that carries payload
 * @param nanoseconds its latency
 */
weir::LinkProfile
LinkOf(double gbps, double efficiency, int64_t nanoseconds)
{
    weir::LinkProfile link;
    link.rawRate = weir::Rate::Gbps(gbps);
    link.framing = efficiency;
    link.latency = weir::Time::Nanoseconds(nanoseconds);
    link.source = "attributes of an ns-3 object";
    return link;
}

} // namespace

TypeId
ServerDescription::GetTypeId()
{
    static TypeId tid = MakeParameterizedType<ServerDescription>("ns3::ServerDescription");
    return tid;
}

ServerDescription::ServerDescription()
{
    // An HGX H100 server. The sources of its values, including the measured factors of the
    // efficiencies, are in scenarios/systems/hgx-h100.yaml.
    m_spec.gpuModel = "h100-sxm";
    m_spec.nvlinksPerGpu = 18;
    m_spec.pcieSwitches = 8;
    m_spec.nvlink = LinkOf(200, weir::NvLinkFraming() * 0.927, 150);
    m_spec.pcie = LinkOf(512, weir::PcieEncoding(5) * weir::PcieFraming(256) * 0.94, 150);
    m_spec.pcieUplink = m_spec.pcie;
    m_spec.interSocket = LinkOf(176, 1, 200);
    m_spec.nic = LinkOf(400, weir::InfinibandFraming(4096) * 0.98, 600);
}

void
ServerDescription::SetSpec(const weir::NodeSpec& spec)
{
    m_spec = spec;
}

weir::NodeSpec
ServerDescription::GetSpec() const
{
    weir::NodeSpec spec = m_spec;
    if (spec.wiring == weir::NvLinkWiring::Switched && spec.nvlinksPerGpu == 0)
    {
        spec.wiring = weir::NvLinkWiring::None;
    }
    return spec;
}

std::vector<ParameterComponent>
ServerDescription::GetComponents()
{
    return {{"", this}};
}

void
ServerDescription::VisitParameters(weir::ParameterVisitor& visitor)
{
    constexpr uint32_t MAX_PARTS = 1024;
    visitor.Text({"gpuModel", "Name of the description of the server's GPUs."}, m_spec.gpuModel);
    visitor.Count({"gpus", "Number of GPUs of a server."}, m_spec.gpus, {1, MAX_PARTS});
    visitor.Count(
        {"nvlinksPerGpu", "Number of NVLinks from a GPU to the server's NVSwitches; 0: only PCIe."},
        m_spec.nvlinksPerGpu,
        {0, MAX_PARTS});
    visitor.Count({"pcieSwitches",
                   "Number of PCIe switches of a server, distributed over its sockets; 0: GPUs and "
                   "NICs are attached to the sockets."},
                  m_spec.pcieSwitches,
                  {0, MAX_PARTS});
    visitor.Count(
        {"sockets", "Number of CPU sockets of a server."}, m_spec.sockets, {1, MAX_PARTS});
    visitor.Count({"nics", "Number of network ports of a server."}, m_spec.nics, {0, MAX_PARTS});
    visitor.Link({"nvlink", "A single NVLink."}, m_spec.nvlink);
    visitor.Link({"pcie", "Link from a GPU or NIC to its PCIe switch, with all its lanes."},
                 m_spec.pcie);
    visitor.Link({"pcieUplink", "Link from a PCIe switch to its socket, with all its lanes."},
                 m_spec.pcieUplink);
    visitor.Link({"interSocket", "Link between two sockets."}, m_spec.interSocket);
    visitor.Link({"nic", "Link from a NIC port to its switch."}, m_spec.nic);
}

NS_OBJECT_ENSURE_REGISTERED(NetworkDescription);

TypeId
NetworkDescription::GetTypeId()
{
    static TypeId tid = MakeParameterizedType<NetworkDescription>("ns3::NetworkDescription");
    return tid;
}

NetworkDescription::NetworkDescription()
    : m_kind(
          "kind", "Kind of the network that connects servers:", weir::FabricKinds(), m_spec.kind),
      m_routing("routing",
                "Routing policy by which switches select paths:",
                weir::RoutingPolicies(),
                m_spec.routing)
{
}

void
NetworkDescription::SetSpec(const weir::FabricSpec& spec)
{
    m_spec = spec;
    m_kind.Set(spec.kind);
    m_routing.Set(spec.routing);
}

weir::FabricSpec
NetworkDescription::GetSpec() const
{
    weir::FabricSpec spec = m_spec;
    spec.kind = m_kind.Get();
    spec.routing = m_routing.Get();
    return spec;
}

std::vector<ParameterComponent>
NetworkDescription::GetComponents()
{
    std::vector<ParameterComponent> components{{"", this}};
    m_kind.AddTo(components);
    m_routing.AddTo(components);
    return components;
}

void
NetworkDescription::VisitParameters(weir::ParameterVisitor& visitor)
{
    visitor.Seed({"hashSeed", "Seed of the switches' ECMP hash salts."}, m_spec.hashSeed);
    visitor.Link({"link",
                  "Link between switches; a rate of 0: the same as the NICs' links, including "
                  "efficiency and latency."},
                 m_spec.link);
}

NS_OBJECT_ENSURE_REGISTERED(CongestionControlDescription);

TypeId
CongestionControlDescription::GetTypeId()
{
    static TypeId tid =
        MakeParameterizedType<CongestionControlDescription>("ns3::CongestionControlDescription");
    return tid;
}

CongestionControlDescription::CongestionControlDescription()
    : m_control("kind",
                "Congestion control of queue pairs:",
                weir::CongestionControls(),
                weir::NoCongestionControl())
{
}

weir::Polymorphic<weir::CongestionControl>
CongestionControlDescription::GetSpec() const
{
    return m_control.Get();
}

std::vector<ParameterComponent>
CongestionControlDescription::GetComponents()
{
    std::vector<ParameterComponent> components;
    m_control.AddTo(components);
    return components;
}

NS_OBJECT_ENSURE_REGISTERED(CorrectionDescription);

TypeId
CorrectionDescription::GetTypeId()
{
    static TypeId tid = MakeParameterizedType<CorrectionDescription>("ns3::CorrectionDescription");
    return tid;
}

NS_OBJECT_ENSURE_REGISTERED(CouplingDescription);

TypeId
CouplingDescription::GetTypeId()
{
    static TypeId tid = MakeParameterizedType<CouplingDescription>("ns3::CouplingDescription");
    return tid;
}

NS_OBJECT_ENSURE_REGISTERED(PacketDescription);

TypeId
PacketDescription::GetTypeId()
{
    static TypeId tid = MakeParameterizedType<PacketDescription>("ns3::PacketDescription");
    return tid;
}

PacketDescription::PacketDescription()
{
    m_spec.trafficClasses = 2;
}

} // namespace ns3

// SPDX-License-Identifier: GPL-2.0-only
#include "server-description.h"

#include "fabric/topology/link-profile.h"

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
 * @return the link
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

} // namespace ns3

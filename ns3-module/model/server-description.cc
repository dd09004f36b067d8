// SPDX-License-Identifier: GPL-2.0-only
#include "server-description.h"

#include "ns3/double.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(ServerDescription);

namespace
{

/** One of a server's links, as AddLinkAttributes wants it. */
template <LinkFigures ServerDescription::*LINK>
LinkFigures&
FiguresOf(ObjectBase& object)
{
    return dynamic_cast<ServerDescription&>(object).*LINK;
}

} // namespace

TypeId
ServerDescription::GetTypeId()
{
    // The defaults are an HGX H100 server; the sources of its figures, measured factors of the
    // efficiencies included, are in scenarios/systems/hgx-h100.yaml.
    static TypeId tid =
        TypeId("ns3::ServerDescription")
            .SetParent<Object>()
            .SetGroupName("Weir")
            .AddConstructor<ServerDescription>()
            .AddAttribute("GpuModel",
                          "Name of the description of its GPUs.",
                          StringValue("h100-sxm"),
                          MakeStringAccessor(&ServerDescription::m_gpuModel),
                          MakeStringChecker())
            .AddAttribute("Gpus",
                          "GPUs of a server.",
                          UintegerValue(8),
                          MakeUintegerAccessor(&ServerDescription::m_gpus),
                          MakeUintegerChecker<uint32_t>(1, 1024))
            .AddAttribute("NvlinksPerGpu",
                          "NVLinks from a GPU to the server's NVSwitches; 0: PCIe only.",
                          UintegerValue(18),
                          MakeUintegerAccessor(&ServerDescription::m_nvlinksPerGpu),
                          MakeUintegerChecker<uint32_t>(0, 1024))
            .AddAttribute("PcieSwitches",
                          "PCIe switches of a server, spread over its sockets; 0: GPUs "
                          "and NICs are attached to the sockets.",
                          UintegerValue(8),
                          MakeUintegerAccessor(&ServerDescription::m_pcieSwitches),
                          MakeUintegerChecker<uint32_t>(0, 1024))
            .AddAttribute("Sockets",
                          "Sockets of a server.",
                          UintegerValue(2),
                          MakeUintegerAccessor(&ServerDescription::m_sockets),
                          MakeUintegerChecker<uint32_t>(1, 1024))
            .AddAttribute("Nics",
                          "Network ports of a server.",
                          UintegerValue(8),
                          MakeUintegerAccessor(&ServerDescription::m_nics),
                          MakeUintegerChecker<uint32_t>(0, 1024));
    static TypeId whole = [] {
        const double pcie = weir::PcieEncoding(5) * weir::PcieFraming(256) * 0.94;
        AddLinkAttributes(tid,
                          "Nvlink",
                          "one NVLink",
                          {DataRate("200Gbps"), weir::NvLinkFraming() * 0.927, NanoSeconds(150)},
                          &FiguresOf<&ServerDescription::m_nvlink>);
        AddLinkAttributes(tid,
                          "Pcie",
                          "the link from a GPU or NIC to its PCIe switch, all lanes together",
                          {DataRate("512Gbps"), pcie, NanoSeconds(150)},
                          &FiguresOf<&ServerDescription::m_pcie>);
        AddLinkAttributes(tid,
                          "PcieUplink",
                          "the link from a PCIe switch to its socket, all lanes together",
                          {DataRate("512Gbps"), pcie, NanoSeconds(150)},
                          &FiguresOf<&ServerDescription::m_pcieUplink>);
        AddLinkAttributes(tid,
                          "InterSocket",
                          "the link between two sockets",
                          {DataRate("176Gbps"), 1, NanoSeconds(200)},
                          &FiguresOf<&ServerDescription::m_interSocket>);
        return AddLinkAttributes(
            tid,
            "Nic",
            "the link from a NIC port to its switch",
            {DataRate("400Gbps"), weir::InfinibandFraming(4096) * 0.98, NanoSeconds(600)},
            &FiguresOf<&ServerDescription::m_nic>);
    }();
    return whole;
}

void
ServerDescription::SetSpec(const weir::NodeSpec& spec)
{
    m_spec = spec;
    m_gpuModel = spec.gpuModel;
    m_gpus = spec.gpus;
    m_nvlinksPerGpu = spec.nvlinksPerGpu;
    m_pcieSwitches = spec.pcieSwitches;
    m_sockets = spec.sockets;
    m_nics = spec.nics;
    m_nvlink.Read(spec.nvlink);
    m_pcie.Read(spec.pcie);
    m_pcieUplink.Read(spec.pcieUplink);
    m_interSocket.Read(spec.interSocket);
    m_nic.Read(spec.nic);
}

weir::NodeSpec
ServerDescription::GetSpec() const
{
    weir::NodeSpec spec = m_spec;
    spec.gpuModel = m_gpuModel;
    spec.gpus = m_gpus;
    spec.nvlinksPerGpu = m_nvlinksPerGpu;
    if (spec.wiring == weir::NvLinkWiring::Switched && m_nvlinksPerGpu == 0)
    {
        spec.wiring = weir::NvLinkWiring::None;
    }
    spec.pcieSwitches = m_pcieSwitches;
    spec.sockets = m_sockets;
    spec.nics = m_nics;
    m_nvlink.Write(spec.nvlink);
    m_pcie.Write(spec.pcie);
    m_pcieUplink.Write(spec.pcieUplink);
    m_interSocket.Write(spec.interSocket);
    m_nic.Write(spec.nic);
    return spec;
}

} // namespace ns3

// SPDX-License-Identifier: GPL-2.0-only
#include "server-description.h"

#include "link-figures.h"

#include "ns3/double.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(ServerDescription);

namespace
{

constexpr double MIN_EFFICIENCY = 1e-6; //!< a link that carries nothing is no link

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
                          "and NICs hang on the sockets.",
                          UintegerValue(4),
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
                          MakeUintegerChecker<uint32_t>(0, 1024))
            .AddAttribute("NvlinkRate",
                          "Raw rate of one NVLink, one direction (bits per second).",
                          DataRateValue(DataRate("200Gbps")),
                          MakeDataRateAccessor(&ServerDescription::m_nvlinkRate),
                          MakeDataRateChecker())
            .AddAttribute("NvlinkEfficiency",
                          "Part of the raw rate of one NVLink that carries payload (0 to "
                          "1).",
                          DoubleValue(weir::NvLinkFraming() * 0.927),
                          MakeDoubleAccessor(&ServerDescription::m_nvlinkEfficiency),
                          MakeDoubleChecker<double>(MIN_EFFICIENCY, 1))
            .AddAttribute("NvlinkLatency",
                          "Latency of one NVLink: propagation and the fixed delay at the "
                          "receiving device.",
                          TimeValue(NanoSeconds(150)),
                          MakeTimeAccessor(&ServerDescription::m_nvlinkLatency),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("PcieRate",
                          "Raw rate of the link from a GPU or NIC to its PCIe switch, all"
                          " lanes together, one direction (bits per second).",
                          DataRateValue(DataRate("512Gbps")),
                          MakeDataRateAccessor(&ServerDescription::m_pcieRate),
                          MakeDataRateChecker())
            .AddAttribute("PcieEfficiency",
                          "Part of the raw rate of the link from a GPU or NIC to its PCIe"
                          " switch, all lanes together that carries payload (0 to 1).",
                          DoubleValue(weir::PcieEncoding(5) * weir::PcieFraming(256) * 0.94),
                          MakeDoubleAccessor(&ServerDescription::m_pcieEfficiency),
                          MakeDoubleChecker<double>(MIN_EFFICIENCY, 1))
            .AddAttribute("PcieLatency",
                          "Latency of the link from a GPU or NIC to its PCIe switch, all "
                          "lanes together: propagation and the fixed delay at the "
                          "receiving device.",
                          TimeValue(NanoSeconds(150)),
                          MakeTimeAccessor(&ServerDescription::m_pcieLatency),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("PcieUplinkRate",
                          "Raw rate of the link from a PCIe switch to its socket, all "
                          "lanes together, one direction (bits per second).",
                          DataRateValue(DataRate("512Gbps")),
                          MakeDataRateAccessor(&ServerDescription::m_pcieUplinkRate),
                          MakeDataRateChecker())
            .AddAttribute("PcieUplinkEfficiency",
                          "Part of the raw rate of the link from a PCIe switch to its "
                          "socket, all lanes together that carries payload (0 to 1).",
                          DoubleValue(weir::PcieEncoding(5) * weir::PcieFraming(256) * 0.94),
                          MakeDoubleAccessor(&ServerDescription::m_pcieUplinkEfficiency),
                          MakeDoubleChecker<double>(MIN_EFFICIENCY, 1))
            .AddAttribute("PcieUplinkLatency",
                          "Latency of the link from a PCIe switch to its socket, all "
                          "lanes together: propagation and the fixed delay at the "
                          "receiving device.",
                          TimeValue(NanoSeconds(150)),
                          MakeTimeAccessor(&ServerDescription::m_pcieUplinkLatency),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("InterSocketRate",
                          "Raw rate of the link between two sockets, one direction (bits "
                          "per second).",
                          DataRateValue(DataRate("176Gbps")),
                          MakeDataRateAccessor(&ServerDescription::m_interSocketRate),
                          MakeDataRateChecker())
            .AddAttribute("InterSocketEfficiency",
                          "Part of the raw rate of the link between two sockets that "
                          "carries payload (0 to 1).",
                          DoubleValue(1.0),
                          MakeDoubleAccessor(&ServerDescription::m_interSocketEfficiency),
                          MakeDoubleChecker<double>(MIN_EFFICIENCY, 1))
            .AddAttribute("InterSocketLatency",
                          "Latency of the link between two sockets: propagation and the "
                          "fixed delay at the receiving device.",
                          TimeValue(NanoSeconds(200)),
                          MakeTimeAccessor(&ServerDescription::m_interSocketLatency),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("NicRate",
                          "Raw rate of the link from a NIC port to its switch, one "
                          "direction (bits per second).",
                          DataRateValue(DataRate("400Gbps")),
                          MakeDataRateAccessor(&ServerDescription::m_nicRate),
                          MakeDataRateChecker())
            .AddAttribute("NicEfficiency",
                          "Part of the raw rate of the link from a NIC port to its switch"
                          " that carries payload (0 to 1).",
                          DoubleValue(weir::InfinibandFraming(4096)),
                          MakeDoubleAccessor(&ServerDescription::m_nicEfficiency),
                          MakeDoubleChecker<double>(MIN_EFFICIENCY, 1))
            .AddAttribute("NicLatency",
                          "Latency of the link from a NIC port to its switch: propagation"
                          " and the fixed delay at the receiving device.",
                          TimeValue(NanoSeconds(600)),
                          MakeTimeAccessor(&ServerDescription::m_nicLatency),
                          MakeTimeChecker(Time(0)));
    return tid;
}

ServerDescription::ServerDescription()
{
}

ServerDescription::~ServerDescription()
{
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
    ReadLink(spec.nvlink, m_nvlinkRate, m_nvlinkEfficiency, m_nvlinkLatency);
    ReadLink(spec.pcie, m_pcieRate, m_pcieEfficiency, m_pcieLatency);
    ReadLink(spec.pcieUplink, m_pcieUplinkRate, m_pcieUplinkEfficiency, m_pcieUplinkLatency);
    ReadLink(spec.interSocket, m_interSocketRate, m_interSocketEfficiency, m_interSocketLatency);
    ReadLink(spec.nic, m_nicRate, m_nicEfficiency, m_nicLatency);
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
    WriteLink(spec.nvlink, m_nvlinkRate, m_nvlinkEfficiency, m_nvlinkLatency);
    WriteLink(spec.pcie, m_pcieRate, m_pcieEfficiency, m_pcieLatency);
    WriteLink(spec.pcieUplink, m_pcieUplinkRate, m_pcieUplinkEfficiency, m_pcieUplinkLatency);
    WriteLink(spec.interSocket, m_interSocketRate, m_interSocketEfficiency, m_interSocketLatency);
    WriteLink(spec.nic, m_nicRate, m_nicEfficiency, m_nicLatency);
    return spec;
}

} // namespace ns3

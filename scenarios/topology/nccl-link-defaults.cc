// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/topology/nccl-link-defaults.h"

#include "fabric/topology/link-profile.h"
#include "scenarios/readers/read-gpu.h"
#include "scenarios/readers/read-link-profile.h"
#include "scenarios/yaml/names.h"

#include <algorithm>
#include <cmath>

namespace weir
{
namespace
{

YamlNode
Named(const std::string& name)
{
    return YamlNode::ParseArgument(name, "topology");
}

/** The PCI devices in a GPU's own file, excluding those of its base. */
PciDevices
PciDevicesIn(const YamlNode& file)
{
    return file.ReadOr("pciDevices", PciDevices(), ReadPciDevices);
}

} // namespace

LinkProfile
DefaultNvLink(const ArchitectureFigures& architecture, bool isSwitched)
{
    LinkProfile link;
    link.name = "nvlink";
    link.latency = isSwitched ? architecture.nvswitchLatency : architecture.nvlinkLatency;
    link.rawRate = architecture.nvlinkRate;
    link.framing = NvLinkFraming(architecture.nvlinkHeaderFlits);
    link.measured = architecture.nvlinkNcclRate.ToGBps() / (link.rawRate * link.framing).ToGBps();
    link.source =
        "NVIDIA's white paper of the generation; measured: NCCL 2.30.7 topo.h's rate of a "
        "link; latency: estimate";
    return link;
}

LinkProfile
DefaultPcieSlot(const HostFigures& host, uint32_t generation, uint32_t lanes)
{
    LinkProfile link = host.pcie;
    link.name = PcieName(generation, lanes);
    link.rawRate = PcieRawRate(generation, lanes);
    link.encoding = PcieEncoding(generation);
    link.source += "; generation and lanes of the topology file";
    return link;
}

LinkProfile
DefaultChipToChip(const ArchitectureFigures& architecture, Rate rate)
{
    LinkProfile link;
    link.name = "nvlink-c2c";
    link.rawRate = rate;
    link.latency = architecture.chipToChipLatency;
    link.source = "rate of the topology file; latency: estimate";
    return link;
}

LinkProfile
DefaultInterSocket(const HostFigures& host, uint32_t family, uint32_t model)
{
    const auto found =
        std::find_if(host.socketRates.begin(), host.socketRates.end(), [&](const SocketRate& one) {
            return one.family == family && one.model <= model;
        });
    LinkProfile link = host.sockets;
    link.rawRate = found == host.socketRates.end() ? host.socketRates.back().rate : found->rate;
    return link;
}

LinkProfile
DefaultPort(Rate speed, const TransportFigures& transport)
{
    const NetTransportTraits& traits = TraitsOf(transport.kind);
    LinkProfile link;
    link.rawRate = speed;
    link.latency = transport.latency;
    link.name = traits.name;
    link.framing = traits.framing(transport.mtu);
    link.source = "speed of the topology file; transport: by the device's name; latency: estimate";
    return link;
}

NetTransport
TransportOfDevice(const std::string& device, const Catalog& catalog)
{
    for (const NetTransportTraits& traits : NetTransports())
    {
        for (const std::string& prefix : TransportOf(traits.transport, catalog).devices)
        {
            if (device.rfind(prefix, 0) == 0)
            {
                return traits.transport;
            }
        }
    }
    return NetTransport::Infiniband;
}

const SocketRate&
CpuOf(const HostFigures& host, Rate betweenSockets)
{
    const auto distance = [&](const SocketRate& one) {
        return std::abs(one.rate.ToGBps() - betweenSockets.ToGBps());
    };
    return *std::min_element(
        host.socketRates.begin(),
        host.socketRates.end(),
        [&](const SocketRate& a, const SocketRate& b) { return distance(a) < distance(b); });
}

std::string
GpuOf(const std::string& pciDevice, uint32_t computeCapability, const Catalog& catalog)
{
    std::string typical;
    for (const std::string& name : catalog.Names(CatalogKind::Gpus))
    {
        const YamlNode file = YamlNode::Load(catalog.Find(CatalogKind::Gpus, Named(name)));
        const PciDevices devices = PciDevicesIn(file);
        if (IsAmong(pciDevice, devices.ids))
        {
            return name;
        }
        if (devices.isTypical &&
            file.Get("computeCapability").AsCount(60, 200) == computeCapability)
        {
            typical = name;
        }
    }
    return typical;
}

std::string
PciDeviceOf(const std::string& gpu, const Catalog& catalog)
{
    const PciDevices devices =
        PciDevicesIn(YamlNode::Load(catalog.Find(CatalogKind::Gpus, Named(gpu))));
    return devices.ids.empty() ? "" : devices.ids.front();
}

} // namespace weir

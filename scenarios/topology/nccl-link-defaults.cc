// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/topology/nccl-link-defaults.h"

#include "fabric/topology/net-transport.h"

#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace weir
{
namespace
{

// Latencies that no file states: the catalogue's, estimates all.
const Time NVLINK_SWITCHED = Time::Nanoseconds(150); //!< half of GPU to NVSwitch to GPU
const Time NVLINK_DIRECT = Time::Nanoseconds(300);
const Time PCIE_LATENCY = Time::Nanoseconds(150);
const Time INTER_SOCKET_LATENCY = Time::Nanoseconds(200);
const Time PORT_LATENCY = Time::Nanoseconds(600); //!< adapter, cable and switch together
const Time CHIP_TO_CHIP = Time::Nanoseconds(150);

/** Of what PCIe packets leave: 51.2 GB/s each way at once on an H200, Weir's own measurement. */
constexpr double PCIE_MEASURED = 0.94;
constexpr uint32_t PCIE_MAX_PAYLOAD = 256;

/** NCCL 2.30.7, src/graph/topo.h: Intel's models of family 6 from which on a rate holds. */
struct IntelRate
{
    uint32_t model;
    double gbps; //!< GB/s
};

constexpr std::array<IntelRate, 4> INTEL_RATES{{
    {0xcf, 40}, // Emerald Rapids
    {0x8f, 22}, // Sapphire Rapids
    {0x55, 10}, // Skylake
    {0, 6},     // Broadwell
}};
constexpr double AMD_RATE = 16; //!< topo.h
constexpr double ARM_RATE = 6;  //!< topo.h
constexpr uint32_t INTEL_FAMILY = 6;
constexpr uint32_t BROADWELL = 0x4f;

/** The PCI ID repository (pci.ids), vendor 10de: the first of a GPU is the one that is written. */
constexpr std::array<std::pair<const char*, const char*>, 13> PCI_DEVICES{{
    {"0x1db5", "v100-sxm-32g"}, // V100 SXM2, 32 GB
    {"0x1db1", "v100-sxm-32g"}, // V100 SXM2, 16 GB
    {"0x1db8", "v100-sxm-32g"}, // V100 SXM3, 32 GB
    {"0x20b0", "a100-sxm-40g"},
    {"0x20b2", "a100-sxm-80g"},
    {"0x20f1", "a100-pcie-40g"},
    {"0x2324", "h800-sxm"},
    {"0x2330", "h100-sxm"},
    {"0x2335", "h200-sxm"},
    {"0x2342", "gh200-96g"},
    {"0x2901", "b200-sxm"},
    {"0x2941", "gb200"},
    {"0x3182", "b300-sxm"},
}};

} // namespace

LinkProfile
DefaultNvLink(const ArchitectureFigures& architecture, bool isSwitched)
{
    LinkProfile link;
    link.name = "nvlink";
    link.latency = isSwitched ? NVLINK_SWITCHED : NVLINK_DIRECT;
    link.rawRate = architecture.nvlinkRate;
    link.framing = NvLinkFraming(architecture.nvlinkHeaderFlits);
    link.measured = architecture.nvlinkNcclRate.ToGBps() / (link.rawRate * link.framing).ToGBps();
    link.source =
        "NVIDIA's white paper of the generation; measured: NCCL 2.30.7 topo.h's rate of a "
        "link; latency: estimate";
    return link;
}

LinkProfile
DefaultPcieSlot(uint32_t generation, uint32_t lanes)
{
    LinkProfile link;
    link.name = "pcie" + std::to_string(generation) + "-x" + std::to_string(lanes);
    link.rawRate = PcieRawRate(generation, lanes);
    link.encoding = PcieEncoding(generation);
    link.framing = PcieFraming(PCIE_MAX_PAYLOAD);
    link.measured = PCIE_MEASURED;
    link.latency = PCIE_LATENCY;
    link.source =
        "generation and lanes of the topology file; 256-byte packets and measured: as on "
        "an H200 (51.2 GB/s each way at once); latency: estimate";
    return link;
}

LinkProfile
DefaultChipToChip(Rate rate)
{
    LinkProfile link;
    link.name = "nvlink-c2c";
    link.rawRate = rate;
    link.latency = CHIP_TO_CHIP;
    link.source = "rate of the topology file; latency: estimate";
    return link;
}

LinkProfile
DefaultInterSocket(HostCpu cpu, uint32_t family, uint32_t model)
{
    LinkProfile link;
    link.name = "sockets";
    link.latency = INTER_SOCKET_LATENCY;
    double rate = cpu == HostCpu::Amd ? AMD_RATE : ARM_RATE;
    if (cpu == HostCpu::Intel)
    {
        for (const IntelRate& intel : INTEL_RATES)
        {
            if (family != INTEL_FAMILY || model >= intel.model)
            {
                rate = family == INTEL_FAMILY ? intel.gbps : INTEL_RATES.back().gbps;
                break;
            }
        }
    }
    link.rawRate = Rate::GBps(rate);
    link.source = "NCCL 2.30.7 topo.h's rate between sockets of this processor; latency: estimate";
    return link;
}

CpuModel
CpuOf(HostCpu cpu, Rate betweenSockets)
{
    switch (cpu)
    {
    case HostCpu::Amd:
        return {23, 49}; // EPYC 7002
    case HostCpu::Arm:
        return {0, 0};
    case HostCpu::Intel:
        break;
    }
    const IntelRate* nearest = &INTEL_RATES.front();
    for (const IntelRate& intel : INTEL_RATES)
    {
        if (std::abs(intel.gbps - betweenSockets.ToGBps()) <
            std::abs(nearest->gbps - betweenSockets.ToGBps()))
        {
            nearest = &intel;
        }
    }
    return {INTEL_FAMILY, nearest->model == 0 ? BROADWELL : nearest->model};
}

LinkProfile
DefaultPort(Rate speed, NetTransport transport)
{
    LinkProfile link;
    link.rawRate = speed;
    link.latency = PORT_LATENCY;
    const NetTransportTraits& traits = TraitsOf(transport);
    link.name = traits.name;
    link.framing = traits.framing(traits.defaultMtu);
    link.source = "speed of the topology file; transport: by the device's name; latency: estimate";
    return link;
}

NetTransport
TransportOf(const std::string& device)
{
    for (const auto& [prefix, transport] : {std::pair{"efa", NetTransport::Efa},
                                            std::pair{"rdmap", NetTransport::Efa},
                                            std::pair{"cxi", NetTransport::Slingshot},
                                            std::pair{"hsn", NetTransport::Slingshot},
                                            std::pair{"eth", NetTransport::Tcp},
                                            std::pair{"en", NetTransport::Tcp},
                                            std::pair{"bond", NetTransport::Tcp}})
    {
        if (device.rfind(prefix, 0) == 0)
        {
            return transport;
        }
    }
    return NetTransport::Infiniband;
}

std::string
GpuOf(const std::string& pciDevice, uint32_t computeCapability)
{
    for (const auto& [device, gpu] : PCI_DEVICES)
    {
        if (pciDevice == device)
        {
            return gpu;
        }
    }
    for (const auto& [capability, gpu] : {std::pair{70u, "v100-sxm-32g"},
                                          std::pair{80u, "a100-sxm-80g"},
                                          std::pair{90u, "h100-sxm"},
                                          std::pair{100u, "b200-sxm"},
                                          std::pair{103u, "b300-sxm"}})
    {
        if (computeCapability == capability)
        {
            return gpu;
        }
    }
    return "";
}

std::string
PciDeviceOf(const std::string& gpu)
{
    for (const auto& [device, name] : PCI_DEVICES)
    {
        if (gpu == name)
        {
            return device;
        }
    }
    return "";
}

std::string
DeviceName(NetTransport transport)
{
    return TraitsOf(transport).device;
}

} // namespace weir

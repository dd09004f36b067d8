// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/topology/nccl-xml.h"

#include "fabric/nodes/node-wiring.h"
#include "scenarios/readers/attachments.h"
#include "scenarios/readers/machine-parts.h"
#include "scenarios/readers/read-gpu.h"
#include "scenarios/readers/read-link-profile.h"
#include "scenarios/yaml/input-error.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <pugixml.hpp>
#include <sstream>

namespace weir
{
namespace
{

constexpr const char* GPU_CLASS = "0x030200";
constexpr const char* NIC_CLASS = "0x020000";
constexpr const char* BRIDGE_CLASS = "0x060400";
constexpr const char* NVSWITCH_CLASS = "0x068000";
constexpr const char* CPU_ADDRESS = "0000:00:00.0";      //!< NCCL takes the GPU's own CPU
constexpr const char* HIDDEN_SWITCH = "fffffff:ff:ff.0"; //!< NCCL's name of a hidden switch

/** The PCI address of the @p n-th device. */
std::string
BusId(uint32_t n)
{
    constexpr uint32_t BUSES = 256;
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%04x:%02x:00.0", n / BUSES, n % BUSES);
    return text.data();
}

void
SetSlot(pugi::xml_node& pci, const LinkProfile& slot)
{
    constexpr std::array<const char*, 6> SPEEDS{"2.5 GT/s PCIe",
                                                "5.0 GT/s PCIe",
                                                "8.0 GT/s PCIe",
                                                "16.0 GT/s PCIe",
                                                "32.0 GT/s PCIe",
                                                "64.0 GT/s PCIe"};
    // Several generations may have the same rate: prefer the one in the name, otherwise 16 lanes.
    for (const bool byName : {true, false})
    {
        for (const uint32_t lanes : {16, 8, 4, 2, 1, 32})
        {
            for (uint32_t generation = 1; generation <= SPEEDS.size(); generation++)
            {
                const std::string name = PcieName(generation, lanes);
                if (PcieRawRate(generation, lanes) == slot.rawRate &&
                    PcieEncoding(generation) == slot.encoding &&
                    (!byName || slot.name == name || slot.name == name + "-uplink"))
                {
                    pci.append_attribute("link_speed") = SPEEDS[generation - 1];
                    pci.append_attribute("link_width") = lanes;
                    return;
                }
            }
        }
    }
    throw InputError("PCIe slot " + slot.name + ": found " + std::to_string(slot.rawRate.ToGBps()) +
                     " GB/s, which matches no PCIe generation and number of lanes, expected a rate "
                     "that an NCCL topology can express");
}

/** The processor whose rate between sockets in NCCL's table is closest to @p betweenSockets. */
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

class Writer
{
  public:
    Writer(const ClusterSpec& cluster, const Catalog& catalog)
        : m_node(cluster.node),
          m_catalog(catalog),
          m_attachments(AttachmentsOf(cluster.node))
    {
        m_document.append_child(pugi::node_comment)
            .set_value((" " + cluster.name + ", written by Weir ").c_str());
        m_system = m_document.append_child("system");
        m_system.append_attribute("version") = 1;
    }

    std::string Write()
    {
        for (uint32_t socket = 0; socket < m_node.sockets; socket++)
        {
            pugi::xml_node cpu = m_system.append_child("cpu");
            cpu.append_attribute("numaid") = socket;
            SetCpu(cpu);
            Fill(cpu, PcieParent::Socket, socket);
        }
        for (uint32_t i = 0; i < m_node.gpus; i++)
        {
            AddNvLinks(i);
        }
        std::ostringstream out;
        m_document.save(out, "  ");
        return out.str();
    }

  private:
    void SetCpu(pugi::xml_node& cpu) const
    {
        const bool isX86 = m_node.cpu == HostCpu::Intel || m_node.cpu == HostCpu::Amd;
        const LinkProfile& link = m_node.interSocket;
        const HostFigures host = HostOf(m_node.cpu, m_catalog);
        const SocketRate& model =
            CpuOf(host, link.ncclRate > Rate() ? link.ncclRate : link.rawRate);
        cpu.append_attribute("arch") = isX86                        ? "x86_64"
                                       : m_node.cpu == HostCpu::Arm ? "arm64"
                                                                    : "ppc64";
        if (isX86)
        {
            cpu.append_attribute("vendor") =
                m_node.cpu == HostCpu::Amd ? "AuthenticAMD" : "GenuineIntel";
            cpu.append_attribute("familyid") = model.family;
            cpu.append_attribute("modelid") = model.model;
        }
    }

    /** Adds all devices attached to one socket or switch. */
    void Fill(pugi::xml_node& parent, PcieParent kind, uint32_t index)
    {
        for (const uint32_t i : IndicesOn(kind, index, m_attachments.switches))
        {
            pugi::xml_node pci = AddPci(parent, BRIDGE_CLASS, m_attachments.switches[i]);
            Fill(pci, PcieParent::Switch, i);
        }
        for (const uint32_t i : IndicesOn(kind, index, m_attachments.gpus))
        {
            AddGpu(parent, i);
        }
        for (const uint32_t i : IndicesOn(kind, index, m_attachments.cards))
        {
            AddCard(parent, i);
        }
    }

    pugi::xml_node AddPci(pugi::xml_node& parent,
                          const char* type,
                          const PcieAttachment& attachment)
    {
        pugi::xml_node pci = parent.append_child("pci");
        pci.append_attribute("busid") = BusId(++m_devices).c_str();
        pci.append_attribute("class") = type;
        const bool isChip = m_node.gpuLink && attachment.link->name == m_node.gpuLink->name;
        if (isChip)
        {
            pci.append_attribute("link_speed") = "";
            pci.append_attribute("link_width") = 0;
        }
        else
        {
            SetSlot(pci, *attachment.link);
        }
        return pci;
    }

    /** The number of NVLinks of this generation that a link to a CPU consists of; 0: of none. */
    uint32_t NvLinksIn(const LinkProfile& link) const
    {
        const LinkProfile one =
            NvLinkOf(ArchitectureOf(m_node.computeCapability, m_catalog), false);
        const double count = link.rawRate / one.rawRate;
        const bool isNvLink = link.framing == one.framing && count == std::round(count);
        return isNvLink ? static_cast<uint32_t>(count) : 0;
    }

    void AddGpu(pugi::xml_node& parent, uint32_t index)
    {
        const PcieAttachment& attachment = m_attachments.gpus[index];
        pugi::xml_node pci = AddPci(parent, GPU_CLASS, attachment);
        const std::string device = PciDeviceOf(m_node.gpuModel, m_catalog);
        if (!device.empty())
        {
            pci.append_attribute("vendor") = "0x10de";
            pci.append_attribute("device") = device.c_str();
        }
        pugi::xml_node gpu = pci.append_child("gpu");
        gpu.append_attribute("dev") = index;
        gpu.append_attribute("sm") = m_node.computeCapability;
        gpu.append_attribute("rank") = index;
        gpu.append_attribute("gdr") = 1;
        const bool isChip = m_node.gpuLink && attachment.link->name == m_node.gpuLink->name;
        if (const uint32_t count = isChip ? NvLinksIn(*attachment.link) : 0; count > 0)
        {
            pugi::xml_node link = gpu.append_child("nvlink");
            link.append_attribute("target") = CPU_ADDRESS;
            link.append_attribute("count") = count;
            link.append_attribute("tclass") = NVLINK_CPU_CLASS;
        }
        else if (isChip)
        {
            pugi::xml_node c2c = gpu.append_child("c2c");
            c2c.append_attribute("bw") =
                static_cast<uint32_t>(std::lround(attachment.link->rawRate.ToGBps() * 1000));
            c2c.append_attribute("count") = 1;
        }
        m_gpus.resize(m_node.gpus);
        m_busOfGpu.resize(m_node.gpus);
        m_gpus[index] = gpu;
        m_busOfGpu[index] = pci.attribute("busid").value();
    }

    void AddCard(pugi::xml_node& parent, uint32_t index)
    {
        pugi::xml_node pci = AddPci(parent, NIC_CLASS, m_attachments.cards[index]);
        pugi::xml_node nic = pci.append_child("nic");
        const std::string name = TransportOf(m_node.transport, m_catalog).devices.front();
        for (uint32_t port = 0; port < m_node.portsPerNic; port++)
        {
            const uint32_t dev = index * m_node.portsPerNic + port;
            pugi::xml_node net = nic.append_child("net");
            net.append_attribute("name") = (name + std::to_string(dev)).c_str();
            net.append_attribute("dev") = dev;
            net.append_attribute("speed") =
                static_cast<uint32_t>(std::lround(m_node.nic.rawRate.ToGbps() * 1000));
            net.append_attribute("port") = port + 1;
            net.append_attribute("latency") = "0.000000";
            net.append_attribute("maxconn") = 131072;
            net.append_attribute("gdr") = 1;
        }
    }

    void AddNvLinks(uint32_t index)
    {
        const auto add = [&](const std::string& target, uint32_t count, const char* type) {
            pugi::xml_node link = m_gpus[index].append_child("nvlink");
            link.append_attribute("target") = target.c_str();
            link.append_attribute("count") = count;
            link.append_attribute("tclass") = type;
        };
        if (m_node.wiring == NvLinkWiring::Switched)
        {
            add(HIDDEN_SWITCH, m_node.nvlinksPerGpu, NVSWITCH_CLASS);
        }
        for (const MeshLink& mesh : m_node.meshLinks)
        {
            if (m_node.wiring == NvLinkWiring::Mesh && (mesh.a == index || mesh.b == index))
            {
                add(m_busOfGpu[mesh.a == index ? mesh.b : mesh.a], mesh.links, GPU_CLASS);
            }
        }
    }

    const NodeSpec& m_node;
    const Catalog& m_catalog;
    NodeAttachments m_attachments;
    pugi::xml_document m_document;
    pugi::xml_node m_system;
    uint32_t m_devices{0};
    std::vector<pugi::xml_node> m_gpus;  //!< gpu elements, by GPU
    std::vector<std::string> m_busOfGpu; //!< by GPU
};

} // namespace

std::string
WriteNcclXml(const ClusterSpec& cluster, const Catalog& catalog)
{
    return Writer(cluster, catalog).Write();
}

} // namespace weir

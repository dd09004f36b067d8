// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/topology/nccl-xml.h"

#include "fabric/topology/cluster-spec.h"
#include "scenarios/readers/attachments.h"
#include "scenarios/readers/machine-parts.h"
#include "scenarios/readers/read-gpu.h"
#include "scenarios/readers/read-link-profile.h"
#include "scenarios/yaml/names.h"
#include "scenarios/yaml/xml-element.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace weir
{

namespace
{

constexpr int64_t MAX_LINKS = 1 << 10;

/** A GPU of the file: its pci element and, in a full dump, the gpu element in it. */
struct XmlGpu
{
    XmlElement pci;
    std::optional<XmlElement> gpu;
    PcieAttachment attachment;
    int64_t order; //!< `dev`, or the index in the file
};

/** A network card; its nets are its ports. A template has no nets. */
struct XmlCard
{
    XmlElement element;
    std::vector<XmlElement> nets;
    PcieAttachment attachment;
    int64_t order;
};

/** The devices of an NCCL topology file and their attachment, before they are interpreted. */
struct NcclXmlTree
{
    std::vector<XmlElement> cpus;
    std::vector<PcieAttachment> switches; //!< in file order, parents first
    std::vector<XmlGpu> gpus;             //!< sorted by order
    std::vector<XmlCard> cards;           //!< sorted by order
};

constexpr int64_t MAX_DEVICES = 1 << 16;
constexpr int64_t MAX_LANES = 32;
constexpr uint32_t UNKNOWN_GENERATION = 3; //!< topo.cc: unknown text counts as 8 GT/s
constexpr uint32_t UNKNOWN_WIDTH = 16;     //!< topo.cc, ncclTopoAddPci

/** PCIe generation of a link_speed: "16 GT/s" and "16.0 GT/s PCIe" give 4. */
uint32_t
Generation(const XmlElement& pci)
{
    const std::string text = pci.TextOr("link_speed");
    char* rest = nullptr;
    const double speed = std::strtod(text.c_str(), &rest);
    if (rest == text.c_str()) // empty, "Unknown speed"
    {
        return UNKNOWN_GENERATION;
    }
    constexpr std::array<double, 6> SPEEDS{2.5, 5, 8, 16, 32, 64};
    const auto found = std::find(SPEEDS.begin(), SPEEDS.end(), speed);
    if (found == SPEEDS.end() || std::string(rest).rfind(" GT/s", 0) != 0)
    {
        pci.Fail("link_speed",
                 "found '" + text + "', expected 2.5, 5, 8, 16, 32 or 64 GT/s, or nothing");
    }
    return static_cast<uint32_t>(found - SPEEDS.begin()) + 1;
}

/** A slot with what the file omits, as the other links below: framing, latency, share. */
LinkProfile
PcieSlot(const HostFigures& host, uint32_t generation, uint32_t lanes)
{
    LinkProfile link = host.pcie;
    link.name = PcieName(generation, lanes);
    link.rawRate = PcieRawRate(generation, lanes);
    link.encoding = PcieEncoding(generation);
    link.source += "; generation and lanes of the topology file";
    return link;
}

LinkProfile
SlotOf(const HostFigures& host, const XmlElement& pci)
{
    const bool hasWidth = !pci.TextOr("link_width").empty();
    const auto width =
        hasWidth ? static_cast<uint32_t>(pci.Integer("link_width", 0, MAX_LANES)) : 0;
    return PcieSlot(host, Generation(pci), width == 0 ? UNKNOWN_WIDTH : width);
}

bool
IsClass(const XmlElement& pci, const char* prefix)
{
    return pci.TextOr("class").rfind(prefix, 0) == 0;
}

class Walk
{
  public:
    Walk(NcclXmlTree& tree, const HostFigures& host)
        : m_tree(tree),
          m_host(host)
    {
    }

    /** Adds the children of a cpu, or of a pci that is a switch. */
    void Inside(const XmlElement& parent, const PcieAttachment& attachment)
    {
        for (const XmlElement& child : parent.Children())
        {
            if (child.Name() == "pci")
            {
                Pci(child, attachment);
            }
            else if (child.Name() == "nic" && child.Children("net").size() > 0)
            {
                PcieAttachment slot = attachment; // a network device without a PCI address
                slot.link = PcieSlot(m_host, UNKNOWN_GENERATION, UNKNOWN_WIDTH);
                AddCard(child, child.Children("net"), slot);
            }
            else if (child.Name() == "pcilink")
            {
                child.Fail("", "found a link between PCIe switches, expected a tree of them");
            }
        }
    }

  private:
    void Pci(const XmlElement& pci, PcieAttachment attachment)
    {
        const std::string bus = LowerCase(pci.Text("busid"));
        if (!m_buses.insert(bus).second)
        {
            pci.Fail("busid", "found '" + bus + "' again, expected each once");
        }
        attachment.link = SlotOf(m_host, pci);
        const auto gpus = pci.Children("gpu");
        const auto nics = pci.Children("nic");
        if (!gpus.empty() || (nics.empty() && IsClass(pci, "0x03")))
        {
            AddGpu(pci, gpus, attachment);
        }
        else if (!nics.empty() || IsClass(pci, "0x02"))
        {
            std::vector<XmlElement> nets;
            for (const XmlElement& nic : nics)
            {
                const auto inside = nic.Children("net");
                nets.insert(nets.end(), inside.begin(), inside.end());
            }
            if (nics.empty() || !nets.empty()) // NCCL ignores a nic without nets
            {
                AddCard(pci, nets, attachment);
            }
        }
        else if (!IsClass(pci, "0x0680")) // an NVSwitch only is a target of NVLinks
        {
            m_tree.switches.push_back(attachment);
            const auto index = static_cast<uint32_t>(m_tree.switches.size() - 1);
            Inside(pci, {PcieParent::Switch, index, std::nullopt});
        }
    }

    void AddGpu(const XmlElement& pci,
                const std::vector<XmlElement>& gpus,
                const PcieAttachment& attachment)
    {
        if (gpus.size() > 1)
        {
            gpus[1].Fail("", "found a second GPU at one address, expected one");
        }
        std::optional<XmlElement> gpu;
        auto order = static_cast<int64_t>(m_tree.gpus.size());
        if (!gpus.empty())
        {
            gpu = gpus.front();
            order = gpu->Integer("dev", 0, MAX_DEVICES);
            for (const XmlGpu& other : m_tree.gpus)
            {
                if (other.gpu && other.order == order)
                {
                    gpu->Fail("dev", "found '" + gpu->Text("dev") + "' again, expected each once");
                }
            }
        }
        m_tree.gpus.push_back({pci, gpu, attachment, order});
    }

    void AddCard(const XmlElement& element,
                 const std::vector<XmlElement>& nets,
                 const PcieAttachment& attachment)
    {
        auto order = static_cast<int64_t>(m_tree.cards.size());
        for (std::size_t i = 0; i < nets.size(); i++)
        {
            const int64_t dev = nets[i].Integer("dev", 0, MAX_DEVICES);
            if (!m_nets.insert(dev).second)
            {
                nets[i].Fail("dev",
                             "found '" + nets[i].Text("dev") + "' again, expected each once");
            }
            order = i == 0 ? dev : std::min(order, dev);
        }
        m_tree.cards.push_back({element, nets, attachment, order});
    }

    NcclXmlTree& m_tree;
    const HostFigures& m_host;
    std::set<std::string> m_buses;
    std::set<int64_t> m_nets;
};

/**
 * Reads the tree; every slot has a link profile with the efficiency of @p host.
 * @throws InputError on missing or repeated bus ids and unsupported links.
 */
NcclXmlTree
ReadNcclXmlTree(const XmlElement& system, const HostFigures& host)
{
    NcclXmlTree tree;
    tree.cpus = system.Children("cpu");
    if (tree.cpus.empty())
    {
        system.Fail("", "found no cpu elements, expected at least one");
    }
    Walk walk(tree, host);
    for (std::size_t i = 0; i < tree.cpus.size(); i++)
    {
        walk.Inside(tree.cpus[i], {PcieParent::Socket, static_cast<uint32_t>(i), std::nullopt});
    }
    const auto byOrder = [](const auto& a, const auto& b) { return a.order < b.order; };
    std::stable_sort(tree.gpus.begin(), tree.gpus.end(), byOrder);
    std::stable_sort(tree.cards.begin(), tree.cards.end(), byOrder);
    if (tree.gpus.empty())
    {
        system.Fail("", "found no GPUs, expected gpu elements or pci elements of class 0x03");
    }
    return tree;
}

/** The NVLinks of one GPU: to switches, and to each other GPU; those to its CPU are not counted. */
struct NvLinks
{
    uint32_t toSwitches{0};
    std::map<uint32_t, uint32_t> toGpus;
};

/** How many NVLinks the GPU has to its CPU. */
uint32_t
NvLinksToCpu(const XmlGpu& gpu)
{
    uint32_t count = 0;
    for (const XmlElement& link : gpu.gpu ? gpu.gpu->Children("nvlink") : std::vector<XmlElement>())
    {
        count += link.TextOr("tclass").rfind(NVLINK_CPU_CLASS, 0) == 0
                     ? static_cast<uint32_t>(link.Integer("count", 1, MAX_LINKS))
                     : 0;
    }
    return count;
}

class NvLinkReader
{
  public:
    explicit NvLinkReader(const NcclXmlTree& tree)
        : m_tree(tree)
    {
        for (std::size_t i = 0; i < tree.gpus.size(); i++)
        {
            m_gpuAt[LowerCase(tree.gpus[i].pci.Text("busid"))] = static_cast<uint32_t>(i);
        }
    }

    /**
     * Reads the NVLink wiring from the `nvlink` elements into @p spec: kind of wiring, links per
     * GPU into NVSwitches, direct links.
     * @throws InputError at a target that does not exist, or at links that do not match.
     */
    void Read(NodeSpec& spec)
    {
        for (std::size_t i = 0; i < m_tree.gpus.size(); i++)
        {
            m_links.push_back(LinksOf(static_cast<uint32_t>(i)));
        }
        const bool isSwitched = std::any_of(
            m_links.begin(), m_links.end(), [](const NvLinks& l) { return l.toSwitches > 0; });
        const bool isMesh = std::any_of(
            m_links.begin(), m_links.end(), [](const NvLinks& l) { return !l.toGpus.empty(); });
        spec.wiring = isSwitched ? NvLinkWiring::Switched
                      : isMesh   ? NvLinkWiring::Mesh
                                 : NvLinkWiring::None;
        if (isSwitched)
        {
            ReadSwitched(spec);
        }
        else
        {
            ReadMesh(spec);
        }
    }

  private:
    NvLinks LinksOf(uint32_t gpu) const
    {
        NvLinks links;
        for (const XmlElement& child : m_tree.gpus[gpu].gpu->Children())
        {
            if (child.Name() == "xgmi")
            {
                child.Fail("", "found a link of AMD GPUs, expected nvlink");
            }
            if (child.Name() != "nvlink")
            {
                continue;
            }
            const auto count = static_cast<uint32_t>(child.Integer("count", 1, MAX_LINKS));
            const std::string target = LowerCase(child.Text("target"));
            const std::string kind = child.TextOr("tclass");
            if (kind.rfind(NVLINK_CPU_CLASS, 0) == 0)
            {
                continue;
            }
            const auto found = m_gpuAt.find(target);
            const bool hidden = target.rfind("fffffff:", 0) == 0;
            if (found == m_gpuAt.end() && (hidden || kind.rfind("0x0680", 0) == 0))
            {
                links.toSwitches += count;
                continue;
            }
            if (found == m_gpuAt.end())
            {
                child.Fail("target",
                           "found '" + target +
                               "', which no GPU of the file has, expected the "
                               "busid of a GPU, or tclass 0x068000 for an NVSwitch");
            }
            if (found->second == gpu)
            {
                child.Fail("target", "found '" + target + "', the GPU itself, expected another");
            }
            links.toGpus[found->second] += count;
        }
        return links;
    }

    void ReadSwitched(NodeSpec& spec) const
    {
        spec.nvlinksPerGpu = m_links.front().toSwitches;
        for (std::size_t i = 0; i < m_links.size(); i++)
        {
            const XmlElement& gpu = *m_tree.gpus[i].gpu;
            if (!m_links[i].toGpus.empty())
            {
                gpu.Fail("",
                         "found NVLinks to GPUs beside NVSwitches, expected only one of the two");
            }
            if (m_links[i].toSwitches != spec.nvlinksPerGpu)
            {
                gpu.Fail("",
                         "found " + std::to_string(m_links[i].toSwitches) +
                             " NVLinks into switches, expected " +
                             std::to_string(spec.nvlinksPerGpu) + " as the first GPU has");
            }
        }
    }

    void ReadMesh(NodeSpec& spec) const
    {
        for (uint32_t a = 0; a < m_links.size(); a++)
        {
            for (const auto& [b, count] : m_links[a].toGpus)
            {
                const auto back = m_links[b].toGpus.find(a);
                const uint32_t other = back == m_links[b].toGpus.end() ? 0 : back->second;
                if (other != count)
                {
                    m_tree.gpus[a].gpu->Fail("",
                                             "found " + std::to_string(count) + " NVLinks to GPU " +
                                                 std::to_string(b) + ", which has " +
                                                 std::to_string(other) +
                                                 " in return, expected the same number");
                }
                if (a < b)
                {
                    spec.meshLinks.push_back({a, b, count});
                }
            }
        }
    }

    const NcclXmlTree& m_tree;
    std::map<std::string, uint32_t> m_gpuAt; //!< by bus id
    std::vector<NvLinks> m_links;            //!< by GPU
};

constexpr double MAX_MEGABITS = 1e8;
constexpr double MAX_MEGABYTES = 1e8;

HostCpu
CpuKind(const XmlElement& cpu)
{
    const std::string arch = cpu.Text("arch");
    if (arch == "arm64")
    {
        return HostCpu::Arm;
    }
    if (arch == "ppc64")
    {
        return HostCpu::Power;
    }
    if (arch != "x86_64")
    {
        cpu.Fail("arch", "found '" + arch + "', expected x86_64, arm64 or ppc64");
    }
    const std::string vendor = cpu.Text("vendor");
    if (vendor == "AuthenticAMD")
    {
        return HostCpu::Amd;
    }
    if (vendor != "GenuineIntel")
    {
        cpu.Fail("vendor", "found '" + vendor + "', expected GenuineIntel or AuthenticAMD");
    }
    return HostCpu::Intel;
}

void
ReadSockets(const NcclXmlTree& tree, const HostFigures& host, const NodeSpec* base, NodeSpec& spec)
{
    const XmlElement& cpu = tree.cpus.front();
    spec.sockets = static_cast<uint32_t>(tree.cpus.size());
    spec.cpu = host.vendor;
    const auto id = [&](const char* attribute) {
        return cpu.TextOr(attribute).empty()
                   ? 0
                   : static_cast<uint32_t>(cpu.Integer(attribute, 0, 1 << 16));
    };
    const uint32_t family = id("familyid");
    const uint32_t model = id("modelid");
    const auto known =
        std::find_if(host.socketRates.begin(), host.socketRates.end(), [&](const SocketRate& one) {
            return one.family == family && one.model <= model;
        });
    spec.interSocket = host.sockets;
    spec.interSocket.rawRate =
        known == host.socketRates.end() ? host.socketRates.back().rate : known->rate;
    if (base && base->cpu == spec.cpu && base->sockets > 1)
    {
        spec.interSocket = base->interSocket;
        spec.cpuModel = base->cpuModel;
        spec.socketsPerBoard =
            spec.sockets % std::max(1U, base->socketsPerBoard) == 0 ? base->socketsPerBoard : 0;
    }
}

/** The compute capability common to all gpu elements. @throws InputError when they differ. */
uint32_t
ComputeCapability(const NcclXmlTree& tree)
{
    const auto first = tree.gpus.front().gpu->Integer("sm", 60, 200);
    for (const XmlGpu& gpu : tree.gpus)
    {
        if (gpu.gpu->Integer("sm", 60, 200) != first)
        {
            gpu.gpu->Fail("sm",
                          "found '" + gpu.gpu->Text("sm") + "', expected " + std::to_string(first) +
                              " as the first GPU has");
        }
    }
    return static_cast<uint32_t>(first);
}

void
ReadGpus(const XmlElement& system,
         const NcclXmlTree& tree,
         const NodeSpec* base,
         const Catalog& catalog,
         NodeSpec& spec)
{
    spec.gpus = static_cast<uint32_t>(tree.gpus.size());
    const auto bare = std::find_if(
        tree.gpus.begin(), tree.gpus.end(), [](const XmlGpu& gpu) { return !gpu.gpu; });
    if (bare != tree.gpus.end())
    {
        if (!base)
        {
            bare->pci.Fail("",
                           "found a GPU by its class only, expected a gpu element in it, or a base "
                           "system that says what it is");
        }
        const bool sameCount = base->wiring != NvLinkWiring::Mesh || base->gpus == spec.gpus;
        if (!sameCount)
        {
            system.Fail("",
                        "found " + std::to_string(spec.gpus) + " GPUs, expected " +
                            std::to_string(base->gpus) + " as the base's mesh has");
        }
        spec.gpuModel = base->gpuModel;
        spec.computeCapability = base->computeCapability;
        spec.wiring = base->wiring;
        spec.nvlink = base->nvlink;
        spec.nvlinksPerGpu = base->nvlinksPerGpu;
        spec.meshLinks = base->meshLinks;
        return;
    }
    spec.computeCapability = ComputeCapability(tree);
    NvLinkReader(tree).Read(spec);
    spec.nvlink = spec.wiring == NvLinkWiring::None
                      ? LinkProfile()
                      : NvLinkOf(ArchitectureOf(spec.computeCapability, catalog),
                                 spec.wiring == NvLinkWiring::Switched);
    const XmlGpu& first = tree.gpus.front();
    spec.gpuModel = GpuOfDevice(first.pci.TextOr("device"), spec.computeCapability, catalog);
    if (base && base->computeCapability == spec.computeCapability)
    {
        spec.gpuModel = base->gpuModel;
        spec.nvlink = base->wiring == NvLinkWiring::None ? spec.nvlink : base->nvlink;
    }
    if (spec.gpuModel.empty())
    {
        first.gpu->Fail("sm",
                        "found '" + first.gpu->Text("sm") +
                            "', for which the catalog has no GPU, expected a base system");
    }
}

/** The transport whose device name prefix matches @p device; InfiniBand if none does. */
TransportFigures
TransportOfDevice(const std::string& device, const Catalog& catalog)
{
    for (const NetTransportTraits& traits : NetTransports())
    {
        const TransportFigures transport = TransportOf(traits.transport, catalog);
        for (const std::string& prefix : transport.devices)
        {
            if (device.rfind(prefix, 0) == 0)
            {
                return transport;
            }
        }
    }
    return TransportOf(NetTransport::Infiniband, catalog);
}

LinkProfile
PortOf(const TransportFigures& transport)
{
    const NetTransportTraits& traits = TraitsOf(transport.kind);
    LinkProfile link;
    link.latency = transport.latency;
    link.name = traits.name;
    link.framing = traits.framing(transport.mtu);
    link.source = "speed of the topology file; transport: by the device's name; latency: estimate";
    return link;
}

void
ReadPorts(const NcclXmlTree& tree, const NodeSpec* base, const Catalog& catalog, NodeSpec& spec)
{
    spec.nics = 0;
    const XmlElement* first = nullptr;
    for (const XmlCard& card : tree.cards)
    {
        if (card.nets.empty() && !base)
        {
            card.element.Fail("",
                              "found a NIC by its class only, expected nic and net elements in it, "
                              "or a base system that says its speed");
        }
        const auto ports = static_cast<uint32_t>(card.nets.empty() ? std::max(1U, base->portsPerNic)
                                                                   : card.nets.size());
        spec.portsPerNic = spec.nics == 0 ? ports : spec.portsPerNic;
        if (ports != spec.portsPerNic)
        {
            card.element.Fail("",
                              "found a NIC of " + std::to_string(ports) + " ports, expected " +
                                  std::to_string(spec.portsPerNic) + " as the first has");
        }
        spec.nics += ports;
        for (const XmlElement& net : card.nets)
        {
            const double speed = net.Number("speed", 1, MAX_MEGABITS);
            first = first ? first : &net;
            if (speed != first->Number("speed", 1, MAX_MEGABITS))
            {
                net.Fail("speed",
                         "found '" + net.Text("speed") + "' Mb/s, expected " +
                             first->Text("speed") +
                             " as the first port has: leave out ports that "
                             "NCCL would not use");
            }
        }
    }
    if (spec.nics == 0)
    {
        return;
    }
    if (base && base->nics > 0)
    {
        spec.nic = base->nic;
        spec.transport = base->transport;
        spec.nicHostBridge = base->nicHostBridge;
    }
    if (first)
    {
        const Rate speed = Rate::Gbps(first->Number("speed", 1, MAX_MEGABITS) / 1000);
        if (!base || base->nics == 0)
        {
            const auto transport = TransportOfDevice(first->TextOr("name"), catalog);
            spec.transport = transport.kind;
            spec.nic = PortOf(transport);
        }
        spec.nic.rawRate = speed;
    }
}

/** Copies framing, measured share, latency and source of @p base to slots of its encoding. */
void
TakeEfficiency(std::vector<PcieAttachment>& attachments, const LinkProfile& base)
{
    for (PcieAttachment& attachment : attachments)
    {
        if (attachment.link->encoding == base.encoding)
        {
            attachment.link->framing = base.framing;
            attachment.link->measured = base.measured;
            attachment.link->latency = base.latency;
            attachment.link->source = base.source;
        }
    }
}

/** The GPU's NVLink-C2C link, if its element has one. */
std::optional<LinkProfile>
ChipToChip(const XmlGpu& gpu,
           const NodeSpec* base,
           uint32_t computeCapability,
           const Catalog& catalog)
{
    const auto links = gpu.gpu ? gpu.gpu->Children("c2c") : std::vector<XmlElement>();
    if (links.empty())
    {
        return std::nullopt;
    }
    double megabytes = 0;
    for (const XmlElement& link : links)
    {
        megabytes += link.Number("bw", 1, MAX_MEGABYTES) *
                     static_cast<double>(link.Integer("count", 1, MAX_LINKS));
    }
    LinkProfile link;
    if (base && base->gpuLink)
    {
        link = *base->gpuLink;
    }
    else
    {
        link.name = "nvlink-c2c";
        link.latency = ArchitectureOf(computeCapability, catalog).chipToChipLatency;
        link.source = "rate of the topology file; latency: estimate";
    }
    link.rawRate = Rate::GBps(megabytes / 1000);
    return link;
}

/** The socket or PCIe switch below which, on a socket, a device is. */
PcieAttachment
Topmost(PcieAttachment attachment, const NcclXmlTree& tree)
{
    while (attachment.parent == PcieParent::Switch &&
           tree.switches[attachment.index].parent == PcieParent::Switch)
    {
        attachment = tree.switches[attachment.index];
    }
    return attachment;
}

/**
 * The attachment of a GPU with NVLinks to its CPU, over which NCCL's shortest path to it then is
 * (topo.cc, ncclTopoAddNvLinks); nothing for another GPU.
 * @throws InputError where a NIC is on the GPU's PCIe switch, to which NCCL would use PCIe.
 */
std::optional<PcieAttachment>
OverNvLinks(const XmlGpu& gpu,
            const NcclXmlTree& tree,
            const NodeSpec* base,
            uint32_t computeCapability,
            const Catalog& catalog)
{
    const uint32_t count = NvLinksToCpu(gpu);
    if (count == 0)
    {
        return std::nullopt;
    }
    PcieAttachment attachment = Topmost(gpu.attachment, tree);
    if (attachment.parent == PcieParent::Switch)
    {
        for (const XmlCard& card : tree.cards)
        {
            const PcieAttachment other = Topmost(card.attachment, tree);
            if (other.parent == PcieParent::Switch && other.index == attachment.index)
            {
                card.element.Fail("",
                                  "found a NIC on the PCIe switch of a GPU with NVLinks to its "
                                  "CPU, expected it on the CPU");
            }
        }
        attachment = tree.switches[attachment.index];
    }
    const ArchitectureFigures architecture = ArchitectureOf(computeCapability, catalog);
    LinkProfile link = base && base->gpuLink ? *base->gpuLink : NvLinkOf(architecture, false);
    link.rawRate = architecture.nvlinkRate * count;
    link.ncclRate = architecture.nvlinkNcclRate * count;
    attachment.link = link;
    return attachment;
}

} // namespace

NodeSpec
ReadNcclXml(const std::string& path, const NodeSpec* base, const Catalog& catalog)
{
    const XmlElement system = XmlElement::Load(path, "system");
    const auto cpus = system.Children("cpu");
    const HostFigures host = HostOf(cpus.empty() ? HostCpu::Intel : CpuKind(cpus.front()), catalog);
    const NcclXmlTree tree = ReadNcclXmlTree(system, host);
    NodeSpec spec;
    ReadSockets(tree, host, base, spec);
    ReadGpus(system, tree, base, catalog, spec);
    ReadPorts(tree, base, catalog, spec);
    spec.pcieSwitches = static_cast<uint32_t>(tree.switches.size());

    NodeAttachments attachments;
    attachments.switches = tree.switches;
    std::size_t onChip = 0;
    for (const XmlGpu& gpu : tree.gpus)
    {
        attachments.gpus.push_back(gpu.attachment);
    }
    for (const XmlCard& card : tree.cards)
    {
        attachments.cards.push_back(card.attachment);
    }
    if (base)
    {
        TakeEfficiency(attachments.gpus, base->pcie);
        TakeEfficiency(attachments.cards, base->nicPcie.value_or(base->pcie));
        TakeEfficiency(attachments.switches,
                       base->pcieSwitches > 0 ? base->pcieUplink : base->pcie);
    }
    for (std::size_t i = 0; i < tree.gpus.size(); i++)
    {
        if (const auto link = ChipToChip(tree.gpus[i], base, spec.computeCapability, catalog))
        {
            attachments.gpus[i].link = link;
            onChip++;
        }
        else if (const auto onCpu =
                     OverNvLinks(tree.gpus[i], tree, base, spec.computeCapability, catalog))
        {
            attachments.gpus[i] = *onCpu;
            onChip++;
        }
    }
    SetAttachments(spec, attachments, onChip == tree.gpus.size());
    return spec;
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/topology/show-topology.h"

#include "fabric/nodes/node-wiring.h"
#include "fabric/routing/routing-policies.h"
#include "fabric/routing/routing.h"
#include "fabric/topology/cluster.h"
#include "scenarios/readers/attachments.h"
#include "scenarios/results/text-table.h"
#include "scenarios/topology/topology-style.h"

#include <map>
#include <utility>
#include <vector>

namespace weir
{
namespace
{

std::string
RateText(Rate rate)
{
    return FormatFixed(rate.ToGBps(), 2) + " GB/s";
}

/** "pcie5-x16, 51.23 GB/s". */
std::string
LinkText(const LinkProfile& link)
{
    return link.name + ", " + RateText(link.PayloadRate());
}

std::string
Numbered(const char* name, uint32_t index)
{
    return name + std::to_string(index);
}

/** The PCIe tree of a node, drawn with lines. */
class TreeText
{
  public:
    explicit TreeText(const NodeSpec& node)
        : m_node(node),
          m_attachments(AttachmentsOf(node))
    {
    }

    std::string Print()
    {
        for (uint32_t socket = 0; socket < m_node.sockets; socket++)
        {
            m_text += Numbered("cpu", socket) +
                      (m_node.cpuModel.empty() ? "" : "  " + m_node.cpuModel) + "\n";
            Below(PcieParent::Socket, socket, "");
        }
        return m_text;
    }

  private:
    struct Entry
    {
        std::string words;
        int32_t inside{-1}; //!< index of the switch; -1: not a switch
    };

    void Add(std::vector<Entry>& entries,
             const std::vector<PcieAttachment>& attachments,
             PcieParent parent,
             uint32_t index,
             const char* name) const
    {
        for (const uint32_t i : IndicesOn(parent, index, attachments))
        {
            const std::string link = "  " + LinkText(*attachments[i].link);
            std::string words = Numbered(name, i) + link;
            if (&attachments == &m_attachments.cards)
            {
                words = CardText(i) + link;
                words += m_node.portsPerNic > 1 ? "; each port " : "; port ";
                words += LinkText(m_node.nic);
            }
            entries.push_back(
                {words, &attachments == &m_attachments.switches ? static_cast<int32_t>(i) : -1});
        }
    }

    /** "nic0", or "card0 (nic0 nic1)". */
    std::string CardText(uint32_t card) const
    {
        if (m_node.portsPerNic == 1)
        {
            return Numbered("nic", card);
        }
        std::string ports;
        for (uint32_t port = 0; port < m_node.portsPerNic; port++)
        {
            ports += (port > 0 ? " " : "") + Numbered("nic", card * m_node.portsPerNic + port);
        }
        return Numbered("card", card) + " (" + ports + ")";
    }

    void Below(PcieParent parent, uint32_t index, const std::string& indent)
    {
        std::vector<Entry> entries;
        Add(entries, m_attachments.switches, parent, index, "pcie");
        Add(entries, m_attachments.gpus, parent, index, "gpu");
        Add(entries, m_attachments.cards, parent, index, "nic");
        for (std::size_t i = 0; i < entries.size(); i++)
        {
            const bool isLast = i + 1 == entries.size();
            m_text += indent + (isLast ? "└─ " : "├─ ") + entries[i].words + "\n";
            if (entries[i].inside >= 0)
            {
                Below(PcieParent::Switch,
                      static_cast<uint32_t>(entries[i].inside),
                      indent + (isLast ? "   " : "│  "));
            }
        }
    }

    const NodeSpec& m_node;
    NodeAttachments m_attachments;
    std::string m_text;
};

std::string
NvLinkText(const NodeSpec& node)
{
    switch (node.wiring)
    {
    case NvLinkWiring::None:
        return "NVLink: none\n";
    case NvLinkWiring::Switched:
        return "NVLink: each GPU " + std::to_string(node.nvlinksPerGpu) + " links of " +
               RateText(node.nvlink.PayloadRate()) + " into NVSwitches, " +
               RateText(node.nvlink.PayloadRate() * node.nvlinksPerGpu) + " in total\n";
    case NvLinkWiring::Mesh:
        break;
    }
    std::string text = "NVLink: direct, " + RateText(node.nvlink.PayloadRate()) + " per link\n";
    for (uint32_t gpu = 0; gpu < node.gpus; gpu++)
    {
        std::string peers;
        uint32_t links = 0;
        for (const MeshLink& mesh : node.meshLinks)
        {
            if (mesh.a == gpu || mesh.b == gpu)
            {
                peers += "  " + Numbered("gpu", mesh.a == gpu ? mesh.b : mesh.a) + " x" +
                         std::to_string(mesh.links);
                links += mesh.links;
            }
        }
        text += "  " + Numbered("gpu", gpu) + " (" + std::to_string(links) + "):" + peers + "\n";
    }
    return text;
}

/** nvidia-smi's term for the path between two devices of a node. */
std::string
PathType(const Cluster& cluster, Router& router, DeviceId a, DeviceId b)
{
    const Topology& topology = cluster.GetTopology();
    constexpr uint8_t NVLINK = 1 << static_cast<int>(LinkKind::NvLink);
    constexpr uint8_t INSIDE =
        (1 << static_cast<int>(LinkKind::Pcie)) | (1 << static_cast<int>(LinkKind::InterSocket));
    if (a == b)
    {
        return "X";
    }
    if (router.IsReachable(a, b, NVLINK))
    {
        const auto path = router.RouteOver(a, b, {}, NVLINK);
        const Rate one = cluster.GetSpec().node.nvlink.PayloadRate();
        return "NV" + FormatFixed(topology.GetLink(path.front()).rate / one, 0);
    }
    if (!router.IsReachable(a, b, INSIDE))
    {
        return "-";
    }
    bool passesRoot = false;
    std::size_t switches = 0;
    for (const LinkId id : router.RouteOver(a, b, {}, INSIDE))
    {
        const Link& link = topology.GetLink(id);
        const Device& to = topology.GetDevice(link.to);
        if (link.kind == LinkKind::InterSocket)
        {
            return "SYS";
        }
        passesRoot |= to.kind == DeviceKind::RootComplex;
        switches += to.kind == DeviceKind::PcieSwitch && to.name.find("/pcie") != std::string::npos;
    }
    return passesRoot ? "PHB" : switches > 1 ? "PXB" : "PIX";
}

std::string
PathMatrix(const Cluster& cluster)
{
    constexpr uint32_t WIDEST = 24;
    const uint32_t gpus = cluster.GpusPerNode();
    if (gpus + cluster.NicsPerNode() > WIDEST)
    {
        return "";
    }
    std::vector<std::pair<std::string, DeviceId>> devices;
    for (uint32_t i = 0; i < gpus; i++)
    {
        devices.emplace_back(Numbered("gpu", i), cluster.GpuDevice(GpuId(i)));
    }
    for (uint32_t i = 0; i < cluster.NicsPerNode(); i++)
    {
        devices.emplace_back(Numbered("nic", i), cluster.NicDevice(0, i));
    }
    FabricSpec firstPath;
    firstPath.routing = StaticRouting();
    Routing routing(cluster.GetTopology(), firstPath);
    Router& router = routing.GetRouter();
    TextTable table;
    std::vector<std::string> head{""};
    for (const auto& [name, device] : devices)
    {
        head.push_back(name);
    }
    table.Row(head);
    for (uint32_t i = 0; i < gpus; i++)
    {
        std::vector<std::string> row{devices[i].first};
        for (const auto& [name, device] : devices)
        {
            row.push_back(PathType(cluster, router, devices[i].second, device));
        }
        table.Row(row);
    }
    return table.Print(2);
}

/** ", 4 x 4 x 2, adaptive routing". */
std::string
ShapeText(const FabricSpec& fabric)
{
    if (!fabric.kind->JoinsNodes())
    {
        return "";
    }
    const std::string shape = fabric.kind->Shape();
    return (shape.empty() ? "" : ", " + shape) + ", " + fabric.routing->Name() + " routing";
}

/** The fabric: numbers of switches by kind, and of links by device kinds, profile and rate. */
std::string
FabricText(const Cluster& cluster)
{
    const Topology& topology = cluster.GetTopology();
    std::map<std::string, std::size_t> counts;
    for (std::size_t i = 0; i < topology.LinkCount(); i++)
    {
        const Link& link = topology.GetLink(LinkId(i));
        if (link.kind == LinkKind::Network && IsFirstDirection(topology, LinkId(i)))
        {
            counts[std::string(ToString(topology.GetDevice(link.from).kind)) + " to " +
                   ToString(topology.GetDevice(link.to).kind) + ", " +
                   topology.GetProfileName(link.profile) + ", " + RateText(link.rate)]++;
        }
    }
    std::map<DeviceKind, std::size_t> switches;
    for (std::size_t i = 0; i < topology.DeviceCount(); i++)
    {
        const Device& device = topology.GetDevice(DeviceId(i));
        switches[device.kind] += device.node == Device::NO_NODE;
    }
    const FabricSpec& fabric = cluster.GetSpec().fabric;
    std::string text = "fabric of " + std::to_string(cluster.NodeCount()) +
                       " nodes: " + fabric.kind->Name() + ShapeText(fabric) + "\n";
    for (const auto& [kind, count] : switches)
    {
        if (count > 0)
        {
            text += "  " + std::to_string(count) + " x " + ToString(kind) + "\n";
        }
    }
    for (const auto& [words, count] : counts)
    {
        text += "  " + std::to_string(count) + " x " + words + "\n";
    }
    const std::string figures = fabric.kind->Figures(topology);
    return text + (figures.empty() ? "" : "  " + figures + "\n");
}

} // namespace

std::string
DescribeTopology(const ClusterSpec& cluster)
{
    const Cluster wired(cluster);
    const NodeSpec& node = cluster.node;
    std::string text = cluster.name + ": " + std::to_string(node.gpus) + " x " +
                       GpuLabel(node.gpuModel) + " per node\n" + TreeText(node).Print();
    if (node.sockets > 1 && node.socketsPerBoard != 1)
    {
        text += "between sockets" +
                (node.socketsPerBoard > 0 ? " of a board of " + std::to_string(node.socketsPerBoard)
                                          : std::string()) +
                ": " + RateText(node.interSocket.PayloadRate()) + "\n";
    }
    if (node.nicHostBridge)
    {
        text += "NIC attached to a socket, both directions combined: " +
                RateText(node.nicHostBridge->PayloadRate()) + "\n";
    }
    return text + NvLinkText(node) + PathMatrix(wired) + FabricText(wired);
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/topology/draw-topology.h"

#include "fabric/cluster.h"
#include "scenarios/results/text-table.h"
#include "scenarios/topology/node-layout.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>
#include <vector>

namespace weir
{
namespace
{

// Pixels.
constexpr double TITLE = 44;
constexpr double TIER = 96;
constexpr double MARGIN = 24;
constexpr double BOX_HEIGHT = 20;
constexpr double PORT = 15;      //!< between the ports of a collapsed node
constexpr double COLLAPSED = 64; //!< height of a collapsed node
constexpr double SWITCH_WIDTH = 64;
constexpr double LEGEND_ROW = 22;
constexpr double LEGEND_SAMPLE = 46;
constexpr double WIDTH_OF_ONE = 0.45; //!< of a line of 1 GB/s

constexpr const char* NVLINK = "#2f9e44";
constexpr const char* PCIE = "#2f6db5";
constexpr const char* BETWEEN_SOCKETS = "#8e44ad";
constexpr const char* NETWORK = "#d9822b";

const char*
ColorOf(LinkKind kind)
{
    switch (kind)
    {
    case LinkKind::NvLink:
        return NVLINK;
    case LinkKind::Pcie:
        return PCIE;
    case LinkKind::InterSocket:
        return BETWEEN_SOCKETS;
    case LinkKind::Network:
        break;
    }
    return NETWORK;
}

const char*
FillOf(DeviceKind kind)
{
    switch (kind)
    {
    case DeviceKind::Gpu:
        return "#c8e6c9";
    case DeviceKind::NvSwitch:
        return "#a5d6a7";
    case DeviceKind::PcieSwitch:
        return "#bbdefb";
    case DeviceKind::RootComplex:
        return "#d7c4e8";
    case DeviceKind::Nic:
        return "#ffe0b2";
    default:
        return "#ffcc80";
    }
}

double
LineWidth(Rate rate)
{
    return std::max(0.7, WIDTH_OF_ONE * std::sqrt(rate.ToGBps()));
}

std::string
RateText(Rate rate)
{
    return FormatFixed(rate.ToGBps(), 1) + " GB/s";
}

/** "gpu3" of "node0/gpu3". */
std::string
InNode(const std::string& name)
{
    return name.substr(name.find('/') + 1);
}

class Drawing
{
  public:
    explicit Drawing(const ClusterSpec& spec)
        : m_cluster(spec),
          m_topology(m_cluster.GetTopology()),
          m_node(LayOutNode(spec.node)),
          m_places(m_topology.DeviceCount()),
          m_isDrawn(m_topology.DeviceCount(), false)
    {
        CountKinds();
    }

    std::string Run()
    {
        const ClusterSpec& spec = m_cluster.GetSpec();
        const auto tiers = Tiers();
        m_nodesY = TITLE + TIER * static_cast<double>(tiers.size());
        const double meshWidth = spec.node.wiring == NvLinkWiring::Mesh ? MeshSide() : 0;
        PlaceNodes(meshWidth);
        PlaceTiers(tiers);
        DrawLinks();
        DrawDevices();
        double height = m_nodesY + std::max(m_node.height, COLLAPSED);
        if (meshWidth > 0)
        {
            DrawMesh({MARGIN + m_node.width + MARGIN, m_nodesY}, meshWidth);
            height = std::max(height, m_nodesY + meshWidth);
        }
        m_canvas.Text({MARGIN, 26},
                      spec.name + ": " + std::to_string(spec.nodes) +
                          (spec.nodes == 1 ? " node of " : " nodes of ") +
                          std::to_string(spec.node.gpus) + " " + spec.node.gpuModel,
                      16,
                      "start");
        const double legend = DrawLegend(height + MARGIN);
        return m_canvas.Print(m_width, height + MARGIN + legend);
    }

  private:
    struct LegendEntry
    {
        LinkKind kind;
        std::string profile;
        Rate rate;
        Time latency;
        std::size_t count{0};
    };

    bool IsFirstDirection(LinkId id) const
    {
        const LinkId opposite = m_topology.GetLink(id).opposite;
        return !opposite.IsValid() || id < opposite;
    }

    bool IsInside(const Link& link) const
    {
        return m_topology.GetDevice(link.from).node == 0 && m_topology.GetDevice(link.to).node == 0;
    }

    /** The kinds of links of the first node and of the fabric, by what they are and carry. */
    void CountKinds()
    {
        for (std::size_t i = 0; i < m_topology.LinkCount(); i++)
        {
            const Link& link = m_topology.GetLink(LinkId(i));
            if (!IsFirstDirection(LinkId(i)) || (link.kind != LinkKind::Network && !IsInside(link)))
            {
                continue;
            }
            const std::string& profile = m_topology.GetProfileName(link.profile);
            const auto same =
                std::find_if(m_legend.begin(), m_legend.end(), [&](const LegendEntry& entry) {
                    return entry.kind == link.kind && entry.profile == profile &&
                           entry.rate == link.rate;
                });
            if (same != m_legend.end())
            {
                same->count++;
                continue;
            }
            m_legend.push_back({link.kind, profile, link.rate, link.latency, 1});
        }
    }

    /** Whether most links of that kind and profile carry something else. */
    bool IsUnusual(const Link& link) const
    {
        std::size_t most = 0;
        std::size_t own = 0;
        for (const LegendEntry& entry : m_legend)
        {
            if (entry.kind == link.kind)
            {
                most = std::max(most, entry.count);
                own = entry.rate == link.rate ? std::max(own, entry.count) : own;
            }
        }
        return own * 4 < most;
    }

    /** Switches between nodes, the tier farthest from the nodes first. */
    std::vector<std::vector<DeviceId>> Tiers() const
    {
        std::vector<std::vector<DeviceId>> tiers;
        for (const DeviceKind kind :
             {DeviceKind::CoreSwitch, DeviceKind::SpineSwitch, DeviceKind::LeafSwitch})
        {
            std::vector<DeviceId> tier;
            for (std::size_t i = 0; i < m_topology.DeviceCount(); i++)
            {
                if (m_topology.GetDevice(DeviceId(i)).kind == kind)
                {
                    tier.push_back(DeviceId(i));
                }
            }
            if (!tier.empty())
            {
                tiers.push_back(std::move(tier));
            }
        }
        return tiers;
    }

    void Put(DeviceId device, SvgPoint at)
    {
        m_places[device.Index()] = at;
        m_isDrawn[device.Index()] = true;
    }

    void PlaceNodes(double meshWidth)
    {
        for (std::size_t i = 0; i < m_topology.DeviceCount(); i++)
        {
            const Device& device = m_topology.GetDevice(DeviceId(i));
            const auto place = m_node.places.find(InNode(device.name));
            if (device.node == 0 && place != m_node.places.end())
            {
                Put(DeviceId(i), {MARGIN + place->second.x, m_nodesY + place->second.y});
            }
        }
        m_canvas.Frame({MARGIN, m_nodesY}, m_node.width, m_node.height, "node0");
        const double left =
            MARGIN + m_node.width + MARGIN + (meshWidth > 0 ? meshWidth + MARGIN : 0);
        const uint32_t ports = m_cluster.NicsPerNode();
        const double width = std::max(70.0, (ports + 1) * PORT);
        for (uint32_t node = 1; node < m_cluster.NodeCount(); node++)
        {
            const double x = left + (node - 1) * (width + MARGIN / 2);
            m_canvas.Frame({x, m_nodesY}, width, COLLAPSED, "node" + std::to_string(node));
            for (uint32_t nic = 0; nic < ports; nic++)
            {
                Put(m_cluster.NicDevice(node, nic),
                    {x + (nic + 1) * width / (ports + 1), m_nodesY + 14});
            }
        }
        m_width = left + (m_cluster.NodeCount() - 1) * (width + MARGIN / 2) + MARGIN;
        m_width = std::max(m_width, 640.0);
    }

    void PlaceTiers(const std::vector<std::vector<DeviceId>>& tiers)
    {
        for (const auto& tier : tiers)
        {
            m_width = std::max(m_width,
                               2 * MARGIN + static_cast<double>(tier.size()) * (SWITCH_WIDTH + 8));
        }
        for (std::size_t t = 0; t < tiers.size(); t++)
        {
            const double step = (m_width - 2 * MARGIN) / static_cast<double>(tiers[t].size());
            for (std::size_t i = 0; i < tiers[t].size(); i++)
            {
                Put(tiers[t][i],
                    {MARGIN + (static_cast<double>(i) + 0.5) * step,
                     TITLE + TIER * static_cast<double>(t) + BOX_HEIGHT});
            }
        }
    }

    /** How many links join the same two devices. */
    std::size_t Parallel(const Link& link) const
    {
        const auto& from = m_topology.LinksFrom(link.from);
        return std::count_if(from.begin(), from.end(), [&](LinkId other) {
            return m_topology.GetLink(other).to == link.to;
        });
    }

    void DrawLinks()
    {
        for (std::size_t i = 0; i < m_topology.LinkCount(); i++)
        {
            const Link& link = m_topology.GetLink(LinkId(i));
            const bool isMesh = link.kind == LinkKind::NvLink &&
                                m_topology.GetDevice(link.from).kind == DeviceKind::Gpu &&
                                m_topology.GetDevice(link.to).kind == DeviceKind::Gpu;
            if (!IsFirstDirection(LinkId(i)) || isMesh || !m_isDrawn[link.from.Index()] ||
                !m_isDrawn[link.to.Index()])
            {
                continue;
            }
            DrawLink(link);
        }
    }

    void DrawLink(const Link& link)
    {
        SvgPoint a = m_places[link.from.Index()];
        SvgPoint b = m_places[link.to.Index()];
        const double width = LineWidth(link.rate);
        if (m_topology.GetDevice(link.to).kind == DeviceKind::NvSwitch)
        {
            b.x = a.x; // the switch is as wide as the node
        }
        const double shift =
            (link.lane - (static_cast<double>(Parallel(link)) - 1) / 2) * (width + 2);
        // Sideways of the line, so that wires of one pair stay apart whatever its slope.
        const double length = std::max(1.0, std::hypot(b.x - a.x, b.y - a.y));
        const SvgPoint side{(b.y - a.y) / length * shift, -(b.x - a.x) / length * shift};
        a = {a.x + side.x, a.y + side.y};
        b = {b.x + side.x, b.y + side.y};
        SvgPoint middle{(a.x + b.x) / 2 + 4, (a.y + b.y) / 2};
        const bool isLevel = a.y == b.y && link.kind != LinkKind::Network;
        if (isLevel && link.kind == LinkKind::InterSocket)
        {
            const double rise = 14 + std::abs(a.x - b.x) * 0.07;
            m_canvas.Arc({a.x, a.y - BOX_HEIGHT / 2},
                         {b.x, b.y - BOX_HEIGHT / 2},
                         rise,
                         width,
                         ColorOf(link.kind));
            middle.y -= BOX_HEIGHT / 2 + rise * 0.75 + 3;
        }
        else if (isLevel && m_places[link.from.Index()].y == m_places[link.to.Index()].y &&
                 std::abs(a.x - b.x) > 200)
        {
            m_canvas.Arc(a, b, 14 + std::abs(a.x - b.x) * 0.07, width, ColorOf(link.kind));
        }
        else
        {
            m_canvas.Line(a, b, width, ColorOf(link.kind));
        }
        if (IsUnusual(link))
        {
            middle.y -= isLevel && link.kind == LinkKind::Pcie ? BOX_HEIGHT / 2 + 4 : 0;
            m_canvas.Text(middle, RateText(link.rate), 10, "start", "#b00020");
        }
    }

    void DrawDevices()
    {
        for (std::size_t i = 0; i < m_topology.DeviceCount(); i++)
        {
            const Device& device = m_topology.GetDevice(DeviceId(i));
            if (!m_isDrawn[i])
            {
                continue;
            }
            const SvgPoint at = m_places[i];
            if (device.kind == DeviceKind::NvSwitch)
            {
                m_canvas.Box(
                    at, m_node.width - 2 * MARGIN, BOX_HEIGHT, FillOf(device.kind), "NVSwitches");
                continue;
            }
            if (device.node != Device::NO_NODE && device.node > 0)
            {
                m_canvas.Box(at, PORT - 4, PORT - 4, FillOf(device.kind), "");
                continue;
            }
            const std::string name = InNode(device.name);
            const bool isBridge = name.rfind("bridge", 0) == 0;
            const double width = device.node == Device::NO_NODE ? SWITCH_WIDTH : isBridge ? 28 : 52;
            const std::string word = isBridge ? name.substr(name.find('-') + 1) : Shorten(name, 10);
            m_canvas.Box(at, width, BOX_HEIGHT, FillOf(device.kind), word);
        }
    }

    double MeshSide() const
    {
        return std::max(m_node.height, 200.0 + 28.0 * m_cluster.GpusPerNode());
    }

    /** The GPUs of a mesh in a ring, with their direct links. */
    void DrawMesh(SvgPoint corner, double side)
    {
        const NodeSpec& node = m_cluster.GetSpec().node;
        m_canvas.Frame(corner, side, side, "NVLinks of node0: x of a bundle, (of a GPU)");
        const SvgPoint centre{corner.x + side / 2, corner.y + side / 2 - 6};
        const double radius = side / 2 - 44;
        const auto at = [&](uint32_t gpu) {
            constexpr double TURN = 6.283185307179586;
            const double angle = TURN * (gpu + 0.5) / node.gpus - TURN / 4;
            return SvgPoint{centre.x + radius * std::sin(angle + TURN / 4 - TURN / 2),
                            centre.y + radius * std::cos(angle + TURN / 4 - TURN / 2)};
        };
        std::vector<uint32_t> links(node.gpus, 0); // of all bundles of a GPU
        for (const MeshLink& link : node.meshLinks)
        {
            const SvgPoint a = at(link.a);
            const SvgPoint b = at(link.b);
            const Rate rate = node.nvlink.PayloadRate() * link.links;
            m_canvas.Line(a, b, LineWidth(rate), NVLINK);
            // Off the middle, where the lines of a ring's diameters meet.
            constexpr double ALONG = 0.28;
            const SvgPoint label{a.x + (b.x - a.x) * ALONG + 4, a.y + (b.y - a.y) * ALONG - 3};
            m_canvas.Text(label, "x" + std::to_string(link.links), 12, "start", "#1b5e20");
            links[link.a] += link.links;
            links[link.b] += link.links;
        }
        for (uint32_t gpu = 0; gpu < node.gpus; gpu++)
        {
            m_canvas.Box(at(gpu),
                         64,
                         BOX_HEIGHT,
                         FillOf(DeviceKind::Gpu),
                         "gpu" + std::to_string(gpu) + " (" + std::to_string(links[gpu]) + ")");
        }
    }

    /** @return its height. */
    double DrawLegend(double y)
    {
        std::stable_sort(m_legend.begin(), m_legend.end(), [](const auto& a, const auto& b) {
            return a.kind < b.kind;
        });
        m_canvas.Text({MARGIN, y},
                      "links, as many as drawn; payload rate of one direction; width: its square "
                      "root",
                      11,
                      "start",
                      "#555555");
        double row = y;
        for (const LegendEntry& entry : m_legend)
        {
            row += LEGEND_ROW;
            m_canvas.Line({MARGIN, row - 4},
                          {MARGIN + LEGEND_SAMPLE, row - 4},
                          LineWidth(entry.rate),
                          ColorOf(entry.kind));
            m_canvas.Text({MARGIN + LEGEND_SAMPLE + 10, row},
                          std::to_string(entry.count) + " x " + ToString(entry.kind) + ", " +
                              entry.profile + ": " + RateText(entry.rate) + ", " +
                              FormatFixed(entry.latency.ToMicroseconds() * 1e3, 0) + " ns",
                          12,
                          "start");
        }
        return row - y + MARGIN;
    }

    const Cluster m_cluster;
    const Topology& m_topology;
    NodeLayout m_node;
    std::vector<SvgPoint> m_places; //!< by device
    std::vector<bool> m_isDrawn;    //!< by device
    std::vector<LegendEntry> m_legend;
    SvgCanvas m_canvas;
    double m_nodesY{0};
    double m_width{0};
};

} // namespace

std::string
DrawTopology(const ClusterSpec& cluster)
{
    return Drawing(cluster).Run();
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/topology/show-topology.h"

#include "fabric/topology/cluster.h"
#include "scenarios/results/text-table.h"
#include "scenarios/topology/drawing-layout.h"
#include "scenarios/topology/svg-canvas.h"
#include "scenarios/topology/topology-style.h"
#include "scenarios/yaml/quantity.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace weir
{

namespace
{

/** Draws the GPUs of a mesh on a circle, with their direct links, in a square panel. */
void
DrawMesh(SvgCanvas& canvas, const NodeSpec& node, SvgPoint corner, double side)
{
    canvas.Frame(corner, side, side, "NVLinks of node0: xN per GPU pair, (N) per GPU");
    const SvgPoint centre{corner.x + side / 2, corner.y + side / 2 - 6};
    const double radius = side / 2 - 44;
    const auto at = [&](uint32_t gpu) {
        constexpr double TURN = 6.283185307179586;
        const double angle = TURN * (gpu + 0.5) / node.gpus - TURN / 2;
        return SvgPoint{centre.x + radius * std::sin(angle), centre.y + radius * std::cos(angle)};
    };
    std::vector<uint32_t> links(node.gpus, 0); // NVLinks of each GPU, over all bundles
    for (const MeshLink& link : node.meshLinks)
    {
        const SvgPoint a = at(link.a);
        const SvgPoint b = at(link.b);
        canvas.Line(
            a, b, LineWidth(node.nvlink.PayloadRate() * link.links), ColorOf(LinkKind::NvLink));
        // Off the center, where the diameters of the circle meet.
        constexpr double ALONG = 0.28;
        const SvgPoint label{a.x + (b.x - a.x) * ALONG + 4, a.y + (b.y - a.y) * ALONG - 3};
        canvas.Text(label, "x" + std::to_string(link.links), 12, "start", "#1b5e20");
        links[link.a] += link.links;
        links[link.b] += link.links;
    }
    for (uint32_t gpu = 0; gpu < node.gpus; gpu++)
    {
        canvas.Box(at(gpu),
                   64,
                   BOX_HEIGHT,
                   FillOf(DeviceKind::Gpu),
                   "gpu" + std::to_string(gpu) + " (" + std::to_string(links[gpu]) + ")");
    }
}

// Pixels.
constexpr double TITLE = 44;
constexpr double PORT = 15;      //!< distance between the ports of a collapsed node
constexpr double COLLAPSED = 64; //!< height of a collapsed node
constexpr double MIN_WIDTH = 640;

constexpr const char* PALE_NETWORK = "#efd0ac"; //!< links of NICs drawn behind a grid

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
          m_sketch(spec.fabric.kind->Sketch(m_topology)),
          m_node(LayOutNode(spec.node)),
          m_meshWidth(spec.node.wiring == NvLinkWiring::Mesh
                          ? std::max(m_node.height, 200.0 + 28.0 * m_cluster.GpusPerNode())
                          : 0),
          m_positions(m_topology.DeviceCount()),
          m_isDrawn(m_topology.DeviceCount(), false),
          m_legend(m_topology)
    {
    }

    std::string Run()
    {
        const ClusterSpec& spec = m_cluster.GetSpec();
        const FabricLayout fabric = LayOutFabric(m_sketch, m_topology, NodesWidth());
        m_nodesY = TITLE + fabric.height;
        m_width = std::max(NodesWidth(), fabric.width);
        LayOutNodes();
        LayOutSwitches(fabric);
        DrawLinks();
        DrawDevices();
        double height = m_nodesY + std::max(m_node.height, COLLAPSED);
        if (m_meshWidth > 0)
        {
            DrawMesh(m_canvas, spec.node, {MARGIN + m_node.width + MARGIN, m_nodesY}, m_meshWidth);
            height = std::max(height, m_nodesY + m_meshWidth);
        }
        m_canvas.Text({MARGIN, 26},
                      spec.name + ": " + FormatNodes(spec.nodes) + " of " +
                          std::to_string(spec.node.gpus) + " " + GpuLabel(spec.node.gpuModel),
                      16,
                      "start");
        const double legend = m_legend.Draw(m_canvas, MARGIN, height + MARGIN);
        return m_canvas.Print(m_width, height + MARGIN + legend);
    }

  private:
    void Put(DeviceId device, SvgPoint at)
    {
        m_positions[device.Index()] = at;
        m_isDrawn[device.Index()] = true;
    }

    double CollapsedWidth() const
    {
        return std::max(70.0, (m_cluster.NicsPerNode() + 1) * PORT);
    }

    /** Left edge of the first collapsed node. */
    double CollapsedLeft() const
    {
        return MARGIN + m_node.width + MARGIN + (m_meshWidth > 0 ? m_meshWidth + MARGIN : 0);
    }

    double NodesWidth() const
    {
        const double collapsed = (m_cluster.NodeCount() - 1) * (CollapsedWidth() + MARGIN / 2);
        return std::max(CollapsedLeft() + collapsed + MARGIN, MIN_WIDTH);
    }

    void LayOutNodes()
    {
        for (std::size_t i = 0; i < m_topology.DeviceCount(); i++)
        {
            const Device& device = m_topology.GetDevice(DeviceId(i));
            const auto position = m_node.positions.find(InNode(device.name));
            if (device.node == 0 && position != m_node.positions.end())
            {
                Put(DeviceId(i), {MARGIN + position->second.x, m_nodesY + position->second.y});
            }
        }
        m_canvas.Frame({MARGIN, m_nodesY}, m_node.width, m_node.height, "node0");
        const uint32_t ports = m_cluster.NicsPerNode();
        const double width = CollapsedWidth();
        for (uint32_t node = 1; node < m_cluster.NodeCount(); node++)
        {
            const double x = CollapsedLeft() + (node - 1) * (width + MARGIN / 2);
            m_canvas.Frame({x, m_nodesY}, width, COLLAPSED, "node" + std::to_string(node));
            for (uint32_t nic = 0; nic < ports; nic++)
            {
                Put(m_cluster.NicDevice(node, nic),
                    {x + (nic + 1) * width / (ports + 1), m_nodesY + 14});
            }
        }
        LayOutHosts();
    }

    /** Places hosts that stand for whole nodes (`graph`) above their nodes. */
    void LayOutHosts()
    {
        const double width = CollapsedWidth();
        for (std::size_t i = 0; i < m_topology.DeviceCount(); i++)
        {
            const Device& device = m_topology.GetDevice(DeviceId(i));
            if (device.kind == DeviceKind::LeafSwitch && device.node != Device::NO_NODE)
            {
                const double left = CollapsedLeft() - width - MARGIN / 2;
                const double x = device.node == 0
                                     ? MARGIN + m_node.width / 2
                                     : left + device.node * (width + MARGIN / 2) + width / 2;
                Put(DeviceId(i), {x, m_nodesY - SWITCH_HEIGHT});
                m_words.emplace_back(DeviceId(i), Shorten(device.name, 10));
            }
        }
    }

    /** Centers the switches in the picture. */
    void LayOutSwitches(const FabricLayout& fabric)
    {
        const double left = (m_width - fabric.width) / 2;
        for (const PositionedFrame& frame : fabric.frames)
        {
            m_canvas.Frame({left + frame.corner.x, TITLE + frame.corner.y},
                           frame.width,
                           frame.height,
                           frame.word);
        }
        for (const PositionedSwitch& each : fabric.switches)
        {
            Put(each.device, {left + each.at.x, TITLE + each.at.y});
            m_words.emplace_back(each.device, each.word);
        }
    }

    /** Number of parallel links between the two devices of @p link. */
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
            if (IsFirstDirection(m_topology, LinkId(i)) && !isMesh &&
                m_isDrawn[link.from.Index()] && m_isDrawn[link.to.Index()])
            {
                DrawLink(link);
            }
        }
    }

    /** Whether a straight line between two switches would pass behind other devices. */
    bool PassesOthers(const Link& link, SvgPoint a, SvgPoint b) const
    {
        const bool areSwitches = m_topology.GetDevice(link.from).node == Device::NO_NODE &&
                                 m_topology.GetDevice(link.to).node == Device::NO_NODE;
        if (!areSwitches || (std::abs(a.y - b.y) > 1 && std::abs(a.x - b.x) > 1))
        {
            return false;
        }
        return HasBetween(a, b);
    }

    /** Whether the center of a drawn device lies between two points of the same row or column. */
    bool HasBetween(SvgPoint a, SvgPoint b) const
    {
        for (std::size_t i = 0; i < m_positions.size(); i++)
        {
            const SvgPoint& c = m_positions[i];
            const bool isBetween = (c.x - a.x) * (c.x - b.x) + (c.y - a.y) * (c.y - b.y) < -1;
            const bool isLevel = std::abs(a.y - b.y) <= 1 ? std::abs(c.y - a.y) < BOX_HEIGHT / 2
                                                          : std::abs(c.x - a.x) < SWITCH_WIDTH / 2;
            if (m_isDrawn[i] && isBetween && isLevel)
            {
                return true;
            }
        }
        return false;
    }

    /**
     * Draws an arc between switches of the same row or column.
     * @return the position of its label.
     */
    SvgPoint DrawAround(const Link& link, SvgPoint a, SvgPoint b, double shift)
    {
        const double width = LineWidth(link.rate);
        if (std::abs(a.y - b.y) <= 1)
        {
            const double rise = 14 + std::abs(a.x - b.x) * 0.2 + shift;
            m_canvas.Arc({a.x, a.y - BOX_HEIGHT / 2},
                         {b.x, b.y - BOX_HEIGHT / 2},
                         rise,
                         width,
                         ColorOf(link.kind));
            return {(a.x + b.x) / 2, a.y - BOX_HEIGHT / 2 - rise * 0.75 - 3};
        }
        const double reach = 18 + std::abs(a.y - b.y) * 0.08 + shift;
        const double x = a.x + SWITCH_WIDTH / 2;
        m_canvas.SideArc({x, a.y}, {x, b.y}, reach, width, ColorOf(link.kind));
        return {x + reach, (a.y + b.y) / 2};
    }

    void DrawLink(const Link& link)
    {
        SvgPoint a = m_positions[link.from.Index()];
        SvgPoint b = m_positions[link.to.Index()];
        const double width = LineWidth(link.rate);
        if (m_topology.GetDevice(link.to).kind == DeviceKind::NvSwitch)
        {
            b.x = a.x; // the NVSwitch box is as wide as the node
        }
        const double shift =
            (link.parallel - (static_cast<double>(Parallel(link)) - 1) / 2) * (width + 2);
        if (PassesOthers(link, a, b))
        {
            NoteIfAtypical(link, DrawAround(link, a, b, shift));
            return;
        }
        // Shift perpendicular to the line, so that parallel links stay apart at any slope.
        const double length = std::max(1.0, std::hypot(b.x - a.x, b.y - a.y));
        const SvgPoint side{(b.y - a.y) / length * shift, -(b.x - a.x) / length * shift};
        a = {a.x + side.x, a.y + side.y};
        b = {b.x + side.x, b.y + side.y};
        SvgPoint middle{(a.x + b.x) / 2 + 4, (a.y + b.y) / 2};
        const bool isLevel = a.y == b.y && link.kind != LinkKind::Network;
        const double rise = 14 + std::abs(a.x - b.x) * 0.07;
        if (isLevel && link.kind == LinkKind::InterSocket)
        {
            m_canvas.Arc({a.x, a.y - BOX_HEIGHT / 2},
                         {b.x, b.y - BOX_HEIGHT / 2},
                         rise,
                         width,
                         ColorOf(link.kind));
            middle.y -= BOX_HEIGHT / 2 + rise * 0.75 + 3;
        }
        else if (isLevel && HasBetween(a, b))
        {
            m_canvas.Arc({a.x, a.y + BOX_HEIGHT / 2},
                         {b.x, b.y + BOX_HEIGHT / 2},
                         -rise,
                         width,
                         ColorOf(link.kind));
        }
        else
        {
            m_canvas.Line(a, b, width, IsBehindGrid(link) ? PALE_NETWORK : ColorOf(link.kind));
        }
        middle.y -= isLevel && link.kind == LinkKind::Pcie ? BOX_HEIGHT / 2 + 4 : 0;
        NoteIfAtypical(link, middle);
    }

    bool IsBehindGrid(const Link& link) const
    {
        return m_sketch.style == SketchStyle::Grid && link.kind == LinkKind::Network &&
               (m_topology.GetDevice(link.from).kind == DeviceKind::Nic ||
                m_topology.GetDevice(link.to).kind == DeviceKind::Nic);
    }

    void NoteIfAtypical(const Link& link, SvgPoint at)
    {
        if (m_legend.IsAtypical(link))
        {
            m_canvas.Text(at, RateLabel(link.rate), 10, "start", "#b00020");
        }
    }

    void DrawDevices()
    {
        for (const auto& [device, word] : m_words)
        {
            m_canvas.Box(m_positions[device.Index()],
                         SWITCH_WIDTH,
                         SWITCH_HEIGHT,
                         FillOf(m_topology.GetDevice(device).kind),
                         word);
        }
        for (std::size_t i = 0; i < m_topology.DeviceCount(); i++)
        {
            const Device& device = m_topology.GetDevice(DeviceId(i));
            if (!m_isDrawn[i] || device.node == Device::NO_NODE ||
                device.kind == DeviceKind::LeafSwitch)
            {
                continue;
            }
            const SvgPoint at = m_positions[i];
            if (device.kind == DeviceKind::NvSwitch)
            {
                m_canvas.Box(
                    at, m_node.width - 2 * MARGIN, BOX_HEIGHT, FillOf(device.kind), "NVSwitches");
                continue;
            }
            if (device.node > 0)
            {
                m_canvas.Box(at, PORT - 4, PORT - 4, FillOf(device.kind), "");
                continue;
            }
            const std::string name = InNode(device.name);
            const bool isBridge = name.rfind("bridge", 0) == 0;
            const std::string word = isBridge ? name.substr(name.find('-') + 1) : Shorten(name, 10);
            m_canvas.Box(at, isBridge ? 28 : 52, BOX_HEIGHT, FillOf(device.kind), word);
        }
    }

    const Cluster m_cluster;
    const Topology& m_topology;
    const FabricSketch m_sketch;
    NodeLayout m_node;
    const double m_meshWidth;          //!< of the panel of direct NVLinks; 0: none
    std::vector<SvgPoint> m_positions; //!< by device
    std::vector<bool> m_isDrawn;       //!< by device
    LinkLegend m_legend;
    std::vector<std::pair<DeviceId, std::string>>
        m_words; //!< labels of switches and of hosts for nodes
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

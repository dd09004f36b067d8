// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/topology/drawing-layout.h"

#include "fabric/nodes/node-wiring.h"
#include "scenarios/readers/attachments.h"
#include "scenarios/results/text-table.h"
#include "scenarios/topology/topology-style.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace weir
{
namespace
{

// Pixels, between nodes.
constexpr double TIER = 96;
constexpr double STEP = SWITCH_WIDTH + 16; //!< distance between adjacent switches of a row
constexpr double ROW = 64;                 //!< distance between adjacent rows of a grid
constexpr double MIN_ARC_ROOM = 30;

/** Number of rows (columns, parts) of the sketch, by the member that @p number selects. */
uint32_t
CountOf(const FabricSketch& sketch, uint32_t SketchedSwitch::*number)
{
    uint32_t count = 0;
    for (const SketchedSwitch& each : sketch.switches)
    {
        count = std::max(count, each.*number + 1);
    }
    return count;
}

/** The switches of each row, over all parts. */
std::vector<std::vector<const SketchedSwitch*>>
RowsOf(const FabricSketch& sketch)
{
    std::vector<std::vector<const SketchedSwitch*>> rows(CountOf(sketch, &SketchedSwitch::row));
    for (const SketchedSwitch& each : sketch.switches)
    {
        rows[each.row].push_back(&each);
    }
    return rows;
}

FabricLayout
LayOutTiers(const FabricSketch& sketch, double minWidth)
{
    const auto tiers = RowsOf(sketch);
    FabricLayout layout;
    layout.width = minWidth;
    for (const auto& tier : tiers)
    {
        layout.width = std::max(layout.width,
                                2 * MARGIN + static_cast<double>(tier.size()) * (SWITCH_WIDTH + 8));
    }
    for (std::size_t t = 0; t < tiers.size(); t++)
    {
        const double step = (layout.width - 2 * MARGIN) / static_cast<double>(tiers[t].size());
        for (std::size_t i = 0; i < tiers[t].size(); i++)
        {
            layout.switches.push_back({tiers[t][i]->device,
                                       {MARGIN + (static_cast<double>(i) + 0.5) * step,
                                        TIER * static_cast<double>(t) + SWITCH_HEIGHT},
                                       Shorten(tiers[t][i]->label, 10)});
        }
    }
    layout.height = TIER * static_cast<double>(tiers.size());
    return layout;
}

/** Height of the arcs over @p width pixels; must match Drawing::DrawAround. */
double
ArcRoom(double width)
{
    return MIN_ARC_ROOM + width * 0.15;
}

/** Groups with smaller numbers are drawn; later ones only if a node is attached to them. */
constexpr uint32_t GROUPS_ALWAYS_DRAWN = 3;

bool
HasNics(const Topology& topology, DeviceId device)
{
    const auto& links = topology.LinksFrom(device);
    return std::any_of(links.begin(), links.end(), [&](LinkId link) {
        return topology.GetDevice(topology.GetLink(link).to).kind == DeviceKind::Nic;
    });
}

/** The switches of each drawn group, by group number. @param leftOut number of groups not drawn */
std::map<uint32_t, std::vector<const SketchedSwitch*>>
DrawnGroups(const FabricSketch& sketch, const Topology& topology, std::size_t& leftOut)
{
    std::map<uint32_t, std::vector<const SketchedSwitch*>> groups;
    for (const SketchedSwitch& each : sketch.switches)
    {
        groups[each.part].push_back(&each);
    }
    const std::size_t all = groups.size();
    for (auto group = groups.begin(); group != groups.end();)
    {
        const bool isUsed =
            std::any_of(group->second.begin(), group->second.end(), [&](const auto* each) {
                return HasNics(topology, each->device);
            });
        group =
            isUsed || group->first < GROUPS_ALWAYS_DRAWN ? std::next(group) : groups.erase(group);
    }
    leftOut = all - groups.size();
    return groups;
}

FabricLayout
LayOutGroups(const FabricSketch& sketch, const Topology& topology)
{
    std::size_t leftOut = 0;
    const auto groups = DrawnGroups(sketch, topology, leftOut);
    const uint32_t rows = CountOf(sketch, &SketchedSwitch::row);
    const auto sizeOf = [](const std::vector<const SketchedSwitch*>& group, uint32_t row) {
        return static_cast<double>(std::count_if(
            group.begin(), group.end(), [&](const auto* each) { return each->row == row; }));
    };
    FabricLayout layout;
    double widest = 0; // width of the widest row of any group
    for (const auto& [number, group] : groups)
    {
        for (uint32_t row = 0; row < rows; row++)
        {
            widest = std::max(widest, sizeOf(group, row) * STEP);
        }
    }
    const double groupWidth = widest + 16;
    layout.width = MARGIN + static_cast<double>(groups.size()) * (groupWidth + MARGIN);
    // Local arcs of a single row stay within the frame; global arcs rise above it.
    const double local = rows > 1 ? TIER * (rows - 1) : ArcRoom(widest);
    const double top =
        groups.size() > 1 ? std::max(0.0, ArcRoom(layout.width) - (rows > 1 ? 0 : local)) : 0;
    double left = MARGIN;
    for (const auto& [number, group] : groups)
    {
        layout.frames.push_back({{left, top},
                                 groupWidth,
                                 local + SWITCH_HEIGHT + 36,
                                 "group" + std::to_string(number)});
        std::vector<double> counts(rows, 0);
        for (const SketchedSwitch* each : group)
        {
            const double step = widest / sizeOf(group, each->row);
            const double down = each->row + 1 == rows ? local : 4 + TIER * each->row;
            layout.switches.push_back(
                {each->device,
                 {left + 8 + (counts[each->row]++ + 0.5) * step, top + SWITCH_HEIGHT + down},
                 each->label});
        }
        left += groupWidth + MARGIN;
    }
    if (leftOut > 0)
    {
        constexpr double NOTE_WIDTH = 190;
        layout.frames.push_back({{left, top},
                                 NOTE_WIDTH,
                                 local + SWITCH_HEIGHT + 36,
                                 std::to_string(leftOut) + " more groups, without nodes"});
        layout.width += NOTE_WIDTH + MARGIN;
    }
    layout.height = top + local + SWITCH_HEIGHT + 36 + MARGIN;
    return layout;
}

/** The center of the switches attached to @p device, shifted off their row or column. */
SvgPoint
Amid(const Topology& topology, DeviceId device, const std::vector<SvgPoint>& positions, double step)
{
    SvgPoint sum;
    double count = 0;
    for (const LinkId link : topology.LinksFrom(device))
    {
        const SvgPoint& at = positions[topology.GetLink(link).to.Index()];
        sum = {sum.x + at.x, sum.y + at.y};
        count++;
    }
    const bool isOfRow = topology.GetLink(topology.LinksFrom(device).front()).dimension == 0;
    return {sum.x / count + (isOfRow ? 0 : step / 2), sum.y / count + (isOfRow ? ROW / 2 : 0)};
}

/** Panels of rows and columns; switches of a dimension lie among those attached to them. */
FabricLayout
LayOutGrid(const FabricSketch& sketch, const Topology& topology)
{
    const uint32_t columns = CountOf(sketch, &SketchedSwitch::column);
    const uint32_t rows = CountOf(sketch, &SketchedSwitch::row);
    const uint32_t panels = CountOf(sketch, &SketchedSwitch::part);
    const bool hasSwitches = std::any_of(sketch.switches.begin(),
                                         sketch.switches.end(),
                                         [](const auto& each) { return each.isBetween; });
    const double step = hasSwitches ? STEP * 2 : STEP; // room for the switches in between
    const double room = ArcRoom(columns * step);       // for wrap-around links
    const double panelWidth = columns * step + 70;
    const double panelHeight = rows * ROW + room + MARGIN;
    const auto across =
        static_cast<uint32_t>(std::ceil(std::sqrt(panels * panelHeight / panelWidth)));
    FabricLayout layout;
    std::vector<SvgPoint> positions(topology.DeviceCount());
    for (const SketchedSwitch& each : sketch.switches)
    {
        if (each.isBetween)
        {
            continue;
        }
        // Panels are shifted vertically against their neighbors, to separate links between their
        // rows.
        const uint32_t aside = each.part % across;
        const SvgPoint at{MARGIN + aside * panelWidth + (each.column + 0.5) * step,
                          each.part / across * panelHeight + room + each.row * ROW + aside * 14.0};
        positions[each.device.Index()] = at;
        layout.switches.push_back({each.device, at, each.label});
    }
    for (const SketchedSwitch& each : sketch.switches)
    {
        if (each.isBetween)
        {
            layout.switches.push_back(
                {each.device, Amid(topology, each.device, positions, step), each.label});
        }
    }
    layout.width = MARGIN + std::min(across, panels) * panelWidth;
    layout.height = std::ceil(static_cast<double>(panels) / across) * panelHeight + MARGIN;
    return layout;
}

// Pixels, in a node.
constexpr double COLUMN = 62; //!< width of one GPU or NIC port
constexpr double NIC_ROW = 30;
constexpr double CARD_ROW = 86; //!< height of cards with several ports, and of host bridges
constexpr double TREE_ROW = 66; //!< height between NICs, sockets, each level of switches, and GPUs
constexpr double NVSWITCH_ROW = 84;
constexpr double BELOW = 40;
constexpr double BRIDGE_HALF = 17; //!< from a host bridge's center to its two boxes

class Layout
{
  public:
    explicit Layout(const NodeSpec& spec)
        : m_spec(spec),
          m_attachments(AttachmentsOf(spec)),
          m_hasCards(spec.nics > 0 && (spec.portsPerNic > 1 || spec.nicHostBridge)),
          m_depth(m_attachments.switches.size(), 0)
    {
        for (std::size_t i = 0; i < m_attachments.switches.size(); i++)
        {
            const PcieAttachment& attachment = m_attachments.switches[i];
            m_depth[i] =
                attachment.parent == PcieParent::Switch ? m_depth[attachment.index] + 1 : 0;
            m_levels = std::max(m_levels, m_depth[i] + 1);
        }
    }

    NodeLayout Run()
    {
        for (uint32_t socket = 0; socket < m_spec.sockets; socket++)
        {
            LayOutSocket(socket);
        }
        const double gpuRow = TreeRow(m_levels) + (m_levels > 1 ? 0 : TREE_ROW * 0.35);
        for (uint32_t i = 0; i < m_spec.gpus; i++)
        {
            At("gpu", i).y = gpuRow;
        }
        m_layout.width = m_cursor + MARGIN;
        m_layout.height = gpuRow + BELOW;
        if (m_spec.wiring == NvLinkWiring::Switched)
        {
            At("nvswitch", 0) = {m_layout.width / 2, gpuRow + NVSWITCH_ROW};
            m_layout.height += NVSWITCH_ROW;
        }
        return m_layout;
    }

  private:
    SvgPoint& At(const char* name, uint32_t index)
    {
        return m_layout.positions[name + std::to_string(index)];
    }

    /** Vertical position of a tree level; sockets and the switches attached to them are level 0. */
    double TreeRow(uint32_t level) const
    {
        const double first = m_hasCards ? CARD_ROW + TREE_ROW : NIC_ROW + TREE_ROW;
        return first + level * TREE_ROW;
    }

    void LayOutSocket(uint32_t socket)
    {
        const auto switches = IndicesOn(PcieParent::Socket, socket, m_attachments.switches);
        for (std::size_t i = 0; i < (switches.size() + 1) / 2; i++)
        {
            LayOutSwitch(switches[i]);
        }
        At("cpu", socket) = {LayOutDevices(PcieParent::Socket, socket), TreeRow(0)};
        for (std::size_t i = (switches.size() + 1) / 2; i < switches.size(); i++)
        {
            LayOutSwitch(switches[i]);
        }
    }

    void LayOutSwitch(uint32_t index)
    {
        At("pcie", index) = {LayOutDevices(PcieParent::Switch, index), TreeRow(m_depth[index])};
        for (const uint32_t below : IndicesOn(PcieParent::Switch, index, m_attachments.switches))
        {
            LayOutSwitch(below);
        }
    }

    /** Lays out the GPUs and ports attached to one device side by side. @return their center. */
    double LayOutDevices(PcieParent parent, uint32_t index)
    {
        const auto gpus = IndicesOn(parent, index, m_attachments.gpus);
        const auto cards = IndicesOn(parent, index, m_attachments.cards);
        const std::size_t ports = cards.size() * m_spec.portsPerNic;
        const double columns = std::max<double>(1, std::max(gpus.size(), ports));
        const double middle = m_cursor + columns * COLUMN / 2;
        const auto column = [&](std::size_t i, std::size_t count) {
            return middle +
                   (static_cast<double>(i) - (static_cast<double>(count) - 1) / 2) * COLUMN;
        };
        for (std::size_t i = 0; i < gpus.size(); i++)
        {
            At("gpu", gpus[i]).x = column(i, gpus.size());
        }
        for (std::size_t i = 0; i < ports; i++)
        {
            const uint32_t card = cards[i / m_spec.portsPerNic];
            const uint32_t port = card * m_spec.portsPerNic + i % m_spec.portsPerNic;
            const SvgPoint at{column(i, ports), NIC_ROW};
            At("nic", port) = at;
            const double share = 1.0 / m_spec.portsPerNic;
            SvgPoint& position = At("card", card);
            position = {position.x + at.x * share, CARD_ROW};
            m_layout.positions["bridge" + std::to_string(card) + "-in"] = {position.x - BRIDGE_HALF,
                                                                           CARD_ROW};
            m_layout.positions["bridge" + std::to_string(card) + "-out"] = {
                position.x + BRIDGE_HALF, CARD_ROW};
        }
        m_cursor += columns * COLUMN;
        return middle;
    }

    const NodeSpec& m_spec;
    NodeAttachments m_attachments;
    bool m_hasCards;
    std::vector<uint32_t> m_depth; //!< by switch: levels below the switch attached to the socket
    uint32_t m_levels{1};
    NodeLayout m_layout;
    double m_cursor{MARGIN};
};

} // namespace

FabricLayout
LayOutFabric(const FabricSketch& sketch, const Topology& topology, double minWidth)
{
    switch (sketch.style)
    {
    case SketchStyle::Tiers:
        break;
    case SketchStyle::Groups:
        return LayOutGroups(sketch, topology);
    case SketchStyle::Grid:
        return LayOutGrid(sketch, topology);
    }
    return LayOutTiers(sketch, minWidth);
}

NodeLayout
LayOutNode(const NodeSpec& spec)
{
    return Layout(spec).Run();
}

} // namespace weir

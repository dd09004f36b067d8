// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/topology/fabric-layout.h"

#include "scenarios/results/text-table.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>

namespace weir
{
namespace
{

// Pixels.
constexpr double MARGIN = 24;
constexpr double TIER = 96;
constexpr double STEP = SWITCH_WIDTH + 16; //!< from switch to switch of a row
constexpr double ROW = 64;                 //!< from row to row of a grid
constexpr double LEAST_ARC_ROOM = 30;

std::vector<DeviceId>
NetworkSwitches(const Topology& topology)
{
    std::vector<DeviceId> switches;
    for (std::size_t i = 0; i < topology.DeviceCount(); i++)
    {
        const Device& device = topology.GetDevice(DeviceId(i));
        if (device.node == Device::NO_NODE)
        {
            switches.emplace_back(i);
        }
    }
    return switches;
}

void
PlaceTiers(FabricLayout& layout,
           const Topology& topology,
           const std::vector<std::vector<DeviceId>>& tiers,
           double leastWidth)
{
    layout.width = leastWidth;
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
            layout.switches.push_back({tiers[t][i],
                                       {MARGIN + (static_cast<double>(i) + 0.5) * step,
                                        TIER * static_cast<double>(t) + SWITCH_HEIGHT},
                                       Shorten(topology.GetDevice(tiers[t][i]).name, 10)});
        }
    }
    layout.height = TIER * static_cast<double>(tiers.size());
}

/** Cores, spines, leaves. */
FabricLayout
LayOutClos(const Topology& topology, double leastWidth)
{
    std::vector<std::vector<DeviceId>> tiers;
    for (const DeviceKind kind :
         {DeviceKind::CoreSwitch, DeviceKind::SpineSwitch, DeviceKind::LeafSwitch})
    {
        std::vector<DeviceId> tier;
        for (const DeviceId device : NetworkSwitches(topology))
        {
            if (topology.GetDevice(device).kind == kind)
            {
                tier.push_back(device);
            }
        }
        if (!tier.empty())
        {
            tiers.push_back(std::move(tier));
        }
    }
    FabricLayout layout;
    PlaceTiers(layout, topology, tiers, leastWidth);
    return layout;
}

/** The switches of a graph by their distance from NICs, the farthest first. */
FabricLayout
LayOutGraph(const Cluster& cluster, double leastWidth)
{
    const Topology& topology = cluster.GetTopology();
    constexpr uint32_t FAR = std::numeric_limits<uint32_t>::max();
    std::vector<uint32_t> distances(topology.DeviceCount(), FAR);
    std::vector<DeviceId> queue;
    for (uint32_t node = 0; node < cluster.NodeCount(); node++)
    {
        for (uint32_t nic = 0; nic < cluster.NicsPerNode(); nic++)
        {
            queue.push_back(cluster.NicDevice(node, nic));
            distances[queue.back().Index()] = 0;
        }
    }
    uint32_t farthest = 0;
    for (std::size_t i = 0; i < queue.size(); i++)
    {
        for (const LinkId id : topology.LinksFrom(queue[i]))
        {
            const Link& link = topology.GetLink(id);
            if (link.kind == LinkKind::Network && distances[link.to.Index()] == FAR)
            {
                farthest = distances[link.to.Index()] = distances[queue[i].Index()] + 1;
                queue.push_back(link.to);
            }
        }
    }
    std::vector<std::vector<DeviceId>> tiers(farthest);
    for (const DeviceId device : NetworkSwitches(topology))
    {
        const uint32_t distance = distances[device.Index()];
        if (distance > 0 && distance != FAR)
        {
            tiers[farthest - distance].push_back(device);
        }
    }
    FabricLayout layout;
    PlaceTiers(layout, topology, tiers, leastWidth);
    return layout;
}

/** How high the arcs over @p width pixels rise; see TopologyDrawing::DrawLink. */
double
ArcRoom(double width)
{
    return LEAST_ARC_ROOM + width * 0.15;
}

/** Groups that no node hangs on, beyond the first few of all, are only counted in a drawing. */
constexpr uint32_t GROUPS_ALWAYS_DRAWN = 3;

bool
HasNics(const Topology& topology, DeviceId device)
{
    const auto& links = topology.LinksFrom(device);
    return std::any_of(links.begin(), links.end(), [&](LinkId link) {
        return topology.GetDevice(topology.GetLink(link).to).kind == DeviceKind::Nic;
    });
}

using GroupSwitches = std::map<DeviceKind, std::vector<DeviceId>>;

/** Takes out of @p groups what is not drawn. @return how many. */
std::size_t
LeaveOutEmpty(std::map<uint32_t, GroupSwitches>& groups, const Topology& topology)
{
    const std::size_t all = groups.size();
    for (auto group = groups.begin(); group != groups.end();)
    {
        const auto& leaves = group->second[DeviceKind::LeafSwitch];
        const bool isUsed = std::any_of(
            leaves.begin(), leaves.end(), [&](DeviceId leaf) { return HasNics(topology, leaf); });
        group =
            isUsed || group->first < GROUPS_ALWAYS_DRAWN ? std::next(group) : groups.erase(group);
    }
    return all - groups.size();
}

FabricLayout
LayOutGroups(const Cluster& cluster)
{
    const Topology& topology = cluster.GetTopology();
    std::map<uint32_t, GroupSwitches> groups;
    for (const DeviceId device : NetworkSwitches(topology))
    {
        const Device& each = topology.GetDevice(device);
        if (each.group != Device::NO_NODE)
        {
            groups[each.group][each.kind].push_back(device);
        }
    }
    const std::size_t leftOut = LeaveOutEmpty(groups, topology);
    FabricLayout layout;
    double widest = 0; // of a group
    bool hasSpines = false;
    for (const auto& [group, kinds] : groups)
    {
        for (const auto& [kind, devices] : kinds)
        {
            widest = std::max(widest, static_cast<double>(devices.size()) * STEP);
            hasSpines = hasSpines || kind == DeviceKind::SpineSwitch;
        }
    }
    const double groupWidth = widest + 16;
    layout.width = MARGIN + static_cast<double>(groups.size()) * (groupWidth + MARGIN);
    // Local arcs stay in the frame, global ones rise above it.
    const double local = hasSpines ? TIER : ArcRoom(widest);
    const double top =
        groups.size() > 1 ? std::max(0.0, ArcRoom(layout.width) - (hasSpines ? 0 : local)) : 0;
    double left = MARGIN;
    for (const auto& [group, kinds] : groups)
    {
        layout.frames.push_back(
            {{left, top}, groupWidth, local + SWITCH_HEIGHT + 36, "group" + std::to_string(group)});
        for (const auto& [kind, devices] : kinds)
        {
            const bool isLow = kind == DeviceKind::LeafSwitch;
            const double step = widest / static_cast<double>(devices.size());
            for (std::size_t i = 0; i < devices.size(); i++)
            {
                const std::string& name = topology.GetDevice(devices[i]).name;
                layout.switches.push_back({devices[i],
                                           {left + 8 + (static_cast<double>(i) + 0.5) * step,
                                            top + SWITCH_HEIGHT + (isLow ? local : 4)},
                                           name.substr(name.find('-') + 1)});
            }
        }
        left += groupWidth + MARGIN;
    }
    if (leftOut > 0)
    {
        constexpr double NOTE_WIDTH = 190;
        layout.frames.push_back({{left, top},
                                 NOTE_WIDTH,
                                 local + SWITCH_HEIGHT + 36,
                                 std::to_string(leftOut) + " groups more, without nodes"});
        layout.width += NOTE_WIDTH + MARGIN;
    }
    layout.height = top + local + SWITCH_HEIGHT + 36 + MARGIN;
    return layout;
}

/** Routers by their places in the dimensions, switches of a dimension among those they join. */
FabricLayout
LayOutGrid(const Cluster& cluster)
{
    const auto& dimensions = cluster.GetSpec().fabric.dimensions;
    const Topology& topology = cluster.GetTopology();
    const uint32_t columns = dimensions[0].size;
    const uint32_t rows = dimensions.size() > 1 ? dimensions[1].size : 1;
    const bool hasSwitches = std::any_of(dimensions.begin(), dimensions.end(), [](const auto& d) {
        return d.kind == DimensionKind::Switch && !d.isInside;
    });
    const double step = hasSwitches ? STEP * 2 : STEP; // their switches stand between columns
    const double room = ArcRoom(columns * step);       // for wires that wrap around
    const double panelWidth = columns * step + 70;
    const double panelHeight = rows * ROW + room + MARGIN;
    uint32_t panels = 1;
    for (std::size_t d = 2; d < dimensions.size(); d++)
    {
        panels *= dimensions[d].size;
    }
    const auto across =
        static_cast<uint32_t>(std::ceil(std::sqrt(panels * panelHeight / panelWidth)));
    FabricLayout layout;
    std::vector<SvgPoint> places(topology.DeviceCount());
    std::vector<DeviceId> middles;
    uint32_t point = 0;
    for (const DeviceId device : NetworkSwitches(topology))
    {
        if (topology.GetDevice(device).kind != DeviceKind::LeafSwitch)
        {
            middles.push_back(device);
            continue;
        }
        const uint32_t column = point % columns;
        const uint32_t row = point / columns % rows;
        const uint32_t panel = point / columns / rows;
        point++;
        // Each panel a little lower than its neighbour, so that wires between rows of both part.
        const SvgPoint at{MARGIN + panel % across * panelWidth + (column + 0.5) * step,
                          panel / across * panelHeight + room + row * ROW + panel % across * 14.0};
        places[device.Index()] = at;
        layout.switches.push_back(
            {device, at, topology.GetDevice(device).name.substr(std::string("router").size())});
    }
    for (const DeviceId device : middles)
    {
        SvgPoint sum;
        double count = 0;
        for (const LinkId link : topology.LinksFrom(device))
        {
            const SvgPoint& at = places[topology.GetLink(link).to.Index()];
            sum = {sum.x + at.x, sum.y + at.y};
            count++;
        }
        const bool isOfRow = topology.GetLink(topology.LinksFrom(device).front()).dimension == 0;
        layout.switches.push_back(
            {device,
             {sum.x / count + (isOfRow ? 0 : step / 2), sum.y / count + (isOfRow ? ROW / 2 : 0)},
             topology.GetDevice(device).name});
    }
    layout.width = MARGIN + std::min(across, panels) * panelWidth;
    layout.height = std::ceil(static_cast<double>(panels) / across) * panelHeight + MARGIN;
    return layout;
}

} // namespace

FabricLayout
LayOutFabric(const Cluster& cluster, double leastWidth)
{
    switch (cluster.GetSpec().fabric.kind)
    {
    case FabricKind::None:
    case FabricKind::RailOptimized:
    case FabricKind::LeafSpine:
    case FabricKind::FatTree:
        break;
    case FabricKind::Dragonfly:
    case FabricKind::DragonflyPlus:
        return LayOutGroups(cluster);
    case FabricKind::Torus:
    case FabricKind::Dimensions:
        return LayOutGrid(cluster);
    case FabricKind::Graph:
        return LayOutGraph(cluster, leastWidth);
    }
    return LayOutClos(cluster.GetTopology(), leastWidth);
}

} // namespace weir

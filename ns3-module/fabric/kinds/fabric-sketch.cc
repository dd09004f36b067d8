// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/kinds/fabric-sketch.h"

#include <limits>

namespace weir
{

namespace
{

/** Sketches tiers from top to bottom; empty tiers are skipped. */
FabricSketch
SketchOfTiers(const Topology& topology, const std::vector<std::vector<DeviceId>>& tiers)
{
    FabricSketch sketch;
    uint32_t row = 0;
    for (const auto& tier : tiers)
    {
        for (const DeviceId device : tier)
        {
            SketchedSwitch each;
            each.device = device;
            each.label = topology.GetDevice(device).name;
            each.row = row;
            sketch.switches.push_back(std::move(each));
        }
        row += tier.empty() ? 0 : 1;
    }
    return sketch;
}

} // namespace

std::vector<DeviceId>
NetworkSwitches(const Topology& topology)
{
    std::vector<DeviceId> switches;
    for (std::size_t i = 0; i < topology.DeviceCount(); i++)
    {
        if (topology.GetDevice(DeviceId(i)).node == Device::NO_NODE)
        {
            switches.emplace_back(i);
        }
    }
    return switches;
}

FabricSketch
SketchByKind(const Topology& topology)
{
    std::vector<std::vector<DeviceId>> tiers;
    for (const DeviceKind kind :
         {DeviceKind::CoreSwitch, DeviceKind::SpineSwitch, DeviceKind::LeafSwitch})
    {
        tiers.emplace_back();
        for (const DeviceId device : NetworkSwitches(topology))
        {
            if (topology.GetDevice(device).kind == kind)
            {
                tiers.back().push_back(device);
            }
        }
    }
    return SketchOfTiers(topology, tiers);
}

FabricSketch
SketchByDistance(const Topology& topology)
{
    constexpr uint32_t FAR = std::numeric_limits<uint32_t>::max();
    std::vector<uint32_t> distances(topology.DeviceCount(), FAR);
    std::vector<DeviceId> queue;
    for (std::size_t i = 0; i < topology.DeviceCount(); i++)
    {
        if (topology.GetDevice(DeviceId(i)).kind == DeviceKind::Nic)
        {
            queue.emplace_back(i);
            distances[i] = 0;
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
    return SketchOfTiers(topology, tiers);
}

} // namespace weir

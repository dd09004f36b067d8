// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/channels/host-relay.h"

#include <limits>
#include <vector>

namespace weir
{

namespace
{

/** Of a path over PCIe that passes no root complex: by how many switches it passes. */
P2pLevel
LevelOf(const std::vector<LinkId>& path)
{
    constexpr std::size_t LINKS_BY_ONE_SWITCH = 2;
    return path.size() <= LINKS_BY_ONE_SWITCH ? P2pLevel::Switch : P2pLevel::Switches;
}

/** The root complex nearest to a GPU, of equally near ones the first; invalid without one. */
DeviceId
NearestHost(const Topology& topology, Router& router, DeviceId gpu)
{
    DeviceId nearest;
    std::size_t least = std::numeric_limits<std::size_t>::max();
    for (uint32_t i = 0; i < topology.DeviceCount(); i++)
    {
        const DeviceId id(i);
        const Device& device = topology.GetDevice(id);
        if (device.kind != DeviceKind::RootComplex || device.node != topology.GetDevice(gpu).node ||
            !router.IsReachable(gpu, id, PCIE_KINDS))
        {
            continue;
        }
        const std::size_t links = router.RouteOver(gpu, id, {}, PCIE_KINDS).size();
        if (links < least)
        {
            least = links;
            nearest = id;
        }
    }
    return nearest;
}

} // namespace

DeviceId
HostRelay(const Cluster& cluster, Router& router, P2pLevel level, DeviceId from, DeviceId to)
{
    if (level >= P2pLevel::Switches || !router.IsReachable(from, to, PCIE_KINDS))
    {
        return {}; // what is farther than several switches passes a root complex as it is
    }
    const Topology& topology = cluster.GetTopology();
    const std::vector<LinkId> path = router.RouteOver(from, to, {}, PCIE_KINDS);
    for (const LinkId link : path)
    {
        if (topology.GetDevice(topology.GetLink(link).to).kind == DeviceKind::RootComplex)
        {
            return {};
        }
    }
    return LevelOf(path) <= level ? DeviceId() : NearestHost(topology, router, from);
}

} // namespace weir

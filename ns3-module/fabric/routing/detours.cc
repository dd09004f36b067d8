// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/detours.h"

#include "fabric/routing/flow-hash.h"
#include "fabric/routing/router.h"

#include <algorithm>

namespace weir
{

namespace
{

bool
IsJoined(Router& router, DeviceId from, DeviceId to)
{
    return router.NetworkDistance(from, to) != SwitchGraph::UNREACHABLE;
}

} // namespace

Detours::Detours(const Topology& topology)
    : m_topology(topology)
{
    for (std::size_t i = 0; i < topology.DeviceCount(); i++)
    {
        const Device& device = topology.GetDevice(DeviceId(i));
        if (device.node != Device::NO_NODE || IsEndPoint(device))
        {
            continue;
        }
        if (device.group != Device::NO_NODE)
        {
            m_groups.resize(std::max<std::size_t>(m_groups.size(), device.group + 1));
            m_groups[device.group].emplace_back(i);
        }
        const auto& links = topology.LinksFrom(DeviceId(i));
        if (std::any_of(links.begin(), links.end(), [&](LinkId link) {
                return IsEndPoint(topology.GetDevice(topology.GetLink(link).to));
            }))
        {
            m_edges.emplace_back(i);
        }
    }
}

std::vector<DeviceId>
Detours::FindAll(Router& router, DeviceId first, DeviceId last) const
{
    if (first == last)
    {
        return {};
    }
    const uint32_t group = m_topology.GetDevice(first).group;
    if (group != Device::NO_NODE)
    {
        return group == m_topology.GetDevice(last).group ? FindInGroup(router, first, last)
                                                         : FindInThirdGroups(router, first, last);
    }
    std::vector<DeviceId> others;
    for (const DeviceId edge : m_edges)
    {
        if (edge != first && edge != last && IsJoined(router, first, edge) &&
            IsJoined(router, edge, last))
        {
            others.push_back(edge);
        }
    }
    return others;
}

std::vector<DeviceId>
Detours::FindParallelGlobalLinks(Router& router, DeviceId first, DeviceId last) const
{
    const uint32_t group = m_topology.GetDevice(first).group;
    const uint32_t there = m_topology.GetDevice(last).group;
    std::vector<DeviceId> intermediates;
    if (group == there || group == Device::NO_NODE || there == Device::NO_NODE)
    {
        return intermediates;
    }
    const uint32_t shortest = router.NetworkDistance(first, last);
    for (const DeviceId via : m_groups[group])
    {
        const auto& links = m_topology.LinksFrom(via);
        const bool leads = std::any_of(links.begin(), links.end(), [&](LinkId link) {
            const DeviceId to = m_topology.GetLink(link).to;
            return m_topology.GetDevice(to).group == there &&
                   router.NetworkDistance(via, to) == m_topology.GetLink(link).cost;
        });
        if (via != first && leads && IsJoined(router, first, via) &&
            router.NetworkDistance(first, via) + router.NetworkDistance(via, last) > shortest)
        {
            intermediates.push_back(via);
        }
    }
    return intermediates;
}

std::vector<DeviceId>
Detours::FindInGroup(Router& router, DeviceId first, DeviceId last) const
{
    const uint32_t shortest = router.NetworkDistance(first, last);
    std::vector<DeviceId> around;
    for (const DeviceId via : m_groups[m_topology.GetDevice(first).group])
    {
        if (router.NetworkDistance(first, via) + router.NetworkDistance(via, last) == shortest + 1)
        {
            around.push_back(via);
        }
    }
    return around;
}

std::vector<DeviceId>
Detours::FindInThirdGroups(Router& router, DeviceId first, DeviceId last) const
{
    std::vector<DeviceId> all;
    for (uint32_t group = 0; group < m_groups.size(); group++)
    {
        if (group == m_topology.GetDevice(first).group || group == m_topology.GetDevice(last).group)
        {
            continue;
        }
        uint32_t min = SwitchGraph::UNREACHABLE;
        std::vector<DeviceId> best;
        for (const DeviceId via : m_groups[group])
        {
            const uint32_t hops =
                router.NetworkDistance(first, via) + router.NetworkDistance(via, last);
            if (hops < min)
            {
                min = hops;
                best.clear();
            }
            if (hops == min && hops < SwitchGraph::UNREACHABLE)
            {
                best.push_back(via);
            }
        }
        if (!best.empty())
        {
            // Different pairs of switches use different ones of the equally good switches of a
            // group.
            const uint64_t pair = uint64_t{first.Index()} << 32 | last.Index();
            all.push_back(best[SplitMix64(pair) % best.size()]);
        }
    }
    return all;
}

} // namespace weir

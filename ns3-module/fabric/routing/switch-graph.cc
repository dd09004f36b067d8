// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/switch-graph.h"

#include <algorithm>

namespace weir
{

namespace
{

/** The representative of x in a disjoint-set forest; uses path halving. */
uint32_t
FindRoot(std::vector<uint32_t>& parent, uint32_t x)
{
    while (parent[x] != x)
    {
        parent[x] = parent[parent[x]];
        x = parent[x];
    }
    return x;
}

/** Whether a device represents the ports of a node: a network switch inside the node. */
bool
IsPortsOfNode(const Device& device)
{
    return device.kind == DeviceKind::LeafSwitch && device.node != Device::NO_NODE;
}

/** Whether a device forwards traffic, as switches and root complexes do. */
bool
Forwards(DeviceKind kind)
{
    switch (kind)
    {
    case DeviceKind::NvSwitch:
    case DeviceKind::PcieSwitch:
    case DeviceKind::RootComplex:
    case DeviceKind::LeafSwitch:
    case DeviceKind::SpineSwitch:
    case DeviceKind::CoreSwitch:
        return true;
    case DeviceKind::Gpu:
    case DeviceKind::Nic:
    case DeviceKind::Host:
        return false;
    }
    return false;
}

} // namespace

SwitchGraph::SwitchGraph(const Topology& topology, uint8_t kinds)
    : m_component(topology.DeviceCount(), NONE),
      m_local(topology.DeviceCount(), NONE)
{
    FindComponents(topology, kinds);
    m_outgoing.resize(m_switches.size());
    m_incoming.resize(m_switches.size());
    for (std::size_t i = 0; i < topology.LinkCount(); i++)
    {
        const LinkId id(i);
        const Link& link = topology.GetLink(id);
        const uint32_t component = ComponentOf(link.from);
        if (!(kinds & KindBit(link.kind)) || component == NONE || ComponentOf(link.to) == NONE)
        {
            continue;
        }
        const uint32_t from = LocalIndexOf(link.from);
        const uint32_t to = LocalIndexOf(link.to);
        m_outgoing[m_firstSwitch[component] + from].push_back({id, to, link.cost});
        m_incoming[m_firstSwitch[component] + to].push_back({id, from, link.cost});
    }
}

void
SwitchGraph::FindComponents(const Topology& topology, uint8_t kinds)
{
    const auto devices = static_cast<uint32_t>(topology.DeviceCount());
    std::vector<uint32_t> parent(devices);
    for (uint32_t i = 0; i < devices; i++)
    {
        parent[i] = i;
    }
    const auto forwards = [&](DeviceId device) {
        return Forwards(topology.GetDevice(device).kind);
    };
    for (std::size_t i = 0; i < topology.LinkCount(); i++)
    {
        const Link& link = topology.GetLink(LinkId(i));
        if ((kinds & KindBit(link.kind)) && forwards(link.from) && forwards(link.to))
        {
            const uint32_t a = FindRoot(parent, link.from.Index());
            const uint32_t b = FindRoot(parent, link.to.Index());
            parent[std::max(a, b)] = std::min(a, b); // the smallest id is the representative
        }
    }
    std::vector<uint32_t> sizes;
    for (uint32_t i = 0; i < devices; i++)
    {
        if (!forwards(DeviceId(i)))
        {
            continue;
        }
        const uint32_t root = FindRoot(parent, i);
        if (root == i)
        {
            m_component[i] = static_cast<uint32_t>(sizes.size());
            sizes.push_back(0);
        }
        m_component[i] = m_component[root];
        m_local[i] = sizes[m_component[i]]++;
    }
    m_firstSwitch.assign(1, 0);
    for (const uint32_t size : sizes)
    {
        m_firstSwitch.push_back(m_firstSwitch.back() + size);
    }
    m_switches.resize(m_firstSwitch.back());
    m_isEnd.resize(m_firstSwitch.back());
    for (uint32_t i = 0; i < devices; i++)
    {
        if (m_component[i] != NONE)
        {
            const std::size_t index = m_firstSwitch[m_component[i]] + m_local[i];
            m_switches[index] = DeviceId(i);
            m_isEnd[index] = IsPortsOfNode(topology.GetDevice(DeviceId(i)));
        }
    }
}

std::vector<uint16_t>
SwitchGraph::DistancesTo(uint32_t component,
                         const std::vector<uint32_t>& targets,
                         const std::vector<bool>& usable) const
{
    const uint32_t first = m_firstSwitch[component];
    std::vector<uint16_t> distances(m_firstSwitch[component + 1] - first, UNREACHABLE);
    std::vector<std::vector<uint32_t>> atDistance(1, targets);
    for (const uint32_t target : targets)
    {
        distances[target] = 0;
    }
    for (std::size_t distance = 0; distance < atDistance.size(); distance++)
    {
        for (std::size_t i = 0; i < atDistance[distance].size(); i++)
        {
            const uint32_t at = atDistance[distance][i];
            if (distances[at] != distance || (distance > 0 && m_isEnd[first + at]))
            {
                continue; // a shorter path was found since, or paths may only begin here
            }
            for (const Arc& arc : m_incoming[first + at])
            {
                const std::size_t longer = distance + arc.cost;
                if (longer < distances[arc.peer] && usable[arc.link.Index()])
                {
                    distances[arc.peer] = static_cast<uint16_t>(longer);
                    atDistance.resize(std::max(atDistance.size(), longer + 1));
                    atDistance[longer].push_back(arc.peer);
                }
            }
        }
    }
    return distances;
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/router.h"

#include "fabric/refuse.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace weir
{

namespace
{

std::string
NamesOf(uint8_t kinds)
{
    std::string names;
    for (const LinkKind kind :
         {LinkKind::NvLink, LinkKind::Pcie, LinkKind::InterSocket, LinkKind::Network})
    {
        if (kinds & KindBit(kind))
        {
            names += (names.empty() ? "" : ", ") + std::string(ToString(kind));
        }
    }
    return names.empty() ? "no" : names;
}

} // namespace

Router::Router(const Topology& topology, const RoutingPolicy& policy, uint64_t hashSeed)
    : m_topology(topology),
      m_policy(policy),
      m_hashSeed(hashSeed),
      m_detours(topology),
      m_usable(topology.LinkCount(), true),
      m_firstIncoming(topology.DeviceCount() + 1, 0),
      m_incoming(topology.LinkCount())
{
    for (std::size_t i = 0; i < topology.LinkCount(); i++)
    {
        m_firstIncoming[topology.GetLink(LinkId(i)).to.Index() + 1]++;
    }
    for (std::size_t d = 0; d < topology.DeviceCount(); d++)
    {
        m_firstIncoming[d + 1] += m_firstIncoming[d];
    }
    auto next = m_firstIncoming;
    for (std::size_t i = 0; i < topology.LinkCount(); i++)
    {
        m_incoming[next[topology.GetLink(LinkId(i)).to.Index()]++] = LinkId(i);
    }
}

void
Router::CheckDevices(DeviceId from, DeviceId to) const
{
    WEIR_REFUSE_IF(from.Index() >= m_topology.DeviceCount() ||
                       to.Index() >= m_topology.DeviceCount(),
                   "Router: an end of the route is not a device");
}

const SwitchGraph&
Router::GraphOf(uint8_t kinds)
{
    auto& graph = m_graphs[kinds];
    if (!graph)
    {
        graph = std::make_unique<SwitchGraph>(m_topology, kinds);
    }
    return *graph;
}

bool
Router::IsAllowed(LinkId link, uint8_t kinds) const
{
    return m_usable[link.Index()] && (kinds & KindBit(m_topology.GetLink(link).kind));
}

void
Router::AddEgress(DeviceId to, uint8_t kinds, uint32_t component, const std::vector<uint32_t>& at)
{
    const SwitchGraph& graph = GraphOf(kinds);
    // All destinations attached to one switch share its distances, so the switch is the key.
    const DeviceId key = at.size() == 1 ? graph.SwitchAt(component, at.front()) : to;
    const auto [entry, isNew] =
        m_distances.try_emplace(uint64_t{kinds} << 60 | uint64_t{component} << 32 | key.Index());
    if (isNew)
    {
        entry->second = graph.DistancesTo(component, at, m_usable);
    }
    m_egresses.push_back({component, &entry->second});
}

void
Router::FindEgresses(DeviceId to, uint8_t kinds)
{
    const SwitchGraph& graph = GraphOf(kinds);
    m_egresses.clear();
    if (graph.ComponentOf(to) != SwitchGraph::NONE)
    {
        AddEgress(to, kinds, graph.ComponentOf(to), {graph.LocalIndexOf(to)});
        return;
    }
    std::vector<std::pair<uint32_t, uint32_t>> switches; // component, local number
    for (uint32_t i = m_firstIncoming[to.Index()]; i < m_firstIncoming[to.Index() + 1]; i++)
    {
        const DeviceId from = m_topology.GetLink(m_incoming[i]).from;
        if (IsAllowed(m_incoming[i], kinds) && graph.ComponentOf(from) != SwitchGraph::NONE)
        {
            switches.emplace_back(graph.ComponentOf(from), graph.LocalIndexOf(from));
        }
    }
    std::sort(switches.begin(), switches.end());
    switches.erase(std::unique(switches.begin(), switches.end()), switches.end());
    for (std::size_t i = 0; i < switches.size();)
    {
        const uint32_t component = switches[i].first;
        std::vector<uint32_t> at;
        for (; i < switches.size() && switches[i].first == component; i++)
        {
            at.push_back(switches[i].second);
        }
        AddEgress(to, kinds, component, at);
    }
}

const Router::Egress*
Router::EgressOf(uint32_t component) const
{
    for (const Egress& egress : m_egresses)
    {
        if (egress.component == component)
        {
            return &egress;
        }
    }
    return nullptr;
}

uint32_t
Router::DistanceAfter(DeviceId next, DeviceId to, const SwitchGraph& graph) const
{
    if (next == to)
    {
        return 0;
    }
    const Egress* egress = EgressOf(graph.ComponentOf(next));
    const uint16_t distance =
        egress ? (*egress->distances)[graph.LocalIndexOf(next)] : SwitchGraph::UNREACHABLE;
    if (distance == SwitchGraph::UNREACHABLE)
    {
        return distance;
    }
    const bool endsAtSwitch = graph.ComponentOf(to) != SwitchGraph::NONE;
    return endsAtSwitch ? distance : distance + 1u;
}

bool
Router::FindFirstHops(DeviceId from, DeviceId to, uint8_t kinds)
{
    const SwitchGraph& graph = GraphOf(kinds);
    uint32_t min = SwitchGraph::UNREACHABLE;
    m_candidates.clear();
    for (const LinkId id : m_topology.LinksFrom(from))
    {
        if (!IsAllowed(id, kinds))
        {
            continue;
        }
        const Link& link = m_topology.GetLink(id);
        const uint32_t rest = DistanceAfter(link.to, to, graph);
        if (rest == SwitchGraph::UNREACHABLE)
        {
            continue;
        }
        if (rest + link.cost < min)
        {
            min = rest + link.cost;
            m_candidates.clear();
        }
        if (rest + link.cost == min)
        {
            m_candidates.push_back(id);
        }
    }
    return !m_candidates.empty();
}

void
Router::FindNextHops(DeviceId at, DeviceId to, uint8_t kinds)
{
    const SwitchGraph& graph = GraphOf(kinds);
    const uint32_t component = graph.ComponentOf(at);
    const auto& distances = *EgressOf(component)->distances;
    const uint16_t rest = distances[graph.LocalIndexOf(at)];
    m_candidates.clear();
    if (rest > 0)
    {
        for (const auto& arc : graph.ArcsFrom(component, graph.LocalIndexOf(at)))
        {
            if (distances[arc.peer] + arc.cost == rest && m_usable[arc.link.Index()])
            {
                m_candidates.push_back(arc.link);
            }
        }
        return;
    }
    for (uint32_t i = m_firstIncoming[to.Index()]; i < m_firstIncoming[to.Index() + 1]; i++)
    {
        if (m_topology.GetLink(m_incoming[i]).from == at && IsAllowed(m_incoming[i], kinds))
        {
            m_candidates.push_back(m_incoming[i]);
        }
    }
}

LinkId
Router::Select(DeviceId at, const FlowTuple& tuple) const
{
    return m_candidates.size() == 1 ? m_candidates.front()
                                    : m_policy.SelectHop(*this, at, m_candidates, tuple);
}

std::vector<LinkId>
Router::RouteOver(DeviceId from, DeviceId to, const FlowTuple& tuple, uint8_t kinds)
{
    return m_policy.FindPath(*this, from, to, tuple, kinds & ALL_KINDS);
}

std::vector<LinkId>
Router::MinimalPath(DeviceId from, DeviceId to, const FlowTuple& tuple, uint8_t kinds)
{
    kinds &= ALL_KINDS;
    CheckDevices(from, to);
    std::vector<LinkId> path;
    if (from == to)
    {
        return path;
    }
    FindEgresses(to, kinds);
    if (!FindFirstHops(from, to, kinds))
    {
        throw std::runtime_error("no path from " + m_topology.GetDevice(from).name + " to " +
                                 m_topology.GetDevice(to).name + " over " + NamesOf(kinds) +
                                 " links");
    }
    path.push_back(Select(from, tuple));
    for (DeviceId at = m_topology.GetLink(path.back()).to; at != to;
         at = m_topology.GetLink(path.back()).to)
    {
        FindNextHops(at, to, kinds);
        path.push_back(Select(at, tuple));
    }
    return path;
}

bool
Router::IsReachable(DeviceId from, DeviceId to, uint8_t kinds)
{
    kinds &= ALL_KINDS;
    CheckDevices(from, to);
    if (from == to)
    {
        return true;
    }
    FindEgresses(to, kinds);
    return FindFirstHops(from, to, kinds);
}

PathDag
Router::EqualCostPaths(DeviceId from, DeviceId to)
{
    PathDag dag;
    if (from == to)
    {
        return dag;
    }
    FindEgresses(to, NETWORK_KINDS);
    FindFirstHops(from, to, NETWORK_KINDS);
    std::vector<DeviceId> vertices{from};
    std::unordered_map<DeviceId, uint32_t> vertexOf{{from, 0}};
    for (uint32_t vertex = 0; vertex < vertices.size(); vertex++)
    {
        const DeviceId at = vertices[vertex];
        if (at == to)
        {
            continue;
        }
        if (vertex > 0)
        {
            FindNextHops(at, to, NETWORK_KINDS);
        }
        for (const LinkId link : m_candidates)
        {
            const DeviceId next = m_topology.GetLink(link).to;
            const auto [entry, isNew] =
                vertexOf.emplace(next, static_cast<uint32_t>(vertices.size()));
            if (isNew)
            {
                vertices.push_back(next);
            }
            dag.arcs.push_back({link, vertex, entry->second});
        }
    }
    dag.vertices = static_cast<uint32_t>(vertices.size());
    OrderVertices(dag, vertexOf.at(to));
    return dag;
}

uint32_t
Router::NetworkDistance(DeviceId fromSwitch, DeviceId toSwitch)
{
    const SwitchGraph& graph = GraphOf(NETWORK_KINDS);
    if (graph.ComponentOf(fromSwitch) == SwitchGraph::NONE ||
        graph.ComponentOf(fromSwitch) != graph.ComponentOf(toSwitch))
    {
        return SwitchGraph::UNREACHABLE;
    }
    FindEgresses(toSwitch, NETWORK_KINDS);
    const Egress* egress = EgressOf(graph.ComponentOf(fromSwitch));
    return (*egress->distances)[graph.LocalIndexOf(fromSwitch)];
}

const PathDag*
Router::NetworkPaths(DeviceId from, DeviceId to)
{
    const auto [entry, isNew] =
        m_networkPaths.try_emplace(uint64_t{from.Index()} << 32 | to.Index());
    if (isNew)
    {
        entry->second =
            IsReachable(from, to, NETWORK_KINDS) ? EqualCostPaths(from, to) : PathDag{{}, 0};
    }
    return entry->second.vertices > 0 ? &entry->second : nullptr;
}

void
Router::SetUsable(LinkId link, bool usable)
{
    WEIR_REFUSE_IF(link.Index() >= m_usable.size(), "Router::SetUsable: no such link");
    if (m_usable[link.Index()] == usable)
    {
        return;
    }
    m_usable[link.Index()] = usable;
    m_distances.clear();
    m_networkPaths.clear();
    m_revision++;
}

} // namespace weir

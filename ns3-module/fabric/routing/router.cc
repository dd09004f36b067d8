// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/router.h"

#include "fabric/routing/detours.h"
#include "fabric/routing/flow-hash.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace weir
{

namespace
{

constexpr uint8_t ALL_KINDS = KindBit(LinkKind::NvLink) | KindBit(LinkKind::Pcie) |
                              KindBit(LinkKind::InterSocket) | KindBit(LinkKind::Network);

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

Router::Router(const Topology& topology, RoutingKind kind, uint64_t hashSeed)
    : m_topology(topology),
      m_kind(kind),
      m_seed(hashSeed),
      m_usable(topology.LinkCount(), true),
      m_firstIncoming(topology.DeviceCount() + 1, 0),
      m_incoming(topology.LinkCount())
{
    if (kind == RoutingKind::Valiant)
    {
        m_detours = std::make_unique<Detours>(topology);
    }
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

Router::~Router() = default;

void
Router::CheckDevices(DeviceId from, DeviceId to) const
{
    if (from.Index() >= m_topology.DeviceCount() || to.Index() >= m_topology.DeviceCount())
    {
        throw std::invalid_argument("Router: an end of the route is not a device");
    }
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
Router::AddLanding(DeviceId to, uint8_t kinds, uint32_t island, const std::vector<uint32_t>& at)
{
    const SwitchGraph& graph = GraphOf(kinds);
    // All destinations that hang on one switch share its distances, so that switch is the key.
    const DeviceId key = at.size() == 1 ? graph.SwitchAt(island, at.front()) : to;
    const auto [entry, isNew] =
        m_distances.try_emplace(uint64_t{kinds} << 60 | uint64_t{island} << 32 | key.Index());
    if (isNew)
    {
        entry->second = graph.DistancesTo(island, at, m_usable);
    }
    m_landings.push_back({island, &entry->second});
}

void
Router::FindLandings(DeviceId to, uint8_t kinds)
{
    const SwitchGraph& graph = GraphOf(kinds);
    m_landings.clear();
    if (graph.IslandOf(to) != SwitchGraph::NONE)
    {
        AddLanding(to, kinds, graph.IslandOf(to), {graph.LocalIndexOf(to)});
        return;
    }
    std::vector<std::pair<uint32_t, uint32_t>> places; // island, local number
    for (uint32_t i = m_firstIncoming[to.Index()]; i < m_firstIncoming[to.Index() + 1]; i++)
    {
        const DeviceId from = m_topology.GetLink(m_incoming[i]).from;
        if (IsAllowed(m_incoming[i], kinds) && graph.IslandOf(from) != SwitchGraph::NONE)
        {
            places.emplace_back(graph.IslandOf(from), graph.LocalIndexOf(from));
        }
    }
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    for (std::size_t i = 0; i < places.size();)
    {
        const uint32_t island = places[i].first;
        std::vector<uint32_t> at;
        for (; i < places.size() && places[i].first == island; i++)
        {
            at.push_back(places[i].second);
        }
        AddLanding(to, kinds, island, at);
    }
}

const Router::Landing*
Router::LandingIn(uint32_t island) const
{
    for (const Landing& landing : m_landings)
    {
        if (landing.island == island)
        {
            return &landing;
        }
    }
    return nullptr;
}

uint32_t
Router::RestAfter(DeviceId next, DeviceId to, const SwitchGraph& graph) const
{
    if (next == to)
    {
        return 0;
    }
    const Landing* landing = LandingIn(graph.IslandOf(next));
    const uint16_t distance =
        landing ? (*landing->distances)[graph.LocalIndexOf(next)] : SwitchGraph::UNREACHABLE;
    if (distance == SwitchGraph::UNREACHABLE)
    {
        return distance;
    }
    const bool landsOnSwitch = graph.IslandOf(to) != SwitchGraph::NONE;
    return landsOnSwitch ? distance : distance + 1u;
}

bool
Router::FindFirstHops(DeviceId from, DeviceId to, uint8_t kinds)
{
    const SwitchGraph& graph = GraphOf(kinds);
    uint32_t least = SwitchGraph::UNREACHABLE;
    m_candidates.clear();
    for (const LinkId id : m_topology.LinksFrom(from))
    {
        if (!IsAllowed(id, kinds))
        {
            continue;
        }
        const Link& link = m_topology.GetLink(id);
        const uint32_t rest = RestAfter(link.to, to, graph);
        if (rest == SwitchGraph::UNREACHABLE)
        {
            continue;
        }
        if (rest + link.cost < least)
        {
            least = rest + link.cost;
            m_candidates.clear();
        }
        if (rest + link.cost == least)
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
    const uint32_t island = graph.IslandOf(at);
    const auto& distances = *LandingIn(island)->distances;
    const uint16_t rest = distances[graph.LocalIndexOf(at)];
    m_candidates.clear();
    if (rest > 0)
    {
        for (const auto& arc : graph.ArcsFrom(island, graph.LocalIndexOf(at)))
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

void
Router::KeepLowestDimension()
{
    uint8_t lowest = 0xff;
    for (const LinkId link : m_candidates)
    {
        lowest = std::min(lowest, m_topology.GetLink(link).dimension);
    }
    m_candidates.erase(
        std::remove_if(m_candidates.begin(),
                       m_candidates.end(),
                       [&](LinkId link) { return m_topology.GetLink(link).dimension != lowest; }),
        m_candidates.end());
}

LinkId
Router::Choose(DeviceId at, const FlowTuple& tuple)
{
    if (m_kind == RoutingKind::DimensionOrder)
    {
        KeepLowestDimension();
    }
    if (m_kind == RoutingKind::Static || m_candidates.size() == 1)
    {
        return m_candidates.front();
    }
    return m_candidates[HashFlow(tuple, at.Index(), m_seed) % m_candidates.size()];
}

std::vector<LinkId>
Router::RouteOver(DeviceId from, DeviceId to, const FlowTuple& tuple, uint8_t kinds)
{
    auto route = MinimalRoute(from, to, tuple, kinds);
    const bool isNetwork = (kinds & ALL_KINDS) == KindBit(LinkKind::Network);
    return m_detours && isNetwork ? ByValiant(std::move(route), tuple) : route;
}

std::vector<LinkId>
Router::MinimalRoute(DeviceId from, DeviceId to, const FlowTuple& tuple, uint8_t kinds)
{
    kinds &= ALL_KINDS;
    CheckDevices(from, to);
    std::vector<LinkId> route;
    if (from == to)
    {
        return route;
    }
    FindLandings(to, kinds);
    if (!FindFirstHops(from, to, kinds))
    {
        throw std::runtime_error("no path from " + m_topology.GetDevice(from).name + " to " +
                                 m_topology.GetDevice(to).name + " over " + NamesOf(kinds) +
                                 " links");
    }
    route.push_back(Choose(from, tuple));
    for (DeviceId at = m_topology.GetLink(route.back()).to; at != to;
         at = m_topology.GetLink(route.back()).to)
    {
        FindNextHops(at, to, kinds);
        route.push_back(Choose(at, tuple));
    }
    return route;
}

std::vector<LinkId>
Router::Route(DeviceId from, DeviceId to, const FlowTuple& tuple)
{
    const uint8_t nvLink = KindBit(LinkKind::NvLink);
    return RouteOver(from, to, tuple, IsReachable(from, to, nvLink) ? nvLink : ALL_KINDS);
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
    FindLandings(to, kinds);
    return FindFirstHops(from, to, kinds);
}

void
Router::SetUsable(LinkId link, bool usable)
{
    if (link.Index() >= m_usable.size())
    {
        throw std::invalid_argument("Router::SetUsable: no such link");
    }
    m_usable[link.Index()] = usable;
    m_distances.clear();
    m_revision++;
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/replay/route-facts.h"

#include "fabric/routing/link-spread.h"

#include <algorithm>
#include <cstring>

namespace weir
{

namespace
{

int64_t
BitsOf(double value)
{
    int64_t bits;
    static_assert(sizeof bits == sizeof value);
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

/**
 * The links that a route may take where switches choose by load: its current path, all shortest
 * paths, then each detour.
 */
std::vector<PathId>
ChoicesOf(Routing& routing, RouteId route)
{
    const PathId current = routing.CurrentPath(route);
    const std::vector<SegmentCount> segments = routing.DecompositionOf(route).segments;
    PathChoices& choices = routing.Spread()->Choices();
    const PathDag* shortest =
        segments.empty() ? nullptr : choices.Shortest(segments.front().from, segments.front().to);
    if (!shortest || shortest->arcs.empty())
    {
        return {current};
    }
    std::vector<PathLink> links;
    const auto add = [&](const PathDag& dag) {
        for (const PathDag::Arc& arc : dag.arcs)
        {
            links.push_back({arc.link, 1});
        }
    };
    std::vector<PathId> paths{current};
    const auto close = [&] {
        std::sort(links.begin(), links.end(), [](const PathLink& a, const PathLink& b) {
            return a.link < b.link;
        });
        links.erase(
            std::unique(links.begin(),
                        links.end(),
                        [](const PathLink& a, const PathLink& b) { return a.link == b.link; }),
            links.end());
        paths.push_back(routing.Paths().InternCounted(links));
        links.clear();
    };
    add(*shortest);
    close();
    const Topology& topology = routing.GetTopology();
    const DeviceId first = topology.GetLink(shortest->arcs.front().link).to;
    const DeviceId last = topology.GetLink(shortest->arcs.back().link).from;
    for (const DeviceId middle : choices.Intermediates(first, last))
    {
        add(*choices.Shortest(first, middle));
        add(*choices.Shortest(middle, last));
        close();
    }
    return paths;
}

} // namespace

RouteFacts::RouteFacts(Routing& routing, const QueuePairSpec& pair, EpisodeMemo& memo)
    : m_routing(routing),
      m_pair(pair),
      m_memo(memo)
{
    const Topology& topology = routing.GetTopology();
    std::vector<std::vector<int64_t>> portsOf(topology.DeviceCount());
    for (std::size_t i = 0; i < topology.LinkCount(); i++)
    {
        const Link& link = topology.GetLink(LinkId(i));
        m_linkKinds.push_back(KindOf(link, link.rate.ToBytesPerSecond()));
        portsOf[link.to.Index()].push_back(m_linkKinds.back());
    }
    for (std::size_t i = 0; i < portsOf.size(); i++)
    {
        std::vector<int64_t>& facts = portsOf[i];
        std::sort(facts.begin(), facts.end());
        facts.push_back(static_cast<int64_t>(topology.GetDevice(DeviceId(i)).kind));
        m_deviceKinds.push_back(memo.NumberOf(facts));
    }
}

uint32_t
RouteFacts::KindOf(const Link& link, double rate)
{
    return m_memo.NumberOf({static_cast<int64_t>(link.kind),
                            BitsOf(rate),
                            link.latency.ToPicoseconds(),
                            BitsOf(link.framing)});
}

const RouteFacts::Route&
RouteFacts::Of(RouteId id)
{
    if (id.Index() >= m_routes.size())
    {
        m_routes.resize(m_routing.Size());
    }
    if (m_routes[id.Index()].isKnown)
    {
        return m_routes[id.Index()];
    }
    Route route;
    route.isKnown = true;
    const RoutingPolicy& policy = m_routing.Policy();
    route.paths = policy.IsLoadAware()
                      ? ChoicesOf(m_routing, id)
                      : m_routing.EntropyPaths(id, m_pair.paths, m_pair.distinctPaths);
    route.taken = policy.GetScope() == RoutingPolicy::Scope::Packet
                      ? m_routing.Paths().InternDivided(route.paths)
                      : FlowPath{route.paths.front()};
    for (const PathId path : route.paths)
    {
        for (const PathLink& each : m_routing.Paths().Links(path))
        {
            route.links.push_back(each.link.Index());
            const LinkId back = m_routing.GetTopology().GetLink(each.link).opposite;
            if (back.IsValid() && m_routing.HasEnds(id))
            {
                route.links.push_back(back.Index());
            }
        }
    }
    std::sort(route.links.begin(), route.links.end());
    route.links.erase(std::unique(route.links.begin(), route.links.end()), route.links.end());
    m_routes[id.Index()] = std::move(route);
    return m_routes[id.Index()];
}

void
RouteFacts::SetRate(uint32_t link, double rate)
{
    m_linkKinds[link] = KindOf(m_routing.GetTopology().GetLink(LinkId(link)), rate);
}

void
EpisodeNames::AddDevice(DeviceId device, const RouteFacts& routes)
{
    const auto next = static_cast<uint32_t>(m_numberOfDevice.size());
    const auto [known, isNew] = m_numberOfDevice.emplace(device.Index(), next);
    m_facts.push_back(known->second);
    if (isNew)
    {
        m_facts.push_back(routes.KindOfDevice(device.Index()));
    }
}

void
EpisodeNames::AddLink(uint32_t link, RouteFacts& routes)
{
    const auto [known, isNew] = m_numberOfLink.emplace(link, static_cast<uint32_t>(m_links.size()));
    m_facts.push_back(known->second);
    if (!isNew)
    {
        return;
    }
    m_links.push_back(link);
    m_facts.push_back(routes.KindOf(link));
    const Link& description = routes.GetRouting().GetTopology().GetLink(LinkId(link));
    AddDevice(description.from, routes);
    AddDevice(description.to, routes);
    if (description.opposite.IsValid())
    {
        AddLink(description.opposite.Index(), routes);
    }
    else
    {
        m_facts.push_back(-1);
    }
}

uint32_t
EpisodeNames::FactsOf(const FlowRequest& request, RouteFacts& routes, EpisodeMemo& memo)
{
    const auto [known, isNew] =
        m_connections.emplace(ConnectionKey(request), static_cast<uint32_t>(m_connections.size()));
    m_facts = {int64_t{known->second},
               request.bytes.Count(),
               request.overhead.ToPicoseconds(),
               BitsOf(request.cap.ToBytesPerSecond()),
               int64_t{request.connections},
               int64_t{request.trafficClass}};
    if (isNew)
    {
        Routing& routing = routes.GetRouting();
        const RouteFacts::Route route = routes.Of(request.route);
        m_facts.push_back(routing.HasEnds(request.route) ? 1 : 0);
        for (const PathId path : route.paths)
        {
            m_facts.push_back(-2); // separator; numbers are never negative
            for (const PathLink& each : routing.Paths().Links(path))
            {
                AddLink(each.link.Index(), routes);
                m_facts.push_back(int64_t{each.multiplicity});
            }
        }
    }
    return memo.NumberOf(m_facts);
}

} // namespace weir

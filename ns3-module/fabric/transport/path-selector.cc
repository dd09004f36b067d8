// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/path-selector.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace weir
{

namespace
{

constexpr uint32_t MAX_UNIT = 4096;        //!< largest unit of a divided path
constexpr int64_t MIN_UNIT_BYTES = 64;     //!< minimum bytes per unit, so that rounding up to units
                                           //!< adds little
constexpr std::size_t FEW_FLOWLETS = 4096; //!< below this number, old flowlets are kept
constexpr double WEIGHT_ONE = 0x1p32;      //!< weights on links are integer multiples of 1 / this

} // namespace

PathSelector::PathSelector(Routing& routing)
    : m_routing(routing),
      m_spread(*routing.Spread()),
      m_scope(routing.Policy().GetScope()),
      m_gap(routing.Policy().FlowletGap()),
      m_detourCounter(routing.GetRouter().HashSeed()),
      m_forgetAt(FEW_FLOWLETS)
{
    const Topology& topology = routing.GetTopology();
    m_links.loads.resize(topology.LinkCount(), 0);
    m_weights.resize(topology.LinkCount(), 0);
    for (std::size_t link = 0; link < topology.LinkCount(); link++)
    {
        m_links.rates.push_back(topology.GetLink(LinkId(link)).rate.ToBytesPerSecond());
    }
}

void
PathSelector::AddLoad(LinkId link, double weight)
{
    const double rate = m_links.rates[link.Index()];
    if (m_routing.GetTopology().GetLink(link).kind == LinkKind::Network && rate > 0)
    {
        int64_t& onLink = m_weights[link.Index()];
        onLink += std::llround(weight * WEIGHT_ONE);
        m_links.loads[link.Index()] = static_cast<double>(onLink) / WEIGHT_ONE / rate;
    }
}

void
PathSelector::SetRate(LinkId link, Rate rate)
{
    double& known = m_links.rates[link.Index()];
    if (rate > Rate() && known > 0) // a link that is down is on no path
    {
        known = rate.ToBytesPerSecond();
        m_links.loads[link.Index()] =
            static_cast<double>(m_weights[link.Index()]) / WEIGHT_ONE / known;
    }
}

SelectedPath
PathSelector::Enter(RouteId route, double weight, Time now)
{
    if (m_scope == RoutingPolicy::Scope::Packet)
    {
        return m_spread.SprayedOf(route);
    }
    SelectedPath selected;
    if (m_scope == RoutingPolicy::Scope::Flowlet)
    {
        ExpireFlowlets(now);
        Flowlet& known = m_flowlets[route];
        const bool goesOn = known.path.path.IsValid() &&
                            known.revision == m_routing.GetRouter().Revision() &&
                            (known.activeFlows > 0 || now - known.lastEnd < m_gap);
        if (!goesOn)
        {
            known.path = LeastLoaded(route, weight);
            known.revision = m_routing.GetRouter().Revision();
        }
        known.activeFlows++;
        selected = known.path;
    }
    else
    {
        selected = LeastLoaded(route, weight);
    }
    Hold(selected.path, weight / selected.unit);
    return selected;
}

void
PathSelector::Hold(PathId path, double weight)
{
    for (const PathLink& each : m_routing.Paths().Links(path))
    {
        AddLoad(each.link, weight * each.multiplicity);
    }
}

void
PathSelector::Leave(RouteId route, PathId path, double weight, Time now)
{
    if (m_scope == RoutingPolicy::Scope::Packet)
    {
        return;
    }
    Hold(path, -weight);
    const auto known = m_flowlets.find(route);
    if (known != m_flowlets.end() && known->second.activeFlows > 0)
    {
        known->second.activeFlows--;
        known->second.lastEnd = now;
    }
}

void
PathSelector::ExpireFlowlets(Time now)
{
    if (m_flowlets.size() < m_forgetAt)
    {
        return;
    }
    for (auto flow = m_flowlets.begin(); flow != m_flowlets.end();)
    {
        const bool isOver = flow->second.activeFlows == 0 && now - flow->second.lastEnd >= m_gap;
        flow = isOver ? m_flowlets.erase(flow) : std::next(flow);
    }
    m_forgetAt = std::max(FEW_FLOWLETS, 2 * m_flowlets.size());
}

SelectedPath
PathSelector::LeastLoaded(RouteId route, double weight)
{
    const auto& segments = m_spread.DecompositionOf(route).segments;
    PathChoices& choices = m_spread.Choices();
    if (segments.empty() || !choices.Shortest(segments.front().from, segments.front().to))
    {
        // Nothing to choose, or the flow stalls on its planned path.
        return {m_routing.PlannedPath(route), 1, Time()};
    }
    const auto network = choices.LeastLoaded(segments.front().from,
                                             segments.front().to,
                                             m_links.loads,
                                             m_links.rates,
                                             weight,
                                             m_detourCounter++);
    const PathId path = m_routing.PathThrough(route, network);
    return {path, 1, m_routing.Paths().Latency(path) - m_routing.Latency(route)};
}

bool
PathSelector::IsDivided(RouteId route)
{
    if (m_scope == RoutingPolicy::Scope::Packet)
    {
        return false;
    }
    const auto& segments = m_spread.DecompositionOf(route).segments;
    return segments.size() > 1 || (segments.size() == 1 && segments.front().times > 1);
}

uint32_t
PathSelector::UnitFor(RouteId route, Bytes bytes)
{
    // Multiplicities are SegmentCount::times x unit, and many segments may share a link.
    constexpr uint64_t MAX_PARTS = uint64_t{1} << 31;
    uint64_t times = 1;
    for (const SegmentCount& segment : m_spread.DecompositionOf(route).segments)
    {
        times += segment.times;
    }
    uint32_t largest = 1;
    while (largest < MAX_UNIT && bytes.Count() >= 2 * largest * MIN_UNIT_BYTES &&
           2 * largest * times <= MAX_PARTS)
    {
        largest *= 2;
    }
    // Bytes are rounded up to whole units. Of the units in (largest / 2, largest], take the one
    // that adds the fewest bytes.
    uint32_t unit = largest;
    int64_t min = bytes.Count();
    for (uint32_t each = largest; each > largest / 2; each--)
    {
        const int64_t added = (each - bytes.Count() % each) % each;
        if (added < min)
        {
            min = added;
            unit = each;
        }
    }
    return unit;
}

SelectedPath
PathSelector::WholePath(RouteId route, uint32_t unit)
{
    std::vector<PathLink> links;
    for (const PathLink& each : m_routing.Paths().Links(m_routing.CurrentPath(route)))
    {
        links.push_back({each.link, each.multiplicity * unit});
    }
    return {m_routing.Paths().InternCounted(links), unit, Time()};
}

std::vector<SelectedPath>
PathSelector::Divide(const std::vector<Divided>& starting)
{
    std::vector<RouteLoad> loads;
    for (const Divided& each : starting)
    {
        loads.push_back({each.route, each.weight});
    }
    BalancedSpread balance(m_spread, loads, &m_links);
    std::vector<SelectedPath> paths;
    for (const Divided& each : starting)
    {
        std::vector<PathLink> links;
        for (const LinkShare& share : balance.SharesOf(each.route))
        {
            const double parts = std::round(share.share * each.unit);
            links.push_back({share.link, std::max<uint32_t>(1, static_cast<uint32_t>(parts))});
        }
        paths.push_back({m_routing.Paths().InternCounted(links), each.unit, Time()});
        Hold(paths.back().path, each.weight / each.unit);
    }
    return paths;
}

} // namespace weir

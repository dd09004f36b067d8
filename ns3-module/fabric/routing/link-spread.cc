// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/link-spread.h"

#include <algorithm>
#include <numeric>

namespace weir
{

namespace
{

constexpr uint64_t MAX_UNIT = uint64_t{1} << 16; //!< a route's shares are rounded to it
constexpr double MAX_PARTS_ON_LINK = 1U << 31;   //!< so that multiplicities fit in 32 bits
constexpr std::size_t MAX_KEPT_ROUTES = 1 << 16; //!< in balanced spreads, about 100 bytes each
constexpr uint32_t MAX_PARTS = 16;               //!< of a segment that choose paths separately
constexpr double MIN_SHARE = 1.0 / 4096;         //!< smaller shares are dropped

/**
 * The switch at the other end of the only link between an end point and its network; the end point
 * itself if it has several links.
 */
DeviceId
EdgeOf(const Topology& topology, const PathDag& dag, DeviceId end, bool isFirst)
{
    if (dag.arcs.size() < 2)
    {
        return end; // a direct link between the end points
    }
    const bool isSingle = isFirst ? dag.arcs[1].from != dag.arcs[0].from
                                  : dag.arcs[dag.arcs.size() - 2].to != dag.vertices - 1;
    if (!isSingle)
    {
        return end;
    }
    return isFirst ? topology.GetLink(dag.arcs.front().link).to
                   : topology.GetLink(dag.arcs.back().link).from;
}

std::vector<LinkShare>
Listed(const std::map<LinkId, double>& shares)
{
    std::vector<LinkShare> list;
    list.reserve(shares.size());
    for (const auto& [link, share] : shares)
    {
        list.push_back({link, share});
    }
    return list;
}

} // namespace

EvenSpread::EvenSpread(Routing& routing)
    : m_routing(routing),
      m_choices(routing.GetRouter()),
      m_revision(routing.GetRouter().Revision())
{
}

void
EvenSpread::Refresh()
{
    const uint64_t revision = m_routing.GetRouter().Revision();
    if (m_revision != revision)
    {
        m_shares.clear();
        m_sprayed.clear();
        m_balanced.clear();
        m_balancedRoutes = 0;
        m_revision = revision;
    }
}

bool
EvenSpread::IsPerPacket() const
{
    return m_routing.Policy().GetScope() == RoutingPolicy::Scope::Packet;
}

const RouteDecomposition&
EvenSpread::DecompositionOf(RouteId route)
{
    const auto [entry, isNew] = m_decompositions.try_emplace(route);
    if (isNew)
    {
        entry->second = m_routing.DecompositionOf(route);
    }
    return entry->second;
}

const std::vector<LinkShare>&
EvenSpread::SharesOf(RouteId route)
{
    Refresh();
    const auto [entry, isNew] = m_shares.try_emplace(route);
    if (!isNew)
    {
        return entry->second;
    }
    std::map<LinkId, double> shares;
    const RouteDecomposition& decomposition = DecompositionOf(route);
    for (const PathLink& each : decomposition.rest)
    {
        shares[each.link] += each.multiplicity;
    }
    for (const SegmentCount& segment : decomposition.segments)
    {
        const PathDag* dag = m_choices.Shortest(segment.from, segment.to);
        if (!dag) // no path: it stalls on the planned one
        {
            shares.clear();
            for (const PathLink& each : m_routing.Links(route))
            {
                shares[each.link] = each.multiplicity;
            }
            break;
        }
        const EvenShares even = weir::SharesOf(*dag);
        for (std::size_t i = 0; i < dag->arcs.size(); i++)
        {
            shares[dag->arcs[i].link] +=
                static_cast<double>(segment.times) * even.parts[i] / even.unit;
        }
    }
    entry->second = Listed(shares);
    return entry->second;
}

std::shared_ptr<BalancedSpread>
EvenSpread::Concurrent(const std::vector<RouteLoad>& loads)
{
    if (IsPerPacket())
    {
        return nullptr;
    }
    Refresh();
    LoadKey key;
    key.reserve(loads.size());
    for (const RouteLoad& load : loads)
    {
        key.emplace_back(load.route.Index(),
                         static_cast<float>(load.weight / loads.front().weight));
    }
    const auto found = m_balanced.find(key);
    if (found != m_balanced.end())
    {
        return found->second;
    }
    if (m_balancedRoutes + loads.size() > MAX_KEPT_ROUTES)
    {
        m_balanced.clear();
        m_balancedRoutes = 0;
    }
    m_balancedRoutes += loads.size();
    const auto balanced = std::make_shared<BalancedSpread>(*this, loads, nullptr);
    m_balanced.emplace(std::move(key), balanced);
    return balanced;
}

const SelectedPath&
EvenSpread::SprayedOf(RouteId route)
{
    Refresh();
    const auto found = m_sprayed.find(route);
    if (found != m_sprayed.end())
    {
        return found->second;
    }
    const Topology& topology = m_routing.GetTopology();
    SelectedPath sprayed{m_routing.CurrentPath(route), 1, Time()};
    const RouteDecomposition& decomposition = DecompositionOf(route);
    uint64_t unit = 1;
    bool isReachable = !decomposition.segments.empty();
    Time latency;
    for (const PathLink& each : decomposition.rest)
    {
        latency += topology.GetLink(each.link).latency * each.multiplicity;
    }
    for (const SegmentCount& segment : decomposition.segments)
    {
        if (const PathDag* dag = m_choices.Shortest(segment.from, segment.to))
        {
            unit = std::min(std::lcm<uint64_t>(unit, weir::SharesOf(*dag).unit), MAX_UNIT);
            latency += LongestLatency(*dag, topology) * segment.times;
            continue;
        }
        isReachable = false;
    }
    if (unit > 1)
    {
        const std::vector<LinkShare>& shares = SharesOf(route);
        double largest = 1;
        for (const LinkShare& each : shares)
        {
            largest = std::max(largest, each.share);
        }
        unit = std::min(unit,
                        std::max(uint64_t{1}, static_cast<uint64_t>(MAX_PARTS_ON_LINK / largest)));
        std::vector<PathLink> links;
        for (const LinkShare& each : shares)
        {
            const double parts = each.share * static_cast<double>(unit);
            links.push_back({each.link, std::max<uint32_t>(1, static_cast<uint32_t>(parts + 0.5))});
        }
        sprayed.path = m_routing.Paths().InternCounted(links);
        sprayed.unit = static_cast<uint32_t>(unit);
    }
    if (isReachable && !m_routing.IsSum(route))
    {
        sprayed.latency = latency - m_routing.Latency(route);
    }
    return m_sprayed.emplace(route, sprayed).first->second;
}

BalancedSpread::BalancedSpread(EvenSpread& even,
                               const std::vector<RouteLoad>& loads,
                               const LinkStates* others)
    : m_even(even),
      m_choices(even.Choices()),
      m_topology(even.Choices().GetTopology())
{
    LinkScratch& scratch = even.Scratch();
    scratch.Reserve(m_topology.LinkCount());
    std::vector<double> onOthers = others ? others->loads : std::vector<double>();
    onOthers.resize(others ? m_topology.LinkCount() : 0, 0);
    std::vector<double>& onLinks = others ? onOthers : scratch.loads;
    const std::vector<double>& rates = others ? others->rates : m_choices.Rates();
    const bool keepsPaths = m_choices.Policy().GetScope() == RoutingPolicy::Scope::Flowlet;
    for (const RouteLoad& load : loads)
    {
        for (const SegmentCount& segment : even.DecompositionOf(load.route).segments)
        {
            PathDemand* demand = AddSegment(segment, load.weight);
            if (demand && keepsPaths)
            {
                ChooseOnce(*demand, segment, load.weight, onLinks, rates);
            }
        }
    }
    if (!keepsPaths)
    {
        LoadBalancer balancer(m_choices, onLinks, rates, scratch);
        balancer.Divide(m_demands);
        balancer.Unload();
        return;
    }
    for (PathDemand& demand : m_demands)
    {
        for (const LinkShare& each : demand.shares)
        {
            onLinks[each.link.Index()] = 0;
        }
        AddUp(demand);
    }
}

uint64_t
BalancedSpread::KeyOf(DeviceId first, DeviceId last)
{
    return uint64_t{first.Index()} << 32 | last.Index();
}

PathDemand*
BalancedSpread::AddSegment(const SegmentCount& segment, double weight)
{
    const PathDag* dag = m_choices.Shortest(segment.from, segment.to);
    if (!dag)
    {
        return nullptr; // no path: it stalls
    }
    const DeviceId first = EdgeOf(m_topology, *dag, segment.from, true);
    const DeviceId last = EdgeOf(m_topology, *dag, segment.to, false);
    if (first == last)
    {
        return nullptr; // no choice of path
    }
    const auto [entry, isNew] =
        m_byEnds.emplace(KeyOf(first, last), static_cast<uint32_t>(m_demands.size()));
    if (isNew)
    {
        m_demands.push_back({first, last});
    }
    m_demands[entry->second].weight += weight * segment.times;
    return &m_demands[entry->second];
}

void
BalancedSpread::ChooseOnce(PathDemand& demand,
                           const SegmentCount& segment,
                           double weight,
                           std::vector<double>& onLinks,
                           const std::vector<double>& rates)
{
    const uint32_t parts = std::min(segment.times, MAX_PARTS);
    const double part = weight * segment.times / parts;
    for (uint32_t i = 0; i < parts; i++)
    {
        const auto chosen =
            m_choices.LeastLoaded(segment.from, segment.to, onLinks, rates, part, m_choiceCount++);
        for (const LinkId link : chosen)
        {
            const bool isFirst = m_topology.GetLink(link).from == segment.from;
            const bool isLast = m_topology.GetLink(link).to == segment.to;
            if ((isFirst && demand.first != segment.from) || (isLast && demand.last != segment.to))
            {
                continue; // on every path
            }
            onLinks[link.Index()] += part / rates[link.Index()];
            demand.shares.push_back({link, part});
        }
    }
}

/** Converts the weights that the parts of a demand have put on links into shares. */
void
BalancedSpread::AddUp(PathDemand& demand)
{
    std::map<LinkId, double> shares;
    for (const LinkShare& each : demand.shares)
    {
        shares[each.link] += each.share / demand.weight;
    }
    demand.shares = Listed(shares);
}

const std::vector<LinkShare>&
BalancedSpread::SharesOf(RouteId route)
{
    std::map<LinkId, double> shares;
    const RouteDecomposition& decomposition = m_even.DecompositionOf(route);
    for (const PathLink& each : decomposition.rest)
    {
        shares[each.link] += each.multiplicity;
    }
    for (const SegmentCount& segment : decomposition.segments)
    {
        const PathDag* dag = m_choices.Shortest(segment.from, segment.to);
        if (!dag)
        {
            return m_even.SharesOf(route);
        }
        const DeviceId first = EdgeOf(m_topology, *dag, segment.from, true);
        const DeviceId last = EdgeOf(m_topology, *dag, segment.to, false);
        const auto demand = m_byEnds.find(KeyOf(first, last));
        if (first != last && demand == m_byEnds.end())
        {
            return m_even.SharesOf(route); // a segment that was not loaded
        }
        if (first != segment.from)
        {
            shares[dag->arcs.front().link] += segment.times;
        }
        if (last != segment.to)
        {
            shares[dag->arcs.back().link] += segment.times;
        }
        if (first == last)
        {
            continue;
        }
        for (const LinkShare& each : m_demands[demand->second].shares)
        {
            if (each.share >= MIN_SHARE)
            {
                shares[each.link] += each.share * segment.times;
            }
        }
    }
    m_shares = Listed(shares);
    return m_shares;
}

std::vector<RouteLoad>
ConcurrentShares::Striped(const Routing& routing, const std::vector<RouteLoad>& loads)
{
    std::vector<RouteLoad> striped;
    striped.reserve(loads.size());
    for (const RouteLoad& load : loads)
    {
        const std::size_t count = routing.StripeCount(load.route);
        for (std::size_t i = 0; i < count; i++)
        {
            striped.push_back(
                {routing.Stripe(load.route, i), load.weight / static_cast<double>(count)});
        }
    }
    return striped;
}

std::vector<LinkShare>
ConcurrentShares::SharesOfStripes(RouteId route) const
{
    const std::size_t count = m_routing.StripeCount(route);
    std::map<LinkId, double> shares;
    for (std::size_t i = 0; i < count; i++)
    {
        ForEachOfStripe(m_routing.Stripe(route, i), [&](LinkId link, double share) {
            shares[link] += share / static_cast<double>(count);
        });
    }
    return Listed(shares);
}

} // namespace weir

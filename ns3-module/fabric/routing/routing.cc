// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/routing.h"

#include "fabric/routing/link-spread.h"
#include "fabric/topology/cluster-spec.h"

#include <algorithm>
#include <utility>

namespace weir
{

namespace
{

/** Sorts by end points and merges equal segments. */
void
Fold(std::vector<SegmentCount>& segments)
{
    std::sort(segments.begin(), segments.end(), [](const SegmentCount& a, const SegmentCount& b) {
        return a.from != b.from ? a.from < b.from : a.to < b.to;
    });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < segments.size(); i++)
    {
        if (kept > 0 && segments[kept - 1].from == segments[i].from &&
            segments[kept - 1].to == segments[i].to)
        {
            segments[kept - 1].times += segments[i].times;
        }
        else
        {
            segments[kept++] = segments[i];
        }
    }
    segments.resize(kept);
}

void
AddTimes(std::vector<PathLink>& links, PathTable::Span more, uint32_t times)
{
    for (const PathLink& each : more)
    {
        links.push_back({each.link, each.multiplicity * times});
    }
}

uint32_t
Folded(uint64_t hash)
{
    return static_cast<uint32_t>(hash ^ hash >> 32);
}

} // namespace

Routing::Routing(const Topology& topology, const FabricSpec& fabric)
    : m_topology(topology),
      m_policy(fabric.routing),
      m_router(topology, *m_policy, fabric.hashSeed),
      m_paths(topology)
{
    InternFixed(m_paths.Intern({}), Kind::Pinned); // Nowhere
    if (!m_policy->IsFixed())
    {
        m_spread = std::make_unique<EvenSpread>(*this);
    }
}

Routing::~Routing() = default;

const std::vector<LinkId>&
Routing::InsidePath(DeviceId from, DeviceId to, uint8_t kinds)
{
    constexpr uint32_t DEVICE_BITS = 30;
    constexpr uint32_t KIND_SHIFT = 2 * DEVICE_BITS; // four bits of kinds, then two devices
    const uint64_t key = uint64_t{kinds} << KIND_SHIFT |
                         static_cast<uint64_t>(from.Index()) << DEVICE_BITS | to.Index();
    auto known = m_insidePaths.find(key);
    if (known == m_insidePaths.end())
    {
        known = m_insidePaths.emplace(key, HealthyRouter().RouteOver(from, to, {}, kinds)).first;
    }
    return known->second;
}

Routing::InsideHops
Routing::FindInsideHops(const RouteRequest& request)
{
    const auto append =
        [this](std::vector<LinkId>& hops, DeviceId from, DeviceId to, uint8_t kinds) {
            if (from != to)
            {
                const std::vector<LinkId>& part = InsidePath(from, to, kinds);
                hops.insert(hops.end(), part.begin(), part.end());
            }
        };
    const bool isInside = !request.outNic.IsValid();
    const DeviceId relay = request.relay.IsValid() ? request.relay : request.source;
    InsideHops hops;
    append(hops.before, request.source, relay, isInside ? request.insideKinds : NVLINK_KINDS);
    if (isInside)
    {
        append(hops.before, relay, request.destination, request.insideKinds);
        return hops;
    }
    append(hops.before, relay, request.outNic, PCIE_KINDS);
    append(hops.after, request.inNic, request.destination, PCIE_KINDS);
    return hops;
}

PathId
Routing::Joined(PathId before, const std::vector<LinkId>& network, PathId after)
{
    std::vector<LinkId> links;
    const auto append = [&](PathId part) {
        if (part.IsValid())
        {
            for (const PathLink& each : m_paths.Links(part))
            {
                links.push_back(each.link);
            }
        }
    };
    append(before);
    links.insert(links.end(), network.begin(), network.end());
    append(after);
    return m_paths.Intern(links);
}

PathId
Routing::PathThrough(RouteId id, const std::vector<LinkId>& network)
{
    const Route& route = m_routes[id.Index()];
    if (route.kind == Kind::Single)
    {
        const Single& single = m_singles[route.detail];
        return Joined(single.before, network, single.after);
    }
    std::vector<PathLink> links = DecompositionOf(id).rest;
    for (const LinkId link : network)
    {
        links.push_back({link, 1});
    }
    return InternLinks(links);
}

std::vector<PathId>
Routing::EntropyPaths(RouteId id, uint32_t count, bool isDistinct)
{
    const Route route = m_routes[id.Index()];
    std::vector<PathId> paths{CurrentPath(id)};
    if (m_policy->GetScope() != RoutingPolicy::Scope::Packet || route.kind != Kind::Single ||
        m_paths.Links(paths.front()).size() == 0 || HasDownLink(paths.front()))
    {
        return paths;
    }
    const Single single = m_singles[route.detail];
    FlowTuple tuple = TupleOf(single);
    const LinkId port = m_paths.Links(paths.front()).front().link;
    for (uint32_t i = 1; i < count; i++)
    {
        tuple.sourcePort = static_cast<uint16_t>(single.sourcePort + i);
        const PathId path =
            Joined(single.before,
                   m_router.RouteOver(single.from, single.to, tuple, single.networkKinds),
                   single.after);
        const bool isOfPort = m_paths.Links(path).front().link == port;
        if (isOfPort && (!isDistinct || std::find(paths.begin(), paths.end(), path) == paths.end()))
        {
            paths.push_back(path);
        }
    }
    return paths;
}

PathId
Routing::InternLinks(std::vector<PathLink>& links)
{
    CountRepeated(links);
    return m_paths.InternCounted(links);
}

/** Interns links that may occur several times, in any order. */
PathId
Routing::InternEach(const std::vector<LinkId>& links)
{
    std::vector<PathLink> counted;
    counted.reserve(links.size());
    for (const LinkId link : links)
    {
        counted.push_back({link, 1});
    }
    return InternLinks(counted);
}

FlowTuple
Routing::TupleOf(const Single& single)
{
    return {single.from.Index(), single.to.Index(), single.sourcePort, single.queuePair};
}

RouteId
Routing::Add(const RouteRequest& request)
{
    const InsideHops inside = FindInsideHops(request);
    if (!request.outNic.IsValid())
    {
        return AddPinned(inside.before);
    }
    Single single;
    single.before = m_paths.Intern(inside.before);
    single.after = m_paths.Intern(inside.after);
    single.from = request.outNic;
    single.to = request.inNic;
    single.sourcePort = request.sourcePort;
    single.queuePair = request.queuePair;
    single.networkKinds = request.networkKinds;
    const uint64_t ends = uint64_t{single.from.Index()} << 32 | single.to.Index();
    const uint64_t parts = uint64_t{single.before.Index()} << 32 | single.after.Index();
    const uint64_t ports =
        uint64_t{single.networkKinds} << 32 | uint32_t{single.sourcePort} << 16 | single.queuePair;
    const uint32_t hash =
        Folded(MixHash(MixHash(MixHash(static_cast<uint64_t>(Kind::Single), ends), parts), ports));
    const uint32_t known = m_index.Find(hash, [&](uint32_t i) {
        return m_routes[i].kind == Kind::Single && m_singles[m_routes[i].detail] == single;
    });
    if (known != InternIndex::NONE)
    {
        return RouteId(known);
    }
    const auto network =
        HealthyRouter().RouteOver(single.from, single.to, TupleOf(single), single.networkKinds);
    Route route;
    route.kind = Kind::Single;
    route.path = Joined(single.before, network, single.after);
    route.detail = static_cast<uint32_t>(m_singles.size());
    m_singles.push_back(single);
    return Intern(route, hash);
}

std::vector<LinkId>
Routing::FindHops(const RouteRequest& request)
{
    InsideHops hops = FindInsideHops(request);
    if (request.outNic.IsValid())
    {
        const FlowTuple tuple{
            request.outNic.Index(), request.inNic.Index(), request.sourcePort, request.queuePair};
        const auto network =
            HealthyRouter().RouteOver(request.outNic, request.inNic, tuple, request.networkKinds);
        hops.before.insert(hops.before.end(), network.begin(), network.end());
        hops.before.insert(hops.before.end(), hops.after.begin(), hops.after.end());
    }
    return hops.before;
}

RouteId
Routing::Intern(const Route& route, uint32_t hash)
{
    const RouteId id(m_routes.size());
    m_routes.push_back(route);
    m_index.Insert(hash, id.Index());
    return id;
}

RouteId
Routing::InternFixed(PathId path, Kind kind)
{
    auto& known = kind == Kind::Pinned ? m_pinnedRoutes : m_fixedRoutes;
    if (known.size() <= path.Index())
    {
        known.resize(path.Index() + 1);
    }
    RouteId& route = known[path.Index()];
    if (!route.IsValid())
    {
        route = RouteId(m_routes.size());
        m_routes.push_back({path, 0, kind});
    }
    return route;
}

RouteId
Routing::AddFixed(const std::vector<PathLink>& links)
{
    return InternFixed(m_paths.InternCounted(links), Kind::Fixed);
}

RouteId
Routing::AddFixed(const std::vector<LinkId>& links)
{
    return InternFixed(InternEach(links), Kind::Fixed);
}

std::vector<RouteId>
Routing::AddTrees(const std::vector<std::vector<LinkId>>& trees, TreeReroute reroute)
{
    std::vector<PathId> paths;
    for (const std::vector<LinkId>& links : trees)
    {
        paths.push_back(InternEach(links));
    }
    const auto [known, isNew] =
        m_treesByPaths.emplace(std::move(paths), static_cast<uint32_t>(m_trees.size()));
    if (isNew)
    {
        Trees added{{}, std::move(reroute), {}};
        for (const PathId path : known->first)
        {
            added.routes.emplace_back(m_routes.size());
            m_routes.push_back({path, known->second, Kind::Tree});
        }
        m_trees.push_back(std::move(added));
    }
    return m_trees[known->second].routes;
}

/** @p sum without sums among its terms. */
Routing::Sum
Routing::Flattened(const RouteSum& sum) const
{
    Sum flat{{}, sum.segments, sum.otherLinks};
    for (const RouteSum::Term& term : sum.terms)
    {
        const Route& route = m_routes[term.route.Index()];
        if (route.kind != Kind::Sum)
        {
            flat.terms.push_back(term);
            continue;
        }
        const Sum& inner = m_sums[route.detail];
        for (RouteSum::Term each : inner.terms)
        {
            each.times *= term.times;
            flat.terms.push_back(each);
        }
        for (RouteSum::Segment each : inner.segments)
        {
            each.times *= term.times;
            flat.segments.push_back(each);
        }
        for (PathLink each : inner.otherLinks)
        {
            each.multiplicity *= term.times;
            flat.otherLinks.push_back(each);
        }
    }
    return flat;
}

RouteId
Routing::AddSum(const RouteSum& sum)
{
    if (sum.segments.empty() && sum.otherLinks.empty() && sum.terms.size() == 1 &&
        sum.terms.front().times == 1)
    {
        return sum.terms.front().route;
    }
    std::size_t stripes = 1;
    for (const RouteSum::Term& term : sum.terms)
    {
        stripes = std::max(stripes, StripeCount(term.route));
    }
    if (stripes > 1)
    {
        return AddStripedSum(sum, stripes);
    }
    std::vector<PathLink> links = sum.segmentLinks;
    links.insert(links.end(), sum.otherLinks.begin(), sum.otherLinks.end());
    for (const RouteSum::Term& term : sum.terms)
    {
        AddTimes(links, Links(term.route), term.times);
    }
    Route route;
    route.kind = Kind::Sum;
    route.path = InternLinks(links);
    // If switches do not choose paths, sums over the same links are equivalent whatever their
    // terms.
    uint64_t hash = MixHash(static_cast<uint64_t>(Kind::Sum), route.path.Index());
    Sum flat = Flattened(sum);
    route.detail = static_cast<uint32_t>(m_sums.size());
    m_sums.push_back(std::move(flat));
    RouteDecomposition decomposition;
    if (m_spread)
    {
        AddDecomposition(route, 1, decomposition.segments, decomposition.rest);
        Fold(decomposition.segments);
        for (const SegmentCount& each : decomposition.segments)
        {
            hash = MixHash(hash, uint64_t{each.from.Index()} << 32 | each.to.Index());
            hash = MixHash(hash, each.times);
        }
    }
    const uint32_t known = m_index.Find(
        Folded(hash), [&](uint32_t i) { return AreSameSum(m_routes[i], route, decomposition); });
    if (known != InternIndex::NONE)
    {
        m_sums.pop_back();
        return RouteId(known);
    }
    return Intern(route, Folded(hash));
}

RouteId
Routing::AddStripedSum(const RouteSum& sum, std::size_t stripes)
{
    std::vector<RouteId> sums;
    for (std::size_t i = 0; i < stripes; i++)
    {
        RouteSum stripe = sum;
        for (RouteSum::Term& term : stripe.terms)
        {
            term.route = Stripe(term.route, i);
        }
        sums.push_back(AddSum(stripe));
    }
    return AddStriped(sums);
}

RouteId
Routing::AddStriped(const std::vector<RouteId>& stripes)
{
    if (std::all_of(
            stripes.begin(), stripes.end(), [&](RouteId each) { return each == stripes.front(); }))
    {
        return stripes.front();
    }
    const auto [known, isNew] = m_striped.try_emplace(stripes, RouteId(m_routes.size()));
    if (isNew)
    {
        m_routes.push_back(Route(m_routes[stripes.front().Index()]));
        m_stripes.emplace(known->second, stripes);
    }
    return known->second;
}

Rate
Routing::StripedBottleneckRate(RouteId route) const
{
    const std::vector<RouteId>& stripes = m_stripes.at(route);
    std::vector<PathLink> links;
    for (const RouteId stripe : stripes)
    {
        AddTimes(links, Links(stripe), 1);
    }
    CountRepeated(links);
    Rate rate = Rate::Infinite();
    for (const PathLink& each : links)
    {
        const Rate perStripe = m_topology.GetLink(each.link).rate / each.multiplicity;
        rate = std::min(rate, perStripe * static_cast<double>(stripes.size()));
    }
    return rate;
}

Time
Routing::StripedLatency(RouteId route) const
{
    Time slowest;
    for (const RouteId stripe : m_stripes.at(route))
    {
        slowest = std::max(slowest, Latency(stripe));
    }
    return slowest;
}

bool
Routing::HaveSameStripes(RouteId a, RouteId b) const
{
    const std::size_t count = StripeCount(a);
    if (count != StripeCount(b))
    {
        return false;
    }
    for (std::size_t i = 1; i < count; i++)
    {
        if (PlannedPath(Stripe(a, i)) != PlannedPath(Stripe(b, i)))
        {
            return false;
        }
    }
    return true;
}

bool
Routing::AreSameSum(const Route& known,
                    const Route& route,
                    const RouteDecomposition& decomposition) const
{
    if (known.kind != Kind::Sum || known.path != route.path)
    {
        return false;
    }
    if (!m_spread)
    {
        return true;
    }
    RouteDecomposition other;
    AddDecomposition(known, 1, other.segments, other.rest);
    Fold(other.segments);
    return std::equal(other.segments.begin(),
                      other.segments.end(),
                      decomposition.segments.begin(),
                      decomposition.segments.end(),
                      [](const SegmentCount& a, const SegmentCount& b) {
                          return a.from == b.from && a.to == b.to && a.times == b.times;
                      });
}

Rate
Routing::UncontendedRate(RouteId route) const
{
    // Load-aware switches move whole flows. A sum has many flows, so it is spread as well.
    if (!m_spread || (!m_spread->IsPerPacket() && !IsSum(route)))
    {
        return BottleneckRate(route);
    }
    Rate rate = Rate::Infinite();
    for (const LinkShare& each : m_spread->SharesOf(route))
    {
        rate = std::min(rate, m_topology.GetLink(each.link).rate / each.share);
    }
    return m_spread->IsPerPacket() ? rate : std::max(rate, BottleneckRate(route));
}

Time
Routing::UncontendedLatency(RouteId route) const
{
    const bool isSprayed = AreAllUsable() && m_spread && m_spread->IsPerPacket();
    return Latency(route) + (isSprayed ? m_spread->SprayedOf(route).latency : Time());
}

DeviceId
Routing::SourceOf(RouteId id) const
{
    const auto links = Links(id);
    return !HasEnds(id) || links.size() == 0 ? DeviceId()
                                             : m_topology.GetLink(links.front().link).from;
}

DeviceId
Routing::DestinationOf(RouteId id) const
{
    const auto links = Links(id);
    return !HasEnds(id) || links.size() == 0 ? DeviceId()
                                             : m_topology.GetLink(links.back().link).to;
}

void
Routing::AddDecomposition(const Route& route,
                          uint32_t times,
                          std::vector<SegmentCount>& segments,
                          std::vector<PathLink>& rest) const
{
    switch (route.kind)
    {
    case Kind::Pinned:
    case Kind::Fixed:
    case Kind::Tree:
        AddTimes(rest, m_paths.Links(route.path), times);
        return;
    case Kind::Single: {
        const Single& single = m_singles[route.detail];
        if (single.from == single.to)
        {
            AddTimes(rest, m_paths.Links(route.path), times);
            return;
        }
        segments.push_back({single.from, single.to, times});
        AddTimes(rest, m_paths.Links(single.before), times);
        AddTimes(rest, m_paths.Links(single.after), times);
        return;
    }
    case Kind::Sum:
        break;
    }
    const Sum& sum = m_sums[route.detail];
    for (const RouteSum::Term& term : sum.terms)
    {
        AddDecomposition(m_routes[term.route.Index()], times * term.times, segments, rest);
    }
    for (const RouteSum::Segment& each : sum.segments)
    {
        segments.push_back({each.from, each.to, times * each.times});
    }
    for (const PathLink& each : sum.otherLinks)
    {
        rest.push_back({each.link, each.multiplicity * times});
    }
}

RouteDecomposition
Routing::DecompositionOf(RouteId route) const
{
    RouteDecomposition decomposition;
    AddDecomposition(m_routes[route.Index()], 1, decomposition.segments, decomposition.rest);
    Fold(decomposition.segments);
    CountRepeated(decomposition.rest);
    return decomposition;
}

void
Routing::SetUsable(const std::vector<LinkId>& links, bool usable)
{
    if (!m_healthy)
    {
        m_healthy = std::make_unique<Router>(m_topology, *m_policy, m_router.HashSeed());
    }
    for (const LinkId link : links)
    {
        if (m_router.IsUsable(link) != usable)
        {
            m_router.SetUsable(link, usable);
            m_down += usable ? -1 : 1;
        }
    }
    m_rerouted.clear();
    for (Trees& trees : m_trees)
    {
        trees.now.reset();
    }
}

LinkId
Routing::FirstDownLink(PathId path) const
{
    for (const PathLink& each : m_paths.Links(path))
    {
        if (!m_router.IsUsable(each.link))
        {
            return each.link;
        }
    }
    return LinkId();
}

PathId
Routing::Rerouted(RouteId id)
{
    const auto known = m_rerouted.find(id);
    if (known != m_rerouted.end())
    {
        return known->second;
    }
    const Route route = m_routes[id.Index()];
    PathId path = route.path;
    if (HasDownLink(route.path))
    {
        path = route.kind == Kind::Single ? RerouteSingle(route)
               : route.kind == Kind::Sum  ? RerouteSum(route)
               : route.kind == Kind::Tree ? RerouteTree(id)
                                          : route.path;
    }
    m_rerouted.emplace(id, path);
    return path;
}

PathId
Routing::RerouteSingle(const Route& route)
{
    const Single single = m_singles[route.detail];
    if (HasDownLink(single.before) || HasDownLink(single.after) ||
        !m_router.IsReachable(single.from, single.to, single.networkKinds))
    {
        return route.path;
    }
    return Joined(single.before,
                  m_router.RouteOver(single.from, single.to, TupleOf(single), single.networkKinds),
                  single.after);
}

PathId
Routing::RerouteSum(const Route& route)
{
    const Sum& sum = m_sums[route.detail];
    std::vector<PathLink> links = sum.otherLinks;
    for (const RouteSum::Term& term : sum.terms)
    {
        AddTimes(links, m_paths.Links(Rerouted(term.route)), term.times);
    }
    for (const RouteSum::Segment& each : sum.segments)
    {
        auto path = HealthyRouter().RouteOver(each.from, each.to, each.tuple, NETWORK_KINDS);
        const bool isDown = std::any_of(
            path.begin(), path.end(), [this](LinkId link) { return !m_router.IsUsable(link); });
        if (isDown && m_router.IsReachable(each.from, each.to, NETWORK_KINDS))
        {
            path = m_router.RouteOver(each.from, each.to, each.tuple, NETWORK_KINDS);
        }
        for (const LinkId link : path)
        {
            links.push_back({link, each.times});
        }
    }
    return InternLinks(links);
}

PathId
Routing::RerouteTree(RouteId id)
{
    Trees& trees = m_trees[m_routes[id.Index()].detail];
    if (!trees.now)
    {
        trees.now = trees.reroute(m_router);
    }
    const std::size_t index = id.Index() - trees.routes.front().Index();
    return trees.now->empty() ? PlannedPath(id) : InternEach((*trees.now)[index]);
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/way-chooser.h"

#include "fabric/routing/flow-hash.h"

#include <algorithm>
#include <cmath>

namespace weir
{

namespace
{

constexpr uint32_t FINEST_UNIT = 4096;  //!< of ways that are divided
constexpr int64_t UNIT_BYTES = 64;      //!< at least, so that rounding up to units adds little
constexpr std::size_t FEW_FLOWS = 4096; //!< are not worth forgetting
constexpr double WEIGHT_ONE = 0x1p32;   //!< weights on links are counted in integers of 1 / this

} // namespace

WayChooser::WayChooser(PathTable& paths, Router& router, const FabricSpec& fabric)
    : m_paths(paths),
      m_router(router),
      m_kind(fabric.routing),
      m_gap(fabric.flowletGap),
      m_spread(paths, router),
      m_turns(fabric.hashSeed),
      m_forgetAt(FEW_FLOWS)
{
    const Topology& topology = paths.GetTopology();
    m_links.loads.resize(topology.LinkCount(), 0);
    m_weights.resize(topology.LinkCount(), 0);
    for (std::size_t link = 0; link < topology.LinkCount(); link++)
    {
        m_links.rates.push_back(topology.GetLink(LinkId(link)).rate.ToBytesPerSecond());
    }
}

uint64_t
WayChooser::KeyOf(PathId planned, uint64_t flow)
{
    return SplitMix64(flow) ^ planned.Index();
}

void
WayChooser::AddLoad(LinkId link, double weight)
{
    const double rate = m_links.rates[link.Index()];
    if (m_paths.GetTopology().GetLink(link).kind == LinkKind::Network && rate > 0)
    {
        int64_t& onLink = m_weights[link.Index()];
        onLink += std::llround(weight * WEIGHT_ONE);
        m_links.loads[link.Index()] = static_cast<double>(onLink) / WEIGHT_ONE / rate;
    }
}

void
WayChooser::SetRate(LinkId link, Rate rate)
{
    double& known = m_links.rates[link.Index()];
    if (rate > Rate() && known > 0) // what is down takes no way
    {
        known = rate.ToBytesPerSecond();
        m_links.loads[link.Index()] =
            static_cast<double>(m_weights[link.Index()]) / WEIGHT_ONE / known;
    }
}

ChosenWay
WayChooser::Sprayed(PathId planned)
{
    const auto& sprayed = m_spread.SprayedOf(planned);
    return {
        sprayed.path, sprayed.unit, std::max(Time(), sprayed.latency - m_paths.Latency(planned))};
}

ChosenWay
WayChooser::Enter(PathId planned, uint64_t flow, double weight, Time now)
{
    if (m_kind == RoutingKind::Spray)
    {
        return Sprayed(planned);
    }
    ChosenWay way;
    if (m_kind == RoutingKind::Flowlet)
    {
        ForgetOldFlows(now);
        Flow& known = m_flows[KeyOf(planned, flow)];
        const bool goesOn = known.way.path.IsValid() && known.revision == m_router.Revision() &&
                            (known.underWay > 0 || now - known.lastEnd < m_gap);
        if (!goesOn)
        {
            known.way = LeastLoaded(planned, weight);
            known.revision = m_router.Revision();
        }
        known.underWay++;
        way = known.way;
    }
    else
    {
        way = LeastLoaded(planned, weight);
    }
    Hold(way, weight);
    return way;
}

void
WayChooser::Hold(const ChosenWay& way, double weight)
{
    for (const PathLink& each : m_paths.Links(way.path))
    {
        AddLoad(each.link, weight * each.multiplicity / way.unit);
    }
}

void
WayChooser::Leave(PathId planned, const ChosenWay& way, uint64_t flow, double weight, Time now)
{
    if (m_kind == RoutingKind::Spray)
    {
        return;
    }
    for (const PathLink& each : m_paths.Links(way.path))
    {
        AddLoad(each.link, -weight * each.multiplicity / way.unit);
    }
    const auto known = m_flows.find(KeyOf(planned, flow));
    if (known != m_flows.end() && known->second.underWay > 0)
    {
        known->second.underWay--;
        known->second.lastEnd = now;
    }
}

void
WayChooser::ForgetOldFlows(Time now)
{
    if (m_flows.size() < m_forgetAt)
    {
        return;
    }
    for (auto flow = m_flows.begin(); flow != m_flows.end();)
    {
        const bool isOver = flow->second.underWay == 0 && now - flow->second.lastEnd >= m_gap;
        flow = isOver ? m_flows.erase(flow) : std::next(flow);
    }
    m_forgetAt = std::max(FEW_FLOWS, 2 * m_flows.size());
}

ChosenWay
WayChooser::LeastLoaded(PathId planned, double weight)
{
    const PathMakeup& makeup = m_spread.MakeupOf(planned);
    RouteChoices& choices = m_spread.Choices();
    if (makeup.ways.empty() || !choices.Shortest(makeup.ways.front().from, makeup.ways.front().to))
    {
        return {planned, 1, Time()}; // nothing to choose, or it stands still where it is
    }
    std::vector<LinkId> links = choices.LeastLoaded(makeup.ways.front().from,
                                                    makeup.ways.front().to,
                                                    m_links.loads,
                                                    &m_links.rates,
                                                    weight,
                                                    m_turns++);
    for (const PathLink& each : makeup.rest)
    {
        links.insert(links.end(), each.multiplicity, each.link);
    }
    Time latency;
    for (const LinkId link : links)
    {
        latency += m_paths.GetTopology().GetLink(link).latency;
    }
    return {m_paths.Intern(links), 1, std::max(Time(), latency - m_paths.Latency(planned))};
}

bool
WayChooser::IsDivided(PathId path)
{
    if (m_kind == RoutingKind::Spray)
    {
        return false;
    }
    const auto& ways = m_spread.MakeupOf(path).ways;
    return ways.size() > 1 || (ways.size() == 1 && ways.front().times > 1);
}

uint32_t
WayChooser::UnitFor(PathId path, Bytes bytes)
{
    // Multiplicities are a way's times x unit, and many ways may share a link.
    constexpr uint64_t MOST_PARTS = uint64_t{1} << 31;
    uint64_t times = 1;
    for (const PathWay& way : m_spread.MakeupOf(path).ways)
    {
        times += way.times;
    }
    uint32_t most = 1;
    while (most < FINEST_UNIT && bytes.Count() >= 2 * most * UNIT_BYTES &&
           2 * most * times <= MOST_PARTS)
    {
        most *= 2;
    }
    // Bytes are rounded up to units: of those of a size the one that adds the least.
    uint32_t unit = most;
    int64_t least = bytes.Count();
    for (uint32_t each = most; each > most / 2; each--)
    {
        const int64_t added = (each - bytes.Count() % each) % each;
        if (added < least)
        {
            least = added;
            unit = each;
        }
    }
    return unit;
}

std::vector<ChosenWay>
WayChooser::Divide(const std::vector<Divided>& starting)
{
    std::vector<PathLoad> loads;
    for (const Divided& each : starting)
    {
        loads.push_back({each.planned, each.weight});
    }
    WayBalance balance(m_spread, m_spread.Choices(), loads, &m_links);
    std::vector<ChosenWay> ways;
    for (const Divided& each : starting)
    {
        std::vector<PathLink> links;
        for (const LinkShare& share : balance.SharesOf(each.planned))
        {
            const double parts = std::round(share.share * each.unit);
            links.push_back({share.link, std::max<uint32_t>(1, static_cast<uint32_t>(parts))});
        }
        ways.push_back({m_paths.InternCounted(links), each.unit, Time()});
        Hold(ways.back(), each.weight);
    }
    return ways;
}

} // namespace weir

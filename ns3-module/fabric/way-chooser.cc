// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/way-chooser.h"

#include "fabric/flow-hash.h"

#include <algorithm>

namespace weir
{

namespace
{

/** Detours that are weighed for each choice: UGAL has one; more find a free one sooner. */
constexpr std::size_t DETOURS_WEIGHED = 4;
constexpr uint32_t MOST_PARTS = 16;     //!< that choose apart, of a way that a path has many times
constexpr std::size_t FEW_FLOWS = 4096; //!< are not worth forgetting

} // namespace

WayChooser::WayChooser(PathTable& paths, Router& router, const FabricSpec& fabric)
    : m_paths(paths),
      m_router(router),
      m_kind(fabric.routing),
      m_gap(fabric.flowletGap),
      m_spread(paths, router),
      m_detours(paths.GetTopology()),
      m_loads(paths.GetTopology().LinkCount(), 0),
      m_choices(fabric.hashSeed),
      m_revision(router.Revision()),
      m_forgetAt(FEW_FLOWS)
{
}

uint64_t
WayChooser::KeyOf(PathId planned, uint64_t flow)
{
    return SplitMix64(flow) ^ planned.Index();
}

void
WayChooser::AddLoad(LinkId link, double weight)
{
    const Link& each = m_paths.GetTopology().GetLink(link);
    if (each.kind == LinkKind::Network && each.rate > Rate())
    {
        m_loads[link.Index()] += weight / each.rate.ToBytesPerSecond();
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

double
WayChooser::CostOf(const std::vector<LinkId>& way) const
{
    double most = 0;
    // The links to and from the end points are the same on every way.
    for (std::size_t i = 1; i + 1 < way.size(); i++)
    {
        most = std::max(most, m_loads[way[i].Index()]);
    }
    return most * static_cast<double>(way.size());
}

const std::vector<DeviceId>&
WayChooser::DetoursBetween(DeviceId first, DeviceId last)
{
    if (m_revision != m_router.Revision())
    {
        m_detoursOf.clear();
        m_revision = m_router.Revision();
    }
    const uint64_t key = uint64_t{first.Index()} << 32 | last.Index();
    const auto [entry, isNew] = m_detoursOf.try_emplace(key);
    if (isNew)
    {
        entry->second = m_detours.FindAll(m_router, first, last);
    }
    return entry->second;
}

std::vector<LinkId>
WayChooser::ChooseStretch(const PathStretch& stretch)
{
    const Topology& topology = m_paths.GetTopology();
    const RouteDag* dag = m_spread.WaysOf(stretch);
    if (!dag)
    {
        return stretch.links; // it stands still where it is
    }
    auto best = LeastLoadedWay(*dag, m_loads);
    if (!m_detours.HasGroups() || best.size() < 3)
    {
        return best;
    }
    double least = CostOf(best);
    const DeviceId first = topology.GetLink(best.front()).to;
    const DeviceId last = topology.GetLink(best.back()).from;
    if (least == 0)
    {
        return best;
    }
    const auto& vias = DetoursBetween(first, last);
    const uint64_t turn = SplitMix64(m_choices++);
    const auto shortest = best;
    for (std::size_t i = 0; i < std::min(DETOURS_WEIGHED, vias.size()); i++)
    {
        const DeviceId via = vias[(turn + i) % vias.size()];
        std::vector<LinkId> around{shortest.front()};
        for (const auto& [a, b] : {std::pair{first, via}, std::pair{via, last}})
        {
            const auto part = LeastLoadedWay(*m_spread.Ways().Between(a, b), m_loads);
            around.insert(around.end(), part.begin(), part.end());
        }
        around.push_back(shortest.back());
        const double cost = CostOf(around);
        if (cost < least)
        {
            least = cost;
            best = around;
        }
    }
    return best;
}

ChosenWay
WayChooser::LeastLoaded(PathId planned, double weight)
{
    const PathStretches& apart = m_spread.ApartOf(planned);
    if (apart.network.empty())
    {
        return {planned, 1, Time()};
    }
    if (!m_detours.HasGroups() && (apart.network.size() > 1 || apart.network.front().times > 1))
    {
        return Sprayed(planned);
    }
    const Topology& topology = m_paths.GetTopology();
    std::vector<LinkId> links;
    Time latency;
    for (const PathLink& each : apart.rest)
    {
        links.insert(links.end(), each.multiplicity, each.link);
        latency += topology.GetLink(each.link).latency * each.multiplicity;
    }
    const std::size_t first = links.size();
    for (const PathStretch& stretch : apart.network)
    {
        const uint32_t part = std::max(1U, stretch.times / MOST_PARTS);
        for (uint32_t left = stretch.times; left > 0; left -= std::min(left, part))
        {
            const uint32_t times = std::min(left, part);
            for (const LinkId link : ChooseStretch(stretch))
            {
                links.insert(links.end(), times, link);
                latency += topology.GetLink(link).latency * times;
                AddLoad(link, weight * times); // so that the path's own ways part
            }
        }
    }
    for (std::size_t i = first; i < links.size(); i++)
    {
        AddLoad(links[i], -weight);
    }
    return {m_paths.Intern(links), 1, std::max(Time(), latency - m_paths.Latency(planned))};
}

} // namespace weir

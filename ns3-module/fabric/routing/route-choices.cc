// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/route-choices.h"

#include "fabric/routing/flow-hash.h"

#include <algorithm>
#include <utility>

namespace weir
{

namespace
{

/** Detours that are weighed for each choice: UGAL has one; more find a free one sooner. */
constexpr std::size_t DETOURS_WEIGHED = 4;

/** Load x links. The links to and from the end points are the same on every way. */
double
CostOf(const std::vector<LinkId>& way, const LoadsWithOne& loads)
{
    double most = 0;
    for (std::size_t i = 1; i + 1 < way.size(); i++)
    {
        most = std::max(most, loads.On(way[i]));
    }
    return most * static_cast<double>(way.size());
}

} // namespace

RouteChoices::RouteChoices(const Topology& topology, Router& router)
    : m_topology(topology),
      m_router(router),
      m_ways(router),
      m_detours(topology),
      m_revision(router.Revision())
{
    for (std::size_t link = 0; link < topology.LinkCount(); link++)
    {
        const Link& each = topology.GetLink(LinkId(link));
        m_rates.push_back(each.rate.ToBytesPerSecond());
        m_fastest =
            each.kind == LinkKind::Network ? std::max(m_fastest, m_rates.back()) : m_fastest;
    }
}

const std::vector<DeviceId>&
RouteChoices::Around(DeviceId first, DeviceId last)
{
    if (m_revision != m_router.Revision())
    {
        m_around.clear();
        m_revision = m_router.Revision();
    }
    const uint64_t key = uint64_t{first.Index()} << 32 | last.Index();
    const auto [entry, isNew] = m_around.try_emplace(key);
    if (isNew && HasDetours())
    {
        entry->second = m_detours.FindAll(m_router, first, last);
        const auto lanes = m_detours.FindOtherLanes(m_router, first, last);
        entry->second.insert(entry->second.end(), lanes.begin(), lanes.end());
    }
    return entry->second;
}

std::vector<LinkId>
RouteChoices::LeastLoaded(DeviceId from,
                          DeviceId to,
                          const std::vector<double>& onLinks,
                          const std::vector<double>* rates,
                          double weight,
                          uint64_t turn)
{
    const LoadsWithOne loads(onLinks, rates ? *rates : m_rates, weight);
    auto best = LeastLoadedWay(*Shortest(from, to), loads);
    double least = CostOf(best, loads);
    const double leastOfAny = weight / m_fastest * static_cast<double>(best.size());
    if (!HasDetours() || best.size() < 3 || least <= leastOfAny)
    {
        return best;
    }
    const LinkId in = best.front();
    const LinkId out = best.back();
    const DeviceId first = m_topology.GetLink(in).to;
    const DeviceId last = m_topology.GetLink(out).from;
    const auto& vias = Around(first, last);
    const uint64_t start = SplitMix64(turn);
    for (std::size_t i = 0; i < std::min(DETOURS_WEIGHED, vias.size()); i++)
    {
        const DeviceId via = vias[(start + i) % vias.size()];
        std::vector<LinkId> around{in};
        for (const auto& [a, b] : {std::pair{first, via}, std::pair{via, last}})
        {
            const auto part = LeastLoadedWay(*Shortest(a, b), loads);
            around.insert(around.end(), part.begin(), part.end());
        }
        around.push_back(out);
        const double cost = CostOf(around, loads);
        if (cost < least)
        {
            least = cost;
            best = std::move(around);
        }
    }
    return best;
}

} // namespace weir

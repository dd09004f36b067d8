// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/path-choices.h"

#include "fabric/routing/flow-hash.h"

#include <algorithm>
#include <utility>

namespace weir
{

namespace
{

/** Number of detours compared per choice. UGAL compares one; more find an idle one sooner. */
constexpr std::size_t DETOURS_COMPARED = 4;

/**
 * Maximum load x number of links. Excludes the loads of the first and last link, which are on every
 * path.
 */
double
CostOf(const std::vector<LinkId>& path, const LoadsWithFlow& loads)
{
    double largest = 0;
    for (std::size_t i = 1; i + 1 < path.size(); i++)
    {
        largest = std::max(largest, loads.On(path[i]));
    }
    return largest * static_cast<double>(path.size());
}

} // namespace

PathChoices::PathChoices(Router& router)
    : m_router(router),
      m_revision(router.Revision())
{
    const Topology& topology = router.GetTopology();
    for (std::size_t link = 0; link < topology.LinkCount(); link++)
    {
        const Link& each = topology.GetLink(LinkId(link));
        m_rates.push_back(each.rate.ToBytesPerSecond());
        m_fastest =
            each.kind == LinkKind::Network ? std::max(m_fastest, m_rates.back()) : m_fastest;
    }
}

const std::vector<DeviceId>&
PathChoices::Intermediates(DeviceId first, DeviceId last)
{
    if (m_revision != m_router.Revision())
    {
        m_intermediates.clear();
        m_revision = m_router.Revision();
    }
    const uint64_t key = uint64_t{first.Index()} << 32 | last.Index();
    const auto [entry, isNew] = m_intermediates.try_emplace(key);
    if (isNew && HasDetours())
    {
        const Detours& detours = m_router.GetDetours();
        entry->second = detours.FindAll(m_router, first, last);
        const auto others = detours.FindParallelGlobalLinks(m_router, first, last);
        entry->second.insert(entry->second.end(), others.begin(), others.end());
    }
    return entry->second;
}

std::vector<LinkId>
PathChoices::LeastLoaded(DeviceId from,
                         DeviceId to,
                         const std::vector<double>& onLinks,
                         const std::vector<double>* rates,
                         double weight,
                         uint64_t turn)
{
    const LoadsWithFlow loads(onLinks, rates ? *rates : m_rates, weight);
    auto best = LeastLoadedPath(*Shortest(from, to), loads);
    double least = CostOf(best, loads);
    const double minOfAny = weight / m_fastest * static_cast<double>(best.size());
    if (!HasDetours() || best.size() < 3 || least <= minOfAny)
    {
        return best;
    }
    const LinkId in = best.front();
    const LinkId out = best.back();
    const DeviceId first = GetTopology().GetLink(in).to;
    const DeviceId last = GetTopology().GetLink(out).from;
    const auto& intermediates = Intermediates(first, last);
    const uint64_t start = SplitMix64(turn);
    for (std::size_t i = 0; i < std::min(DETOURS_COMPARED, intermediates.size()); i++)
    {
        const DeviceId middle = intermediates[(start + i) % intermediates.size()];
        std::vector<LinkId> detour{in};
        for (const auto& [a, b] : {std::pair{first, middle}, std::pair{middle, last}})
        {
            const auto part = LeastLoadedPath(*Shortest(a, b), loads);
            detour.insert(detour.end(), part.begin(), part.end());
        }
        detour.push_back(out);
        const double cost = CostOf(detour, loads);
        if (cost < least)
        {
            least = cost;
            best = std::move(detour);
        }
    }
    return best;
}

} // namespace weir

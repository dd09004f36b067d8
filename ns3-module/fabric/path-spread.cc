// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/path-spread.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace weir
{

namespace
{

constexpr uint64_t FINEST_UNIT = uint64_t{1} << 16; //!< beyond it a path's shares are rounded

} // namespace

PathSpread::PathSpread(PathTable& paths, Router& router)
    : m_paths(paths),
      m_router(router),
      m_ways(router),
      m_revision(router.Revision())
{
}

void
PathSpread::Refresh()
{
    if (m_revision != m_router.Revision())
    {
        m_shares.clear();
        m_sprayed.clear();
        m_revision = m_router.Revision();
    }
}

const PathStretches&
PathSpread::ApartOf(PathId path)
{
    const auto found = m_apart.find(path);
    if (found != m_apart.end())
    {
        return found->second;
    }
    return m_apart.emplace(path, TakeApart(m_router, m_paths.GetTopology(), m_paths.Links(path)))
        .first->second;
}

const RouteDag*
PathSpread::WaysOf(const PathStretch& stretch)
{
    const Topology& topology = m_paths.GetTopology();
    const DeviceId from = topology.GetLink(stretch.links.front()).from;
    const DeviceId to = topology.GetLink(stretch.links.back()).to;
    // Back to where it began: how a path was taken apart, no way that anything would choose.
    return from == to ? nullptr : m_ways.Between(from, to);
}

const std::vector<LinkShare>&
PathSpread::SharesOf(PathId path)
{
    Refresh();
    const auto [entry, isNew] = m_shares.try_emplace(path);
    if (!isNew)
    {
        return entry->second;
    }
    std::map<LinkId, double> shares;
    const PathStretches& apart = ApartOf(path);
    for (const PathLink& each : apart.rest)
    {
        shares[each.link] += each.multiplicity;
    }
    for (const PathStretch& stretch : apart.network)
    {
        const RouteDag* dag = WaysOf(stretch);
        if (!dag) // it stands still where it is
        {
            for (const LinkId link : stretch.links)
            {
                shares[link] += stretch.times;
            }
            continue;
        }
        const EvenShares even = weir::SharesOf(*dag);
        for (std::size_t i = 0; i < dag->arcs.size(); i++)
        {
            shares[dag->arcs[i].link] +=
                static_cast<double>(stretch.times) * even.parts[i] / even.unit;
        }
    }
    for (const auto& [link, share] : shares)
    {
        entry->second.push_back({link, share});
    }
    return entry->second;
}

const PathSpread::Sprayed&
PathSpread::SprayedOf(PathId path)
{
    Refresh();
    const auto found = m_sprayed.find(path);
    if (found != m_sprayed.end())
    {
        return found->second;
    }
    const Topology& topology = m_paths.GetTopology();
    Sprayed sprayed{path, 1, m_paths.Latency(path)};
    const PathStretches& apart = ApartOf(path);
    uint64_t unit = 1;
    Time latency;
    for (const PathLink& each : apart.rest)
    {
        latency += topology.GetLink(each.link).latency * each.multiplicity;
    }
    for (const PathStretch& stretch : apart.network)
    {
        if (const RouteDag* dag = WaysOf(stretch))
        {
            unit = std::min(std::lcm<uint64_t>(unit, weir::SharesOf(*dag).unit), FINEST_UNIT);
            latency += LongestLatency(*dag, topology) * stretch.times;
        }
    }
    if (unit > 1)
    {
        std::vector<PathLink> links;
        for (const LinkShare& each : SharesOf(path))
        {
            const double parts = each.share * static_cast<double>(unit);
            links.push_back({each.link, std::max<uint32_t>(1, static_cast<uint32_t>(parts + 0.5))});
        }
        sprayed = {m_paths.InternCounted(links), static_cast<uint32_t>(unit), latency};
    }
    return m_sprayed.emplace(path, sprayed).first->second;
}

} // namespace weir

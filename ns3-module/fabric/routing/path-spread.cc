// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/path-spread.h"

#include "fabric/routing/path-stretches.h"
#include "fabric/routing/way-balance.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace weir
{

namespace
{

constexpr uint64_t FINEST_UNIT = uint64_t{1} << 16; //!< beyond it a path's shares are rounded

/** A balance that somebody else keeps. */
class SharedBalance : public PathSharing
{
  public:
    explicit SharedBalance(PathSharing& balance)
        : m_balance(balance)
    {
    }

    const std::vector<LinkShare>& SharesOf(PathId path) override
    {
        return m_balance.SharesOf(path);
    }

    bool IsPerPacket() const override
    {
        return m_balance.IsPerPacket();
    }

    std::unique_ptr<PathSharing> Together(const std::vector<PathLoad>& loads) override
    {
        return m_balance.Together(loads);
    }

  private:
    PathSharing& m_balance;
};

} // namespace

PathSpread::PathSpread(PathTable& paths, Router& router)
    : m_paths(paths),
      m_router(router),
      m_choices(paths.GetTopology(), router),
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
        m_balances.Forget();
        m_revision = m_router.Revision();
    }
}

const PathMakeup&
PathSpread::MakeupOf(PathId path)
{
    if (const PathMakeup* known = m_paths.MakeupOf(path))
    {
        return *known;
    }
    const auto [entry, isNew] = m_makeups.try_emplace(path);
    if (isNew)
    {
        const Topology& topology = m_paths.GetTopology();
        PathStretches apart = TakeApart(m_router, topology, m_paths.Links(path));
        entry->second.rest = std::move(apart.rest);
        for (const PathStretch& stretch : apart.network)
        {
            const DeviceId from = topology.GetLink(stretch.links.front()).from;
            const DeviceId to = topology.GetLink(stretch.links.back()).to;
            if (from != to)
            {
                entry->second.ways.push_back({from, to, stretch.times});
                continue;
            }
            // Back to where it began: how it was taken apart, no way that anything would choose.
            for (const LinkId link : stretch.links)
            {
                entry->second.rest.push_back({link, stretch.times});
            }
        }
    }
    return entry->second;
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
    const PathMakeup& makeup = MakeupOf(path);
    for (const PathLink& each : makeup.rest)
    {
        shares[each.link] += each.multiplicity;
    }
    for (const PathWay& way : makeup.ways)
    {
        const RouteDag* dag = m_choices.Shortest(way.from, way.to);
        if (!dag) // it stands still where it is
        {
            shares.clear();
            for (const PathLink& each : m_paths.Links(path))
            {
                shares[each.link] = each.multiplicity;
            }
            break;
        }
        const EvenShares even = weir::SharesOf(*dag);
        for (std::size_t i = 0; i < dag->arcs.size(); i++)
        {
            shares[dag->arcs[i].link] += static_cast<double>(way.times) * even.parts[i] / even.unit;
        }
    }
    for (const auto& [link, share] : shares)
    {
        entry->second.push_back({link, share});
    }
    return entry->second;
}

std::unique_ptr<PathSharing>
PathSpread::Together(const std::vector<PathLoad>& loads)
{
    if (IsPerPacket())
    {
        return nullptr;
    }
    Refresh();
    return std::make_unique<SharedBalance>(
        m_balances.Of(loads, [this](const std::vector<PathLoad>& those) {
            return std::make_unique<WayBalance>(*this, m_choices, those, nullptr);
        }));
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
    const PathMakeup& makeup = MakeupOf(path);
    uint64_t unit = 1;
    Time latency;
    for (const PathLink& each : makeup.rest)
    {
        latency += topology.GetLink(each.link).latency * each.multiplicity;
    }
    for (const PathWay& way : makeup.ways)
    {
        if (const RouteDag* dag = m_choices.Shortest(way.from, way.to))
        {
            unit = std::min(std::lcm<uint64_t>(unit, weir::SharesOf(*dag).unit), FINEST_UNIT);
            latency += LongestLatency(*dag, topology) * way.times;
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

// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/way-balance.h"

#include "fabric/routing/load-levelling.h"

#include <algorithm>
#include <map>

namespace weir
{

namespace
{

constexpr uint32_t MOST_PARTS = 16;        //!< that choose apart
constexpr double LEAST_SHARE = 1.0 / 4096; //!< smaller ones are left out

/** The switch at the other end of the only link between an end point and its network; or itself. */
DeviceId
EdgeOf(const Topology& topology, const RouteDag& dag, DeviceId end, bool isFirst)
{
    if (dag.arcs.size() < 2)
    {
        return end; // a wire from one to the other
    }
    const bool isSingle = isFirst ? dag.arcs[1].from != dag.arcs[0].from
                                  : dag.arcs[dag.arcs.size() - 2].to != dag.places - 1;
    if (!isSingle)
    {
        return end;
    }
    return isFirst ? topology.GetLink(dag.arcs.front().link).to
                   : topology.GetLink(dag.arcs.back().link).from;
}

} // namespace

WayBalance::WayBalance(PathSpread& spread,
                       RouteChoices& choices,
                       const std::vector<PathLoad>& loads,
                       const LinkStates* others)
    : m_spread(spread),
      m_choices(choices),
      m_topology(spread.Paths().GetTopology())
{
    LinkScratch& scratch = spread.Scratch();
    scratch.Reserve(m_topology.LinkCount());
    std::vector<double> onOthers = others ? others->loads : std::vector<double>();
    onOthers.resize(others ? m_topology.LinkCount() : 0, 0);
    std::vector<double>& onLinks = others ? onOthers : scratch.loads;
    const std::vector<double>* rates = others ? &others->rates : nullptr;
    const bool chooseOnce = m_choices.Kind() == RoutingKind::Flowlet;
    for (const PathLoad& load : loads)
    {
        for (const PathWay& way : spread.MakeupOf(load.path).ways)
        {
            WayDemand* demand = AddWay(way, load.weight);
            if (demand && chooseOnce)
            {
                ChooseOnce(*demand, way, load.weight, onLinks, rates);
            }
        }
    }
    if (!chooseOnce)
    {
        LoadLevelling levelling(m_choices, m_topology, onLinks, rates, scratch);
        levelling.Divide(m_demands);
        levelling.Unload();
        return;
    }
    for (WayDemand& demand : m_demands)
    {
        for (const LinkShare& each : demand.shares)
        {
            onLinks[each.link.Index()] = 0;
        }
        AddUp(demand);
    }
}

std::unique_ptr<PathSharing>
WayBalance::Together(const std::vector<PathLoad>& loads)
{
    return std::make_unique<WayBalance>(m_spread, m_choices, loads, nullptr);
}

uint64_t
WayBalance::KeyOf(DeviceId first, DeviceId last)
{
    return uint64_t{first.Index()} << 32 | last.Index();
}

WayDemand*
WayBalance::AddWay(const PathWay& way, double weight)
{
    const RouteDag* dag = m_choices.Shortest(way.from, way.to);
    if (!dag)
    {
        return nullptr; // it stands still
    }
    const DeviceId first = EdgeOf(m_topology, *dag, way.from, true);
    const DeviceId last = EdgeOf(m_topology, *dag, way.to, false);
    if (first == last)
    {
        return nullptr; // nothing to choose
    }
    const auto [entry, isNew] =
        m_byEnds.emplace(KeyOf(first, last), static_cast<uint32_t>(m_demands.size()));
    if (isNew)
    {
        m_demands.push_back({first, last});
    }
    m_demands[entry->second].weight += weight * way.times;
    return &m_demands[entry->second];
}

void
WayBalance::ChooseOnce(WayDemand& demand,
                       const PathWay& way,
                       double weight,
                       std::vector<double>& onLinks,
                       const std::vector<double>* rates)
{
    const uint32_t parts = std::min(way.times, MOST_PARTS);
    const double part = weight * way.times / parts;
    for (uint32_t i = 0; i < parts; i++)
    {
        const auto chosen =
            m_choices.LeastLoaded(way.from, way.to, onLinks, rates, part, m_turns++);
        for (const LinkId link : chosen)
        {
            const bool isFirst = m_topology.GetLink(link).from == way.from;
            const bool isLast = m_topology.GetLink(link).to == way.to;
            if ((isFirst && demand.first != way.from) || (isLast && demand.last != way.to))
            {
                continue; // on every way
            }
            const double rate =
                rates ? (*rates)[link.Index()] : m_topology.GetLink(link).rate.ToBytesPerSecond();
            onLinks[link.Index()] += part / rate;
            demand.shares.push_back({link, part});
        }
    }
}

/** Shares of a demand from the weights that its parts have put on links. */
void
WayBalance::AddUp(WayDemand& demand)
{
    std::map<LinkId, double> shares;
    for (const LinkShare& each : demand.shares)
    {
        shares[each.link] += each.share / demand.weight;
    }
    demand.shares.clear();
    for (const auto& [link, share] : shares)
    {
        demand.shares.push_back({link, share});
    }
}

const std::vector<LinkShare>&
WayBalance::SharesOf(PathId path)
{
    std::map<LinkId, double> shares;
    const PathMakeup& makeup = m_spread.MakeupOf(path);
    for (const PathLink& each : makeup.rest)
    {
        shares[each.link] += each.multiplicity;
    }
    for (const PathWay& way : makeup.ways)
    {
        const RouteDag* dag = m_choices.Shortest(way.from, way.to);
        if (!dag)
        {
            return m_spread.SharesOf(path);
        }
        const DeviceId first = EdgeOf(m_topology, *dag, way.from, true);
        const DeviceId last = EdgeOf(m_topology, *dag, way.to, false);
        const auto demand = m_byEnds.find(KeyOf(first, last));
        if (first != last && demand == m_byEnds.end())
        {
            return m_spread.SharesOf(path); // of a way that was not loaded
        }
        if (first != way.from)
        {
            shares[dag->arcs.front().link] += way.times;
        }
        if (last != way.to)
        {
            shares[dag->arcs.back().link] += way.times;
        }
        if (first == last)
        {
            continue;
        }
        for (const LinkShare& each : m_demands[demand->second].shares)
        {
            if (each.share >= LEAST_SHARE)
            {
                shares[each.link] += each.share * way.times;
            }
        }
    }
    m_shares.clear();
    for (const auto& [link, share] : shares)
    {
        m_shares.push_back({link, share});
    }
    return m_shares;
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/detours.h"
#include "fabric/routing/flow-hash.h"
#include "fabric/routing/router.h"

#include <algorithm>
#include <stdexcept>
#include <unordered_map>

namespace weir
{

namespace
{

constexpr uint8_t NETWORK = KindBit(LinkKind::Network);

/** Numbers the places anew so that arcs lead to higher ones: by the most links still to go. */
void
OrderPlaces(RouteDag& dag, uint32_t last)
{
    std::vector<std::vector<uint32_t>> into(dag.places); // places before each
    std::vector<uint32_t> arcsLeft(dag.places, 0);
    for (const auto& arc : dag.arcs)
    {
        into[arc.to].push_back(arc.from);
        arcsLeft[arc.from]++;
    }
    std::vector<uint32_t> order{last}; // from the end on
    for (std::size_t i = 0; i < order.size(); i++)
    {
        for (const uint32_t before : into[order[i]])
        {
            if (--arcsLeft[before] == 0)
            {
                order.push_back(before);
            }
        }
    }
    std::vector<uint32_t> place(dag.places);
    for (std::size_t i = 0; i < order.size(); i++)
    {
        place[order[i]] = dag.places - 1 - static_cast<uint32_t>(i);
    }
    for (auto& arc : dag.arcs)
    {
        arc = {arc.link, place[arc.from], place[arc.to]};
    }
    std::sort(dag.arcs.begin(), dag.arcs.end(), [](const auto& a, const auto& b) {
        return a.from != b.from ? a.from < b.from : a.link < b.link;
    });
}

} // namespace

RouteDag
Router::ShortestWays(DeviceId from, DeviceId to, uint8_t kinds)
{
    CheckDevices(from, to);
    RouteDag dag;
    if (from == to)
    {
        return dag;
    }
    FindLandings(to, kinds);
    if (!FindFirstHops(from, to, kinds))
    {
        throw std::runtime_error("no path from " + m_topology.GetDevice(from).name + " to " +
                                 m_topology.GetDevice(to).name);
    }
    std::vector<DeviceId> places{from};
    std::unordered_map<DeviceId, uint32_t> placeOf{{from, 0}};
    for (uint32_t place = 0; place < places.size(); place++)
    {
        const DeviceId at = places[place];
        if (at == to)
        {
            continue;
        }
        if (place > 0)
        {
            FindNextHops(at, to, kinds);
        }
        for (const LinkId link : m_candidates)
        {
            const DeviceId next = m_topology.GetLink(link).to;
            const auto [entry, isNew] = placeOf.emplace(next, static_cast<uint32_t>(places.size()));
            if (isNew)
            {
                places.push_back(next);
            }
            dag.arcs.push_back({link, place, entry->second});
        }
    }
    dag.places = static_cast<uint32_t>(places.size());
    OrderPlaces(dag, placeOf.at(to));
    return dag;
}

uint32_t
Router::NetworkLength(DeviceId fromSwitch, DeviceId toSwitch)
{
    const SwitchGraph& graph = GraphOf(NETWORK);
    if (graph.IslandOf(fromSwitch) == SwitchGraph::NONE ||
        graph.IslandOf(fromSwitch) != graph.IslandOf(toSwitch))
    {
        return SwitchGraph::UNREACHABLE;
    }
    FindLandings(toSwitch, NETWORK);
    const Landing* landing = LandingIn(graph.IslandOf(fromSwitch));
    return (*landing->distances)[graph.LocalIndexOf(fromSwitch)];
}

std::vector<LinkId>
Router::ByValiant(std::vector<LinkId> minimal, const FlowTuple& tuple)
{
    if (minimal.size() < 3)
    {
        return minimal; // both ends hang on one switch
    }
    const DeviceId first = m_topology.GetLink(minimal.front()).to;
    const DeviceId last = m_topology.GetLink(minimal.back()).from;
    const auto all = m_detours->FindAll(*this, first, last);
    if (all.empty())
    {
        return minimal;
    }
    const DeviceId via = all[HashFlow(tuple, first.Index(), m_seed) % all.size()];
    std::vector<LinkId> route{minimal.front()};
    for (const auto& part :
         {MinimalRoute(first, via, tuple, NETWORK), MinimalRoute(via, last, tuple, NETWORK)})
    {
        route.insert(route.end(), part.begin(), part.end());
    }
    route.push_back(minimal.back());
    return route;
}

} // namespace weir

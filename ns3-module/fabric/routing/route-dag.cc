// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/route-dag.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace weir
{

namespace
{

constexpr uint64_t FINEST_UNIT = uint64_t{1} << 16;

/** By place: how many arcs leave it. */
std::vector<uint32_t>
ArcsFrom(const RouteDag& dag)
{
    std::vector<uint32_t> counts(dag.places, 0);
    for (const auto& arc : dag.arcs)
    {
        counts[arc.from]++;
    }
    return counts;
}

/** SharesOf in units of 2^-16. */
EvenShares
RoundedShares(const RouteDag& dag)
{
    const auto leaving = ArcsFrom(dag);
    std::vector<double> mass(dag.places, 0);
    mass.front() = 1;
    EvenShares shares{FINEST_UNIT, {}};
    for (const auto& arc : dag.arcs)
    {
        const double share = mass[arc.from] / leaving[arc.from];
        mass[arc.to] += share;
        shares.parts.push_back(
            std::max<uint32_t>(1, static_cast<uint32_t>(std::lround(share * FINEST_UNIT))));
    }
    return shares;
}

} // namespace

Time
LongestLatency(const RouteDag& dag, const Topology& topology)
{
    std::vector<Time> at(dag.places);
    for (const auto& arc : dag.arcs)
    {
        at[arc.to] = std::max(at[arc.to], at[arc.from] + topology.GetLink(arc.link).latency);
    }
    return at.back();
}

EvenShares
SharesOf(const RouteDag& dag)
{
    const auto leaving = ArcsFrom(dag);
    std::vector<uint64_t> mass(dag.places, 0); // in units
    std::vector<uint64_t> parts;
    uint64_t unit = 1;
    mass.front() = 1;
    for (const auto& arc : dag.arcs)
    {
        const uint64_t ways = leaving[arc.from];
        // The first arc of a place sees all of its mass: arcs come by ascending place.
        const uint64_t finer = ways / std::gcd(mass[arc.from], ways);
        if (finer > 1)
        {
            unit *= finer;
            if (unit > FINEST_UNIT)
            {
                return RoundedShares(dag);
            }
            std::for_each(mass.begin(), mass.end(), [&](uint64_t& m) { m *= finer; });
            std::for_each(parts.begin(), parts.end(), [&](uint64_t& p) { p *= finer; });
        }
        parts.push_back(mass[arc.from] / ways);
        mass[arc.to] += parts.back();
    }
    EvenShares shares{static_cast<uint32_t>(unit), {}};
    shares.parts.assign(parts.begin(), parts.end());
    return shares;
}

std::vector<LinkId>
LeastLoadedWay(const RouteDag& dag, const LoadsWithOne& loads)
{
    struct Rest
    {
        double most{std::numeric_limits<double>::infinity()};
        double sum{0};
        std::size_t arc{0}; //!< to take
    };

    std::vector<Rest> rests(dag.places);
    rests.back() = {0, 0, dag.arcs.size()};
    for (std::size_t i = dag.arcs.size(); i-- > 0;)
    {
        const auto& arc = dag.arcs[i];
        const double load = loads.On(arc.link);
        const Rest& after = rests[arc.to];
        const Rest rest{std::max(load, after.most), load + after.sum, i};
        Rest& best = rests[arc.from];
        // Arcs come in descending order here, so of equals the one of least link stays.
        if (rest.most < best.most || (rest.most == best.most && rest.sum <= best.sum))
        {
            best = rest;
        }
    }
    std::vector<LinkId> way;
    for (uint32_t place = 0; place + 1 < dag.places;)
    {
        const auto& arc = dag.arcs[rests[place].arc];
        way.push_back(arc.link);
        place = arc.to;
    }
    return way;
}

} // namespace weir

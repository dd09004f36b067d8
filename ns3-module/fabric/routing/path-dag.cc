// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/path-dag.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace weir
{

namespace
{

constexpr uint64_t FINEST_UNIT = uint64_t{1} << 16;

/** The out-degree of each vertex. */
std::vector<uint32_t>
ArcsFrom(const PathDag& dag)
{
    std::vector<uint32_t> counts(dag.vertices, 0);
    for (const auto& arc : dag.arcs)
    {
        counts[arc.from]++;
    }
    return counts;
}

/** SharesOf in units of 2^-16. */
EvenShares
RoundedShares(const PathDag& dag)
{
    const auto leaving = ArcsFrom(dag);
    std::vector<double> mass(dag.vertices, 0);
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

void
OrderVertices(PathDag& dag, uint32_t last)
{
    std::vector<std::vector<uint32_t>> into(dag.vertices); // predecessors of each vertex
    std::vector<uint32_t> arcsLeft(dag.vertices, 0);
    for (const auto& arc : dag.arcs)
    {
        into[arc.to].push_back(arc.from);
        arcsLeft[arc.from]++;
    }
    std::vector<uint32_t> order{last}; // reverse topological order
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
    std::vector<uint32_t> number(dag.vertices);
    for (std::size_t i = 0; i < order.size(); i++)
    {
        number[order[i]] = dag.vertices - 1 - static_cast<uint32_t>(i);
    }
    for (auto& arc : dag.arcs)
    {
        arc = {arc.link, number[arc.from], number[arc.to]};
    }
    std::sort(dag.arcs.begin(), dag.arcs.end(), [](const auto& a, const auto& b) {
        return a.from != b.from ? a.from < b.from : a.link < b.link;
    });
}

Time
LongestLatency(const PathDag& dag, const Topology& topology)
{
    std::vector<Time> at(dag.vertices);
    for (const auto& arc : dag.arcs)
    {
        at[arc.to] = std::max(at[arc.to], at[arc.from] + topology.GetLink(arc.link).latency);
    }
    return at.back();
}

EvenShares
SharesOf(const PathDag& dag)
{
    const auto leaving = ArcsFrom(dag);
    std::vector<uint64_t> mass(dag.vertices, 0); // in units
    std::vector<uint64_t> parts;
    uint64_t unit = 1;
    mass.front() = 1;
    for (const auto& arc : dag.arcs)
    {
        const uint64_t branches = leaving[arc.from];
        // Arcs are sorted by `from`, so the mass of a vertex is complete at its first outgoing arc.
        const uint64_t finer = branches / std::gcd(mass[arc.from], branches);
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
        parts.push_back(mass[arc.from] / branches);
        mass[arc.to] += parts.back();
    }
    EvenShares shares{static_cast<uint32_t>(unit), {}};
    shares.parts.assign(parts.begin(), parts.end());
    return shares;
}

std::vector<LinkId>
LeastLoadedPath(const PathDag& dag, const LoadsWithFlow& loads)
{
    struct Remainder
    {
        double largest{std::numeric_limits<double>::infinity()};
        double sum{0};
        std::size_t arc{0}; //!< arc to take
    };

    std::vector<Remainder> remainders(dag.vertices);
    remainders.back() = {0, 0, dag.arcs.size()};
    for (std::size_t i = dag.arcs.size(); i-- > 0;)
    {
        const auto& arc = dag.arcs[i];
        const double load = loads.On(arc.link);
        const Remainder& after = remainders[arc.to];
        const Remainder found{std::max(load, after.largest), load + after.sum, i};
        Remainder& best = remainders[arc.from];
        // Arcs are visited in descending order, so of equal paths the one with the lowest link
        // remains.
        if (found.largest < best.largest ||
            (found.largest == best.largest && found.sum <= best.sum))
        {
            best = found;
        }
    }
    std::vector<LinkId> path;
    for (uint32_t vertex = 0; vertex + 1 < dag.vertices;)
    {
        const auto& arc = dag.arcs[remainders[vertex].arc];
        path.push_back(arc.link);
        vertex = arc.to;
    }
    return path;
}

} // namespace weir

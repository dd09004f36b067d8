// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/load-balancer.h"

#include "fabric/routing/flow-hash.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace weir
{

namespace
{

constexpr int MAX_ROUNDS = 48;
constexpr double ROUND_GAIN = 1e-3; //!< minimum gain of a round, of a demand's root of powers
constexpr double MIN_GAIN = 1e-6;   //!< minimum gain of a move, of a demand's slope
constexpr double ROUNDING = 1e-12;  //!< of a sum of slopes, which depends on the order of its terms
constexpr double LINK_COST = 1e-9;  //!< of the cost of the most loaded link
constexpr int HALVINGS = 8;         //!< bisection steps for the part that a demand moves

/** x^64. */
double
Power64(double x)
{
    for (int i = 0; i < 6; i++)
    {
        x *= x;
    }
    return x;
}

/** x^63. */
double
Power63(double x)
{
    double product = x;
    for (int i = 0; i < 5; i++)
    {
        x *= x;
        product *= x;
    }
    return product;
}

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
                         const std::vector<double>& rates,
                         double weight,
                         uint64_t turn)
{
    const LoadsWithFlow loads{onLinks, rates, weight};
    auto best = LeastLoadedPath(*Shortest(from, to), loads);
    double min = CostOf(best, loads);
    const double minOfAny = weight / m_fastest * static_cast<double>(best.size());
    if (!HasDetours() || best.size() < 3 || min <= minOfAny)
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
        if (cost < min)
        {
            min = cost;
            best = std::move(detour);
        }
    }
    return best;
}

LoadBalancer::LoadBalancer(PathChoices& choices,
                           std::vector<double>& loads,
                           const std::vector<double>& rates,
                           LinkScratch& scratch)
    : m_choices(choices),
      m_loads(loads),
      m_rates(rates),
      m_scratch(scratch)
{
    m_scratch.Reserve(choices.GetTopology().LinkCount());
}

void
LoadBalancer::Divide(std::vector<PathDemand>& demands)
{
    m_paths.clear();
    m_paths.reserve(demands.size());
    for (PathDemand& demand : demands)
    {
        m_paths.push_back(PathsOf(demand));
        StartEvenly(demand, *m_paths.back().shortest);
    }
    std::vector<Progress> progress(demands.size(), {0, std::numeric_limits<double>::infinity()});
    for (int round = 1; round <= MAX_ROUNDS && BeginRound(demands, progress); round++)
    {
        bool improved = false;
        for (std::size_t i = 0; i < demands.size(); i++)
        {
            improved = Improve(demands[i], m_paths[i]) || improved;
        }
        if (!improved)
        {
            return;
        }
    }
}

void
LoadBalancer::Unload()
{
    const auto unload = [this](const PathDag& dag) {
        for (const auto& arc : dag.arcs)
        {
            m_loads[arc.link.Index()] = 0;
        }
    };
    for (const Paths& paths : m_paths)
    {
        unload(*paths.shortest);
        for (const Paths::Detour& detour : paths.detours)
        {
            unload(*detour.there);
            unload(*detour.on);
        }
    }
}

bool
LoadBalancer::BeginRound(const std::vector<PathDemand>& demands, std::vector<Progress>& progress)
{
    m_scratch.stamp++;
    m_scale = 0;
    for (std::size_t i = 0; i < demands.size(); i++)
    {
        progress[i].largest = LargestLoad(demands[i]);
        m_scale = std::max(m_scale, progress[i].largest);
    }
    bool gains = false;
    for (std::size_t i = 0; i < demands.size(); i++)
    {
        const double root = RootOfPowers(demands[i], progress[i].largest);
        if (root < progress[i].lowest * (1 - ROUND_GAIN))
        {
            progress[i].lowest = root;
            gains = true;
        }
    }
    return gains;
}

LoadBalancer::Paths
LoadBalancer::PathsOf(const PathDemand& demand)
{
    Paths paths{m_choices.Shortest(demand.first, demand.last), {}};
    if (m_choices.HasDetours())
    {
        const auto& intermediates = m_choices.Intermediates(demand.first, demand.last);
        paths.detours.reserve(intermediates.size());
        for (const DeviceId middle : intermediates)
        {
            paths.detours.push_back({m_choices.Shortest(demand.first, middle),
                                     m_choices.Shortest(middle, demand.last)});
        }
    }
    return paths;
}

void
LoadBalancer::StartEvenly(PathDemand& demand, const PathDag& shortest)
{
    const EvenShares even = weir::SharesOf(shortest);
    for (std::size_t i = 0; i < shortest.arcs.size(); i++)
    {
        const LinkId link = shortest.arcs[i].link;
        const double share = static_cast<double>(even.parts[i]) / even.unit;
        demand.shares.push_back({link, share});
        m_loads[link.Index()] += share * demand.weight / RateOf(link);
    }
    std::sort(demand.shares.begin(),
              demand.shares.end(),
              [](const LinkShare& a, const LinkShare& b) { return a.link < b.link; });
}

/** The maximum load of the links of @p demand. */
double
LoadBalancer::LargestLoad(const PathDemand& demand) const
{
    double largest = 0;
    for (const LinkShare& each : demand.shares)
    {
        largest = std::max(largest, m_loads[each.link.Index()]);
    }
    return largest;
}

/** The 64th root of the sum of load^64 over the links of @p demand. */
double
LoadBalancer::RootOfPowers(const PathDemand& demand, double largest) const
{
    if (largest == 0)
    {
        return 0;
    }
    double sum = 0;
    for (const LinkShare& each : demand.shares)
    {
        sum += Power64(m_loads[each.link.Index()] / largest);
    }
    return largest * std::pow(sum, 1.0 / 64);
}

double
LoadBalancer::PowerAt(double load) const
{
    return Power63(load / m_scale);
}

double
LoadBalancer::SlopeOf(LinkId link)
{
    double& power = m_scratch.powers[link.Index()];
    if (m_scratch.stamps[link.Index()] != m_scratch.stamp)
    {
        m_scratch.stamps[link.Index()] = m_scratch.stamp;
        power = PowerAt(m_loads[link.Index()]);
    }
    return (power + m_floor) / RateOf(link);
}

double
LoadBalancer::MinSlopes(const PathDag& dag)
{
    m_remainders.assign(dag.vertices, std::numeric_limits<double>::infinity());
    m_next.resize(dag.vertices);
    m_remainders.back() = 0;
    for (std::size_t i = dag.arcs.size(); i-- > 0;)
    {
        const auto& arc = dag.arcs[i];
        const double remainder = SlopeOf(arc.link) + m_remainders[arc.to];
        if (remainder <= m_remainders[arc.from]) // ties: the lowest link
        {
            m_remainders[arc.from] = remainder;
            m_next[arc.from] = i;
        }
    }
    return m_remainders.front();
}

void
LoadBalancer::AppendCheapestPath(const PathDag& dag, std::vector<LinkId>& path)
{
    MinSlopes(dag);
    for (uint32_t vertex = 0; vertex + 1 < dag.vertices;)
    {
        const auto& arc = dag.arcs[m_next[vertex]];
        path.push_back(arc.link);
        vertex = arc.to;
    }
}

double
LoadBalancer::SumOfSlopes(const std::vector<LinkId>& path)
{
    double sum = 0;
    for (const LinkId link : path)
    {
        sum += SlopeOf(link);
    }
    return sum;
}

void
LoadBalancer::FindBestPath(const Paths& paths)
{
    m_best.clear();
    AppendCheapestPath(*paths.shortest, m_best);
    double min = SumOfSlopes(m_best);
    for (const Paths::Detour& detour : paths.detours)
    {
        const double there = MinSlopes(*detour.there);
        const double max = min * (1 + ROUNDING);
        if (there > max || there + MinSlopes(*detour.on) > max)
        {
            continue; // not better, whatever the order of summation
        }
        m_detour.clear();
        AppendCheapestPath(*detour.there, m_detour);
        AppendCheapestPath(*detour.on, m_detour);
        const double sum = SumOfSlopes(m_detour);
        if (sum < min)
        {
            min = sum;
            m_best.swap(m_detour);
        }
    }
    std::sort(m_best.begin(), m_best.end());
}

bool
LoadBalancer::Improve(PathDemand& demand, const Paths& paths)
{
    m_changes.clear();
    double largest = 0;
    for (const LinkShare& each : demand.shares)
    {
        m_changes.push_back({each.link, each.share, -each.share});
        largest = std::max(largest, m_loads[each.link.Index()]);
    }
    if (largest == 0)
    {
        return false;
    }
    // A small cost per link, relative to the loads of this demand, prefers short paths among idle
    // ones.
    m_floor = LINK_COST * PowerAt(largest);
    double now = 0;
    for (const Change& each : m_changes)
    {
        now += SlopeOf(each.link) * each.share;
    }
    FindBestPath(paths);
    if (SumOfSlopes(m_best) >= now * (1 - MIN_GAIN))
    {
        return false;
    }
    AddPath(m_changes, m_best);
    const double part = BestPart(m_changes, demand.weight);
    if (part == 0)
    {
        return false;
    }
    Apply(m_changes, part, demand);
    return true;
}

void
LoadBalancer::AddPath(std::vector<Change>& changes, const std::vector<LinkId>& path)
{
    for (const LinkId link : path)
    {
        const auto at =
            std::lower_bound(changes.begin(), changes.end(), link, [](const Change& a, LinkId b) {
                return a.link < b;
            });
        if (at != changes.end() && at->link == link)
        {
            at->delta += 1;
        }
        else
        {
            changes.insert(at, {link, 0, 1});
        }
    }
}

double
LoadBalancer::SlopeAfter(const std::vector<Change>& changes, double weight, double part) const
{
    double slope = 0;
    for (const Change& each : changes)
    {
        const double rate = RateOf(each.link);
        const double load = m_loads[each.link.Index()] + part * each.delta * weight / rate;
        slope += each.delta * (PowerAt(std::max(0.0, load)) + m_floor) / rate;
    }
    return slope;
}

double
LoadBalancer::BestPart(const std::vector<Change>& changes, double weight) const
{
    if (SlopeAfter(changes, weight, 1) <= 0)
    {
        return 1;
    }
    double low = 0;
    double high = 1;
    for (int i = 0; i < HALVINGS; i++)
    {
        const double middle = (low + high) / 2;
        (SlopeAfter(changes, weight, middle) < 0 ? low : high) = middle;
    }
    return low;
}

void
LoadBalancer::Apply(const std::vector<Change>& changes, double part, PathDemand& demand)
{
    demand.shares.clear();
    for (const Change& each : changes)
    {
        const double rate = RateOf(each.link);
        double& load = m_loads[each.link.Index()];
        load = std::max(0.0, load + part * each.delta * demand.weight / rate);
        m_scratch.powers[each.link.Index()] = PowerAt(load);
        m_scratch.stamps[each.link.Index()] = m_scratch.stamp;
        const double share = each.share + part * each.delta;
        if (share > 0)
        {
            demand.shares.push_back({each.link, share});
        }
    }
}

} // namespace weir

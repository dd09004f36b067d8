// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/load-levelling.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weir
{

namespace
{

constexpr int MOST_ROUNDS = 48;
constexpr double ROUND_GAIN = 1e-3; //!< of a demand's root of powers: less is not worth a round
constexpr double LEAST_GAIN = 1e-6; //!< of a demand's slope: less is rounding
constexpr double ROUNDING = 1e-12;  //!< of a sum of slopes, by the order in which it is added
constexpr double LINK_COST = 1e-9;  //!< of what the most loaded link costs
constexpr int HALVINGS = 8;         //!< of the part that a demand moves

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

} // namespace

LoadLevelling::LoadLevelling(RouteChoices& choices,
                             const Topology& topology,
                             std::vector<double>& loads,
                             const std::vector<double>* rates,
                             LinkScratch& scratch)
    : m_choices(choices),
      m_topology(topology),
      m_loads(loads),
      m_rates(rates),
      m_scratch(scratch)
{
    m_scratch.Reserve(topology.LinkCount());
}

void
LoadLevelling::Divide(std::vector<WayDemand>& demands)
{
    m_ways.clear();
    m_ways.reserve(demands.size());
    for (WayDemand& demand : demands)
    {
        m_ways.push_back(WaysOf(demand));
        StartEvenly(demand, *m_ways.back().shortest);
    }
    std::vector<Progress> progress(demands.size(), {0, std::numeric_limits<double>::infinity()});
    for (int round = 1; round <= MOST_ROUNDS && BeginRound(demands, progress); round++)
    {
        bool improved = false;
        for (std::size_t i = 0; i < demands.size(); i++)
        {
            improved = Improve(demands[i], m_ways[i]) || improved;
        }
        if (!improved)
        {
            return;
        }
    }
}

void
LoadLevelling::Unload()
{
    const auto unload = [this](const RouteDag& dag) {
        for (const auto& arc : dag.arcs)
        {
            m_loads[arc.link.Index()] = 0;
        }
    };
    for (const Ways& ways : m_ways)
    {
        unload(*ways.shortest);
        for (const Ways::Around& detour : ways.detours)
        {
            unload(*detour.there);
            unload(*detour.on);
        }
    }
}

bool
LoadLevelling::BeginRound(const std::vector<WayDemand>& demands, std::vector<Progress>& progress)
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

LoadLevelling::Ways
LoadLevelling::WaysOf(const WayDemand& demand)
{
    Ways ways{m_choices.Shortest(demand.first, demand.last), {}};
    if (m_choices.HasDetours())
    {
        const auto& vias = m_choices.Around(demand.first, demand.last);
        ways.detours.reserve(vias.size());
        for (const DeviceId via : vias)
        {
            ways.detours.push_back(
                {m_choices.Shortest(demand.first, via), m_choices.Shortest(via, demand.last)});
        }
    }
    return ways;
}

void
LoadLevelling::StartEvenly(WayDemand& demand, const RouteDag& shortest)
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

/** Of the links that @p demand is on. */
double
LoadLevelling::LargestLoad(const WayDemand& demand) const
{
    double largest = 0;
    for (const LinkShare& each : demand.shares)
    {
        largest = std::max(largest, m_loads[each.link.Index()]);
    }
    return largest;
}

/** The 64th root of the sum of load^64 over the links that @p demand is on. */
double
LoadLevelling::RootOfPowers(const WayDemand& demand, double largest) const
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
LoadLevelling::PowerAt(double load) const
{
    return Power63(load / m_scale);
}

double
LoadLevelling::SlopeOf(LinkId link)
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
LoadLevelling::LeastSlopes(const RouteDag& dag)
{
    m_rests.assign(dag.places, std::numeric_limits<double>::infinity());
    m_next.resize(dag.places);
    m_rests.back() = 0;
    for (std::size_t i = dag.arcs.size(); i-- > 0;)
    {
        const auto& arc = dag.arcs[i];
        const double rest = SlopeOf(arc.link) + m_rests[arc.to];
        if (rest <= m_rests[arc.from]) // of equals the lowest link
        {
            m_rests[arc.from] = rest;
            m_next[arc.from] = i;
        }
    }
    return m_rests.front();
}

void
LoadLevelling::AppendCheapestWay(const RouteDag& dag, std::vector<LinkId>& way)
{
    LeastSlopes(dag);
    for (uint32_t place = 0; place + 1 < dag.places;)
    {
        const auto& arc = dag.arcs[m_next[place]];
        way.push_back(arc.link);
        place = arc.to;
    }
}

double
LoadLevelling::SumOfSlopes(const std::vector<LinkId>& way)
{
    double sum = 0;
    for (const LinkId link : way)
    {
        sum += SlopeOf(link);
    }
    return sum;
}

void
LoadLevelling::FindBestWay(const Ways& ways)
{
    m_best.clear();
    AppendCheapestWay(*ways.shortest, m_best);
    double least = SumOfSlopes(m_best);
    for (const Ways::Around& detour : ways.detours)
    {
        const double there = LeastSlopes(*detour.there);
        const double most = least * (1 + ROUNDING);
        if (there > most || there + LeastSlopes(*detour.on) > most)
        {
            continue; // it is not better, in whatever order it is added
        }
        m_around.clear();
        AppendCheapestWay(*detour.there, m_around);
        AppendCheapestWay(*detour.on, m_around);
        const double sum = SumOfSlopes(m_around);
        if (sum < least)
        {
            least = sum;
            m_best.swap(m_around);
        }
    }
    std::sort(m_best.begin(), m_best.end());
}

bool
LoadLevelling::Improve(WayDemand& demand, const Ways& ways)
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
    // A link more costs a little where none is loaded, measured by the loads of this demand.
    m_floor = LINK_COST * PowerAt(largest);
    double now = 0;
    for (const Change& each : m_changes)
    {
        now += SlopeOf(each.link) * each.share;
    }
    FindBestWay(ways);
    if (SumOfSlopes(m_best) >= now * (1 - LEAST_GAIN))
    {
        return false;
    }
    AddWay(m_changes, m_best);
    const double part = BestPart(m_changes, demand.weight);
    if (part == 0)
    {
        return false;
    }
    Apply(m_changes, part, demand);
    return true;
}

void
LoadLevelling::AddWay(std::vector<Change>& changes, const std::vector<LinkId>& way)
{
    for (const LinkId link : way)
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
LoadLevelling::SlopeAfter(const std::vector<Change>& changes, double weight, double part) const
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
LoadLevelling::BestPart(const std::vector<Change>& changes, double weight) const
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
LoadLevelling::Apply(const std::vector<Change>& changes, double part, WayDemand& demand)
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

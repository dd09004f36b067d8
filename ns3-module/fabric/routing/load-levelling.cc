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
                             const std::vector<double>* rates)
    : m_choices(choices),
      m_topology(topology),
      m_loads(loads),
      m_rates(rates),
      m_powers(topology.LinkCount(), 0),
      m_powerRounds(topology.LinkCount(), 0)
{
}

void
LoadLevelling::Divide(std::vector<WayDemand>& demands)
{
    for (WayDemand& demand : demands)
    {
        StartEvenly(demand);
    }
    std::vector<Progress> progress(demands.size(), {0, std::numeric_limits<double>::infinity()});
    for (m_round = 1; m_round <= MOST_ROUNDS && BeginRound(demands, progress); m_round++)
    {
        bool improved = false;
        for (WayDemand& demand : demands)
        {
            improved = Improve(demand) || improved;
        }
        if (!improved)
        {
            return;
        }
    }
}

bool
LoadLevelling::BeginRound(const std::vector<WayDemand>& demands, std::vector<Progress>& progress)
{
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

void
LoadLevelling::StartEvenly(WayDemand& demand)
{
    const RouteDag& dag = *m_choices.Shortest(demand.first, demand.last);
    const EvenShares even = weir::SharesOf(dag);
    for (std::size_t i = 0; i < dag.arcs.size(); i++)
    {
        const LinkId link = dag.arcs[i].link;
        const double share = static_cast<double>(even.parts[i]) / even.unit;
        demand.shares.push_back({link, share});
        m_loads[link.Index()] += share * demand.weight / RateOf(link);
    }
    std::sort(demand.shares.begin(),
              demand.shares.end(),
              [](const LinkShare& a, const LinkShare& b) { return a.link < b.link; });
}

double
LoadLevelling::RateOf(LinkId link) const
{
    return m_rates ? (*m_rates)[link.Index()] : m_topology.GetLink(link).rate.ToBytesPerSecond();
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
    double& power = m_powers[link.Index()];
    if (m_powerRounds[link.Index()] != m_round)
    {
        m_powerRounds[link.Index()] = m_round;
        power = PowerAt(m_loads[link.Index()]);
    }
    return (power + m_floor) / RateOf(link);
}

/** The way of the least sum of slopes, one for each LinkId. */
std::vector<LinkId>
LoadLevelling::CheapestWay(const RouteDag& dag)
{
    std::vector<double> rests(dag.places, std::numeric_limits<double>::infinity());
    std::vector<std::size_t> next(dag.places, 0);
    rests.back() = 0;
    for (std::size_t i = dag.arcs.size(); i-- > 0;)
    {
        const auto& arc = dag.arcs[i];
        const double rest = SlopeOf(arc.link) + rests[arc.to];
        if (rest <= rests[arc.from]) // of equals the lowest link
        {
            rests[arc.from] = rest;
            next[arc.from] = i;
        }
    }
    std::vector<LinkId> way;
    for (uint32_t place = 0; place + 1 < dag.places;)
    {
        const auto& arc = dag.arcs[next[place]];
        way.push_back(arc.link);
        place = arc.to;
    }
    return way;
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

std::vector<LinkId>
LoadLevelling::BestWay(const WayDemand& demand)
{
    auto best = CheapestWay(*m_choices.Shortest(demand.first, demand.last));
    if (m_choices.HasDetours())
    {
        double least = SumOfSlopes(best);
        for (const DeviceId via : m_choices.Around(demand.first, demand.last))
        {
            auto around = CheapestWay(*m_choices.Shortest(demand.first, via));
            const auto rest = CheapestWay(*m_choices.Shortest(via, demand.last));
            around.insert(around.end(), rest.begin(), rest.end());
            const double sum = SumOfSlopes(around);
            if (sum < least)
            {
                least = sum;
                best = std::move(around);
            }
        }
    }
    std::sort(best.begin(), best.end());
    return best;
}

bool
LoadLevelling::Improve(WayDemand& demand)
{
    std::vector<Change> changes;
    double largest = 0;
    for (const LinkShare& each : demand.shares)
    {
        changes.push_back({each.link, each.share, -each.share});
        largest = std::max(largest, m_loads[each.link.Index()]);
    }
    if (largest == 0)
    {
        return false;
    }
    // A link more costs a little where none is loaded, measured by the loads of this demand.
    m_floor = LINK_COST * PowerAt(largest);
    double now = 0;
    for (const Change& each : changes)
    {
        now += SlopeOf(each.link) * each.share;
    }
    const auto best = BestWay(demand);
    if (SumOfSlopes(best) >= now * (1 - LEAST_GAIN))
    {
        return false;
    }
    AddWay(changes, best);
    const double part = BestPart(changes, demand.weight);
    if (part == 0)
    {
        return false;
    }
    Apply(changes, part, demand);
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
        m_powers[each.link.Index()] = PowerAt(load);
        m_powerRounds[each.link.Index()] = m_round;
        const double share = each.share + part * each.delta;
        if (share > 0)
        {
            demand.shares.push_back({each.link, share});
        }
    }
}

} // namespace weir

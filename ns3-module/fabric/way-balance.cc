// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/way-balance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace weir
{

namespace
{

constexpr int MOST_ROUNDS = 48;
constexpr double ROUND_GAIN = 1e-3; //!< of a demand's root of powers: less is not worth a round
constexpr double LEAST_GAIN = 1e-6; //!< of a demand's slope: less is rounding
constexpr double LINK_COST = 1e-9;  //!< of what the most loaded link costs
constexpr int HALVINGS = 8;         //!< of the part that a demand moves
constexpr uint32_t MOST_PARTS = 16; //!< that choose apart
constexpr double LEAST_SHARE = 1.0 / 4096; //!< smaller ones are left out

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
    const std::size_t links = m_topology.LinkCount();
    if (others)
    {
        m_loads = others->loads;
        m_rates = &others->rates;
    }
    m_loads.resize(links, 0);
    m_powers.resize(links, 0);
    m_powerRounds.resize(links, 0);
    for (const PathLoad& load : loads)
    {
        for (const PathWay& way : spread.MakeupOf(load.path).ways)
        {
            AddWay(way, load.weight);
        }
    }
    const bool chooseOnce = m_choices.Kind() == RoutingKind::Flowlet;
    for (Demand& demand : m_demands)
    {
        chooseOnce ? AddUp(demand) : StartEvenly(demand);
    }
    if (!chooseOnce)
    {
        Settle();
    }
    m_loads = {};
    m_powers = {};
    m_powerRounds = {};
    m_rates = nullptr;
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

void
WayBalance::AddWay(const PathWay& way, double weight)
{
    const RouteDag* dag = m_choices.Shortest(way.from, way.to);
    if (!dag)
    {
        return; // it stands still
    }
    const DeviceId first = EdgeOf(m_topology, *dag, way.from, true);
    const DeviceId last = EdgeOf(m_topology, *dag, way.to, false);
    if (first == last)
    {
        return; // nothing to choose
    }
    const auto [entry, isNew] =
        m_byEnds.emplace(KeyOf(first, last), static_cast<uint32_t>(m_demands.size()));
    if (isNew)
    {
        m_demands.push_back({first, last});
    }
    m_demands[entry->second].weight += weight * way.times;
    if (m_choices.Kind() == RoutingKind::Flowlet)
    {
        ChooseOnce(m_demands[entry->second], way, weight);
    }
}

void
WayBalance::ChooseOnce(Demand& demand, const PathWay& way, double weight)
{
    const uint32_t parts = std::min(way.times, MOST_PARTS);
    const double part = weight * way.times / parts;
    for (uint32_t i = 0; i < parts; i++)
    {
        const auto chosen = m_choices.LeastLoaded(way.from, way.to, m_loads, m_turns++);
        for (const LinkId link : chosen)
        {
            const bool isFirst = m_topology.GetLink(link).from == way.from;
            const bool isLast = m_topology.GetLink(link).to == way.to;
            if ((isFirst && demand.first != way.from) || (isLast && demand.last != way.to))
            {
                continue; // on every way
            }
            m_loads[link.Index()] += part / RateOf(link);
            demand.shares.push_back({link, part});
        }
    }
}

/** Shares of a demand from the weights that its parts have put on links. */
void
WayBalance::AddUp(Demand& demand)
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

void
WayBalance::StartEvenly(Demand& demand)
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
WayBalance::RateOf(LinkId link) const
{
    return m_rates ? (*m_rates)[link.Index()] : m_topology.GetLink(link).rate.ToBytesPerSecond();
}

void
WayBalance::Settle()
{
    for (m_round = 1; m_round <= MOST_ROUNDS; m_round++)
    {
        m_scale = 0;
        for (const Demand& demand : m_demands)
        {
            m_scale = std::max(m_scale, LargestLoad(demand));
        }
        bool gains = false;
        for (Demand& demand : m_demands)
        {
            const double root = RootOfPowers(demand);
            if (root < demand.lowest * (1 - ROUND_GAIN))
            {
                demand.lowest = root;
                gains = true;
            }
        }
        if (!gains)
        {
            return;
        }
        bool improved = false;
        for (Demand& demand : m_demands)
        {
            improved = Improve(demand) || improved;
        }
        if (!improved)
        {
            return;
        }
    }
}

/** Of the links that @p demand is on. */
double
WayBalance::LargestLoad(const Demand& demand) const
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
WayBalance::RootOfPowers(const Demand& demand) const
{
    const double largest = LargestLoad(demand);
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
WayBalance::PowerAt(double load) const
{
    return Power63(load / m_scale);
}

double
WayBalance::SlopeOf(LinkId link)
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
WayBalance::CheapestWay(const RouteDag& dag)
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
WayBalance::SumOfSlopes(const std::vector<LinkId>& way)
{
    double sum = 0;
    for (const LinkId link : way)
    {
        sum += SlopeOf(link);
    }
    return sum;
}

std::vector<LinkId>
WayBalance::BestWay(const Demand& demand)
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
WayBalance::Improve(Demand& demand)
{
    const double largest = LargestLoad(demand);
    if (largest == 0)
    {
        return false;
    }
    // A link more costs a little where none is loaded, measured by the loads of this demand.
    m_floor = LINK_COST * PowerAt(largest);

    struct Change
    {
        LinkId link;
        double share; //!< before
        double delta; //!< when all moves
    };

    std::vector<Change> changes;
    for (const LinkShare& each : demand.shares)
    {
        changes.push_back({each.link, each.share, -each.share});
    }
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
    for (const LinkId link : best)
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
    const auto slopeAfter = [&](double part) {
        double slope = 0;
        for (const Change& each : changes)
        {
            const double rate = RateOf(each.link);
            const double load =
                m_loads[each.link.Index()] + part * each.delta * demand.weight / rate;
            slope += each.delta * (PowerAt(std::max(0.0, load)) + m_floor) / rate;
        }
        return slope;
    };
    double low = 0;
    double high = 1;
    if (slopeAfter(1) <= 0)
    {
        low = 1;
    }
    for (int i = 0; i < HALVINGS && low < 1; i++)
    {
        const double middle = (low + high) / 2;
        (slopeAfter(middle) < 0 ? low : high) = middle;
    }
    if (low == 0)
    {
        return false;
    }
    demand.shares.clear();
    for (const Change& each : changes)
    {
        const double rate = RateOf(each.link);
        double& load = m_loads[each.link.Index()];
        load = std::max(0.0, load + low * each.delta * demand.weight / rate);
        m_powers[each.link.Index()] = PowerAt(load);
        m_powerRounds[each.link.Index()] = m_round;
        const double share = each.share + low * each.delta;
        if (share > 0)
        {
            demand.shares.push_back({each.link, share});
        }
    }
    return true;
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

// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/engines/closed-form.h"

#include <algorithm>
#include <map>

namespace weir
{

std::vector<RouteLoad>
LoadsOf(const std::vector<StreamLeg>& legs)
{
    std::vector<RouteLoad> loads;
    loads.reserve(legs.size());
    for (const auto& leg : legs)
    {
        loads.push_back({leg.route, leg.weight});
    }
    return loads;
}

UncontendedRates::UncontendedRates(const std::vector<StreamLeg>& legs, Routing& routing)
    : m_legs(legs),
      m_routing(routing),
      m_shares(routing, [&legs] { return LoadsOf(legs); })
{
    for (const auto& leg : legs)
    {
        m_shares.ForEach(leg.route, [&](LinkId link, double share) {
            m_loads[link.Index()] += share * leg.weight;
            m_crossesSwitches |= JoinsSwitches(routing.GetTopology(), link);
        });
    }
}

UncontendedRates::Share
UncontendedRates::ShareOn(RouteId route, Rate cap) const
{
    const auto& topology = m_routing.GetTopology();
    Share share{cap, LinkId()};
    m_shares.ForEach(route, [&](LinkId link, double own) {
        // A hop of a leg may spread over links on which the leg as a whole has no load.
        const auto load = m_loads.find(link.Index());
        const Rate level =
            topology.GetLink(link).rate / (load == m_loads.end() ? own : load->second);
        const bool isLower = share.bottleneck.IsValid() && link < share.bottleneck;
        if (level < share.rate || (level == share.rate && isLower)) // ties go to the lowest link id
        {
            share = {level, link};
        }
    });
    return share;
}

UncontendedRates::Slowest
UncontendedRates::SlowestLeg() const
{
    Slowest slowest;
    for (const auto& leg : m_legs)
    {
        const Share share = ShareOn(leg.route, leg.cap / leg.weight);
        const Time time = leg.bytes / (share.rate * leg.weight);
        if (time > slowest.time)
        {
            slowest = {time, share.bottleneck};
        }
    }
    return slowest;
}

bool
UncontendedRates::IsContended(LinkId link) const
{
    const Topology& topology = m_routing.GetTopology();
    return m_crossesSwitches ? JoinsSwitches(topology, link)
                             : topology.GetLink(link).kind == LinkKind::Network;
}

bool
UncontendedRates::IsContended(RouteId route) const
{
    bool isContended = false;
    m_shares.ForEach(route,
                     [&](LinkId link, double /* share */) { isContended |= IsContended(link); });
    return isContended;
}

double
UncontendedRates::Evenness() const
{
    struct Ports
    {
        double sum{0}; //!< of utilizations
        double largest{0};
        std::size_t used{0};
    };

    const Topology& topology = m_routing.GetTopology();
    std::map<std::size_t, Ports> portsOf; // by device x 2, + 1 for links that enter it
    for (const auto& [index, load] : m_loads)
    {
        const LinkId id(index);
        if (!IsContended(id))
        {
            continue;
        }
        const Link& link = topology.GetLink(id);
        const double utilization = load / link.rate.ToBytesPerSecond();
        for (const std::size_t key : {2 * link.from.Index(), 2 * link.to.Index() + 1})
        {
            Ports& ports = portsOf[key];
            ports.sum += utilization;
            ports.largest = std::max(ports.largest, utilization);
            ports.used++;
        }
    }
    double means = 0;
    double largest = 0;
    for (const auto& [key, ports] : portsOf)
    {
        std::size_t count = ports.used; // of links between switches, also those not used
        if (m_crossesSwitches)
        {
            const auto& links = topology.LinksFrom(DeviceId(key / 2)); // as many enter it
            count = std::max<std::size_t>(count,
                                          std::count_if(links.begin(), links.end(), [&](LinkId id) {
                                              return IsContended(id);
                                          }));
        }
        means += ports.sum / static_cast<double>(count);
        largest += ports.largest;
    }
    return largest > 0 ? means / largest : 1;
}

double
ContendedShare(const UncontendedRates& rates, const std::vector<RouteId>& path, double chunks)
{
    const auto hops = std::count_if(
        path.begin(), path.end(), [&](RouteId route) { return rates.IsContended(route); });
    return hops < 2 ? 1 : chunks / (chunks + rates.Evenness() * static_cast<double>(hops - 1));
}

Time
UncontendedTime(const std::vector<StreamLeg>& legs, Routing& routing)
{
    return UncontendedRates(legs, routing).SlowestLeg().time;
}

} // namespace weir

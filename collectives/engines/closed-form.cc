// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/engines/closed-form.h"

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
        });
    }
}

UncontendedRates::Share
UncontendedRates::ShareOn(RouteId route, Rate cap) const
{
    const auto& topology = m_routing.GetTopology();
    Share share{cap, LinkId()};
    m_shares.ForEach(route, [&](LinkId link, double own) {
        // A hop of a leg may spread over links that the leg as a whole was not counted on.
        const auto load = m_loads.find(link.Index());
        const Rate level =
            topology.GetLink(link).rate / (load == m_loads.end() ? own : load->second);
        const bool isLower = share.bottleneck.IsValid() && link < share.bottleneck;
        if (level < share.rate || (level == share.rate && isLower)) // of equals the lowest link
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

Time
UncontendedTime(const std::vector<StreamLeg>& legs, Routing& routing)
{
    return UncontendedRates(legs, routing).SlowestLeg().time;
}

} // namespace weir

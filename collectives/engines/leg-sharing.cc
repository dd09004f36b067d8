// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/engines/leg-sharing.h"

#include "collectives/engines/closed-form.h"
#include "fabric/routing/link-spread.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>

namespace weir
{

/** The links that legs cross, numbered in the order of first occurrence. */
struct LegSharing::Links
{
    Links(const std::vector<StreamLeg>& legs, Routing& routing)
    {
        const ConcurrentShares shares(routing, [&legs] { return LoadsOf(legs); });
        std::unordered_map<uint32_t, uint32_t> numbers; // by LinkId::Index
        for (const StreamLeg& leg : legs)
        {
            shares.ForEach(leg.route, [&](LinkId link, double share) {
                const auto [number, isNew] =
                    numbers.try_emplace(link.Index(), static_cast<uint32_t>(indices.size()));
                if (isNew)
                {
                    indices.push_back(link.Index());
                    capacities.push_back(
                        routing.GetTopology().GetLink(link).rate.ToBytesPerSecond());
                }
                crossings.push_back({LinkId(number->second), share});
            });
            ends.push_back(crossings.size());
        }
    }

    std::vector<uint32_t> indices; //!< LinkId::Index
    std::vector<double> capacities;
    std::vector<LinkShare> crossings; //!< of all legs; links by number
    std::vector<std::size_t> ends;    //!< by leg: the end of its crossings
};

LegSharing::LegSharing(const std::vector<StreamLeg>& legs, Routing& routing)
    : LegSharing(legs, Links(legs, routing))
{
}

LegSharing::LegSharing(const std::vector<StreamLeg>& legs, Links&& links)
    : m_links(std::move(links.indices)),
      m_solver(links.capacities)
{
    auto first = links.crossings.begin();
    std::vector<LinkShare> path;
    for (std::size_t i = 0; i < legs.size(); i++)
    {
        const StreamLeg& leg = legs[i];
        m_legs.push_back(
            {leg.bytes.ToDouble(), leg.weight, std::numeric_limits<double>::infinity()});
        const auto last = links.crossings.begin() + static_cast<std::ptrdiff_t>(links.ends[i]);
        path.assign(first, last);
        first = last;
        const uint32_t variable = m_solver.Add(path, leg.cap.ToBytesPerSecond() / leg.weight);
        m_solver.SetWeight(variable, leg.weight);
    }
}

std::vector<double>
LegSharing::Rates()
{
    m_solver.Solve();
    std::vector<double> rates;
    for (uint32_t leg = 0; leg < m_legs.size(); leg++)
    {
        rates.push_back(RateOf(leg));
    }
    return rates;
}

std::vector<LegSharing::LinkLoad>
LegSharing::Loads() const
{
    std::vector<LinkLoad> loads;
    for (uint32_t link = 0; link < m_links.size(); link++)
    {
        double load = 0;
        m_solver.ForEachOn(link, [&](uint32_t leg, double share) { load += share * RateOf(leg); });
        loads.push_back({m_links[link], load, m_solver.Capacity(link)});
    }
    return loads;
}

std::vector<double>
LegSharing::Ends()
{
    std::vector<uint32_t> running(m_legs.size());
    std::iota(running.begin(), running.end(), 0);
    double now = 0;
    while (!running.empty())
    {
        m_solver.Solve();
        double next = std::numeric_limits<double>::infinity();
        for (const uint32_t leg : running)
        {
            next = RateOf(leg) > 0 ? std::min(next, m_legs[leg].left / RateOf(leg)) : next;
        }
        if (std::isinf(next))
        {
            break;
        }
        now += next;
        const auto hasEnded = [&](uint32_t each) {
            Leg& leg = m_legs[each];
            const double rate = RateOf(each);
            leg.left -= std::isinf(rate) ? leg.left : rate * next;
            if (!std::isinf(rate) && leg.left > SAME * rate * now)
            {
                return false;
            }
            leg.end = now;
            m_solver.SetWeight(each, 0);
            return true;
        };
        running.erase(std::remove_if(running.begin(), running.end(), hasEnded), running.end());
    }
    std::vector<double> ends;
    for (const Leg& leg : m_legs)
    {
        ends.push_back(leg.end);
    }
    return ends;
}

} // namespace weir

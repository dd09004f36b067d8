// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/engines/contention-delays.h"

#include "collectives/engines/closed-form.h"
#include "collectives/engines/leg-sharing.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace weir
{

namespace
{

const Time ROUNDING = Time::Picoseconds(2); //!< of a time that was told in seconds

/** By leg: what it takes at the rates of AloneRates. */
std::vector<double>
EndsAtFirstRates(const std::vector<StreamLeg>& legs, Routing& routing)
{
    const AloneRates rates(legs, routing);
    std::vector<double> ends;
    for (const StreamLeg& leg : legs)
    {
        const Rate share = rates.ShareOn(leg.route, leg.cap / leg.weight).rate;
        ends.push_back((leg.bytes / (share * leg.weight)).ToSeconds());
    }
    return ends;
}

bool
EndTogether(const std::vector<double>& ends)
{
    const auto [first, last] = std::minmax_element(ends.begin(), ends.end());
    return first == ends.end() || *first >= *last * (1 - LegSharing::SAME);
}

/** By plan: the last end of its legs. */
std::vector<Time>
LastEnds(const std::vector<const CollectivePlan*>& plans, const std::vector<double>& ends)
{
    std::vector<Time> times;
    auto end = ends.begin();
    for (const CollectivePlan* plan : plans)
    {
        const auto past = end + static_cast<std::ptrdiff_t>(plan->legs.size());
        times.push_back(end == past ? Time() : Time::Seconds(*std::max_element(end, past)));
        end = past;
    }
    return times;
}

/** By plan: how much more @p times are than alone, the most of plans that take as long alone. */
std::vector<Time>
AddedTo(const std::vector<const CollectivePlan*>& plans, const std::vector<Time>& times)
{
    std::map<Time, Time> most; // by duration alone
    for (std::size_t i = 0; i < plans.size(); i++)
    {
        const Time added = times[i] - (plans[i]->duration - plans[i]->latency);
        Time& ofAlike = most[plans[i]->duration];
        ofAlike = added > ROUNDING ? std::max(ofAlike, added) : ofAlike;
    }
    std::vector<Time> byPlan;
    for (const CollectivePlan* plan : plans)
    {
        byPlan.push_back(most[plan->duration]);
    }
    return byPlan;
}

/** Whether all plans take as long alone, and every channel carries as much. */
bool
AreAlike(const std::vector<const CollectivePlan*>& plans, const std::vector<StreamLeg>& legs)
{
    const auto isFirst = [&](const CollectivePlan* plan) {
        return plan->duration == plans.front()->duration;
    };
    const auto isAsLarge = [&](const StreamLeg& leg) {
        const double first = legs.front().bytes.ToDouble() / legs.front().weight;
        return std::abs(leg.bytes.ToDouble() / leg.weight - first) <= 1; // of whole bytes
    };
    return std::all_of(plans.begin(), plans.end(), isFirst) &&
           std::all_of(legs.begin(), legs.end(), isAsLarge);
}

} // namespace

std::vector<Time>
ContentionDelays(const std::vector<const CollectivePlan*>& plans, Routing& routing)
{
    std::vector<StreamLeg> legs;
    for (const CollectivePlan* plan : plans)
    {
        legs.insert(legs.end(), plan->legs.begin(), plan->legs.end());
    }
    // No leg is ever slower than at these rates, which count all legs on all links all the time;
    // those on the link of the lowest level are as slow until they end, together if they are alike.
    const std::vector<double> ends = EndsAtFirstRates(legs, routing);
    const std::vector<Time> added = AddedTo(plans, LastEnds(plans, ends));
    const bool areApart =
        std::all_of(added.begin(), added.end(), [](Time time) { return time == Time(); });
    if (areApart || EndTogether(ends) || AreAlike(plans, legs))
    {
        return added;
    }
    return AddedTo(plans, LastEnds(plans, LegSharing(legs, routing).Ends()));
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/engines/call-classes.h"

#include "collectives/engines/closed-form.h"
#include "collectives/engines/leg-sharing.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace weir
{

namespace
{

const Time ROUNDING = Time::Picoseconds(2); //!< of a time that was converted from seconds

std::vector<StreamLeg>
LegsOf(const std::vector<const CollectivePlan*>& plans)
{
    std::vector<StreamLeg> legs;
    for (const CollectivePlan* plan : plans)
    {
        legs.insert(legs.end(), plan->legs.begin(), plan->legs.end());
    }
    return legs;
}

/** Whether two ascending sequences have a number in common. */
bool
HaveCommon(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b)
{
    auto i = a.begin();
    auto j = b.begin();
    while (i != a.end() && j != b.end() && *i != *j)
    {
        *i < *j ? ++i : ++j;
    }
    return i != a.end() && j != b.end();
}

/** Time of a leg at a constant rate, in seconds. */
double
TimeOf(const StreamLeg& leg, double rate)
{
    return leg.bytes.ToDouble() / rate;
}

/** By leg: its time in seconds at the rates of UncontendedRates. */
std::vector<double>
EndsAtFirstRates(const std::vector<StreamLeg>& legs, Routing& routing)
{
    const UncontendedRates rates(legs, routing);
    std::vector<double> ends;
    for (const StreamLeg& leg : legs)
    {
        ends.push_back(rates.TimeOf(leg).ToSeconds());
    }
    return ends;
}

bool
EndAtSameTime(const std::vector<double>& ends)
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

/**
 * By plan: the delay of @p times over the uncontended times; for plans of equal uncontended
 * duration the largest delay among them.
 */
std::vector<Time>
DelaysOver(const std::vector<const CollectivePlan*>& plans, const std::vector<Time>& times)
{
    std::map<Time, Time> max; // by uncontended duration
    for (std::size_t i = 0; i < plans.size(); i++)
    {
        const Time added = times[i] - (plans[i]->duration - plans[i]->latency);
        Time& ofAlike = max[plans[i]->duration];
        ofAlike = added > ROUNDING ? std::max(ofAlike, added) : ofAlike;
    }
    std::vector<Time> byPlan;
    for (const CollectivePlan* plan : plans)
    {
        byPlan.push_back(max[plan->duration]);
    }
    return byPlan;
}

/** Whether all plans have equal uncontended durations, and all channels equal bytes. */
bool
AreAlike(const std::vector<const CollectivePlan*>& plans, const std::vector<StreamLeg>& legs)
{
    const auto isFirst = [&](const CollectivePlan* plan) {
        return plan->duration == plans.front()->duration;
    };
    const auto isAsLarge = [&](const StreamLeg& leg) {
        const double first = legs.front().bytes.ToDouble() / legs.front().weight;
        return std::abs(leg.bytes.ToDouble() / leg.weight - first) <= 1; // bytes are whole
    };
    return std::all_of(plans.begin(), plans.end(), isFirst) &&
           std::all_of(legs.begin(), legs.end(), isAsLarge);
}

} // namespace

std::vector<Time>
ContentionDelays(const std::vector<const CollectivePlan*>& plans, Routing& routing)
{
    const std::vector<StreamLeg> legs = LegsOf(plans);
    // These rates are lower bounds, since they count all legs on all links all the time. Legs on
    // the link of the lowest level keep them until they end; if all are equal, they end at the same
    // time.
    const std::vector<double> ends = EndsAtFirstRates(legs, routing);
    const std::vector<Time> added = DelaysOver(plans, LastEnds(plans, ends));
    const bool areApart =
        std::all_of(added.begin(), added.end(), [](Time time) { return time == Time(); });
    if (areApart || EndAtSameTime(ends) || AreAlike(plans, legs))
    {
        return added;
    }
    return DelaysOver(plans, LastEnds(plans, LegSharing(legs, routing).Ends()));
}

CallClasses::CallClasses(Planner& planner)
    : m_planner(planner)
{
}

void
CallClasses::Add(const CallClass& callClass)
{
    Class another;
    another.streams = callClass.streams;
    for (const CollectiveCall& call : callClass.calls)
    {
        const CollectivePlan& plan = m_planner.Plan(call);
        if (m_classOf.try_emplace(&plan, static_cast<uint32_t>(m_classes.size())).second)
        {
            another.plans.push_back(&plan);
        }
    }
    if (another.plans.empty())
    {
        return;
    }
    const std::vector<Time> added = ContentionDelays(another.plans, m_planner.GetRouting());
    for (std::size_t i = 0; i < another.plans.size(); i++)
    {
        const CollectivePlan& plan = *another.plans[i];
        another.transfer = std::max(another.transfer, plan.duration - plan.latency + added[i]);
        another.slowsItself = another.slowsItself || added[i] > Time();
    }
    m_classes.push_back(std::move(another));
    m_isSettled = false;
}

uint32_t
CallClasses::ClassOf(const CollectivePlan& plan) const
{
    const auto found = m_classOf.find(&plan);
    return found == m_classOf.end() ? NONE : found->second;
}

const std::vector<uint32_t>&
CallClasses::Met(uint32_t callClass)
{
    if (!m_isSettled)
    {
        Settle();
        m_isSettled = true;
    }
    return m_classes[callClass].met;
}

/** Finds the classes that contend: those on a link that they would overload in total. */
void
CallClasses::Settle()
{
    struct Load
    {
        uint32_t link;
        uint32_t callClass;
        double share; //!< relative to the link's capacity
    };

    std::vector<Load> loads;
    for (uint32_t i = 0; i < m_classes.size(); i++)
    {
        const std::vector<StreamLeg> legs = LegsOf(m_classes[i].plans);
        LegSharing sharing(legs, m_planner.GetRouting());
        const std::vector<double> rates = sharing.Rates();
        m_classes[i].slowest = 0;
        for (std::size_t leg = 0; leg < legs.size(); leg++)
        {
            m_classes[i].slowest = std::max(m_classes[i].slowest, TimeOf(legs[leg], rates[leg]));
        }
        for (const LegSharing::LinkLoad& one : sharing.Loads())
        {
            loads.push_back({one.link, i, one.load / one.capacity});
        }
    }
    std::sort(loads.begin(), loads.end(), [](const Load& a, const Load& b) {
        return std::pair(a.link, a.callClass) < std::pair(b.link, b.callClass);
    });
    std::set<std::vector<uint32_t>> contenders;
    for (auto load = loads.begin(); load != loads.end();)
    {
        constexpr double FULL = 1 + 1e-9;
        const uint32_t link = load->link;
        double share = 0;
        std::vector<uint32_t> group;
        for (; load != loads.end() && load->link == link; ++load)
        {
            share += load->share;
            group.push_back(load->callClass);
        }
        if (share > FULL && group.size() > 1)
        {
            contenders.insert(std::move(group));
        }
    }
    NoteContention({contenders.begin(), contenders.end()});
}

void
CallClasses::NoteContention(const std::vector<std::vector<uint32_t>>& contenders)
{
    std::vector<std::set<uint32_t>> met(m_classes.size());
    for (const auto& group : contenders)
    {
        for (const uint32_t one : group)
        {
            for (const uint32_t other : group)
            {
                if (other != one && !HaveCommon(m_classes[one].streams, m_classes[other].streams))
                {
                    met[one].insert(other);
                }
            }
        }
    }
    for (uint32_t i = 0; i < m_classes.size(); i++)
    {
        m_classes[i].met.assign(met[i].begin(), met[i].end());
    }
}

const std::vector<double>&
CallClasses::Speeds(const std::vector<uint32_t>& concurrent)
{
    const auto [entry, isNew] = m_speeds.try_emplace(concurrent);
    std::vector<double>& speeds = entry->second;
    if (!isNew)
    {
        return speeds;
    }
    if (concurrent.size() == 1)
    {
        speeds.assign(1, 1);
        return speeds;
    }
    std::vector<const CollectivePlan*> plans;
    for (const uint32_t callClass : concurrent)
    {
        const auto& own = m_classes[callClass].plans;
        plans.insert(plans.end(), own.begin(), own.end());
    }
    const std::vector<StreamLeg> legs = LegsOf(plans);
    const std::vector<double> rates = LegSharing(legs, m_planner.GetRouting()).Rates();
    std::size_t leg = 0;
    for (const uint32_t callClass : concurrent)
    {
        double slowest = 0;
        for (const CollectivePlan* plan : m_classes[callClass].plans)
        {
            for (std::size_t i = 0; i < plan->legs.size(); i++, leg++)
            {
                slowest = std::max(slowest, TimeOf(legs[leg], rates[leg]));
            }
        }
        // Load balancing of all classes may give a class better paths than load balancing of its
        // own legs does. Its speed stays limited to the uncontended one.
        const double uncontended = m_classes[callClass].slowest;
        speeds.push_back(slowest > uncontended ? uncontended / slowest : 1);
    }
    return speeds;
}

} // namespace weir

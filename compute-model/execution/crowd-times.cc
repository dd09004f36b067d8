// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/crowd-times.h"

#include "collectives/engines/closed-form.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

namespace weir
{

namespace
{

/** Times, rates and loads that differ by less than this part are the same but for rounding. */
constexpr double SAME = 1e-9;
const Time ROUNDING = Time::Picoseconds(2); //!< of a time that was told in seconds

/** Legs of several plans as fluid, from when all begin to when the last ends. */
class LegsTogether
{
  public:
    LegsTogether(const std::vector<StreamLeg>& legs, const PathTable& paths);

    /** By leg: when it ends, in seconds. */
    std::vector<double> Ends();

  private:
    struct Use
    {
        uint32_t link;
        double load; //!< of a unit of level of the leg
    };

    struct Leg
    {
        std::vector<Use> uses;
        double left;  //!< bytes
        double level; //!< rate of a unit of weight
        double cap;   //!< of the level
        double weight;
        double end{-1}; //!< when it has ended
        bool rises{false};
    };

    void Share();
    double NextLevel() const;
    bool IsHeld(const Leg& leg, double level) const;

    std::vector<Leg> m_legs;
    std::vector<double> m_capacities; //!< by link, in the order of first sight
    std::vector<double> m_free;       //!< of the capacity, what those that stopped rising leave
    std::vector<double> m_rising;     //!< by link: load of a unit of level of those that rise
};

LegsTogether::LegsTogether(const std::vector<StreamLeg>& legs, const PathTable& paths)
{
    PathSharing* sharing = paths.GetSharing();
    std::unique_ptr<PathSharing> together;
    if (sharing != nullptr)
    {
        std::vector<PathLoad> loads;
        for (const auto& leg : legs)
        {
            loads.push_back({leg.path, leg.weight});
        }
        together = sharing->Together(loads);
    }
    std::unordered_map<uint32_t, uint32_t> places;
    for (const auto& leg : legs)
    {
        Leg own{};
        own.left = leg.bytes.ToDouble();
        own.cap = leg.cap.ToBytesPerSecond() / leg.weight;
        own.weight = leg.weight;
        own.end = -1;
        paths.ForEachShare(
            leg.path, together ? together.get() : sharing, [&](LinkId link, double share) {
                const auto [place, isNew] =
                    places.try_emplace(link.Index(), static_cast<uint32_t>(m_capacities.size()));
                if (isNew)
                {
                    m_capacities.push_back(
                        paths.GetTopology().GetLink(link).rate.ToBytesPerSecond());
                }
                own.uses.push_back({place->second, share * leg.weight});
            });
        m_legs.push_back(std::move(own));
    }
}

/** The lowest level at which a link is full or a leg that rises at its cap. */
double
LegsTogether::NextLevel() const
{
    double level = std::numeric_limits<double>::infinity();
    for (std::size_t link = 0; link < m_free.size(); link++)
    {
        if (m_rising[link] > 0)
        {
            level = std::min(level, std::max(m_free[link], 0.0) / m_rising[link]);
        }
    }
    for (const Leg& leg : m_legs)
    {
        level = leg.rises ? std::min(level, leg.cap) : level;
    }
    return level;
}

/** Whether @p level is as far as @p leg rises. */
bool
LegsTogether::IsHeld(const Leg& leg, double level) const
{
    const double most = level * (1 + SAME);
    return leg.cap <= most || std::any_of(leg.uses.begin(), leg.uses.end(), [&](const Use& use) {
               return m_free[use.link] <= m_rising[use.link] * most;
           });
}

/** Finds the levels of the legs that have not ended, by progressive filling. */
void
LegsTogether::Share()
{
    m_free = m_capacities;
    m_rising.assign(m_capacities.size(), 0);
    std::size_t rising = 0;
    for (Leg& leg : m_legs)
    {
        leg.rises = leg.end < 0;
        rising += leg.rises ? 1 : 0;
        for (const Use& use : leg.uses)
        {
            m_rising[use.link] += leg.rises ? use.load : 0;
        }
    }
    std::vector<Leg*> held;
    while (rising > 0)
    {
        const double level = NextLevel();
        held.clear();
        for (Leg& leg : m_legs)
        {
            if (leg.rises && IsHeld(leg, level))
            {
                held.push_back(&leg);
            }
        }
        for (Leg* leg : held)
        {
            leg->rises = false;
            leg->level = level;
            for (const Use& use : leg->uses)
            {
                m_free[use.link] -= level * use.load;
                m_rising[use.link] -= use.load;
                if (m_rising[use.link] < SAME * use.load)
                {
                    m_rising[use.link] = 0; // only rounding is left
                }
            }
        }
        rising -= held.size();
    }
}

std::vector<double>
LegsTogether::Ends()
{
    std::size_t running = m_legs.size();
    double now = 0;
    while (running > 0)
    {
        Share();
        double next = std::numeric_limits<double>::infinity();
        for (const Leg& leg : m_legs)
        {
            if (leg.end < 0)
            {
                next = std::min(next, leg.left / (leg.level * leg.weight));
            }
        }
        now += next;
        for (Leg& leg : m_legs)
        {
            if (leg.end >= 0)
            {
                continue;
            }
            const double left = leg.left - leg.level * leg.weight * next;
            leg.left = left;
            if (left <= SAME * leg.level * leg.weight * now)
            {
                leg.end = now;
                running--;
            }
        }
    }
    std::vector<double> ends;
    for (const Leg& leg : m_legs)
    {
        ends.push_back(leg.end);
    }
    return ends;
}

/** By leg: what it takes at the rates of AloneRates. */
std::vector<double>
EndsAtFirstRates(const std::vector<StreamLeg>& legs, const PathTable& paths)
{
    const AloneRates rates(legs, paths);
    std::vector<double> ends;
    for (const StreamLeg& leg : legs)
    {
        const Rate share = rates.ShareOn(leg.path, leg.cap / leg.weight).rate;
        ends.push_back((leg.bytes / (share * leg.weight)).ToSeconds());
    }
    return ends;
}

bool
EndTogether(const std::vector<double>& ends)
{
    const auto [first, last] = std::minmax_element(ends.begin(), ends.end());
    return first == ends.end() || *first >= *last * (1 - SAME);
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
AddedTogether(const std::vector<const CollectivePlan*>& plans, const PathTable& paths)
{
    std::vector<StreamLeg> legs;
    for (const CollectivePlan* plan : plans)
    {
        legs.insert(legs.end(), plan->legs.begin(), plan->legs.end());
    }
    // No leg is ever slower than at these rates, which count all legs on all links all the time;
    // those on the link of the lowest level are as slow until they end, together if they are alike.
    const std::vector<double> ends = EndsAtFirstRates(legs, paths);
    const std::vector<Time> added = AddedTo(plans, LastEnds(plans, ends));
    const bool areApart =
        std::all_of(added.begin(), added.end(), [](Time time) { return time == Time(); });
    if (areApart || EndTogether(ends) || AreAlike(plans, legs))
    {
        return added;
    }
    return AddedTo(plans, LastEnds(plans, LegsTogether(legs, paths).Ends()));
}

} // namespace weir

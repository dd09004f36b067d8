// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/engines/call-classes.h"

#include "collectives/engines/contention-delays.h"
#include "collectives/engines/leg-sharing.h"

#include <algorithm>
#include <set>
#include <utility>

namespace weir
{

namespace
{

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

/** Whether two ascending rows have a number in common. */
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

/** What a leg takes that keeps its rate. */
double
TimeOf(const StreamLeg& leg, double rate)
{
    return leg.bytes.ToDouble() / rate;
}

} // namespace

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

/** Finds out which classes meet: those on a link that they would fill together. */
void
CallClasses::Settle()
{
    struct Load
    {
        uint32_t link;
        uint32_t callClass;
        double share; //!< of the capacity
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
CallClasses::Speeds(const std::vector<uint32_t>& together)
{
    const auto [entry, isNew] = m_speeds.try_emplace(together);
    std::vector<double>& speeds = entry->second;
    if (!isNew)
    {
        return speeds;
    }
    if (together.size() == 1)
    {
        speeds.assign(1, 1);
        return speeds;
    }
    std::vector<const CollectivePlan*> plans;
    for (const uint32_t callClass : together)
    {
        const auto& own = m_classes[callClass].plans;
        plans.insert(plans.end(), own.begin(), own.end());
    }
    const std::vector<StreamLeg> legs = LegsOf(plans);
    const std::vector<double> rates = LegSharing(legs, m_planner.GetRouting()).Rates();
    std::size_t leg = 0;
    for (const uint32_t callClass : together)
    {
        double slowest = 0;
        for (const CollectivePlan* plan : m_classes[callClass].plans)
        {
            for (std::size_t i = 0; i < plan->legs.size(); i++, leg++)
            {
                slowest = std::max(slowest, TimeOf(legs[leg], rates[leg]));
            }
        }
        // Levelled paths of all may suit a class better than those of its own: not beyond alone.
        const double alone = m_classes[callClass].slowest;
        speeds.push_back(slowest > alone ? alone / slowest : 1);
    }
    return speeds;
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/engines/analytical-engine.h"

#include <algorithm>

namespace weir
{

AnalyticalEngine::AnalyticalEngine(Planner& planner)
    : m_plans(planner)
{
}

void
AnalyticalEngine::Start(const CollectiveCall& call,
                        CollectiveClient* client,
                        uint64_t token,
                        Time now)
{
    const CollectivePlan& plan = m_plans.Plan(call);
    const auto expected = m_expected.find(&plan);
    const Time duration = expected == m_expected.end() ? plan.duration : expected->second;
    m_endings.push({now + duration, m_started++, client, token});
}

void
AnalyticalEngine::Expect(const CollectiveCall& call, Time duration)
{
    Time& expected = m_expected[&m_plans.Plan(call)];
    expected = std::max(expected, duration);
}

std::size_t
AnalyticalEngine::Active() const
{
    return m_endings.size();
}

Time
AnalyticalEngine::NextEventTime()
{
    return m_endings.empty() ? Time::Infinite() : m_endings.top().time;
}

void
AnalyticalEngine::AdvanceTo(Time now)
{
    while (!m_endings.empty() && m_endings.top().time <= now)
    {
        const Ending ending = m_endings.top();
        m_endings.pop();
        if (ending.client)
        {
            ending.client->OnCollectiveDone(ending.token, ending.time);
        }
    }
}

} // namespace weir

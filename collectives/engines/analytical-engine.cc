// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/engines/analytical-engine.h"

#include <algorithm>

namespace weir
{

AnalyticalEngine::AnalyticalEngine(Planner& planner)
    : m_plans(planner),
      m_classes(planner)
{
}

void
AnalyticalEngine::ExpectConcurrent(const CallClass& callClass)
{
    m_classes.Add(callClass);
    m_moving.resize(m_classes.Count());
    m_timed.resize(m_classes.Count(), 0);
}

void
AnalyticalEngine::Start(const CollectiveCall& call,
                        CollectiveClient* client,
                        uint64_t token,
                        Time now)
{
    const CollectivePlan& plan = m_plans.Plan(call);
    const uint32_t callClass = m_classes.ClassOf(plan);
    const uint32_t slot = m_calls.Take();
    m_events.Grow(m_calls.Size());
    Call& own = m_calls[slot];
    own.client = client;
    own.token = token;
    own.callClass = CallClasses::NONE;
    if (callClass == CallClasses::NONE)
    {
        Push(slot, now + plan.duration);
        return;
    }
    const Time transfer = m_classes.TransferTime(callClass);
    if (transfer == Time() || m_classes.Met(callClass).empty())
    {
        Push(slot, now + plan.latency + transfer);
        return;
    }
    own.callClass = callClass;
    own.isMoving = false;
    own.left = transfer;
    own.speed = 1;
    own.drain = plan.drain;
    Push(slot, now + plan.latency - own.drain);
}

void
AnalyticalEngine::Push(uint32_t slot, Time when)
{
    m_events.Set(slot, {when, m_pushed++});
}

Time
AnalyticalEngine::NextEventTime()
{
    Retime();
    return m_events.Empty() ? Time::Infinite() : m_events.TopKey().first;
}

void
AnalyticalEngine::AdvanceTo(Time now)
{
    for (Time next = NextEventTime(); next <= now && !next.IsInfinite(); next = NextEventTime())
    {
        // All events of one instant are handled before calls are retimed.
        while (!m_events.Empty() && m_events.TopKey().first == next)
        {
            const uint32_t slot = m_events.TopIndex();
            m_events.Remove(slot);
            const Call& call = m_calls[slot];
            if (call.callClass == CallClasses::NONE)
            {
                Finish(slot, next);
            }
            else if (call.isMoving)
            {
                EndMoving(slot, next);
            }
            else
            {
                BeginToMove(slot, next);
            }
        }
    }
}

/** The pipeline of a call whose class contends with others is full. */
void
AnalyticalEngine::BeginToMove(uint32_t slot, Time now)
{
    Call& call = m_calls[slot];
    auto& alike = m_moving[call.callClass];
    call.isMoving = true;
    call.since = now;
    call.index = static_cast<uint32_t>(alike.size());
    alike.push_back(slot);
    if (alike.size() > 1)
    {
        call.speed = m_calls[alike.front()].speed;
        Push(slot, now + call.left * (1 / call.speed));
        return;
    }
    Push(slot, now + call.left);
    m_now = now;
    m_changed.push_back(call.callClass);
}

/** The bytes of a call whose class contends with others have moved; its pipeline drains. */
void
AnalyticalEngine::EndMoving(uint32_t slot, Time now)
{
    m_now = now;
    Call& call = m_calls[slot];
    auto& alike = m_moving[call.callClass];
    alike[call.index] = alike.back();
    m_calls[alike.back()].index = call.index;
    alike.pop_back();
    if (alike.empty())
    {
        m_changed.push_back(call.callClass);
    }
    call.callClass = CallClasses::NONE;
    if (call.drain > Time())
    {
        Push(slot, now + call.drain);
        return;
    }
    Finish(slot, now);
}

void
AnalyticalEngine::Finish(uint32_t slot, Time now)
{
    const Call call = m_calls[slot];
    m_calls.Free(slot);
    if (call.client)
    {
        call.client->OnCollectiveDone(call.token, now);
    }
}

/** Retimes the calls connected by contention with a class that has begun or ended. */
void
AnalyticalEngine::Retime()
{
    if (m_changed.empty())
    {
        return;
    }
    std::vector<uint32_t> around;
    for (const uint32_t changed : m_changed)
    {
        if (!m_moving[changed].empty())
        {
            around.push_back(changed);
            continue;
        }
        for (const uint32_t met : m_classes.Met(changed))
        {
            if (!m_moving[met].empty())
            {
                around.push_back(met);
            }
        }
    }
    m_changed.clear();
    m_retimings++;
    for (const uint32_t callClass : around)
    {
        RetimeAround(callClass);
    }
}

/** Retimes the active classes that contend with @p callClass, directly or through others. */
void
AnalyticalEngine::RetimeAround(uint32_t callClass)
{
    if (m_timed[callClass] == m_retimings)
    {
        return;
    }
    m_timed[callClass] = m_retimings;
    std::vector<uint32_t> concurrent{callClass};
    for (std::size_t i = 0; i < concurrent.size(); i++)
    {
        for (const uint32_t met : m_classes.Met(concurrent[i]))
        {
            if (!m_moving[met].empty() && m_timed[met] != m_retimings)
            {
                m_timed[met] = m_retimings;
                concurrent.push_back(met);
            }
        }
    }
    std::sort(concurrent.begin(), concurrent.end());
    const std::vector<double>& speeds = m_classes.Speeds(concurrent);
    for (std::size_t i = 0; i < concurrent.size(); i++)
    {
        for (const uint32_t slot : m_moving[concurrent[i]])
        {
            Call& call = m_calls[slot];
            if (call.speed != speeds[i])
            {
                call.left = std::max(Time(), call.left - (m_now - call.since) * call.speed);
                call.since = m_now;
                call.speed = speeds[i];
                Push(slot, m_now + call.left * (1 / call.speed));
            }
        }
    }
}

} // namespace weir

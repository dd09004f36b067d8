// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/passive-engine.h"

#include <algorithm>
#include <stdexcept>

namespace weir
{

void
EngineSet::AddBefore(PassiveEngine& engine, const PassiveEngine& other)
{
    const auto at = std::find(m_engines.begin(), m_engines.end(), &other);
    if (at == m_engines.end())
    {
        throw std::logic_error("EngineSet: the engine to come before is not in the set");
    }
    m_engines.insert(at, &engine);
}

Time
EngineSet::NextEventTime()
{
    Time next = Time::Infinite();
    for (auto* engine : m_engines)
    {
        next = std::min(next, engine->NextEventTime());
    }
    return next;
}

bool
EngineSet::IsIdleBeside(const PassiveEngine& engine)
{
    return std::all_of(m_engines.begin(), m_engines.end(), [&engine](PassiveEngine* other) {
        return other == &engine || other->NextEventTime().IsInfinite();
    });
}

void
EngineSet::Visit(Time instant)
{
    if (instant < m_now)
    {
        throw std::logic_error("EngineSet: an engine's next event lies in the past");
    }
    if (instant > m_now)
    {
        m_instants++;
    }
    m_now = instant;
    for (auto* engine : m_engines)
    {
        engine->AdvanceTo(instant);
    }
}

void
EngineSet::RunUntil(Time now)
{
    bool isThere = false;
    for (Time next = NextEventTime(); next <= now && !next.IsInfinite(); next = NextEventTime())
    {
        Visit(next);
        isThere = next == now;
    }
    if (!now.IsInfinite() && !isThere)
    {
        m_now = now;
        for (auto* engine : m_engines)
        {
            engine->AdvanceTo(now);
        }
    }
}

bool
EngineSet::Step()
{
    Time first = Time::Infinite();
    Time second = Time::Infinite();
    PassiveEngine* earliest = nullptr;
    for (auto* engine : m_engines)
    {
        const Time time = engine->NextEventTime();
        if (time < first)
        {
            second = first;
            first = time;
            earliest = engine;
        }
        else
        {
            second = std::min(second, time);
        }
    }
    if (first.IsInfinite())
    {
        return false;
    }
    const Time stands = first < second ? earliest->AdvanceExclusively(second) : Time();
    Visit(std::max(first, stands));
    return true;
}

Time
EngineSet::RunToEnd()
{
    while (Step())
    {
    }
    return m_now;
}

} // namespace weir

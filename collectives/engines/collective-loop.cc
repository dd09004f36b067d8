// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/engines/collective-loop.h"

#include <utility>

namespace weir
{

CollectiveLoop::CollectiveLoop(CollectiveEngine& engine,
                               const CollectiveCall& call,
                               uint32_t calls,
                               Time start,
                               CallEnded ended)
    : m_engine(engine),
      m_call(call),
      m_calls(calls),
      m_start(start),
      m_ended(std::move(ended))
{
}

Time
CollectiveLoop::NextEventTime()
{
    return m_start;
}

void
CollectiveLoop::AdvanceTo(Time now)
{
    if (m_start <= now)
    {
        m_start = Time::Infinite();
        Begin(now);
    }
}

void
CollectiveLoop::Begin(Time now)
{
    m_began = now;
    m_isCalling = true;
    m_engine.Start(m_call, this, m_durations.size(), now);
}

void
CollectiveLoop::OnCollectiveDone(uint64_t token, Time now)
{
    const Time began = m_began;
    m_durations.push_back(now - began);
    m_isCalling = false;
    if (!IsFinished())
    {
        Begin(now);
    }
    if (m_ended)
    {
        m_ended(static_cast<uint32_t>(token), began, now);
    }
}

} // namespace weir

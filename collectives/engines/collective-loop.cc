// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/engines/collective-loop.h"

namespace weir
{

CollectiveLoop::CollectiveLoop(CollectiveEngine& engine, CallSequence sequence, CallEnded ended)
    : m_engine(engine),
      m_sequence(std::move(sequence)),
      m_calls(uint64_t{m_sequence.rounds} * m_sequence.calls.size()),
      m_next(m_sequence.start)
{
    if (ended)
    {
        m_watchers.push_back(std::move(ended));
    }
}

void
CollectiveLoop::AdvanceTo(Time now)
{
    if (m_next <= now)
    {
        m_next = Time::Infinite();
        Begin(now);
    }
}

void
CollectiveLoop::Begin(Time now)
{
    m_began = now;
    m_isCalling = true;
    if (m_durations.size() % m_sequence.calls.size() == 0)
    {
        m_roundBegan = now;
    }
    m_engine.Start(GetCall(m_durations.size()), this, m_durations.size(), now);
}

/** Begins the next call now, or schedules it for when its round may begin. */
void
CollectiveLoop::BeginWhenDue(Time now)
{
    const bool isNewRound = m_durations.size() % m_sequence.calls.size() == 0;
    if (isNewRound && m_roundBegan + m_sequence.period > now)
    {
        m_next = m_roundBegan + m_sequence.period;
        return;
    }
    Begin(now);
}

void
CollectiveLoop::OnCollectiveDone(uint64_t token, Time now)
{
    const Time began = m_began;
    m_durations.push_back(now - began);
    m_isCalling = false;
    if (!IsFinished())
    {
        BeginWhenDue(now);
    }
    for (const CallEnded& watcher : m_watchers)
    {
        watcher(static_cast<uint32_t>(token), began, now);
    }
}

} // namespace weir

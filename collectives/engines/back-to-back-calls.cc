// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/engines/back-to-back-calls.h"

#include <algorithm>

namespace weir
{

namespace
{

constexpr double SAME_PERIOD = 1e-3; //!< relative difference below which two periods are equal

} // namespace

BackToBackCalls::BackToBackCalls(const ScheduleRun& run, uint32_t ranks, BackToBackClient& client)
    : m_client(client),
      m_switches(ranks)
{
    for (uint32_t block = 0; block < run.BlockCount(); ++block)
    {
        const uint32_t rank = run.RankOf(block);
        m_stands.resize(std::max<std::size_t>(m_stands.size(), rank + 1));
        if (run.Works(block))
        {
            m_stands[rank].blocks.push_back(block);
        }
    }
    for (uint32_t rank = 0; rank < m_stands.size(); ++rank)
    {
        if (!m_stands[rank].blocks.empty())
        {
            m_busy.push_back(rank);
        }
    }
    for (uint32_t connection = 0; connection < run.ConnectionCount(); ++connection)
    {
        m_senders.push_back(run.RankOf(run.Sender(connection)));
    }
}

bool
BackToBackCalls::Begin(uint32_t rank)
{
    Stand& stand = m_stands[rank];
    if (!m_goesOn && stand.begun >= m_wanted)
    {
        return false;
    }
    if (++stand.begun > m_calls.size())
    {
        m_calls.push_back({static_cast<uint32_t>(m_busy.size())});
    }
    stand.holds = static_cast<uint32_t>(stand.blocks.size());
    return true;
}

std::optional<Time>
BackToBackCalls::Release(uint32_t rank, Time at)
{
    Stand& stand = m_stands[rank];
    stand.until = std::max(stand.until, at);
    if (--stand.holds > 0)
    {
        return std::nullopt;
    }
    Call& call = m_calls[stand.ended];
    const Time period = stand.until - stand.before;
    call.end = std::max(call.end, stand.until);
    call.shortest = std::min(call.shortest, period);
    call.longest = std::max(call.longest, period);
    --call.left;
    ++stand.ended;
    stand.before = stand.until;
    EndCalls();
    return stand.until;
}

/** Reports the calls that have ended on all ranks. */
void
BackToBackCalls::EndCalls()
{
    while (m_ended < m_calls.size() && m_calls[m_ended].left == 0)
    {
        const Call& call = m_calls[m_ended++];
        const bool steady =
            m_ended > 1 && call.longest - call.shortest <= call.longest * SAME_PERIOD;
        const bool goesOn = m_client.OnCallDone(call.end, steady);
        if (m_goesOn && !goesOn)
        {
            m_goesOn = false;
            m_wanted = static_cast<uint32_t>(m_calls.size());
        }
    }
}

} // namespace weir

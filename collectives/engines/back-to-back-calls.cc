// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/engines/back-to-back-calls.h"

#include <algorithm>

namespace weir
{

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
    if (++stand.begun > m_left.size())
    {
        m_left.push_back(static_cast<uint32_t>(m_busy.size()));
        m_ends.emplace_back();
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
    m_ends[stand.ended] = std::max(m_ends[stand.ended], stand.until);
    --m_left[stand.ended++];
    EndCalls();
    return stand.until;
}

/** Reports the calls that have ended on all ranks. */
void
BackToBackCalls::EndCalls()
{
    while (m_ended < m_left.size() && m_left[m_ended] == 0)
    {
        const bool goesOn = m_client.OnCallDone(m_ends[m_ended++]);
        if (m_goesOn && !goesOn)
        {
            m_goesOn = false;
            m_wanted = static_cast<uint32_t>(m_left.size());
        }
    }
}

} // namespace weir

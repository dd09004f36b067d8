// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/engines/flow-engine.h"

#include <algorithm>

/**
 * @file
 * Calls that follow each other, rank by rank (BackToBackCalls).
 */
namespace weir
{

void
FlowEngine::StartRow(const CollectiveCall& call, BackToBackClient& client, Time now)
{
    Running& running = Begin(call, now);
    running.row = std::make_unique<BackToBackCalls>(*running.run, running.ranks, client);
}

/** The start latency is over: all blocks of all ranks. */
void
FlowEngine::BeginCalls(uint32_t running, Time now)
{
    Running& r = m_running[running];
    if (r.row)
    {
        for (const uint32_t rank : r.row->Ranks())
        {
            r.row->Begin(rank);
        }
    }
    for (uint32_t block = 0; block < r.run->BlockCount(); ++block)
    {
        r.run->Advance(block, m_started, now);
    }
}

/** A rank's next kernel begins. */
void
FlowEngine::BeginCallOf(uint32_t running, uint32_t rank, Time now)
{
    Running& r = m_running[running];
    if (!r.row->Begin(rank))
    {
        return;
    }
    for (const uint32_t block : r.row->BlocksOf(rank))
    {
        r.run->Restart(block);
    }
    for (const uint32_t block : r.row->BlocksOf(rank))
    {
        r.run->Advance(block, m_started, now);
    }
}

/** What blocks have begun to send now keeps their kernels from ending. */
void
FlowEngine::HoldSenders(const Running& running)
{
    for (const uint32_t connection : m_started)
    {
        running.row->Hold(running.row->SenderOf(connection));
    }
}

/** Blocks have run their last primitive. */
void
FlowEngine::ReleaseEnded(uint32_t running, Time now)
{
    const ScheduleRun& run = *m_running[running].run;
    for (std::size_t i = 0; i < m_running[running].run->Ended().size(); ++i)
    {
        const uint32_t block = m_running[running].run->Ended()[i];
        Release(running, run.RankOf(block), std::max(now, run.FreeAt(block)), now);
    }
}

/** One thing less keeps a rank's kernel from ending; its next one follows. */
void
FlowEngine::Release(uint32_t running, uint32_t rank, Time at, Time now)
{
    Running& r = m_running[running];
    if (const auto ended = r.row->Release(rank, at))
    {
        const Time start = r.row->IsSwitch(rank) ? Time() : r.schedule->startLatency;
        m_wakes.push({std::max(now, *ended) + start, running, rank | Wake::RANK, r.serial});
    }
}

} // namespace weir

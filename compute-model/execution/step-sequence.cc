// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/step-executor-state.h"

namespace weir
{

void
StepExecutor::State::BeginStep(Time now)
{
    begun = true;
    stepStart = now;
    finishedRanks = 0;
    for (uint32_t rank = 0; rank < ranks.size(); rank++)
    {
        ranks[rank] = RankState();
        ranks[rank].open = STREAM_COUNT;
        ranks[rank].hostBase = now;
        bookings[rank].Begin(now);
    }
    for (uint32_t rank = 0; rank < ranks.size(); rank++)
    {
        for (std::size_t stream = 0; stream < STREAM_COUNT; stream++)
        {
            Launch(rank, stream, now);
        }
        Rebook(rank, now);
    }
}

void
StepExecutor::State::RunUntil(Time now)
{
    if (!begun && spec.start <= now && spec.steps > 0)
    {
        BeginStep(spec.start);
        SettleSteps(now);
    }
    while (completions.NextTime() <= now)
    {
        const Time when = completions.NextTime();
        const uint32_t key = completions.Pop();
        Complete(key / STREAM_COUNT, key % STREAM_COUNT, when);
        SettleSteps(when);
    }
}

void
StepExecutor::State::SettleSteps(Time now)
{
    while (finishedRanks == ranks.size() && stepTimes.size() < spec.steps)
    {
        EndStep(now);
        if (stepTimes.size() < spec.steps)
        {
            BeginStep(now);
        }
    }
}

void
StepExecutor::State::EndStep(Time now)
{
    for (std::size_t rank = 0; rank < ranks.size(); rank++)
    {
        bookings[rank].Settle(now);
        breakdown[rank].spent = bookings[rank].Spent();
    }
    const auto step = static_cast<uint32_t>(stepTimes.size());
    stepTimes.push_back(now - stepStart);
    if (observer != nullptr)
    {
        observer->OnStepFinished(step, stepStart, now);
    }
}

} // namespace weir

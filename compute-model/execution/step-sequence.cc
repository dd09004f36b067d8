// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/step-executor-state.h"

namespace weir
{

void
StepExecutor::State::BeginStep(Time now)
{
    begun = true;
    stepStart = now;
    finishedActors = 0;
    for (uint32_t actor = 0; actor < actors.size(); actor++)
    {
        actors[actor] = ActorState();
        actors[actor].isWatched = !watched[actor].empty();
        actors[actor].open = STREAM_COUNT;
        actors[actor].hostBase = now;
        actors[actor].booking.Begin(now);
    }
    for (uint32_t actor = 0; actor < actors.size(); actor++)
    {
        for (std::size_t stream = 0; stream < STREAM_COUNT; stream++)
        {
            Launch(actor, stream, now);
        }
        Rebook(actor, now);
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
    while (finishedActors == actors.size() && stepTimes.size() < spec.steps)
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
    for (uint32_t actor = 0; actor < actors.size(); actor++)
    {
        actors[actor].booking.Settle(now);
        for (const uint32_t* rank = fold.ranks.begin(actor); rank != fold.ranks.end(actor); rank++)
        {
            breakdown[*rank].spent = actors[actor].booking.Spent();
        }
    }
    const auto step = static_cast<uint32_t>(stepTimes.size());
    stepTimes.push_back(now - stepStart);
    if (observer != nullptr)
    {
        observer->OnStepFinished(step, stepStart, now);
    }
}

} // namespace weir

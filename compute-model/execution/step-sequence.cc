// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/step-executor-state.h"

namespace weir
{

/** Sets what the compute durations of this step are multiplied with, as far as actors go. */
void
StepExecutor::State::DrawScales()
{
    scalesNow = scales;
    if (!spec.jitter.IsOn() || spec.jitter.scope == JitterScope::Operation)
    {
        return;
    }
    scalesNow.resize(actors.size(), 1);
    for (uint32_t actor = 0; actor < actors.size(); actor++)
    {
        scalesNow[actor] *= jitter.Factor(actor, static_cast<uint32_t>(stepTimes.size()), 0);
    }
}

/** How long the head of a stream takes on this rank in this step when nothing runs beside it. */
Time
StepExecutor::State::OwnTime(uint32_t actor, std::size_t stream, Time duration) const
{
    if (!scalesNow.empty())
    {
        duration = duration * scalesNow[actor];
    }
    if (spec.jitter.IsOn() && spec.jitter.scope == JitterScope::Operation)
    {
        const uint32_t position = actors[actor].streams[stream].position;
        const auto operation = static_cast<uint32_t>(position * STREAM_COUNT + stream);
        duration =
            duration * jitter.Factor(actor, static_cast<uint32_t>(stepTimes.size()), operation);
    }
    return duration;
}

bool
StepExecutor::State::HasAllSteps() const
{
    return stepTimes.size() == spec.steps || spec.steady.IsMet(stepTimes);
}

void
StepExecutor::State::BeginStep(Time now)
{
    begun = true;
    DrawScales();
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
        const ActorState& state = actors[key / STREAM_COUNT];
        if ((state.tight >> key % STREAM_COUNT & 1U) != 0)
        {
            EndMeeting(state.streams[key % STREAM_COUNT].meeting, when);
            continue;
        }
        Complete(key / STREAM_COUNT, key % STREAM_COUNT, when);
        SettleSteps(when);
    }
}

void
StepExecutor::State::SettleSteps(Time now)
{
    while (finishedActors == actors.size() && !HasAllSteps())
    {
        EndStep(now);
        if (!HasAllSteps())
        {
            BeginStep(now);
        }
    }
}

void
StepExecutor::State::EndStep(Time now)
{
    const auto steps = static_cast<int64_t>(stepTimes.size() + 1);
    for (uint32_t actor = 0; actor < actors.size(); actor++)
    {
        actors[actor].booking.Settle(now);
        for (const uint32_t* rank = fold.ranks.begin(actor); rank != fold.ranks.end(actor); rank++)
        {
            for (std::size_t category = 0; category < TIME_CATEGORY_COUNT; category++)
            {
                const Time own = actors[actor].booking.Spent()[category];
                Time& sum = spent[*rank].spent[category];
                sum += own;
                breakdown[*rank].spent[category] =
                    spec.CountsMean() ? Time::Picoseconds(sum.ToPicoseconds() / steps) : own;
            }
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

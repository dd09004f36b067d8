// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/step-executor-state.h"

#include <algorithm>

namespace weir
{

/** Sets the factor on the compute durations of an actor's step. */
void
StepExecutor::State::DrawScale(uint32_t actor)
{
    if (!spec.jitter.IsOn() || spec.jitter.scope == JitterScope::Operation)
    {
        return;
    }
    const double own = scales.empty() ? 1 : scales[actor];
    scalesNow[actor] = own * jitter.Factor(actor, actors[actor].step, 0);
}

/** Duration of the head of a stream on this rank in this step in isolation. */
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
        duration = duration * jitter.Factor(actor, actors[actor].step, operation);
    }
    return duration;
}

bool
StepExecutor::State::HasAllSteps() const
{
    return stepTimes.size() == spec.steps || spec.steady.IsMet(stepTimes);
}

/** Begins the first step. */
void
StepExecutor::State::Begin(Time now)
{
    begun = true;
    stepStart = now;
    scalesNow = scales;
    if (spec.jitter.IsOn())
    {
        scalesNow.resize(actors.size(), 1);
    }
    for (ActorState& actor : actors)
    {
        actor.booking.Begin(now);
    }
    for (uint32_t actor = 0; actor < actors.size(); actor++)
    {
        BeginStep(actor, now);
    }
}

/** Begins the current step of an actor; its booking continues. */
void
StepExecutor::State::BeginStep(uint32_t actor, Time now)
{
    ActorState fresh;
    fresh.step = actors[actor].step;
    fresh.booking = actors[actor].booking;
    fresh.isWatched = !watched[actor].empty();
    fresh.open = STREAM_COUNT;
    fresh.hostBase = now;
    actors[actor] = fresh;
    DrawScale(actor);
    for (std::size_t stream = 0; stream < STREAM_COUNT; stream++)
    {
        Launch(actor, stream, now);
    }
    Rebook(actor, now);
}

void
StepExecutor::State::RunUntil(Time now)
{
    if (!begun && spec.start <= now && spec.steps > 0)
    {
        Begin(spec.start);
        SettleSteps(spec.start);
    }
    while (completions.NextTime() <= now)
    {
        const Time when = completions.NextTime();
        const uint32_t key = completions.Pop();
        const ActorState& state = actors[key / STREAM_COUNT];
        if ((state.tight >> key % STREAM_COUNT & 1U) != 0)
        {
            EndRendezvous(state.streams[key % STREAM_COUNT].rendezvous, when);
            continue;
        }
        Complete(key / STREAM_COUNT, key % STREAM_COUNT, when);
        SettleSteps(when);
    }
}

/** Ends the steps that all actors have ended, and begins those of the actors that need not wait. */
void
StepExecutor::State::SettleSteps(Time now)
{
    // A step without operations ends as it begins, which extends `ended`.
    for (std::size_t i = 0; i < ended.size(); i++)
    {
        const uint32_t actor = ended[i];
        CountEnded(actor);
        if (finishedActors[actors[actor].step] == actors.size())
        {
            EndStep(now);
            const bool beginAllActors = !spec.overlapsSteps && !HasAllSteps();
            for (uint32_t other = 0; beginAllActors && other < actors.size(); other++)
            {
                actors[other].step++;
                BeginStep(other, now);
            }
        }
        if (spec.overlapsSteps && actors[actor].step + 1 < spec.steps)
        {
            actors[actor].step++;
            BeginStep(actor, now);
        }
    }
    ended.clear();
}

void
StepExecutor::State::CountEnded(uint32_t actor)
{
    const uint32_t step = actors[actor].step;
    if (finishedActors.size() <= step)
    {
        finishedActors.resize(step + 1, 0);
    }
    finishedActors[step]++;
}

/**
 * Books the time since the previous step ended; with overlapping steps, whatever was executed in
 * it.
 */
void
StepExecutor::State::EndStep(Time now)
{
    const auto first = std::min<std::size_t>(spec.FirstCounted(), stepTimes.size());
    const auto steps = static_cast<int64_t>(stepTimes.size() + 1 - first);
    for (uint32_t actor = 0; actor < actors.size(); actor++)
    {
        RankBooking& booking = actors[actor].booking;
        booking.Settle(now);
        if (actors[actor].isComputing)
        {
            BookLaunch(actors[actor], now);
        }
        for (const uint32_t* rank = fold.ranks.begin(actor); rank != fold.ranks.end(actor); rank++)
        {
            for (std::size_t category = 0; category < TIME_CATEGORY_COUNT; category++)
            {
                const Time own = booking.Spent()[category];
                Time& sum = spent[*rank].spent[category];
                sum = steps == 1 ? own : sum + own;
                if (!heldSteps)
                {
                    breakdown[*rank].spent[category] =
                        spec.CountsMean() ? Time::Picoseconds(sum.ToPicoseconds() / steps) : own;
                }
            }
        }
        booking.Next();
    }
    const auto step = static_cast<uint32_t>(stepTimes.size());
    stepTimes.push_back(now - stepStart);
    for (StepObserver* observer : observers)
    {
        observer->OnStepFinished(step, stepStart, now);
    }
    stepStart = now;
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/step-executor-state.h"

#include <algorithm>

namespace weir
{

namespace
{

} // namespace

/** Of what is booked to a running operation, what it waited for the CPU behind its kernels. */
void
StepExecutor::State::BookLaunch(ActorState& state, Time now) const
{
    const Time since = std::max(state.kernelEnd, stepStart);
    if (now > since)
    {
        state.booking.Move(now - since, TimeCategory::Compute, TimeCategory::Launch);
    }
}

void
StepExecutor::State::Rebook(uint32_t actor, Time now)
{
    actors[actor].booking.Switch(CategoryNow(actors[actor]), now);
}

TimeCategory
StepExecutor::State::CategoryNow(const ActorState& state) const
{
    std::size_t stream = COMPUTE_STREAM;
    for (std::size_t hops = 0; hops < STREAM_COUNT; hops++)
    {
        const StreamState& head = state.streams[stream];
        switch (head.phase)
        {
        case StreamPhase::Running:
        case StreamPhase::Queued:
            return head.category;
        case StreamPhase::Issuing:
            return TimeCategory::Launch;
        case StreamPhase::Posted:
            return TimeCategory::Bubble;
        case StreamPhase::Blocked:
            stream = head.waitsFor;
            break;
        case StreamPhase::Done:
            for (const StreamState& other : state.streams)
            {
                if (other.phase == StreamPhase::Running)
                {
                    return other.category;
                }
            }
            return TimeCategory::Bubble;
        }
    }
    return TimeCategory::Bubble;
}

} // namespace weir

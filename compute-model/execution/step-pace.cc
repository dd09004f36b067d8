// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/step-executor-state.h"

#include <algorithm>

namespace weir
{

namespace
{

/** Below this nothing is gained by another event. */
constexpr Time MIN_LOSS = Time::Nanoseconds(1);

} // namespace

/** The communication at the head of @p stream begins: is it one that kernels can hold up? */
void
StepExecutor::State::WatchPace(uint32_t actor, std::size_t stream, Time now)
{
    if (!spec.pace.IsKnown() || spec.overlap.kind != OverlapKind::Modeled)
    {
        return;
    }
    const StepOp& op = HeadOf(actor, stream);
    if (spec.pace.Needed(op) > spec.pace.Alone(op) * minLeft)
    {
        const std::size_t key = actor * STREAM_COUNT + stream;
        actors[actor].tight |= static_cast<uint16_t>(1U << stream);
        lost[key] = Time();
        lostSince[key] = now;
    }
}

/**
 * Books what the tight communications of @p actor have lost up to @p now, beside what the compute
 * stream ran since the last time: where they need more of their multiprocessors than it left, the
 * share that they were short of.
 */
void
StepExecutor::State::BookLosses(uint32_t actor, Time now)
{
    ActorState& state = actors[actor];
    for (std::size_t stream = 0; state.tight >> stream != 0; stream++)
    {
        if ((state.tight >> stream & 1U) == 0)
        {
            continue;
        }
        const std::size_t key = actor * STREAM_COUNT + stream;
        if (state.isComputing)
        {
            const StepOp& op = HeadOf(actor, stream);
            const uint32_t at =
                OpsOf(actor, COMPUTE_STREAM).firstBrief + state.streams[COMPUTE_STREAM].position;
            const double share = spec.pace.Alone(op) * left[at] / spec.pace.Needed(op);
            // Behind its kernels the operation may still wait for the CPU to launch more.
            const Time ran = std::max(Time(), std::min(now, state.kernelEnd) - lostSince[key]);
            lost[key] += ran * std::max(0.0, 1 - share);
        }
        lostSince[key] = now;
    }
}

/**
 * Puts the end of a communication off by what its slowest rank has lost, which it makes up for
 * beside whatever runs then. Losses depend on loads alone, not on each other, so that the two sides
 * of an overlap cannot chase one another; each time there is less to make up for.
 * @return whether the end is put off.
 */
bool
StepExecutor::State::IsBehind(uint32_t rendezvous, Time now)
{
    Time behind;
    for (uint32_t i = 0; i < pending.Get(rendezvous).arrived; i++)
    {
        const uint32_t key = pending.ArrivedKey(rendezvous, i);
        if ((actors[key / STREAM_COUNT].tight >> key % STREAM_COUNT & 1U) != 0)
        {
            BookLosses(key / STREAM_COUNT, now);
            behind = std::max(behind, lost[key]);
            lost[key] = Time();
        }
    }
    if (behind < MIN_LOSS)
    {
        return false;
    }
    completions.Push(now + behind, pending.ArrivedKey(rendezvous, 0));
    return true;
}

} // namespace weir

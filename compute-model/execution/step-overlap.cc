// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/step-executor-state.h"

#include <algorithm>

namespace weir
{

OverlapTraits
TraitsOf(const StepGraph& graph, const StepOp& op)
{
    OverlapTraits sum;
    double time = 0;
    for (uint32_t i = 0; i < op.kernelCount; i++)
    {
        const KernelRecord& kernel = graph.kernels[op.firstKernel + i];
        const double seconds = kernel.duration.ToSeconds();
        time += seconds;
        sum.smShare += static_cast<float>(kernel.overlap.smShare * seconds);
        sum.displaced += static_cast<float>(kernel.overlap.displaced * seconds);
        sum.memoryShare += static_cast<float>(kernel.overlap.memoryShare * seconds);
    }
    if (!(time > 0))
    {
        return {1, 0, 0};
    }
    const auto mean = [&](float part) { return static_cast<float>(part / time); };
    return {mean(sum.smShare), mean(sum.displaced), mean(sum.memoryShare)};
}

/** Slowdown of the kernels at the head of the compute stream by the communication in progress. */
double
StepExecutor::State::Slowdown(uint32_t actor) const
{
    const ActorState& state = actors[actor];
    if (state.heldSms == 0 || spec.overlap.kind == OverlapKind::Off)
    {
        return 1;
    }
    if (spec.overlap.kind == OverlapKind::Constant)
    {
        return spec.overlap.factor;
    }
    constexpr double PER_MILLE = 1e-3;
    const uint32_t at =
        OpsOf(actor, COMPUTE_STREAM).firstBrief + state.streams[COMPUTE_STREAM].position;
    return OverlapSlowdown(traits[at], {state.heldSms, state.heldPerMille * PER_MILLE}, spec.sms);
}

/**
 * When a communication that is ready at @p now finds free SMs: at once, except behind persistent
 * kernels (OverlapTraits::displaced), whose thread blocks occupy all SMs until they end.
 *
 * With in-order launches, communication precedes the kernels launched after it that begin at the
 * same instant. Otherwise those kernels come first, since a dependency between streams takes longer
 * than the gap between kernels of one stream (1.8 and 1.0 to 1.5 us on an H200). Measured on an
 * H200 behind GEMMs of 174 us to 1.37 ms, the last of 16 or 32 blocks starts after 0.27 to 0.68 of
 * the GEMM's length (mean over launches at random times; 0.5 here), and with other kernels after 2
 * to 200 us (0 here).
 */
Time
StepExecutor::State::RoomAt(uint32_t actor, Time now) const
{
    const ActorState& state = actors[actor];
    const StreamState& head = state.streams[COMPUTE_STREAM];
    if (!state.isComputing || state.kernelEnd <= now || spec.sms == 0 ||
        spec.overlap.kind != OverlapKind::Modeled ||
        (spec.launchesInOrder && state.computeStart == now))
    {
        return now;
    }
    const StreamOps& ops = OpsOf(actor, COMPUTE_STREAM);
    const uint32_t at = ops.firstBrief + head.position;
    const OpIssue& issue = issues[at];
    if (!(traits[at].displaced > 0) ||
        (issue.epoch == state.epoch && state.hostBase + issue.launch > now))
    {
        return now;
    }
    const StepOp& op = ops.ops[head.position];
    const Time whole = OwnTime(actor, COMPUTE_STREAM, op.duration) * Slowdown(actor);
    const double left = (state.kernelEnd - now) / whole;
    Time sum;
    for (uint32_t i = 0; i < op.kernelCount; i++)
    {
        sum += spec.graph->kernels[op.firstKernel + i].duration;
    }
    Time behind = sum; // kernels from the i-th on
    for (uint32_t i = 0; i < op.kernelCount; i++)
    {
        const KernelRecord& kernel = spec.graph->kernels[op.firstKernel + i];
        behind = behind - kernel.duration;
        const double after = behind / sum;
        if (after < left)
        {
            const bool keepsAll = kernel.overlap.displaced > 0;
            return keepsAll ? std::max(now, state.kernelEnd - whole * after) : now;
        }
    }
    return now;
}

/** The head of @p stream, a communication, has been issued. */
void
StepExecutor::State::Enter(uint32_t actor, std::size_t stream, Time now)
{
    const Time free = LoadOf(actor, stream).sms == 0 ? now : RoomAt(actor, now);
    if (free <= now)
    {
        Arrive(actor, stream, now);
        return;
    }
    const auto key = static_cast<uint32_t>(actor * STREAM_COUNT + stream);
    actors[actor].streams[stream].phase = StreamPhase::Queued;
    actors[actor].queued |= static_cast<uint16_t>(1U << stream);
    room[key] = free;
    completions.Set(key, free);
}

/** Occupies the GPU resources @p load of a communication if it starts, or releases them. */
void
StepExecutor::State::Hold(uint32_t actor, const CallLoad& load, bool isStart, Time now)
{
    if (spec.sms == 0 || load.sms == 0)
    {
        return;
    }
    ActorState& state = actors[actor];
    const double before = state.isComputing ? Slowdown(actor) : 1;
    const int32_t sign = isStart ? 1 : -1;
    state.heldSms = static_cast<uint16_t>(state.heldSms + sign * load.sms);
    state.heldPerMille = static_cast<uint16_t>(state.heldPerMille + sign * load.memoryPerMille);
    if (!state.isComputing)
    {
        return;
    }
    const double ratio = Slowdown(actor) / before;
    if (state.kernelEnd > now)
    {
        state.kernelEnd = now + (state.kernelEnd - now) * ratio;
    }
    for (std::size_t stream = 0; state.queued >> stream != 0; stream++)
    {
        const auto key = static_cast<uint32_t>(actor * STREAM_COUNT + stream);
        if ((state.queued >> stream & 1U) != 0 && room[key] > now)
        {
            room[key] = now + (room[key] - now) * ratio;
            completions.Set(key, room[key]);
        }
    }
    completions.Set(static_cast<uint32_t>(actor * STREAM_COUNT + COMPUTE_STREAM),
                    std::max(state.kernelEnd, std::max(state.launchEnd, now)));
}

namespace
{

/** Smaller losses do not justify another event. */
constexpr Time MIN_LOSS = Time::Nanoseconds(1);

} // namespace

/**
 * Checks whether concurrent kernels can slow down the communication that begins at the head of
 * @p stream.
 */
void
StepExecutor::State::WatchPace(uint32_t actor, std::size_t stream, Time now)
{
    if (!spec.pace.IsKnown() || spec.overlap.kind != OverlapKind::Modeled)
    {
        return;
    }
    const StepOp& op = HeadOf(actor, stream);
    if (spec.pace.Needed(LoadOf(actor, stream)) > spec.pace.Uncontended(op) * minLeft)
    {
        const std::size_t key = actor * STREAM_COUNT + stream;
        actors[actor].tight |= static_cast<uint16_t>(1U << stream);
        lost[key] = Time();
        lostSince[key] = now;
    }
}

/**
 * Books the losses of the tight communications of @p actor up to @p now, for the kernels that the
 * compute stream ran since the last booking. A communication that needs more of its SMs' rate than
 * the kernels left loses the missing share of that time.
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
            const double share =
                spec.pace.Uncontended(op) * left[at] / spec.pace.Needed(LoadOf(actor, stream));
            // After its kernels the operation may still wait for the CPU to launch more.
            const Time ran = std::max(Time(), std::min(now, state.kernelEnd) - lostSince[key]);
            lost[key] += ran * std::max(0.0, 1 - share);
        }
        lostSince[key] = now;
    }
}

/**
 * Delays the end of a communication by the loss of its slowest rank, which catches up while other
 * kernels run. Losses depend only on loads, not on each other, so that the two sides of an overlap
 * cannot delay each other indefinitely; every further delay is shorter.
 * @return whether the end is delayed
 */
bool
StepExecutor::State::DelayEnd(uint32_t rendezvous, Time now)
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
    completions.Set(pending.ArrivedKey(rendezvous, 0), now + behind);
    return true;
}

} // namespace weir

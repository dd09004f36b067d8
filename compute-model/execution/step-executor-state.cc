// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/step-executor-state.h"

#include "compute-model/execution/step-calls.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace weir
{

namespace
{

const StepExecutorSpec&
Checked(const StepExecutorSpec& spec)
{
    if (spec.graph == nullptr || spec.engine == nullptr)
    {
        throw std::invalid_argument("StepExecutor: no graph or no collective engine");
    }
    CheckStepGraph(*spec.graph);
    if (spec.communicators.size() != spec.graph->groups.size())
    {
        throw std::invalid_argument("StepExecutor: " + std::to_string(spec.communicators.size()) +
                                    " communicators for " +
                                    std::to_string(spec.graph->groups.size()) + " groups");
    }
    if (!spec.computeScale.empty() && spec.computeScale.size() != spec.graph->RankCount())
    {
        throw std::invalid_argument("StepExecutor: " + std::to_string(spec.computeScale.size()) +
                                    " compute scales for " +
                                    std::to_string(spec.graph->RankCount()) + " ranks");
    }
    if (!spec.groupKinds.empty() && spec.groupKinds.size() != spec.graph->groups.size())
    {
        throw std::invalid_argument("StepExecutor: " + std::to_string(spec.groupKinds.size()) +
                                    " kinds for " + std::to_string(spec.graph->groups.size()) +
                                    " groups");
    }
    if (spec.overlapsSteps && spec.steady.IsOn())
    {
        throw std::invalid_argument(
            "StepExecutor: found overlapping steps with a steady rule, expected independent steps");
    }
    for (std::size_t rank = 0; rank < spec.computeScale.size(); rank++)
    {
        if (!(spec.computeScale[rank] > 0))
        {
            throw std::invalid_argument("StepExecutor: rank " + std::to_string(rank) +
                                        ": its compute scale is not positive");
        }
    }
    return spec;
}

} // namespace

StepExecutor::State::State(StepExecutorSpec given, CollectiveClient* callback)
    : spec(Checked(given)),
      fold(spec.groupKinds.empty() || spec.jitter.IsOn()
               ? RankFold(*spec.graph)
               : RankFold(*spec.graph, spec.computeScale, spec.groupKinds)),
      client(callback),
      actors(fold.Actors()),
      watched(fold.Actors()),
      jitter(spec.jitter),
      posted(fold.Actors() * STREAM_COUNT),
      started(fold.Actors() * STREAM_COUNT),
      room(fold.Actors() * STREAM_COUNT),
      lost(fold.Actors() * STREAM_COUNT),
      lostSince(fold.Actors() * STREAM_COUNT),
      pending(*spec.graph, fold),
      spent(spec.graph->RankCount()),
      breakdown(spec.graph->RankCount())
{
    for (uint32_t actor = 0; !spec.computeScale.empty() && actor < fold.Actors(); actor++)
    {
        scales.push_back(spec.computeScale[*fold.ranks.begin(actor)]);
    }
    for (const StepProgram& program : spec.graph->programs)
    {
        AddProgram(program);
    }
}

void
StepExecutor::State::AddProgram(const StepProgram& program)
{
    for (const auto& ops : program.streams)
    {
        programOps.push_back({ops.data(),
                              program.dependencies.data(),
                              static_cast<uint32_t>(briefs.size()),
                              static_cast<uint32_t>(ops.size())});
        for (const StepOp& op : ops)
        {
            briefs.push_back(
                {op.duration, op.firstDependency, op.dependencyCount, op.kind, op.category});
            issues.push_back({op.launch, op.launchBound, op.epoch, op.synchronizes});
            traits.push_back(TraitsOf(*spec.graph, op));
            left.push_back(spec.pace.IsKnown() ? static_cast<float>(spec.pace.Left(*spec.graph, op))
                                               : 1);
            minLeft = std::min<double>(minLeft, left.back());
        }
    }
}

void
StepExecutor::State::AddObserver(StepObserver& watcher)
{
    observers.push_back(&watcher);
    for (uint32_t actor = 0; actor < actors.size(); actor++)
    {
        for (const uint32_t* rank = fold.ranks.begin(actor); rank != fold.ranks.end(actor); rank++)
        {
            if (watcher.Watches(Rank(*rank)))
            {
                watched[actor].push_back({Rank(*rank), &watcher});
            }
        }
        actors[actor].isWatched = !watched[actor].empty();
    }
}

bool
StepExecutor::State::IsBlocked(ActorState& state,
                               const StreamOps& ops,
                               const OpBrief& op,
                               std::size_t stream)
{
    for (uint32_t i = 0; i < op.dependencyCount; i++)
    {
        const StepDependency& need = ops.dependencies[op.firstDependency + i];
        const auto on = static_cast<std::size_t>(need.stream);
        if (state.streams[on].position <= need.position)
        {
            state.streams[stream].phase = StreamPhase::Blocked;
            state.streams[stream].waitsFor = static_cast<uint8_t>(on);
            state.waiters[on] |= static_cast<uint16_t>(1U << stream);
            return true;
        }
    }
    return false;
}

void
StepExecutor::State::Launch(uint32_t actor, std::size_t stream, Time now)
{
    ActorState& state = actors[actor];
    StreamState& head = state.streams[stream];
    const StreamOps& ops = OpsOf(actor, stream);
    if (head.position == ops.count)
    {
        head.phase = StreamPhase::Done;
        if (--state.open == 0)
        {
            ended.push_back(actor);
        }
        return;
    }
    const OpBrief& op = briefs[ops.firstBrief + head.position];
    if (IsBlocked(state, ops, op, stream))
    {
        return;
    }
    const auto key = static_cast<uint32_t>(actor * STREAM_COUNT + stream);
    if (state.isWatched)
    {
        posted[key] = now;
        started[key] = now;
    }
    head.category = op.category;
    const OpIssue& issue = issues[ops.firstBrief + head.position];
    if (issue.synchronizes)
    {
        state.epoch = issue.epoch;
        state.hostBase = now;
    }
    const Time issued = state.hostBase + issue.launch;
    const bool isAwaited = issue.epoch == state.epoch && issued > now;
    if (isAwaited && (op.kind != StepOpKind::Compute || stream != COMPUTE_STREAM))
    {
        head.phase = StreamPhase::Issuing;
        completions.Set(key, issued);
        return;
    }
    BeginIssued(actor, stream, now);
}

/**
 * Begins the head of @p stream, which the CPU has issued. An operation of the compute stream begins
 * before: Compute ends it no earlier than its launches allow.
 */
void
StepExecutor::State::BeginIssued(uint32_t actor, std::size_t stream, Time now)
{
    const StreamOps& ops = OpsOf(actor, stream);
    const std::size_t position = ops.firstBrief + actors[actor].streams[stream].position;
    const OpBrief& op = briefs[position];
    if (op.kind != StepOpKind::Compute)
    {
        Enter(actor, stream, now);
        return;
    }
    if (actors[actor].isWatched)
    {
        started[actor * STREAM_COUNT + stream] = now;
    }
    Compute(actor, stream, issues[position], op.duration, now);
}

void
StepExecutor::State::Compute(
    uint32_t actor, std::size_t stream, const OpIssue& issue, Time duration, Time now)
{
    ActorState& state = actors[actor];
    state.streams[stream].phase = StreamPhase::Running;
    Time own = OwnTime(actor, stream, duration);
    Time end = now + own;
    if (stream == COMPUTE_STREAM)
    {
        BookLosses(actor, now);
        state.computeStart = now;
        own = state.heldSms == 0 ? own : own * Slowdown(actor);
        const bool isAwaited = issue.epoch == state.epoch && issue.launchBound > duration;
        state.kernelEnd = now + own;
        state.launchEnd = isAwaited ? state.hostBase + issue.launch + issue.launchBound : now;
        state.isComputing = true;
        end = std::max(state.kernelEnd, state.launchEnd);
    }
    completions.Set(static_cast<uint32_t>(actor * STREAM_COUNT + stream), end);
}

/** The head of @p stream, a communication, has its SMs and arrives at its rendezvous. */
void
StepExecutor::State::Arrive(uint32_t actor, std::size_t stream, Time now)
{
    StreamState& head = actors[actor].streams[stream];
    const auto key = static_cast<uint32_t>(actor * STREAM_COUNT + stream);
    head.phase = StreamPhase::Posted;
    actors[actor].queued &= static_cast<uint16_t>(~(1U << stream));
    head.rendezvous = pending.Arrive(actor, key, HeadOf(actor, stream), now);
    if (pending.Get(head.rendezvous).IsComplete())
    {
        StartRendezvous(head.rendezvous, now);
    }
}

void
StepExecutor::State::StartRendezvous(uint32_t id, Time now)
{
    Rendezvous& rendezvous = pending.Get(id);
    rendezvous.started = now;
    rendezvous.number = collectives++;
    const CallLoad load = LoadOf(rendezvous);
    for (uint32_t i = 0; i < rendezvous.arrived; i++)
    {
        const uint32_t key = pending.ArrivedKey(id, i);
        const uint32_t actor = key / STREAM_COUNT;
        actors[actor].streams[key % STREAM_COUNT].phase = StreamPhase::Running;
        if (actors[actor].isWatched)
        {
            started[key] = now;
        }
        Hold(actor, load, true, now);
        WatchPace(actor, key % STREAM_COUNT, now);
        Rebook(actor, now);
    }
    const CommunicatorId communicator =
        spec.communicators[*fold.groups.begin(rendezvous.groupClass)];
    spec.engine->Start(CallOf(*rendezvous.op, communicator, spec.traffics), client, id, now);
}

void
StepExecutor::State::EndRendezvous(uint32_t id, Time now)
{
    if (DelayEnd(id, now))
    {
        return;
    }
    if (!observers.empty())
    {
        NotifyRendezvous(pending.Get(id), now);
    }
    leaving.clear();
    const CallLoad load = LoadOf(pending.Get(id));
    for (uint32_t i = 0; i < pending.Get(id).arrived; i++)
    {
        leaving.push_back(pending.ArrivedKey(id, i));
        Hold(leaving.back() / STREAM_COUNT, load, false, now);
    }
    // First of all, since a rank that continues may arrive at this group's next rendezvous at once.
    pending.End(id);
    for (uint32_t key : leaving)
    {
        Complete(key / STREAM_COUNT, key % STREAM_COUNT, now);
    }
    SettleSteps(now);
}

void
StepExecutor::State::Complete(uint32_t actor, std::size_t stream, Time now)
{
    ActorState& state = actors[actor];
    const StreamPhase phase = state.streams[stream].phase;
    if (phase == StreamPhase::Issuing || phase == StreamPhase::Queued)
    {
        phase == StreamPhase::Issuing ? BeginIssued(actor, stream, now)
                                      : Arrive(actor, stream, now);
        Rebook(actor, now);
        return;
    }
    if (stream == COMPUTE_STREAM)
    {
        BookLaunch(state, now);
    }
    if (state.isWatched)
    {
        NotifyOp(actor, stream, now);
    }
    opCount += fold.ranks.Count(actor);
    if (stream == COMPUTE_STREAM)
    {
        BookLosses(actor, now);
    }
    state.tight &= static_cast<uint16_t>(~(1U << stream));
    state.isComputing = state.isComputing && stream != COMPUTE_STREAM;
    state.streams[stream].position++;
    Launch(actor, stream, now);
    const uint32_t waiters = std::exchange(state.waiters[stream], 0);
    for (std::size_t other = 0; (waiters >> other) != 0; other++)
    {
        if ((waiters >> other & 1U) != 0)
        {
            Launch(actor, other, now);
        }
    }
    Rebook(actor, now);
}

/** Notifies the observers of an operation that has ended on an actor's watched ranks. */
void
StepExecutor::State::NotifyOp(uint32_t actor, std::size_t stream, Time now)
{
    const std::size_t key = actor * STREAM_COUNT + stream;
    for (const Watched& watch : watched[actor])
    {
        watch.observer->OnOpFinished(actors[actor].step,
                                     watch.rank,
                                     static_cast<StreamKind>(stream),
                                     HeadOf(actor, stream),
                                     posted[key],
                                     started[key],
                                     now);
    }
}

/** Notifies the observers of a communication that has ended in all groups of its group class. */
void
StepExecutor::State::NotifyRendezvous(const Rendezvous& rendezvous, Time now)
{
    const uint32_t* last = fold.groups.end(rendezvous.groupClass);
    const uint32_t step = actors[pending.FirstKey(rendezvous) / STREAM_COUNT].step;
    for (const uint32_t* group = fold.groups.begin(rendezvous.groupClass); group != last; group++)
    {
        for (StepObserver* observer : observers)
        {
            observer->OnCollectiveFinished(step,
                                           *group,
                                           *rendezvous.op,
                                           rendezvous.number,
                                           rendezvous.firstArrival,
                                           rendezvous.started,
                                           now);
        }
    }
}

/** Moves the time that a running operation waited for the CPU after its kernels to Launch. */
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

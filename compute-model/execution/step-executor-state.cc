// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/step-executor-state.h"

#include "compute-model/graph/step-graph-check.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace weir
{

namespace
{

constexpr auto COMPUTE = static_cast<std::size_t>(StreamKind::Compute);

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
      client(callback),
      ranks(spec.graph->RankCount()),
      bookings(spec.graph->RankCount()),
      posted(spec.graph->RankCount() * STREAM_COUNT),
      started(spec.graph->RankCount() * STREAM_COUNT),
      meetings(*spec.graph),
      completions(spec.graph->RankCount() * STREAM_COUNT),
      breakdown(spec.graph->RankCount())
{
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
        }
    }
}

bool
StepExecutor::State::IsBlocked(RankState& state,
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
            state.waiters[on] |= static_cast<uint8_t>(1U << stream);
            return true;
        }
    }
    return false;
}

void
StepExecutor::State::Launch(uint32_t rank, std::size_t stream, Time now)
{
    RankState& state = ranks[rank];
    StreamState& head = state.streams[stream];
    const StreamOps& ops = OpsOf(rank, stream);
    if (head.position == ops.count)
    {
        head.phase = StreamPhase::Done;
        if (--state.open == 0)
        {
            finishedRanks++;
        }
        return;
    }
    const OpBrief& op = briefs[ops.firstBrief + head.position];
    if (IsBlocked(state, ops, op, stream))
    {
        return;
    }
    const auto key = static_cast<uint32_t>(rank * STREAM_COUNT + stream);
    if (observer != nullptr)
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
    if (op.kind == StepOpKind::Compute)
    {
        Compute(rank, stream, issue, op.duration, now);
        return;
    }
    const Time issued = state.hostBase + issue.launch;
    if (issue.epoch == state.epoch && issued > now)
    {
        head.phase = StreamPhase::Issuing;
        completions.Push(issued, key);
        return;
    }
    Arrive(rank, stream, now);
}

void
StepExecutor::State::Compute(
    uint32_t rank, std::size_t stream, const OpIssue& issue, Time duration, Time now)
{
    RankState& state = ranks[rank];
    state.streams[stream].phase = StreamPhase::Running;
    Time own = spec.computeScale.empty() ? duration : duration * spec.computeScale[rank];
    Time end = now + own;
    if (stream == COMPUTE)
    {
        own = state.heldSms == 0 ? own : own * Slowdown(state.heldSms);
        const bool isAwaited = issue.epoch == state.epoch && issue.launchBound > duration;
        state.kernelEnd = now + own;
        state.launchEnd = isAwaited ? state.hostBase + issue.launch + issue.launchBound : now;
        state.isComputing = true;
        end = std::max(state.kernelEnd, state.launchEnd);
    }
    completions.Push(end, static_cast<uint32_t>(rank * STREAM_COUNT + stream));
}

/** The head of @p stream, a communication, has been issued and may begin. */
void
StepExecutor::State::Arrive(uint32_t rank, std::size_t stream, Time now)
{
    StreamState& head = ranks[rank].streams[stream];
    const auto key = static_cast<uint32_t>(rank * STREAM_COUNT + stream);
    head.phase = StreamPhase::Posted;
    head.meeting = meetings.Arrive(rank, key, HeadOf(rank, stream), now);
    if (meetings.Get(head.meeting).IsComplete())
    {
        StartMeeting(head.meeting, now);
    }
}

double
StepExecutor::State::Slowdown(uint32_t heldSms) const
{
    // However many communications there are, kernels keep some multiprocessors.
    const uint32_t held = std::min(heldSms, spec.sms / 2);
    return held == 0 ? 1.0 : static_cast<double>(spec.sms) / (spec.sms - held);
}

void
StepExecutor::State::HoldSms(uint32_t rank, int32_t more, Time now)
{
    RankState& state = ranks[rank];
    const uint32_t before = state.heldSms;
    state.heldSms = static_cast<uint16_t>(state.heldSms + more);
    if (state.isComputing)
    {
        const double factor = Slowdown(state.heldSms) / Slowdown(before);
        if (state.kernelEnd > now)
        {
            state.kernelEnd = now + (state.kernelEnd - now) * factor;
        }
        completions.Move(std::max(state.kernelEnd, std::max(state.launchEnd, now)),
                         static_cast<uint32_t>(rank * STREAM_COUNT + COMPUTE));
    }
}

void
StepExecutor::State::StartMeeting(uint32_t id, Time now)
{
    Meeting& meeting = meetings.Get(id);
    meeting.started = now;
    for (uint32_t i = 0; i < meeting.arrived; i++)
    {
        const uint32_t key = meetings.ArrivedKey(id, i);
        const uint32_t rank = key / STREAM_COUNT;
        ranks[rank].streams[key % STREAM_COUNT].phase = StreamPhase::Running;
        if (observer != nullptr)
        {
            started[key] = now;
        }
        if (spec.sms != 0 && meeting.op->sms != 0)
        {
            HoldSms(rank, meeting.op->sms, now);
        }
        Rebook(rank, now);
    }
    CollectiveCall call;
    call.communicator = spec.communicators[meeting.group];
    call.op =
        meeting.op->kind == StepOpKind::Collective ? meeting.op->collective : CollectiveOp::Send;
    call.bytes = meeting.op->bytes;
    spec.engine->Start(call, client, id, now);
}

void
StepExecutor::State::EndMeeting(uint32_t id, Time now)
{
    if (observer != nullptr)
    {
        const Meeting& meeting = meetings.Get(id);
        observer->OnCollectiveFinished(static_cast<uint32_t>(stepTimes.size()),
                                       meeting.group,
                                       *meeting.op,
                                       meeting.firstArrival,
                                       meeting.started,
                                       now);
    }
    leaving.clear();
    const int32_t held = spec.sms != 0 ? meetings.Get(id).op->sms : 0;
    for (uint32_t i = 0; i < meetings.Get(id).arrived; i++)
    {
        leaving.push_back(meetings.ArrivedKey(id, i));
        if (held != 0)
        {
            HoldSms(leaving.back() / STREAM_COUNT, -held, now);
        }
    }
    // Before anybody goes on: whoever is first may come to this group's next meeting at once.
    meetings.End(id);
    for (uint32_t key : leaving)
    {
        Complete(key / STREAM_COUNT, key % STREAM_COUNT, now);
    }
    SettleSteps(now);
}

void
StepExecutor::State::Complete(uint32_t rank, std::size_t stream, Time now)
{
    RankState& state = ranks[rank];
    if (state.streams[stream].phase == StreamPhase::Issuing)
    {
        Arrive(rank, stream, now);
        Rebook(rank, now);
        return;
    }
    if (stream == COMPUTE && now > state.kernelEnd)
    {
        bookings[rank].Move(now - state.kernelEnd, TimeCategory::Compute, TimeCategory::Launch);
    }
    if (observer != nullptr)
    {
        const std::size_t key = rank * STREAM_COUNT + stream;
        observer->OnOpFinished(static_cast<uint32_t>(stepTimes.size()),
                               Rank(rank),
                               static_cast<StreamKind>(stream),
                               HeadOf(rank, stream),
                               posted[key],
                               started[key],
                               now);
    }
    opCount++;
    state.isComputing = state.isComputing && stream != COMPUTE;
    state.streams[stream].position++;
    Launch(rank, stream, now);
    const uint32_t waiters = std::exchange(state.waiters[stream], 0);
    for (std::size_t other = 0; (waiters >> other) != 0; other++)
    {
        if ((waiters >> other & 1U) != 0)
        {
            Launch(rank, other, now);
        }
    }
    Rebook(rank, now);
}

void
StepExecutor::State::Rebook(uint32_t rank, Time now)
{
    bookings[rank].Switch(CategoryNow(ranks[rank]), now);
}

TimeCategory
StepExecutor::State::CategoryNow(const RankState& state) const
{
    std::size_t stream = COMPUTE;
    for (std::size_t hops = 0; hops < STREAM_COUNT; hops++)
    {
        const StreamState& head = state.streams[stream];
        switch (head.phase)
        {
        case StreamPhase::Running:
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

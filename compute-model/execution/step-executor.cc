// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/step-executor.h"

#include "compute-model/execution/step-executor-state.h"
#include "fabric/enum-names.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace weir
{

StepExecutor::StepExecutor(StepExecutorSpec spec)
    : m_state(std::make_unique<State>(std::move(spec), static_cast<CollectiveClient*>(this)))
{
}

StepExecutor::~StepExecutor() = default;

void
StepExecutor::AddObserver(StepObserver& observer)
{
    m_state->AddObserver(observer);
}

Time
StepExecutor::NextEventTime()
{
    if (!m_state->begun && m_state->spec.steps > 0)
    {
        return m_state->spec.start;
    }
    return m_state->completions.FirstTime();
}

void
StepExecutor::AdvanceTo(Time now)
{
    m_state->RunUntil(now);
}

bool
StepExecutor::IsFinished() const
{
    return m_state->HasAllSteps();
}

const std::vector<Time>&
StepExecutor::StepTimes() const
{
    return m_state->stepTimes;
}

const std::vector<RankBreakdown>&
StepExecutor::Breakdown() const
{
    return m_state->breakdown;
}

Time
StepExecutor::SteadyStep() const
{
    const std::vector<Time>& steps = m_state->stepTimes;
    if (steps.empty())
    {
        return Time::Infinite();
    }
    const std::size_t count = m_state->heldSteps.value_or(steps.size());
    if (!m_state->spec.CountsMean())
    {
        return steps[count - 1];
    }
    const std::size_t first = std::min<std::size_t>(m_state->spec.FirstCounted(), count - 1);
    const Time sum = std::accumulate(steps.begin() + static_cast<std::ptrdiff_t>(first),
                                     steps.begin() + static_cast<std::ptrdiff_t>(count),
                                     Time());
    return Time::Picoseconds(sum.ToPicoseconds() / static_cast<int64_t>(count - first));
}

SteadyKind
StepExecutor::GetSteadyKind() const
{
    const bool isHeld = m_state->heldSteps && *m_state->heldSteps < m_state->stepTimes.size();
    if (m_state->spec.CountsMean())
    {
        return isHeld ? SteadyKind::MeanHeld : SteadyKind::Mean;
    }
    return isHeld ? SteadyKind::LastHeld : SteadyKind::Last;
}

void
StepExecutor::HoldSteady()
{
    if (!m_state->heldSteps && !m_state->stepTimes.empty())
    {
        m_state->heldSteps = m_state->stepTimes.size();
    }
}

void
StepExecutor::ContinueUntilStopped()
{
    m_state->minSteps = m_state->spec.steps;
    m_state->spec.steps = std::numeric_limits<uint32_t>::max();
}

void
StepExecutor::StopAfterStep()
{
    const bool isRunning = m_state->begun && !m_state->HasAllSteps();
    const std::size_t steps = m_state->stepTimes.size() + (isRunning ? 1 : 0);
    m_state->spec.steps =
        std::min(m_state->spec.steps, std::max(m_state->minSteps, static_cast<uint32_t>(steps)));
}

std::optional<RunningCollective>
StepExecutor::FindCollective(const CollectiveClient* client, uint64_t token) const
{
    if (client != static_cast<const CollectiveClient*>(this))
    {
        return std::nullopt;
    }
    const Rendezvous& rendezvous = m_state->pending.Get(static_cast<uint32_t>(token));
    if (rendezvous.op == nullptr || rendezvous.ended)
    {
        return std::nullopt;
    }
    const uint32_t actor = m_state->pending.FirstKey(rendezvous) / STREAM_COUNT;
    return RunningCollective{m_state->actors[actor].step,
                             *m_state->fold.groups.begin(rendezvous.groupClass),
                             rendezvous.op,
                             rendezvous.number};
}

const char*
ToString(SteadyKind kind)
{
    static constexpr EnumName<SteadyKind> NAMES[]{
        {SteadyKind::Last, "last step"},
        {SteadyKind::Mean, "mean of steps"},
        {SteadyKind::LastHeld, "last step while all jobs ran"},
        {SteadyKind::MeanHeld, "mean of steps while all jobs ran"},
    };
    return NameIn(NAMES, kind);
}

std::string
StepExecutor::DescribeWaiting(std::size_t limit) const
{
    return m_state->DescribeWaiting(limit);
}

uint64_t
StepExecutor::OpCount() const
{
    return m_state->opCount;
}

void
StepExecutor::OnCollectiveDone(uint64_t token, Time now)
{
    m_state->EndRendezvous(static_cast<uint32_t>(token), now);
}

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
    while (completions.FirstTime() <= now)
    {
        const Time when = completions.FirstTime();
        const uint32_t key = completions.PopFirst();
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

namespace
{

constexpr std::size_t NAMED_RANKS = 4; //!< ranks of a group that are named before "and more"

/** "rank 1, 2, 3, 4 and 3 more of group 5". */
class RankList
{
  public:
    void Add(Rank rank)
    {
        if (m_count++ < NAMED_RANKS)
        {
            m_text += (m_count == 1 ? " " : ", ") + std::to_string(rank.Index());
        }
    }

    std::string OfGroup(uint32_t group) const
    {
        const std::string more =
            m_count > NAMED_RANKS ? " and " + std::to_string(m_count - NAMED_RANKS) + " more" : "";
        return m_text + more + " of group " + std::to_string(group);
    }

  private:
    std::string m_text{"rank"};
    std::size_t m_count{0};
};

} // namespace

std::string
StepExecutor::State::DescribeWaiting(std::size_t limit) const
{
    if (HasAllSteps())
    {
        return "";
    }
    std::string text;
    std::size_t named = 0;
    std::size_t more = 0;
    for (uint32_t rank = 0; rank < fold.actorOf.size(); rank++)
    {
        if (begun && actors[fold.actorOf[rank]].open == 0)
        {
            continue;
        }
        if (named == limit)
        {
            more++;
            continue;
        }
        text += (text.empty() ? "rank " : "; rank ") + std::to_string(rank) + " " +
                (begun ? DescribeRank(rank) : std::string("has not begun"));
        named++;
    }
    if (more > 0)
    {
        text += " and " + std::to_string(more) + " more ranks";
    }
    return text;
}

std::string
StepExecutor::State::DescribeRank(uint32_t rank) const
{
    const uint32_t actor = fold.actorOf[rank];
    const ActorState& state = actors[actor];
    // The first active stream; a stream that is only blocked says less.
    const auto isActive = [](const StreamState& s) {
        return s.phase == StreamPhase::Posted || s.phase == StreamPhase::Running;
    };
    const auto isOpen = [](const StreamState& s) { return s.phase != StreamPhase::Done; };
    auto at = std::find_if(state.streams.begin(), state.streams.end(), isActive);
    if (at == state.streams.end())
    {
        at = std::find_if(state.streams.begin(), state.streams.end(), isOpen);
    }
    const auto stream = static_cast<std::size_t>(at - state.streams.begin());
    const StepOp& op = HeadOf(actor, stream);
    std::string text = "waits in '" + spec.graph->labels[op.label] + "' (" +
                       ToString(static_cast<StreamKind>(stream)) + " operation " +
                       std::to_string(at->position) + ", micro-batch " +
                       std::to_string(op.microBatch) + ")";
    switch (at->phase)
    {
    case StreamPhase::Posted:
        return text + " for " +
               DescribeRendezvous(at->rendezvous, spec.graph->rankGroups[rank][op.group]);
    case StreamPhase::Running:
        return op.kind == StepOpKind::Compute
                   ? text + ", which is in progress"
                   : text + " with " +
                         DescribeOthers(spec.graph->rankGroups[rank][op.group], rank) +
                         ", which is in progress";
    default:
        return text + " for its own stream " + ToString(static_cast<StreamKind>(at->waitsFor));
    }
}

std::string
StepExecutor::State::DescribeRendezvous(uint32_t id, uint32_t group) const
{
    const Rendezvous& rendezvous = pending.Get(id);
    RankList missing;
    for (Rank member : spec.graph->groups[group])
    {
        bool here = false;
        for (uint32_t i = 0; i < rendezvous.arrived; i++)
        {
            here = here || pending.ArrivedKey(id, i) / STREAM_COUNT == fold.actorOf[member.Index()];
        }
        if (!here)
        {
            missing.Add(member);
        }
    }
    return missing.OfGroup(group);
}

std::string
StepExecutor::State::DescribeOthers(uint32_t group, uint32_t rank) const
{
    RankList others;
    for (Rank member : spec.graph->groups[group])
    {
        if (member.Index() != rank)
        {
            others.Add(member);
        }
    }
    return others.OfGroup(group);
}

} // namespace weir

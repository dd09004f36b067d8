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
    return m_state->completions.NextTime();
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

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/step-executor.h"

#include "compute-model/execution/step-executor-state.h"

#include <algorithm>
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
    if (!m_state->spec.CountsMean())
    {
        return steps.back();
    }
    const std::size_t first = std::min<std::size_t>(m_state->spec.FirstCounted(), steps.size() - 1);
    const Time sum =
        std::accumulate(steps.begin() + static_cast<std::ptrdiff_t>(first), steps.end(), Time());
    return Time::Picoseconds(sum.ToPicoseconds() / static_cast<int64_t>(steps.size() - first));
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
    m_state->EndMeeting(static_cast<uint32_t>(token), now);
}

} // namespace weir

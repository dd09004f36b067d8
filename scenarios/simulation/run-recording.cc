// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/simulation/run-recording.h"

#include "scenarios/bound/step-position.h"
#include "scenarios/results/recorder.h"
#include "scenarios/results/result-file.h"
#include "scenarios/results/timeline.h"

namespace weir
{

RunRecording::RunRecording(const Scenario& scenario)
    : m_scenario(scenario)
{
    if (!scenario.output.file.empty())
    {
        m_file = std::make_unique<ResultFile>(scenario);
    }
    if (scenario.output.timeline)
    {
        m_timeline = std::make_unique<Timeline>(TimelinePath(scenario), scenario);
    }
}

RunRecording::~RunRecording() = default;

void
RunRecording::Begin(Simulation& simulation)
{
    m_simulation = &simulation;
    if (!m_file && !m_timeline)
    {
        return;
    }
    m_recorder = std::make_unique<Recorder>();
    if (m_file)
    {
        m_file->Begin(simulation);
        m_recorder->AddSink(*m_file);
    }
    if (m_timeline)
    {
        m_timeline->Begin(simulation);
        m_recorder->AddSink(*m_timeline);
    }
    for (std::size_t job = 0; job < simulation.JobCount(); job++)
    {
        m_recorder->AddJob(simulation.GetJob(JobId(job)));
    }
    m_recorder->Watch(simulation.GetTransport(),
                      simulation.GetTopology().LinkCount(),
                      m_file ? m_scenario.output.linkSeries : std::nullopt);
}

RunResult
RunRecording::Finish(const StepBounds& bounds)
{
    RunResult result = CollectResult(*m_simulation);
    const bool isShortcut =
        m_scenario.fidelity == Fidelity::Analytical || m_scenario.fidelity == Fidelity::Stream;
    if (bounds.calibration != nullptr && isShortcut && !result.StepTime().IsInfinite())
    {
        result.bound = bounds.calibration->BoundOf(PositionOf(m_scenario, result), bounds.coverage);
    }
    result.measured = bounds.measured;
    if (m_recorder)
    {
        m_recorder->Finish(m_simulation->Now());
    }
    if (m_file)
    {
        m_file->Commit(result, m_simulation->Now());
    }
    if (m_timeline)
    {
        m_timeline->Commit();
    }
    return result;
}

} // namespace weir

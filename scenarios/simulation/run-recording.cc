// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/simulation/run-recording.h"

#include "scenarios/results/recorder.h"
#include "scenarios/results/result-file.h"
#include "scenarios/results/timeline.h"

#include <utility>
#include <vector>

namespace weir
{

RunRecording::RunRecording(RecordingSpec spec)
    : m_spec(std::move(spec))
{
    if (!m_spec.output.file.empty())
    {
        m_file = std::make_unique<ResultFile>(m_spec);
    }
    if (!m_spec.timelinePath.empty())
    {
        m_timeline = std::make_unique<Timeline>(m_spec.timelinePath, m_spec);
    }
}

RunRecording::RunRecording(const Scenario& scenario)
    : RunRecording(RecordingOf(scenario))
{
}

RunRecording::~RunRecording() = default;

std::optional<Time>
RunRecording::LinkSeriesWidth() const
{
    return m_file ? m_spec.output.linkSeries : std::nullopt;
}

void
RunRecording::Begin(Simulation& simulation)
{
    m_simulation = &simulation;
    if (!m_file && !m_timeline)
    {
        return;
    }
    m_recorder = std::make_unique<Recorder>();
    std::vector<std::vector<Rank>> ranks; // by job
    for (std::size_t job = 0; job < simulation.JobCount(); job++)
    {
        ranks.push_back(RecordedRanks(simulation.GetJob(JobId(job)), m_spec.output));
    }
    if (m_file)
    {
        m_file->Begin(simulation, ranks);
        m_recorder->AddSink(*m_file);
    }
    if (m_timeline)
    {
        m_timeline->Begin(simulation, ranks);
        m_recorder->AddSink(*m_timeline);
    }
    for (std::size_t job = 0; job < simulation.JobCount(); job++)
    {
        m_recorder->AddJob(simulation.GetJob(JobId(job)), ranks[job]);
    }
    for (const auto& collective : simulation.Collectives())
    {
        m_recorder->AddCollective(*collective);
    }
    m_recorder->Watch(
        simulation.GetTransport(),
        simulation.GetRouting(),
        [&simulation](const FlowRequest& request) { return simulation.OwnerOf(request); },
        LinkSeriesWidth(),
        m_spec.output.portSeries);
    simulation.OnLinksMeasured([this](Time end) { m_recorder->FinishLinks(end); });
}

RunResult
RunRecording::Finish(const std::function<void(RunResult&, Hdf5File*)>& complete)
{
    RunResult result = CollectResult(*m_simulation);
    if (complete)
    {
        complete(result, m_file ? &m_file->GetFile() : nullptr);
    }
    if (m_recorder)
    {
        m_recorder->Finish(m_simulation->Now());
    }
    const bool isKept = result.waiting.empty() || m_spec.output.keepsStuck;
    if (m_file && isKept)
    {
        m_file->Commit(result);
    }
    if (m_timeline && isKept)
    {
        m_timeline->Commit();
    }
    return result;
}

} // namespace weir

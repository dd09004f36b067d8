// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/simulation/run-recording.h"

#include "scenarios/results/link-series.h"
#include "scenarios/results/recorder.h"
#include "scenarios/results/result-file.h"
#include "scenarios/results/timeline.h"

#include <unordered_map>
#include <utility>
#include <vector>

namespace weir
{

namespace
{

/** Whether every call in @p fidelity puts traffic on links. */
bool
LoadsLinks(Fidelity fidelity)
{
    return fidelity != Fidelity::Analytical && fidelity != Fidelity::Auto;
}

/** An operation of a program and the number of operations in the program with the same plan. */
struct CountedOp
{
    const StepOp* op;
    double count;
};

/** The distinct communication operations of a step of @p rank. */
std::vector<CountedOp>
DistinctOps(Simulation& simulation, JobId job, Rank rank)
{
    const StepGraph& graph = simulation.GetJob(job).GetGraph();
    std::vector<CountedOp> ops;
    std::unordered_map<const CollectivePlan*, std::size_t> known;
    for (const auto& stream : graph.programs[graph.rankProgram[rank.Index()]].streams)
    {
        for (const StepOp& op : stream)
        {
            if (op.kind == StepOpKind::Compute)
            {
                continue;
            }
            const uint32_t group = graph.rankGroups[rank.Index()][op.group];
            const CollectivePlan& plan =
                simulation.GetPlanner().Plan(simulation.GetJob(job).CallOf(group, op));
            const auto [entry, isNew] = known.emplace(&plan, ops.size());
            if (isNew)
            {
                ops.push_back({&op, 0});
            }
            ops[entry->second].count++;
        }
    }
    return ops;
}

/** Lower bound on the number of bins of one step of @p job. */
double
MinStepBins(Simulation& simulation, JobId job, Time width)
{
    const StepGraph& graph = simulation.GetJob(job).GetGraph();
    std::vector<std::vector<CountedOp>> ops(graph.programs.size());
    double bins = 0;
    for (std::size_t rank = 0; rank < graph.RankCount() && bins <= LinkSeries::MAX_BINS; rank++)
    {
        auto& distinct = ops[graph.rankProgram[rank]];
        if (distinct.empty())
        {
            distinct = DistinctOps(simulation, job, Rank(rank));
        }
        for (const auto& [op, count] : distinct)
        {
            const uint32_t group = graph.rankGroups[rank][op->group];
            if (graph.groups[group].front() == Rank(rank)) // starts the group's call
            {
                const CollectiveCall call = simulation.GetJob(job).CallOf(group, *op);
                bins +=
                    count *
                    MinLinkBins(simulation.GetPlanner().Plan(call), simulation.GetRouting(), width);
            }
        }
    }
    return bins;
}

} // namespace

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
    simulation.OnLinksMeasured([this](Time end) { m_recorder->FinishSeries(end); });
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

double
MinLinkBins(const CollectivePlan& plan, const Routing& routing, Time width)
{
    double bins = 0;
    for (const StreamLeg& leg : plan.legs)
    {
        bins += LinkSeries::MinBins(routing, leg.route, leg.bytes, width);
    }
    return bins;
}

double
MinLinkBins(Simulation& simulation, Time width)
{
    double bins = 0;
    for (std::size_t job = 0; job < simulation.JobCount(); job++)
    {
        if (LoadsLinks(simulation.FidelityOf(JobId(job))))
        {
            const TrainingJobSpec& spec = simulation.GetJob(JobId(job)).GetSpec();
            const uint32_t steps = spec.steady.IsOn() ? 1 : spec.steps;
            bins += steps * MinStepBins(simulation, JobId(job), width);
        }
    }
    for (std::size_t i = 0; i < simulation.Collectives().size(); i++)
    {
        const CollectiveLoop& loop = *simulation.Collectives()[i];
        if (!LoadsLinks(simulation.CollectiveFidelity(i)) ||
            simulation.IsKeptBusy({WorkId::Kind::Collective, i}))
        {
            continue;
        }
        const double rounds = static_cast<double>(loop.CallCount()) / loop.Calls().size();
        for (const CollectiveCall& call : loop.Calls())
        {
            bins += rounds *
                    MinLinkBins(simulation.GetPlanner().Plan(call), simulation.GetRouting(), width);
        }
    }
    for (std::size_t i = 0; i < simulation.TrafficJobs().size(); i++)
    {
        if (!simulation.IsKeptBusy({WorkId::Kind::Traffic, i}))
        {
            bins += simulation.TrafficJobs()[i]->MinLinkBins(width);
        }
    }
    return bins;
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/running/wired-scenario.h"

#include "compute-model/execution/step-call.h"
#include "scenarios/yaml/input-error.h"

#include <algorithm>
#include <stdexcept>

namespace weir
{

namespace
{

bool
HasLinkFailures(const Scenario& scenario)
{
    return std::any_of(scenario.events.begin(), scenario.events.end(), [](const EventSpec& event) {
        return event.kind == EventKind::LinkDown;
    });
}

/** Whether every port of the nodes reaches every other over the network. */
bool
AreNicsJoined(const Cluster& cluster, Router& router)
{
    for (uint32_t node = 0; node < cluster.NodeCount() && cluster.NicsPerNode() > 0; node++)
    {
        for (uint32_t nic = 0; nic < cluster.NicsPerNode(); nic++)
        {
            if (!router.IsReachable(cluster.NicDevice(0, 0),
                                    cluster.NicDevice(node, nic),
                                    KindBit(LinkKind::Network)))
            {
                return false;
            }
        }
    }
    return cluster.NicsPerNode() > 0;
}

/** @throws InputError when an event acts on links that the fidelity does not simulate. */
void
CheckEvents(const Scenario& scenario)
{
    for (std::size_t i = 0; i < scenario.events.size(); i++)
    {
        if (scenario.fidelity == Fidelity::Analytical &&
            scenario.events[i].kind != EventKind::SlowGpu)
        {
            const std::string& where = scenario.events[i].where;
            throw InputError(
                (where.empty() ? scenario.path + ": events." + std::to_string(i) : where) +
                ": found an event on links with fidelity analytical, which knows no "
                "load; expected fidelity stream or flow");
        }
    }
}

/** @throws InputError when the jobs need more GPUs than the system has. */
void
CheckGpuCount(const Scenario& scenario, const Cluster& cluster)
{
    uint64_t needed = 0;
    for (const auto& job : scenario.jobs)
    {
        needed += job.plan.Ranks();
        if (needed > cluster.GpuCount())
        {
            throw InputError(scenario.path + ": jobs: job '" + job.name + "' brings the need to " +
                             std::to_string(needed) + " GPUs, the system has " +
                             std::to_string(cluster.GpuCount()) + " (" +
                             std::to_string(cluster.NodeCount()) + " nodes of " +
                             std::to_string(cluster.GpusPerNode()) + ")");
        }
    }
}

/** Calls @p make; what it finds wrong with the scenario's values becomes an InputError. */
template <typename Make>
auto
Wire(const std::string& place, Make make)
{
    try
    {
        return make();
    }
    catch (const std::invalid_argument& error)
    {
        throw InputError(place + ": " + error.what());
    }
    catch (const InputError&)
    {
        throw;
    }
    catch (const std::runtime_error& error) // GPUs of one job that no link joins
    {
        throw InputError(place + ": " + error.what());
    }
}

} // namespace

WiredScenario::WiredScenario(const Scenario& scenario)
    : m_fabric(Wire(scenario.path + ": system", [&] { return Fabric(scenario.cluster); })),
      m_planner(m_fabric.GetCluster(), m_fabric.GetRouting(), scenario.ncclVersion),
      m_engine(MakeCollectiveEngine(scenario.fidelity, m_planner, m_fabric.GetTransport()))
{
    CheckEvents(scenario);
    CheckGpuCount(scenario, GetCluster());
    std::size_t firstGpu = 0;
    for (const auto& job : scenario.jobs)
    {
        AddJob(scenario, job, firstGpu);
        firstGpu += job.plan.Ranks();
    }
    m_events = Wire(scenario.path, [&] {
        return std::make_unique<FabricEvents>(
            scenario.events, m_fabric.GetTransport(), m_planner, [this] { return IsFinished(); });
    });
    m_communicators.resize(m_jobs.size());
    const bool isWhole = GetCluster().NodeCount() == 1 ||
                         AreNicsJoined(GetCluster(), m_fabric.GetRouting().GetRouter());
    for (std::size_t job = 0; job < m_jobs.size() && (HasLinkFailures(scenario) || !isWhole); job++)
    {
        Wire(scenario.path + ": jobs." + std::to_string(job) + " (" + scenario.jobs[job].name + ")",
             [&] { PlanAllCalls(JobId(job), scenario.fidelity); });
    }
    for (const auto& job : m_jobs)
    {
        m_engines.Add(job->GetExecutor());
    }
    m_engines.Add(*m_engine);
    m_engines.Add(m_fabric.GetTransport());
    m_engines.Add(*m_events);
    m_engines.Add(m_clock);
}

WiredScenario::~WiredScenario() = default;

void
WiredScenario::AddJob(const Scenario& scenario, const JobSpec& spec, std::size_t firstGpu)
{
    TrainingJobSpec job;
    job.name = spec.name;
    job.network = spec.network;
    job.plan = spec.plan;
    job.overlap = spec.overlap;
    job.jitter = spec.jitter;
    job.steady = spec.steady;
    job.steps = spec.steps;
    for (std::size_t rank = 0; rank < spec.plan.Ranks(); rank++)
    {
        job.gpus.emplace_back(firstGpu + rank);
    }
    const auto scales =
        Wire(scenario.path, [&] { return ComputeScales(scenario.events, GetCluster()); });
    if (!scales.empty())
    {
        const auto first = scales.begin() + firstGpu;
        job.computeScale.assign(first, first + spec.plan.Ranks());
    }
    m_jobs.push_back(Wire(spec.where.empty() ? scenario.path : spec.where, [&] {
        return std::make_unique<TrainingJob>(job, scenario.gpu, m_planner, *m_engine);
    }));
}

void
WiredScenario::PlanAllCalls(JobId job, Fidelity fidelity)
{
    const StepGraph& graph = m_jobs[job.Index()]->GetGraph();
    for (std::size_t rank = 0; rank < graph.RankCount(); rank++)
    {
        for (const auto& stream : graph.programs[graph.rankProgram[rank]].streams)
        {
            for (const StepOp& op : stream)
            {
                PlanCall(job, Rank(rank), op, fidelity);
            }
        }
    }
}

void
WiredScenario::PlanCall(JobId job, Rank rank, const StepOp& op, Fidelity fidelity)
{
    if (op.kind == StepOpKind::Compute)
    {
        return;
    }
    const StepGraph& graph = m_jobs[job.Index()]->GetGraph();
    const uint32_t group = graph.rankGroups[rank.Index()][op.group];
    if (graph.groups[group].front() != rank)
    {
        return; // its first rank asks for the whole group
    }
    const CollectiveCall call = CallOf(job, group, op);
    m_planner.Plan(call);
    if (fidelity == Fidelity::Flow)
    {
        m_planner.GetSchedule(call);
    }
}

CollectiveCall
WiredScenario::CallOf(JobId job, uint32_t group, const StepOp& op)
{
    return weir::CallOf(op, GetCommunicator(job, group), m_jobs[job.Index()]->GetTraffics());
}

CommunicatorId
WiredScenario::GetCommunicator(JobId job, uint32_t group)
{
    auto& known = m_communicators[job.Index()];
    const auto& spec = m_jobs[job.Index()]->GetSpec();
    const auto& groups = m_jobs[job.Index()]->GetGraph().groups;
    known.resize(groups.size());
    if (!known[group].IsValid())
    {
        std::vector<GpuId> gpus;
        for (const Rank rank : groups[group])
        {
            gpus.push_back(spec.gpus[rank.Index()]);
        }
        known[group] = m_planner.AddCommunicator(gpus);
    }
    return known[group];
}

bool
WiredScenario::IsFinished() const
{
    return std::all_of(m_jobs.begin(), m_jobs.end(), [](const auto& job) {
        return job->GetExecutor().IsFinished();
    });
}

std::vector<LinkId>
WiredScenario::LinksDown() const
{
    std::vector<LinkId> links;
    for (std::size_t i = 0; i < GetTopology().LinkCount(); i++)
    {
        if (!m_fabric.GetTransport().IsLinkUp(LinkId(i)))
        {
            links.emplace_back(i);
        }
    }
    return links;
}

std::string
WiredScenario::DescribeWaiting() const
{
    std::string text;
    for (const auto& job : m_jobs)
    {
        if (!job->GetExecutor().IsFinished())
        {
            text += (text.empty() ? "" : "\n") + job->GetSpec().name + ": " +
                    job->GetExecutor().DescribeWaiting();
        }
    }
    constexpr std::size_t NAMED = 8;
    const auto down = LinksDown();
    for (std::size_t i = 0; i < std::min(NAMED, down.size()) && !text.empty(); i++)
    {
        text += (i == 0 ? "\nlinks down: " : ", ") + GetTopology().LinkName(down[i]);
    }
    if (down.size() > NAMED && !text.empty())
    {
        text += " and " + std::to_string(down.size() - NAMED) + " more";
    }
    return text;
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/simulation/simulation.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace weir
{

namespace
{

constexpr std::size_t MAX_NAMED = 8;       //!< links that a message names
constexpr std::size_t MAX_NAMED_RANKS = 2; //!< waiting ranks that a message names

/** "a, b and 3 more". */
std::string
Listed(const std::vector<std::string>& names)
{
    std::string text;
    for (std::size_t i = 0; i < std::min(MAX_NAMED, names.size()); i++)
    {
        text += (i == 0 ? "" : ", ") + names[i];
    }
    return names.size() > MAX_NAMED
               ? text + " and " + std::to_string(names.size() - MAX_NAMED) + " more"
               : text;
}

} // namespace

Simulation::Simulation(const ClusterSpec& cluster, NcclSettings nccl, TransportSpec transport)
    : Simulation(std::make_unique<Fabric>(cluster, std::move(transport)), std::move(nccl))
{
}

Simulation::Simulation(Topology topology, FabricSpec fabric, TransportSpec transport)
    : Simulation(
          std::make_unique<Fabric>(std::move(topology), std::move(fabric), std::move(transport)),
          NcclSettings())
{
}

Simulation::Simulation(std::unique_ptr<Fabric> fabric, NcclSettings nccl)
    : m_ownFabric(std::move(fabric)),
      m_ownEngines(std::make_unique<EngineSet>()),
      m_fabric(*m_ownFabric),
      m_engines(*m_ownEngines),
      m_nccl(std::move(nccl)),
      m_planner(m_fabric.GetCluster(), m_fabric.GetRouting(), m_nccl)
{
    m_engines.Add(m_fabric.GetTransport());
    m_engines.Add(m_clock);
}

Simulation::Simulation(Fabric& fabric, EngineSet& engines, NcclSettings nccl)
    : m_fabric(fabric),
      m_engines(engines),
      m_nccl(std::move(nccl)),
      m_planner(m_fabric.GetCluster(), m_fabric.GetRouting(), m_nccl)
{
    m_engines.Add(m_clock);
}

CollectiveEngine&
Simulation::GetEngine(Fidelity fidelity)
{
    auto& engine = m_byFidelity.at(static_cast<std::size_t>(fidelity));
    if (!engine && fidelity == Fidelity::Auto)
    {
        MakeAutoEngine();
    }
    else if (!engine)
    {
        engine = MakeCollectiveEngine(fidelity, m_planner, m_fabric.GetTransport());
        m_engines.AddBefore(*engine, m_fabric.GetTransport());
    }
    return *engine;
}

/** Creates the Auto engine and, after it in every instant, the engines that it passes calls to. */
void
Simulation::MakeAutoEngine()
{
    if (!m_judge)
    {
        throw std::invalid_argument(
            "Simulation: found fidelity auto, expected bounds to choose by");
    }
    auto engine = std::make_unique<AutoEngine>(
        m_planner, *m_judge, [this](Fidelity fidelity) -> CollectiveEngine& {
            return *m_byFidelity[static_cast<std::size_t>(fidelity)];
        });
    m_auto = engine.get();
    m_engines.AddBefore(*engine, m_fabric.GetTransport());
    m_byFidelity[static_cast<std::size_t>(Fidelity::Auto)] = std::move(engine);
    for (const Fidelity fidelity : {Fidelity::Analytical, Fidelity::Stream, Fidelity::Flow})
    {
        GetEngine(fidelity);
    }
}

FlowEngine&
Simulation::GetFlowEngine(Fidelity fidelity)
{
    return dynamic_cast<FlowEngine&>(GetEngine(fidelity));
}

JobId
Simulation::AddJob(const TrainingJobSpec& spec, const Gpu& gpu, Fidelity fidelity)
{
    CollectiveEngine& engine = GetEngine(fidelity);
    Job job;
    job.gpu = std::make_unique<Gpu>(gpu);
    job.run = std::make_unique<TrainingRun>(spec, *job.gpu, m_planner, engine);
    job.fidelity = fidelity;
    const StepGraph& graph = job.run->GetGraph();
    for (const uint32_t program : graph.rankProgram)
    {
        for (const auto& stream : graph.programs[program].streams)
        {
            job.stepOps += static_cast<double>(stream.size());
        }
    }
    m_engines.AddBefore(job.run->GetExecutor(), engine);
    job.run->GetExecutor().AddObserver(*this);
    m_jobs.push_back(std::move(job));
    return JobId(m_jobs.size() - 1);
}

CollectiveLoop&
Simulation::AddCollective(const std::vector<GpuId>& gpus,
                          CallSequence sequence,
                          Fidelity fidelity,
                          CollectiveLoop::CallEnded ended)
{
    CollectiveEngine& engine = GetEngine(fidelity);
    // All calls use one stream and run back to back. A GPU belongs to one job only.
    const uint32_t stream = StreamOfGpu(gpus.front(), 0);
    for (CollectiveCall& call : sequence.calls)
    {
        call.communicator = m_planner.AddCommunicator(gpus);
        m_planner.Plan(call);
        if (engine.WantsClasses())
        {
            engine.ExpectConcurrent({{call}, {stream}});
        }
    }
    m_collectives.push_back(std::make_unique<CollectiveLoop>(
        engine,
        std::move(sequence),
        [this, ended = std::move(ended)](uint32_t index, Time started, Time now) {
            if (ended)
            {
                ended(index, started, now);
            }
            OnPartEnded(now);
        }));
    m_collectiveFidelities.push_back(fidelity);
    m_engines.AddBefore(*m_collectives.back(), engine);
    return *m_collectives.back();
}

TrafficJob&
Simulation::AddTrafficJob(const std::string& name,
                          const TrafficSpec& traffic,
                          const std::vector<GpuId>& gpus,
                          FlowForm form)
{
    m_trafficJobs.push_back(std::make_unique<TrafficJob>(
        name, traffic, gpus, form, m_fabric, [this](Time now) { OnPartEnded(now); }));
    m_engines.AddBefore(*m_trafficJobs.back(), m_clock);
    return *m_trafficJobs.back();
}

void
Simulation::AddTraffic(std::unique_ptr<PassiveEngine> engine, const std::string& name)
{
    m_traffics.push_back(std::move(engine));
    m_trafficName = name;
    m_trafficLabels.front() = name;
    m_engines.AddBefore(*m_traffics.back(), m_clock);
}

void
Simulation::BeginTraffic(const std::string& name, const std::string& label)
{
    m_trafficName = name;
    m_trafficLabels.push_back(label);
}

void
Simulation::AddEvents(const std::vector<EventSpec>& events, std::function<bool()> isOver)
{
    if (!isOver)
    {
        isOver = [this] { return IsFinished(); };
    }
    m_events.push_back(std::make_unique<FabricEvents>(
        events,
        m_fabric.GetTransport(),
        m_planner,
        std::move(isOver),
        [this](const FabricEvents& own) { return m_engines.IsIdleBeside(own); }));
    m_engines.AddBefore(*m_events.back(), m_clock);
}

void
Simulation::PlanAllCalls(JobId job)
{
    const StepGraph& graph = GetJob(job).GetGraph();
    for (std::size_t rank = 0; rank < graph.RankCount(); rank++)
    {
        for (const auto& stream : graph.programs[graph.rankProgram[rank]].streams)
        {
            for (const StepOp& op : stream)
            {
                PlanCall(job, Rank(rank), op);
            }
        }
    }
}

void
Simulation::PlanCall(JobId job, Rank rank, const StepOp& op)
{
    if (op.kind == StepOpKind::Compute)
    {
        return;
    }
    const StepGraph& graph = GetJob(job).GetGraph();
    const uint32_t group = graph.rankGroups[rank.Index()][op.group];
    if (graph.groups[group].front() != rank)
    {
        return; // the group's first rank starts the call
    }
    const CollectiveCall call = GetJob(job).CallOf(group, op);
    m_planner.Plan(call);
    const Fidelity fidelity = FidelityOf(job);
    if (MovesChunks(fidelity) || fidelity == Fidelity::Auto)
    {
        m_planner.GetSchedule(call);
    }
}

FlowOwner
Simulation::OwnerOf(const FlowRequest& request) const
{
    for (const auto& engine : m_byFidelity)
    {
        const auto origin = engine ? engine->OriginOf(request) : std::nullopt;
        for (std::size_t i = 0; origin && i < m_collectives.size(); i++)
        {
            if (m_collectives[i]->Is(origin->client))
            {
                const uint64_t call = origin->token % m_collectives[i]->Calls().size();
                return {WorkId{WorkId::Kind::Collective, i},
                        origin->token,
                        static_cast<uint32_t>(call)};
            }
        }
        for (std::size_t job = 0; origin && job < m_jobs.size(); job++)
        {
            const auto running =
                m_jobs[job].run->GetExecutor().FindCollective(origin->client, origin->token);
            if (running)
            {
                return {WorkId{WorkId::Kind::Training, job}, running->number, running->op->label};
            }
        }
    }
    for (std::size_t i = 0; i < m_trafficJobs.size(); i++)
    {
        if (request.client == m_trafficJobs[i].get())
        {
            return {WorkId{WorkId::Kind::Traffic, i}, request.token, 0};
        }
    }
    return {std::nullopt, 0, static_cast<uint32_t>(m_trafficLabels.size() - 1)};
}

void
Simulation::MeasureLinks(Time now)
{
    m_measured.end = now;
    m_measured.usage.clear();
    m_measured.ports.clear();
    GetTransport().MoveTo(now);
    for (std::size_t link = 0; link < GetTopology().LinkCount(); link++)
    {
        m_measured.usage.push_back(GetTransport().GetLinkUsage(LinkId(link)));
        if (const PortCounters* port = GetTransport().GetPortCounters(LinkId(link)))
        {
            m_measured.ports.push_back(*port);
        }
    }
    if (m_onLinksMeasured)
    {
        m_onLinksMeasured(now);
    }
}

const MeasuredLinks&
Simulation::GetMeasuredLinks()
{
    if (m_measured.usage.empty() || !IsFinished())
    {
        MeasureLinks(Now());
    }
    return m_measured;
}

void
Simulation::KeepBusyUntil(WorkId work, WorkId other)
{
    if (m_until.empty())
    {
        m_engines.Add(m_stallWatch);
    }
    m_until.emplace_back(work, other);
    if (work.kind == WorkId::Kind::Training)
    {
        m_jobs[work.index].run->GetExecutor().ContinueUntilStopped();
    }
}

bool
Simulation::IsKeptBusy(WorkId work) const
{
    return std::any_of(
        m_until.begin(), m_until.end(), [work](const auto& until) { return until.first == work; });
}

bool
Simulation::HasEnded(WorkId work) const
{
    switch (work.kind)
    {
    case WorkId::Kind::Training:
        return m_jobs[work.index].run->GetExecutor().IsFinished();
    case WorkId::Kind::Collective:
        return m_collectives[work.index]->IsFinished();
    case WorkId::Kind::Traffic:
        return m_trafficJobs[work.index]->IsFinished();
    }
    throw std::logic_error("Simulation: no such kind of work");
}

/** Whether a flow of the work waits for a link that no event restores. O(active flows). */
bool
Simulation::WaitsForever(WorkId work)
{
    if (m_events.empty() || !std::all_of(m_events.begin(), m_events.end(), [](const auto& events) {
            return events->RestoresNothing();
        }))
    {
        return false;
    }
    const std::vector<StalledFlow> stalled = GetTransport().StalledFlows();
    return std::any_of(stalled.begin(), stalled.end(), [&](const StalledFlow& flow) {
        return OwnerOf(flow.request).work == work;
    });
}

void
Simulation::StopWhatWaitsForever()
{
    for (const auto& [work, other] : m_until)
    {
        if (!HasEnded(work) && WaitsForever(other))
        {
            Stop(work);
        }
    }
}

void
Simulation::Stop(WorkId work)
{
    switch (work.kind)
    {
    case WorkId::Kind::Training:
        m_jobs[work.index].run->GetExecutor().StopAfterStep();
        return;
    case WorkId::Kind::Collective:
        m_collectives[work.index]->Stop();
        return;
    case WorkId::Kind::Traffic:
        m_trafficJobs[work.index]->Stop();
        return;
    }
    throw std::logic_error("Simulation: no such kind of work");
}

void
Simulation::OnPartEnded(Time now)
{
    const auto isFinished = [](const Job& job) { return job.run->GetExecutor().IsFinished(); };
    if (!m_until.empty())
    {
        m_stallWatch.OnPartEnded(now);
    }
    for (const auto& [work, other] : m_until)
    {
        if (!HasEnded(work) && HasEnded(other))
        {
            Stop(work);
        }
    }
    const bool hasEndedCollective =
        std::any_of(m_collectives.begin(), m_collectives.end(), [](const auto& collective) {
            return collective->IsFinished();
        });
    if (hasEndedCollective || std::any_of(m_jobs.begin(), m_jobs.end(), isFinished))
    {
        for (const Job& job : m_jobs)
        {
            if (!isFinished(job))
            {
                job.run->GetExecutor().HoldSteady();
            }
        }
    }
    if (IsFinished() && m_measured.usage.empty())
    {
        MeasureLinks(now);
    }
}

double
Simulation::DoneFraction() const
{
    double min = 1;
    for (const Job& job : m_jobs)
    {
        const StepExecutor& executor = job.run->GetExecutor();
        const double steps = job.run->GetSpec().steps;
        const double done =
            std::max(static_cast<double>(executor.StepTimes().size()) / steps,
                     static_cast<double>(executor.OpCount()) / (job.stepOps * steps));
        min = std::min(min, done);
    }
    for (std::size_t i = 0; i < m_collectives.size(); i++)
    {
        min = IsKeptBusy({WorkId::Kind::Collective, i})
                  ? min
                  : std::min(min, m_collectives[i]->DoneFraction());
    }
    for (const auto& traffic : m_trafficJobs)
    {
        const Time end = traffic->GetSpec().start + traffic->GetSpec().duration;
        min = end.IsInfinite() ? min : std::min(min, m_engines.Now() / end);
    }
    return min;
}

bool
Simulation::IsFinished() const
{
    return std::all_of(m_jobs.begin(),
                       m_jobs.end(),
                       [](const Job& job) { return job.run->GetExecutor().IsFinished(); }) &&
           std::all_of(m_collectives.begin(),
                       m_collectives.end(),
                       [](const auto& collective) { return collective->IsFinished(); }) &&
           std::all_of(m_trafficJobs.begin(), m_trafficJobs.end(), [](const auto& traffic) {
               return traffic->IsFinished();
           });
}

std::string
Simulation::DescribeWaiting()
{
    std::string text;
    const auto add = [&text](const std::string& part) {
        text += (text.empty() ? "" : "; ") + part;
    };
    for (const Job& job : m_jobs)
    {
        if (!job.run->GetExecutor().IsFinished())
        {
            add(job.run->GetSpec().name + ": " +
                job.run->GetExecutor().DescribeWaiting(MAX_NAMED_RANKS));
        }
    }
    for (const auto& collective : m_collectives)
    {
        if (!collective->IsFinished())
        {
            const CollectiveCall& call = collective->GetCall(collective->Durations().size());
            add(collective->GetName() + ": " + ToString(call.op) + " of " +
                std::to_string(m_planner.GetGroup(call.communicator).Size()) + " GPUs: call " +
                std::to_string(collective->Durations().size()) + " has not ended");
        }
    }
    for (const auto& traffic : m_trafficJobs)
    {
        if (!traffic->IsFinished())
        {
            const std::size_t left = traffic->Started() - traffic->CompletionTimes().size();
            add(traffic->GetName() + ": " + std::to_string(left) + " flows have not ended");
        }
    }
    const std::string network = text.empty() ? "" : DescribeStuckLinks();
    if (!network.empty())
    {
        add(network);
    }
    return text;
}

std::string
Simulation::DescribeStuckLinks()
{
    std::string text;
    const auto add = [&text](const std::string& part) {
        text += (text.empty() ? "" : "; ") + part;
    };
    std::vector<std::string> down;
    for (std::size_t i = 0; i < GetTopology().LinkCount(); i++)
    {
        if (!m_fabric.GetTransport().IsLinkUp(LinkId(i)))
        {
            down.push_back(GetTopology().LinkName(LinkId(i)));
        }
    }
    if (!down.empty())
    {
        add("links down: " + Listed(down));
    }
    std::vector<std::string> idle; // links that are up with a rate of zero
    for (const StalledFlow& flow : m_fabric.GetTransport().StalledFlows())
    {
        if (!flow.link.IsValid() || !m_fabric.GetTransport().IsLinkUp(flow.link))
        {
            continue;
        }
        const std::string name = GetTopology().LinkName(flow.link);
        if (std::find(idle.begin(), idle.end(), name) == idle.end())
        {
            idle.push_back(name);
        }
    }
    if (!idle.empty())
    {
        add("links degraded to a rate of zero: " + Listed(idle));
    }
    const std::string waiting = m_fabric.GetTransport().DescribeWaiting();
    if (!waiting.empty())
    {
        add(waiting);
    }
    return text;
}

} // namespace weir

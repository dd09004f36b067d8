// SPDX-License-Identifier: GPL-2.0-only
#include "run-recorder.h"

#include "ns3/abort.h"
#include "ns3/application.h"
#include "ns3/gpu-server.h"
#include "ns3/log.h"
#include "ns3/node-list.h"
#include "ns3/node.h"
#include "ns3/nstime.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/string.h"
#include "ns3/weir-units.h"

#include <algorithm>
#include <exception>
#include <map>
#include <set>
#include <sstream>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RunRecorder");

NS_OBJECT_ENSURE_REGISTERED(RunRecorder);

namespace
{

/** Whether @p gpus are those of a packed placement after @p first other GPUs. */
bool
IsPacked(const std::vector<weir::GpuId>& gpus, std::size_t first)
{
    for (std::size_t rank = 0; rank < gpus.size(); rank++)
    {
        if (gpus[rank].Index() != first + rank)
        {
            return false;
        }
    }
    return true;
}

/** The placement of a job on these GPUs. */
weir::PlacementSpec
PlacementOn(const std::vector<weir::GpuId>& gpus)
{
    weir::PlacementSpec placement;
    placement.kind = weir::Placement::Gpus;
    for (const weir::GpuId gpu : gpus)
    {
        placement.list.push_back(gpu.Index());
    }
    return placement;
}

/** The names of jobs. */
template <typename Job>
std::set<std::string>
NamesOf(const std::vector<Job>& jobs)
{
    std::set<std::string> names;
    for (const Job& job : jobs)
    {
        names.insert(job.name);
    }
    return names;
}

/**
 * Numbers jobs of the same name, because the jobs of a scenario have different names.
 * @param jobs the jobs, which get names that differ from each other and from @p others
 * @param others names of other jobs
 */
template <typename Job>
void
NumberNames(std::vector<Job>& jobs, const std::set<std::string>& others)
{
    std::map<std::string, std::size_t> counts;
    for (const Job& job : jobs)
    {
        counts[job.name]++;
    }
    std::set<std::string> taken = others;
    for (const auto& [name, count] : counts)
    {
        taken.insert(name);
    }
    std::map<std::string, std::size_t> numbers;
    for (Job& job : jobs)
    {
        const std::string name = job.name;
        if (counts[name] == 1 && others.count(name) == 0)
        {
            continue;
        }
        do
        {
            job.name = name + "-" + std::to_string(++numbers[name]);
        } while (!taken.insert(job.name).second);
    }
}

} // namespace

TypeId
RunRecorder::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::RunRecorder")
            .SetParent<Object>()
            .SetGroupName("Weir")
            .AddConstructor<RunRecorder>()
            .AddAttribute("Title",
                          "Title of the run in the result files.",
                          StringValue("ns-3 program"),
                          MakeStringAccessor(&RunRecorder::m_title),
                          MakeStringChecker())
            .AddAttribute("File",
                          "HDF5 result file; empty: none.",
                          StringValue(""),
                          MakeStringAccessor(&RunRecorder::m_file),
                          MakeStringChecker())
            .AddAttribute("TimelineFile",
                          "Timeline file in Chrome's trace format; empty: none.",
                          StringValue(""),
                          MakeStringAccessor(&RunRecorder::m_timelineFile),
                          MakeStringChecker())
            .AddAttribute("LinkSeries",
                          "Bin width of the link traffic time series; 0: no series.",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&RunRecorder::m_linkSeries),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("PortSeries",
                          "Bin width of the queue length and pause time series of the busiest "
                          "ports, in a fabric that moves packets; 0: no series.",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&RunRecorder::m_portSeries),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("Ranks",
                          "Ranks of each training job to record in addition to the default ones: "
                          "\"all\", or ranks separated by spaces, such as \"0 5 17\".",
                          StringValue(""),
                          MakeStringAccessor(&RunRecorder::m_ranks),
                          MakeStringChecker());
    return tid;
}

RunRecorder::RunRecorder()
{
    NS_LOG_FUNCTION(this);
}

RunRecorder::~RunRecorder()
{
    NS_LOG_FUNCTION(this);
}

void
RunRecorder::DoDispose()
{
    NS_LOG_FUNCTION(this);
    Write();
    m_driver = nullptr;
    Object::DoDispose();
}

void
RunRecorder::Install(Ptr<FluidFabric> fabric)
{
    NS_LOG_FUNCTION(this << fabric);
    NS_ABORT_MSG_IF(m_recording, "RunRecorder: installed twice");
    NS_ABORT_MSG_IF(m_file.empty() && m_timelineFile.empty(),
                    "RunRecorder: found neither File nor TimelineFile, expected one of them");
    m_runtime = CollectiveRuntime::Of(fabric);
    m_driver = fabric->GetDriver();
    Describe(fabric);
    m_driver->Hold(this);
    m_driver->AtEnd(MakeCallback(&RunRecorder::Write, this));
    m_driver->Synchronize();
    try
    {
        m_scenario.output.keepsStuck = true;
        m_recording = std::make_unique<weir::RunRecording>(m_scenario);
        m_recording->Begin(m_runtime->GetSimulation());
    }
    catch (const std::exception& error)
    {
        NS_ABORT_MSG("RunRecorder: " << error.what());
    }
    m_runtime->SetRecorded(true);
}

void
RunRecorder::Describe(Ptr<FluidFabric> fabric)
{
    m_scenario.title = m_title;
    m_scenario.cluster = fabric->GetFabric().GetCluster().GetSpec();
    if (m_scenario.cluster.fabric.link.rawRate == weir::Rate())
    {
        m_scenario.cluster.fabric.link = m_scenario.cluster.node.nic; // the default
    }
    m_scenario.nccl = m_runtime->GetSimulation().GetNcclSettings();
    m_scenario.output.file = m_file;
    m_scenario.output.timeline = !m_timelineFile.empty();
    m_scenario.output.timelineFile = m_timelineFile;
    if (m_linkSeries.IsStrictlyPositive())
    {
        m_scenario.output.linkSeries = ToWeir(m_linkSeries);
    }
    if (m_portSeries.IsStrictlyPositive())
    {
        m_scenario.output.portSeries = ToWeir(m_portSeries);
    }
    DescribeJobs();
    DescribeCollectives();
    DescribeSharedGpus();
    DescribeTransport(fabric->GetTransportSpec());
    DescribeProgram(fabric);
    ReadRanks();
}

void
RunRecorder::DescribeJobs()
{
    weir::Simulation& simulation = m_runtime->GetSimulation();
    std::size_t first = 0;
    for (std::size_t i = 0; i < simulation.JobCount(); i++)
    {
        const weir::JobId id(i);
        weir::JobSpec job;
        static_cast<weir::TrainingJobSpec&>(job) = simulation.GetJob(id).GetSpec();
        if (i == 0)
        {
            m_scenario.gpu = simulation.GpuOf(id);
        }
        if (!IsPacked(job.gpus, first))
        {
            job.placement = PlacementOn(job.gpus);
        }
        first += job.gpus.size();
        m_scenario.jobs.push_back(job);
    }
    NumberNames(m_scenario.jobs, {});
}

void
RunRecorder::DescribeCollectives()
{
    weir::Simulation& simulation = m_runtime->GetSimulation();
    const auto& collectives = simulation.Collectives();
    for (std::size_t i = 0; i < collectives.size(); i++)
    {
        weir::CollectiveJobSpec job;
        job.name = collectives[i]->GetName();
        const std::vector<weir::CollectiveCall>& calls = collectives[i]->Calls();
        for (const weir::CollectiveCall& call : calls)
        {
            job.sequence.push_back({call.op, call.bytes, call.overrides});
        }
        job.calls = static_cast<uint32_t>(collectives[i]->CallCount() / calls.size());
        job.start = collectives[i]->GetStart();
        job.placement =
            PlacementOn(simulation.GetPlanner().GetGroup(calls.front().communicator).gpus);
        m_scenario.collectives.push_back(job);
    }
    NumberNames(m_scenario.collectives, NamesOf(m_scenario.jobs));
    for (std::size_t i = 0; i < collectives.size(); i++)
    {
        for (const weir::CollectiveCall& call : collectives[i]->Calls())
        {
            if (call.root != 0)
            {
                m_scenario.remarks.push_back(m_scenario.collectives[i].name + " has root " +
                                             std::to_string(call.root));
            }
        }
    }
}

void
RunRecorder::DescribeSharedGpus()
{
    std::map<uint32_t, std::string> owners; // by GPU
    const auto note = [&](const std::string& name, const std::vector<uint32_t>& gpus) {
        std::set<std::string> others;
        for (const uint32_t gpu : gpus)
        {
            const auto [owner, isFree] = owners.try_emplace(gpu, name);
            if (!isFree)
            {
                others.insert(owner->second);
            }
        }
        for (const std::string& other : others)
        {
            m_scenario.remarks.push_back(name + " has GPUs that " + other +
                                         " has, too, which a scenario refuses");
        }
    };
    for (const weir::JobSpec& job : m_scenario.jobs)
    {
        note(job.name, PlacementOn(job.gpus).list);
    }
    for (const weir::CollectiveJobSpec& job : m_scenario.collectives)
    {
        note(job.name, job.placement.list);
    }
}

void
RunRecorder::DescribeTransport(const weir::TransportSpec& transport)
{
    weir::Simulation& simulation = m_runtime->GetSimulation();
    std::vector<std::pair<std::string, weir::Fidelity>> jobs;
    for (std::size_t i = 0; i < m_scenario.jobs.size(); i++)
    {
        jobs.emplace_back(m_scenario.jobs[i].name, simulation.FidelityOf(weir::JobId(i)));
    }
    for (std::size_t i = 0; i < m_scenario.collectives.size(); i++)
    {
        jobs.emplace_back(m_scenario.collectives[i].name, simulation.CollectiveFidelity(i));
    }
    m_scenario.corrections = transport.corrections;
    m_scenario.sharing = transport.sharing;
    weir::Fidelity defaultFidelity = jobs.empty() ? weir::Fidelity::Flow : jobs.front().second;
    m_scenario.fidelity = defaultFidelity;
    if (transport.packets)
    {
        m_scenario.packets = *transport.packets;
        m_scenario.fidelity = defaultFidelity = weir::Fidelity::Packet;
    }
    if (transport.coupling)
    {
        m_scenario.hybrid.coupling = *transport.coupling;
        m_scenario.fidelity = weir::Fidelity::Hybrid;
        defaultFidelity = weir::Fidelity::Flow; // of jobs moved as a fluid
    }
    for (const auto& [name, fidelity] : jobs)
    {
        if (transport.coupling && fidelity == weir::Fidelity::Packet)
        {
            m_scenario.hybrid.jobs.push_back(name);
        }
        else if (fidelity != defaultFidelity)
        {
            m_scenario.remarks.push_back("job " + name + " has fidelity " +
                                         weir::ToString(fidelity));
        }
    }
}

void
RunRecorder::DescribeProgram(Ptr<FluidFabric> fabric)
{
    m_scenario.seed = RngSeedManager::GetSeed();
    m_scenario.remarks.push_back(
        "an ns-3 program, RngSeed=" + std::to_string(RngSeedManager::GetSeed()) +
        ", RngRun=" + std::to_string(RngSeedManager::GetRun()) +
        "; flows and failures that the program starts itself are not included");
    for (auto node = NodeList::Begin(); node != NodeList::End(); ++node)
    {
        const Ptr<GpuServer> server = (*node)->GetObject<GpuServer>();
        if (!server || server->GetFabric() != fabric)
        {
            continue;
        }
        for (uint32_t i = 0; i < (*node)->GetNApplications(); i++)
        {
            const TypeId type = (*node)->GetApplication(i)->GetInstanceTypeId();
            m_scenario.remarks.push_back(type.GetName() + " on server " +
                                         std::to_string(server->GetIndex()));
        }
    }
}

void
RunRecorder::ReadRanks()
{
    weir::OutputSpec& output = m_scenario.output;
    output.allRanks = m_ranks == "all";
    std::istringstream numbers(output.allRanks ? "" : m_ranks);
    uint32_t rank = 0;
    while (numbers >> rank)
    {
        const bool isKnown = std::any_of(m_scenario.jobs.begin(),
                                         m_scenario.jobs.end(),
                                         [&](const auto& job) { return rank < job.gpus.size(); });
        NS_ABORT_MSG_IF(!isKnown,
                        "RunRecorder: found rank " << rank
                                                   << " in Ranks, expected one of a training job");
        output.ranks.push_back(rank);
    }
    NS_ABORT_MSG_IF(!numbers.eof(),
                    "RunRecorder: found Ranks '"
                        << m_ranks << "', expected all or ranks with spaces between them");
}

void
RunRecorder::Write()
{
    NS_LOG_FUNCTION(this);
    if (m_written || !m_recording)
    {
        return;
    }
    NS_ABORT_MSG_IF(m_driver->IsRunning(),
                    "RunRecorder: found Write inside a callback of the engines (the end of a flow, "
                    "a step or a collective), expected the callback to schedule it with "
                    "Simulator::ScheduleNow");
    m_written = true;
    m_driver->CatchUp();
    m_runtime->SetRecorded(false);
    try
    {
        m_recording->Finish();
    }
    catch (const std::exception& error)
    {
        NS_ABORT_MSG("RunRecorder: " << error.what());
    }
}

} // namespace ns3

/** As WeirJobTypes, for programs that can write result files. */
extern "C" void
WeirRecorderTypes()
{
    ns3::RunRecorder::GetTypeId();
}

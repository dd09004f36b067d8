// SPDX-License-Identifier: GPL-2.0-only
#include "run-recorder.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/weir-units.h"

#include <algorithm>
#include <exception>
#include <sstream>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RunRecorder");

NS_OBJECT_ENSURE_REGISTERED(RunRecorder);

namespace
{

/** Whether these are the GPUs that packed placement gives a job after @p first others. */
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

std::string
ListOf(const std::vector<weir::GpuId>& gpus)
{
    std::string text;
    for (const weir::GpuId gpu : gpus)
    {
        text += (text.empty() ? "" : " ") + std::to_string(gpu.Index());
    }
    return text;
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
                          "What the files call the run.",
                          StringValue("ns-3 program"),
                          MakeStringAccessor(&RunRecorder::m_title),
                          MakeStringChecker())
            .AddAttribute("File",
                          "The result file, HDF5; empty: none.",
                          StringValue(""),
                          MakeStringAccessor(&RunRecorder::m_file),
                          MakeStringChecker())
            .AddAttribute("TimelineFile",
                          "The timeline, Chrome's trace format; empty: none.",
                          StringValue(""),
                          MakeStringAccessor(&RunRecorder::m_timelineFile),
                          MakeStringChecker())
            .AddAttribute("LinkSeries",
                          "Width of a bin of the links' bytes over time; 0: no series.",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&RunRecorder::m_linkSeries),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("PortSeries",
                          "Width of a bin of the busiest ports' queue lengths and pauses over "
                          "time, of a fabric that moves packets; 0: no series.",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&RunRecorder::m_portSeries),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("Ranks",
                          "Ranks of each training job to record beside those that always are: "
                          "\"all\", or numbers as \"0 5 17\".",
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
    Object::DoDispose();
}

void
RunRecorder::Install(Ptr<FluidFabric> fabric)
{
    NS_LOG_FUNCTION(this << fabric);
    NS_ABORT_MSG_IF(m_recording, "RunRecorder: installed twice");
    NS_ABORT_MSG_IF(m_file.empty() && m_timelineFile.empty(),
                    "RunRecorder: neither File nor TimelineFile says where to");
    m_runtime = CollectiveRuntime::Of(fabric);
    Describe(fabric);
    fabric->GetDriver()->Hold(this);
    Simulator::ScheduleDestroy(&RunRecorder::Write, Ptr<RunRecorder>(this));
    fabric->GetDriver()->Synchronize();
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
}

void
RunRecorder::Describe(Ptr<FluidFabric> fabric)
{
    weir::Simulation& simulation = m_runtime->GetSimulation();
    m_jobs = simulation.JobCount();
    m_scenario.title = m_title;
    m_scenario.cluster = fabric->GetFabric().GetCluster().GetSpec();
    m_scenario.nccl = simulation.GetNcclSettings();
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
    std::size_t first = 0;
    for (std::size_t i = 0; i < m_jobs; i++)
    {
        const weir::JobId id(i);
        weir::JobSpec job;
        static_cast<weir::TrainingJobSpec&>(job) = simulation.GetJob(id).GetSpec();
        if (i == 0)
        {
            m_scenario.gpu = simulation.GpuOf(id);
            m_scenario.fidelity = simulation.FidelityOf(id);
        }
        if (!IsPacked(job.gpus, first))
        {
            m_scenario.remarks.push_back("job " + job.name + " is on GPUs " + ListOf(job.gpus));
        }
        if (simulation.FidelityOf(id) != m_scenario.fidelity)
        {
            m_scenario.remarks.push_back("job " + job.name + " has fidelity " +
                                         weir::ToString(simulation.FidelityOf(id)));
        }
        first += job.gpus.size();
        m_scenario.jobs.push_back(job);
    }
    ReadRanks();
    for (const auto& collective : simulation.Collectives())
    {
        for (const weir::CollectiveCall& call : collective->Calls())
        {
            const auto& group = simulation.GetPlanner().GetCommunicator(call.communicator).gpus;
            m_scenario.remarks.push_back(std::string(weir::ToString(call.op)) + " of " +
                                         std::to_string(call.bytes.Count()) + " bytes on GPUs " +
                                         ListOf(group));
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
    m_written = true;
    NS_ABORT_MSG_IF(m_runtime->GetSimulation().JobCount() != m_jobs,
                    "RunRecorder: found a job that was installed after it, which no file holds; "
                    "expected it to be installed after all jobs");
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

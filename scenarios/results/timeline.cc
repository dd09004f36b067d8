// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/results/timeline.h"

#include "fabric/enum-names.h"
#include "scenarios/results/recorder.h"
#include "scenarios/simulation/simulation.h"
#include "scenarios/versions.h"

#include <algorithm>
#include <filesystem>

namespace weir
{

namespace
{

constexpr uint32_t NONE = 0xffffffff;
constexpr uint32_t FIRST_FLOW_TRACK = 100; //!< thread number of a rank's first flow track

/** The name that PyTorch's process groups write to Kineto's `Collective name`. */
const char*
KinetoName(const StepOp& op)
{
    static constexpr EnumName<CollectiveOp> NAMES[]{
        {CollectiveOp::AllReduce, "allreduce"},
        {CollectiveOp::AllGather, "_allgather_base"},
        {CollectiveOp::ReduceScatter, "_reduce_scatter_base"},
        {CollectiveOp::Broadcast, "broadcast"},
        {CollectiveOp::Reduce, "reduce"},
        {CollectiveOp::AllToAll, "all_to_all"},
        {CollectiveOp::Gather, "gather"},
        {CollectiveOp::Scatter, "scatter"},
        {CollectiveOp::SendRecv, "batch_isend_irecv"},
        {CollectiveOp::Send, "send"},
    };
    return op.kind == StepOpKind::Send   ? "send"
           : op.kind == StepOpKind::Recv ? "recv"
                                         : NameIn(NAMES, op.collective);
}

/** The name of NCCL's kernel, by which trace tools recognize communication. */
const char*
KernelName(const StepOp& op)
{
    const auto is = [&op](CollectiveOp collective) {
        return op.kind == StepOpKind::Collective && op.collective == collective;
    };
    return is(CollectiveOp::AllReduce)       ? "ncclDevKernel_AllReduce"
           : is(CollectiveOp::AllGather)     ? "ncclDevKernel_AllGather"
           : is(CollectiveOp::ReduceScatter) ? "ncclDevKernel_ReduceScatter"
           : is(CollectiveOp::Broadcast)     ? "ncclDevKernel_Broadcast"
           : is(CollectiveOp::Reduce)        ? "ncclDevKernel_Reduce"
                                             : "ncclDevKernel_SendRecv";
}

/** @p text as in a JSON string, without the quotes. */
std::string
JsonEscaped(const std::string& text)
{
    const std::string quoted = JsonQuoted(text);
    return quoted.substr(1, quoted.size() - 2);
}

std::string
MemberList(const std::vector<Rank>& members, uint32_t firstPid)
{
    std::string text = "[";
    for (const Rank rank : members)
    {
        text += (text.size() > 1 ? ", " : "") + std::to_string(firstPid + rank.Index());
    }
    return text + "]";
}

} // namespace

std::string
TimelinePath(const Scenario& scenario)
{
    if (!scenario.output.timelineFile.empty())
    {
        return scenario.output.timelineFile;
    }
    const std::filesystem::path file = scenario.output.file;
    const std::filesystem::path run = scenario.path;
    return (file.empty() ? run.stem() : file.parent_path() / file.stem()).string() +
           ".timeline.json";
}

Timeline::Timeline(const std::string& path, const RecordingSpec& spec)
    : m_writer(path, spec.output.timelineWhere),
      m_spec(spec)
{
}

void
Timeline::Begin(Simulation& simulation, const std::vector<std::vector<Rank>>& recorded)
{
    m_simulation = &simulation;
    uint32_t ranks = 0;
    for (std::size_t job = 0; job < simulation.JobCount(); job++)
    {
        ranks += static_cast<uint32_t>(simulation.GetJob(JobId(job)).GetGraph().RankCount());
    }
    m_writer.BeginTrace("\"schemaVersion\":1,\"traceName\":" + JsonQuoted(m_spec.title) +
                        ",\"displayTimeUnit\":\"ms\",\"distributedInfo\":{\"backend\":\"nccl\"," +
                        "\"rank\":0,\"world_size\":" + std::to_string(ranks) +
                        ",\"nccl_version\":" + JsonQuoted(m_spec.ncclVersion) +
                        "},\"weir\":{\"version\":" + JsonQuoted(WeirVersion()) +
                        ",\"fidelity\":" + JsonQuoted(ToString(m_spec.fidelity)) + "}");
    m_shownByLink.assign(simulation.GetTopology().LinkCount(), NONE);
    for (std::size_t job = 0; job < simulation.JobCount(); job++)
    {
        BeginJob(JobId(job), recorded[job]);
    }
    m_shownByDevice.assign(simulation.GetTopology().DeviceCount() + 1, NONE);
    m_firstCallPid = ranks;
    m_nextPid = ranks;
    for (const auto& collective : simulation.Collectives())
    {
        m_writer.NameProcess(m_nextPid, collective->GetName());
        m_writer.NameThread(m_nextPid++, 0, "calls");
    }
}

/** Index of a device in m_shown; NONE when MAX_SOURCES are shown. */
uint32_t
Timeline::ShownDevice(DeviceId device)
{
    const std::size_t index = device.IsValid() ? device.Index() : m_shownByDevice.size() - 1;
    if (m_shownByDevice[index] == NONE && m_sources < MAX_SOURCES)
    {
        m_shownByDevice[index] = static_cast<uint32_t>(m_shown.size());
        const std::string name =
            device.IsValid() ? m_simulation->GetTopology().GetDevice(device).name : "all ranks";
        m_writer.NameProcess(m_nextPid, "flows from " + name);
        m_shown.push_back({m_nextPid++, {}});
        m_sources++;
    }
    return m_shownByDevice[index];
}

/** The name of a flow's event, unescaped. */
std::string
Timeline::FlowName(const FlowOwner& owner) const
{
    if (owner.IsTraining())
    {
        return "flow";
    }
    if (owner.work && owner.work->kind == WorkId::Kind::Collective)
    {
        return m_simulation->Collectives()[owner.work->index]->GetName() + " call " +
               std::to_string(owner.collective);
    }
    if (owner.work)
    {
        return m_simulation->TrafficJobs()[owner.work->index]->GetName();
    }
    return m_simulation->TrafficLabels()[owner.label];
}

void
Timeline::OnCall(const CallRecord& record)
{
    const CollectiveLoop& loop = *m_simulation->Collectives()[record.collectiveJob];
    const CollectiveCall& call = loop.GetCall(record.number);
    m_writer.BeginEvent(ToString(call.op),
                        "kernel",
                        m_firstCallPid + record.collectiveJob,
                        0,
                        record.started,
                        record.finished);
    m_writer.Argument("bytes", static_cast<uint64_t>(call.bytes.Count()));
    m_writer.Argument("call", uint64_t{record.number});
    m_writer.EndEvent();
}

void
Timeline::BeginJob(JobId job, const std::vector<Rank>& recorded)
{
    const auto& trained = m_simulation->GetJob(job);
    const auto& graph = trained.GetGraph();
    const Cluster& cluster = m_simulation->GetCluster();
    JobText text{0, {}, std::vector<std::string>(graph.groups.size())};
    for (std::size_t before = 0; before < job.Index(); before++)
    {
        text.firstPid += m_simulation->GetJob(JobId(before)).GetGraph().RankCount();
    }
    for (const auto& label : graph.labels)
    {
        text.labels.push_back(JsonEscaped(label));
    }
    for (const Rank rank : recorded)
    {
        const DeviceId device = cluster.GpuDevice(trained.GetSpec().gpus[rank.Index()]);
        const uint32_t pid = text.firstPid + rank.Index();
        for (const LinkId link : cluster.GetTopology().LinksFrom(device))
        {
            m_shownByLink[link.Index()] = static_cast<uint32_t>(m_shown.size());
        }
        m_shown.push_back({pid, {}});
        m_writer.NameProcess(
            pid,
            trained.GetSpec().name + " rank " + std::to_string(rank.Index()) + ", stage " +
                std::to_string(graph.programStage[graph.rankProgram[rank.Index()]]) + " (" +
                cluster.GetTopology().GetDevice(device).name + ")");
        for (std::size_t stream = 0; stream < STREAM_COUNT; stream++)
        {
            m_writer.NameThread(pid,
                                static_cast<uint32_t>(stream),
                                "stream " + std::string(ToString(static_cast<StreamKind>(stream))));
        }
        for (const uint32_t group : graph.rankGroups[rank.Index()])
        {
            if (group != StepGraph::NO_GROUP)
            {
                text.groupMembers[group] = MemberList(graph.groups[group], text.firstPid);
            }
        }
    }
    m_jobs.push_back(std::move(text));
}

void
Timeline::OnOp(const OpRecord& record)
{
    if (!record.isShown)
    {
        return;
    }
    const auto& job = m_jobs[record.job.Index()];
    const StepOp& op = *record.op;
    const uint32_t pid = job.firstPid + record.rank.Index();
    const auto tid = static_cast<uint32_t>(record.stream);
    const std::string& label = job.labels[op.label];
    if (op.kind == StepOpKind::Compute)
    {
        const bool opened = op.microBatch == 0 && op.kernelCount > 0;
        m_writer.BeginEvent(label,
                            opened ? "gpu_user_annotation" : "kernel",
                            pid,
                            tid,
                            record.started,
                            record.finished);
        m_writer.Argument("micro batch", uint64_t{op.microBatch});
        m_writer.EndEvent();
        if (opened)
        {
            WriteKernels(record);
        }
        return;
    }
    const auto& graph = m_simulation->GetJob(record.job).GetGraph();
    const uint32_t group = graph.rankGroups[record.rank.Index()][op.group];
    m_writer.BeginEvent(std::string(KernelName(op)) + " " + label,
                        "kernel",
                        pid,
                        tid,
                        record.started,
                        record.finished);
    m_writer.Argument("micro batch", uint64_t{op.microBatch});
    m_writer.Argument("waited us", record.started - record.posted);
    m_writer.Argument("bytes", static_cast<uint64_t>(op.bytes.Count()));
    m_writer.Argument("Collective name", std::string(KinetoName(op)));
    m_writer.Argument("Group size", uint64_t{graph.groups[group].size()});
    m_writer.Argument("Process Group Name", std::to_string(group));
    m_writer.Argument("Process Group Description", graph.slotNames[op.group]);
    m_writer.Argument("Process Group Ranks", job.groupMembers[group]);
    m_writer.EndEvent();
}

void
Timeline::WriteKernels(const OpRecord& record)
{
    const auto& graph = m_simulation->GetJob(record.job).GetGraph();
    const auto& job = m_jobs[record.job.Index()];
    const KernelRecord* kernels = graph.kernels.data() + record.op->firstKernel;
    Time total;
    for (uint16_t i = 0; i < record.op->kernelCount; i++)
    {
        total += kernels[i].duration;
    }
    // A slow GPU scales all kernels by the same factor; launch gaps of the operation stay.
    const Time span = record.finished - record.started;
    const double scale = total > span || record.op->duration == Time()
                             ? span / std::max(total, Time::Picoseconds(1))
                             : span / record.op->duration;
    Time at = record.started;
    for (uint16_t i = 0; i < record.op->kernelCount; i++)
    {
        const Time end = std::min(at + kernels[i].duration * scale, record.finished);
        m_writer.BeginEvent(job.labels[kernels[i].name],
                            "kernel",
                            job.firstPid + record.rank.Index(),
                            static_cast<uint32_t>(record.stream),
                            at,
                            end);
        m_writer.Argument("flops", static_cast<uint64_t>(kernels[i].flops.ToDouble()));
        m_writer.Argument("memory bytes", static_cast<uint64_t>(kernels[i].bytes.Count()));
        m_writer.EndEvent();
        at = end;
    }
}

void
Timeline::OnFlow(const FlowRecord& record)
{
    if (!record.isShown)
    {
        return;
    }
    uint32_t shown = NONE;
    for (const auto& entry : m_simulation->GetRouting().Paths().Links(record.path.path))
    {
        shown = std::min(shown, m_shownByLink[entry.link.Index()]);
    }
    if (shown == NONE && !record.owner.IsTraining())
    {
        shown = ShownDevice(m_simulation->GetRouting().SourceOf(record.route));
    }
    if (shown == NONE)
    {
        m_flowsLeftOut += record.owner.IsTraining() ? 0 : 1;
        return;
    }
    if (m_flows == MAX_FLOWS)
    {
        m_flowsLeftOut++;
        return;
    }
    m_flows++;
    auto& tracks = m_shown[shown].trackEnds;
    std::size_t track = 0;
    while (track < tracks.size() && tracks[track] > record.started)
    {
        track++;
    }
    const auto tid = static_cast<uint32_t>(FIRST_FLOW_TRACK + track);
    if (track == tracks.size())
    {
        tracks.emplace_back();
        m_writer.NameThread(m_shown[shown].pid, tid, "flows, track " + std::to_string(track));
    }
    tracks[track] = record.finished;
    m_writer.BeginEvent(JsonEscaped(FlowName(record.owner)),
                        "flow",
                        m_shown[shown].pid,
                        tid,
                        record.started,
                        record.finished);
    m_writer.Argument("bytes", static_cast<uint64_t>(record.bytes.Count()));
    m_writer.Argument("path", uint64_t{record.pathNumber});
    m_writer.EndEvent();
}

uint32_t
Timeline::PortPid()
{
    if (m_portPid == 0)
    {
        m_portPid = m_nextPid++;
        m_writer.NameProcess(m_portPid, "ports");
    }
    return m_portPid;
}

/** JSON-escaped name of a port. */
std::string
Timeline::PortName(LinkId port) const
{
    return JsonEscaped(m_simulation->GetTopology().LinkName(port));
}

/** Resets the counter of the last port to zero at the end of its last bin. */
void
Timeline::EndQueue()
{
    if (m_queueUntil > Time())
    {
        m_writer.Counter("queue " + PortName(m_queuePort),
                         m_portPid,
                         m_queueUntil,
                         {{"mean bytes", 0}, {"max bytes", 0}});
        m_queueUntil = Time();
    }
}

void
Timeline::OnPortBin(const PortBinRecord& record)
{
    const uint32_t pid = PortPid();
    const Time start = record.width * record.bin;
    if (record.link != m_queuePort || start != m_queueUntil)
    {
        EndQueue();
    }
    m_queuePort = record.link;
    if (record.maxQueued > Bytes(0))
    {
        m_queueUntil = start + record.width;
        m_writer.Counter("queue " + PortName(record.link),
                         pid,
                         start,
                         {{"mean bytes", static_cast<uint64_t>(record.meanQueued + 0.5)},
                          {"max bytes", static_cast<uint64_t>(record.maxQueued.Count())}});
    }
    else
    {
        EndQueue();
    }
}

void
Timeline::OnPause(const PauseRecord& record)
{
    EndQueue();
    const uint32_t pid = PortPid();
    if (record.link != m_pausePort)
    {
        m_pausePort = record.link;
        m_writer.NameThread(pid, ++m_pauseTrack, m_simulation->GetTopology().LinkName(record.link));
    }
    m_writer.BeginEvent("paused", "pause", pid, m_pauseTrack, record.started, record.finished);
    m_writer.EndEvent();
}

void
Timeline::OnPausesLeftOut(uint64_t count)
{
    EndQueue();
    m_pausesLeftOut = count;
}

void
Timeline::Commit()
{
    m_writer.Commit("\"flowsLeftOut\":" + std::to_string(m_flowsLeftOut) +
                    ",\"pausesLeftOut\":" + std::to_string(m_pausesLeftOut));
}

} // namespace weir

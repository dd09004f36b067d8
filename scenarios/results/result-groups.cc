// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/results/result-groups.h"

#include "scenarios/results/hdf5-table.h"
#include "scenarios/versions.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace weir
{

namespace
{

/** A table of one text column that number columns elsewhere index. */
void
WriteCatalog(Hdf5File& file, const std::string& group, const std::vector<std::string>& names)
{
    Hdf5Table table(file, group, "index");
    auto& column = table.Add<std::string>({"name", "", "name", ""});
    for (const auto& name : names)
    {
        column.Append(name);
    }
    table.Finish();
}

/** One column per TimeCategory: how a span was spent. */
class BreakdownColumns
{
  public:
    explicit BreakdownColumns(Hdf5Table& table)
    {
        for (std::size_t i = 0; i < TIME_CATEGORY_COUNT; i++)
        {
            const std::string name = ToString(static_cast<TimeCategory>(i));
            m_columns[i] =
                &table.Add<double>({name, "s", "time of the steady step booked as " + name, ""});
        }
    }

    void Append(const RankBreakdown& breakdown)
    {
        for (std::size_t i = 0; i < TIME_CATEGORY_COUNT; i++)
        {
            m_columns[i]->Append(breakdown.spent[i].ToSeconds());
        }
    }

  private:
    std::array<Hdf5Column<double>*, TIME_CATEGORY_COUNT> m_columns{};
};

template <typename E>
std::vector<std::string>
EnumNames(std::size_t count)
{
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; i++)
    {
        names.emplace_back(ToString(static_cast<E>(i)));
    }
    return names;
}

} // namespace

void
WriteMemory(Hdf5File& file, const RunResult& result)
{
    if (std::all_of(result.jobs.begin(), result.jobs.end(), [](const JobResult& job) {
            return job.isWorkload; // of no known model
        }))
    {
        return;
    }
    Hdf5Table table(file, "/memory", "row");
    auto& job = table.Add<uint32_t>({"job", "", "job", "/catalogs/jobs/name"});
    auto& stage = table.Add<uint32_t>({"stage", "", "the fullest pipeline stage, from 0", ""});
    const std::vector<std::pair<const char*, Bytes MemoryEstimate::*>> parts{
        {"weights", &MemoryEstimate::weights},
        {"embeddings", &MemoryEstimate::embeddings},
        {"gradients", &MemoryEstimate::gradients},
        {"optimizer", &MemoryEstimate::optimizer},
        {"activations", &MemoryEstimate::activations},
        {"gathered", &MemoryEstimate::gathered},
        {"buffers", &MemoryEstimate::buffers}};
    std::vector<Hdf5Column<int64_t>*> columns;
    for (const auto& [name, part] : parts)
    {
        columns.push_back(&table.Add<int64_t>(
            {name, "B", "estimate for a GPU of that stage: " + std::string(name), ""}));
    }
    auto& total = table.Add<int64_t>({"total", "B", "all of it", ""});
    for (std::size_t i = 0; i < result.jobs.size(); i++)
    {
        const MemoryEstimate& memory = result.jobs[i].memory;
        if (result.jobs[i].isWorkload)
        {
            continue;
        }
        job.Append(static_cast<uint32_t>(i));
        stage.Append(memory.stage);
        for (std::size_t part = 0; part < parts.size(); part++)
        {
            columns[part]->Append((memory.*parts[part].second).Count());
        }
        total.Append(memory.Total().Count());
    }
    table.Finish();
}

void
WriteCatalogs(Hdf5File& file, Simulation& simulation)
{
    constexpr std::size_t collectiveOps = static_cast<std::size_t>(LAST_COLLECTIVE_OP) + 1;
    constexpr std::size_t algorithms = static_cast<std::size_t>(LAST_ALGORITHM) + 1;
    constexpr std::size_t protocols = static_cast<std::size_t>(Protocol::Simple) + 1;
    std::vector<std::string> jobs;
    std::vector<std::string> labels;
    for (std::size_t i = 0; i < simulation.JobCount(); i++)
    {
        const auto& job = simulation.GetJob(JobId(i));
        const auto& names = job.GetGraph().labels;
        jobs.push_back(job.GetSpec().name);
        labels.insert(labels.end(), names.begin(), names.end());
    }
    for (const auto& collective : simulation.Collectives())
    {
        for (const CollectiveCall& call : collective->Calls())
        {
            labels.push_back(std::string(ToString(call.op)) + " " +
                             std::to_string(call.bytes.Count()) + " B");
        }
        jobs.push_back(collective->GetName());
    }
    for (const auto& traffic : simulation.TrafficJobs())
    {
        labels.push_back(std::string(ToString(traffic->GetSpec().kind)));
        jobs.push_back(traffic->GetName());
    }
    const auto& traffics = simulation.TrafficLabels();
    jobs.push_back(simulation.TrafficName());
    labels.insert(labels.end(), traffics.begin(), traffics.end());
    std::vector<std::string> devices;
    for (std::size_t i = 0; i < simulation.GetTopology().DeviceCount(); i++)
    {
        devices.push_back(simulation.GetTopology().GetDevice(DeviceId(i)).name);
    }
    devices.emplace_back(); // of flows that begin and end at every rank
    WriteCatalog(file, "/catalogs/jobs", jobs);
    WriteCatalog(file, "/catalogs/labels", labels);
    WriteCatalog(file, "/catalogs/streams", EnumNames<StreamKind>(STREAM_COUNT));
    WriteCatalog(file, "/catalogs/collective_ops", EnumNames<CollectiveOp>(collectiveOps));
    WriteCatalog(file, "/catalogs/devices", devices);
    WriteCatalog(file, "/catalogs/algorithms", EnumNames<Algorithm>(algorithms));
    WriteCatalog(file, "/catalogs/protocols", EnumNames<Protocol>(protocols));
    WriteCatalog(file,
                 "/catalogs/fidelities",
                 EnumNames<Fidelity>(static_cast<std::size_t>(Fidelity::Auto) + 1));
}

void
WriteSummary(Hdf5File& file, const RunResult& result)
{
    Hdf5Table table(file, "/summary", "row");
    auto& job = table.Add<uint32_t>({"job", "", "job", "/catalogs/jobs/name"});
    auto& stage = table.Add<uint32_t>({"stage", "", "pipeline stage, from 0", ""});
    auto& stepTime =
        table.Add<double>({"step_time", "s", "steady step; attribute step_kind says which", ""});
    BreakdownColumns breakdown(table);
    for (std::size_t i = 0; i < result.jobs.size(); i++)
    {
        for (std::size_t s = 0; s < result.jobs[i].stages.size(); s++)
        {
            job.Append(static_cast<uint32_t>(i));
            stage.Append(static_cast<uint32_t>(s));
            stepTime.Append(result.jobs[i].stepTime.ToSeconds());
            breakdown.Append(result.jobs[i].stages[s]);
        }
    }
    table.Finish();
    if (!result.jobs.empty())
    {
        file.SetAttribute("/summary", "step_time_s", result.StepTime().ToSeconds());
        file.SetAttribute("/summary", "step_kind", ToString(result.jobs.front().stepKind));
    }
    if (result.bound)
    {
        const ErrorBound& bound = *result.bound;
        const double seconds = result.BoundedTime().ToSeconds();
        const bool isInside = bound.IsInside(); // else no step may be there to multiply
        constexpr double INFINITE = std::numeric_limits<double>::infinity();
        file.SetAttribute("/summary", "bound_lower_s", isInside ? seconds * bound.lower : 0.0);
        file.SetAttribute("/summary", "bound_upper_s", isInside ? seconds * bound.upper : INFINITE);
        file.SetAttribute("/summary", "bound_coverage", bound.coverage);
        file.SetAttribute("/summary", "bound_regime", bound.regime);
        file.SetAttribute("/summary", "bound_region", bound.region);
        file.SetAttribute("/summary", "bound_reference", bound.reference);
    }
    file.SetAttribute("/summary", "events", static_cast<int64_t>(result.events));
    file.SetAttribute("/summary", "waiting", result.waiting);
    file.SetAttribute("/summary", "partial", int64_t{result.isPartial ? 1 : 0});
}

void
WriteRanks(Hdf5File& file, const RunResult& result, Simulation& simulation)
{
    Hdf5Table table(file, "/ranks", "row");
    auto& job = table.Add<uint32_t>({"job", "", "job", "/catalogs/jobs/name"});
    auto& rank = table.Add<uint32_t>({"rank", "", "rank within the job", ""});
    auto& stage = table.Add<uint32_t>({"stage", "", "pipeline stage, from 0", ""});
    auto& node = table.Add<uint32_t>({"node", "", "node of its GPU", ""});
    auto& gpu = table.Add<std::string>({"gpu", "", "device name of its GPU", ""});
    BreakdownColumns breakdown(table);
    const Cluster& cluster = simulation.GetCluster();
    for (std::size_t i = 0; i < result.jobs.size(); i++)
    {
        const auto& trained = simulation.GetJob(JobId(i));
        const auto& graph = trained.GetGraph();
        for (std::size_t r = 0; r < result.jobs[i].ranks.size(); r++)
        {
            const GpuId id = trained.GetSpec().gpus[r];
            job.Append(static_cast<uint32_t>(i));
            rank.Append(static_cast<uint32_t>(r));
            stage.Append(graph.programStage[graph.rankProgram[r]]);
            node.Append(cluster.NodeOf(id));
            gpu.Append(cluster.GetTopology().GetDevice(cluster.GpuDevice(id)).name);
            breakdown.Append(result.jobs[i].ranks[r]);
        }
    }
    table.Finish();
}

/** What packets have met at the ports of all links. */
void
AddPortCounters(Hdf5Table& table, Simulation& simulation)
{
    auto& packets = table.Add<int64_t>({"packets", "1", "packets sent", ""});
    auto& marks = table.Add<int64_t>({"marks", "1", "packets marked (ECN)", ""});
    auto& drops = table.Add<int64_t>({"drops", "1", "packets lost", ""});
    auto& trims = table.Add<int64_t>({"trims", "1", "packets whose payload was cut off", ""});
    auto& pauses = table.Add<int64_t>({"pauses", "1", "pauses that reached it (PFC)", ""});
    auto& paused = table.Add<double>({"paused", "s", "time in which a class was paused", ""});
    auto& queue = table.Add<double>({"max_queued", "B", "most bytes in a queue", ""});
    auto& again =
        table.Add<int64_t>({"retransmissions", "1", "packets that its device sent again", ""});
    for (std::size_t i = 0; i < simulation.GetTopology().LinkCount(); i++)
    {
        const PortCounters& port = *simulation.GetTransport().GetPortCounters(LinkId(i));
        packets.Append(static_cast<int64_t>(port.packets));
        marks.Append(static_cast<int64_t>(port.marks));
        drops.Append(static_cast<int64_t>(port.drops));
        trims.Append(static_cast<int64_t>(port.trims));
        pauses.Append(static_cast<int64_t>(port.pauses));
        paused.Append(static_cast<double>(port.paused) * 1e-12);
        queue.Append(static_cast<double>(port.maxQueued));
        again.Append(static_cast<int64_t>(port.retransmissions));
    }
}

bool
HasPortCounters(Simulation& simulation)
{
    return simulation.GetTopology().LinkCount() > 0 &&
           simulation.GetTransport().GetPortCounters(LinkId(0)) != nullptr;
}

void
WriteLinks(Hdf5File& file, Simulation& simulation)
{
    const auto& [usages, end] = simulation.GetMeasuredLinks();
    Hdf5Table table(file, "/links", "link");
    auto& name = table.Add<std::string>({"name", "", "name of the link", ""});
    auto& kind = table.Add<std::string>({"kind", "", "what it is made of", ""});
    auto& profile = table.Add<std::string>({"profile", "", "link profile", ""});
    auto& rate = table.Add<double>({"rate", "B s-1", "payload rate, one direction", ""});
    auto& latency = table.Add<double>({"latency", "s", "latency", ""});
    auto& bytes = table.Add<double>({"bytes", "B", "bytes carried in the window", ""});
    auto& busy = table.Add<double>({"busy", "s", "time with any traffic", ""});
    auto& saturated = table.Add<double>({"saturated", "s", "time at its full rate", ""});
    auto& mean = table.Add<double>({"utilization", "1", "bytes over rate times the window", ""});
    const Topology& topology = simulation.GetTopology();
    for (std::size_t i = 0; i < topology.LinkCount(); i++)
    {
        const Link& link = topology.GetLink(LinkId(i));
        const LinkUsage& usage = usages[i];
        const double capacity = link.rate.ToBytesPerSecond() * end.ToSeconds();
        name.Append(topology.LinkName(LinkId(i)));
        kind.Append(ToString(link.kind));
        profile.Append(topology.GetProfileName(link.profile));
        rate.Append(link.rate.ToBytesPerSecond());
        latency.Append(link.latency.ToSeconds());
        bytes.Append(usage.bytes);
        busy.Append(usage.busy.ToSeconds());
        saturated.Append(usage.saturated.ToSeconds());
        mean.Append(capacity > 0 ? usage.bytes / capacity : 0);
    }
    if (HasPortCounters(simulation))
    {
        AddPortCounters(table, simulation);
    }
    table.Finish();
}

void
WriteFlowPaths(Hdf5File& file, Simulation& simulation, const std::vector<FlowPath>& paths)
{
    Hdf5Table table(file, "/flow_paths", "row");
    auto& path = table.Add<uint32_t>({"path", "", "path, as in /flows/path", ""});
    auto& link = table.Add<uint32_t>({"link", "", "link it crosses", "/links/name"});
    auto& share =
        table.Add<double>({"share",
                           "1",
                           "bytes that cross it over those of the flow; k where each does k times",
                           ""});
    for (std::size_t i = 0; i < paths.size(); i++)
    {
        if (!paths[i].path.IsValid())
        {
            continue;
        }
        for (const auto& entry : simulation.GetRouting().Paths().Links(paths[i].path))
        {
            path.Append(static_cast<uint32_t>(i));
            link.Append(entry.link.Index());
            share.Append(static_cast<double>(entry.multiplicity) / paths[i].unit);
        }
    }
    table.Finish();
}

void
WriteProvenance(Hdf5File& file, const RecordingSpec& spec)
{
    file.AddGroup("/provenance");
    file.WriteText("/provenance/scenario", spec.provenance());
    file.SetAttribute("/provenance", "mode", ToString(spec.fidelity));
    file.SetAttribute("/provenance", "seed", static_cast<int64_t>(spec.seed));
    file.SetAttribute("/provenance", "weir_version", WeirVersion());
    file.SetAttribute("/provenance", "ns3_version", Ns3Version());
    file.SetAttribute("/provenance", "nccl_version", spec.ncclVersion);
    unsigned major = 0;
    unsigned minor = 0;
    unsigned release = 0;
    H5get_libversion(&major, &minor, &release);
    file.SetAttribute("/provenance",
                      "hdf5_version",
                      std::to_string(major) + "." + std::to_string(minor) + "." +
                          std::to_string(release));
}

} // namespace weir

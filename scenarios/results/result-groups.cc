// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/results/result-groups.h"

#include "scenarios/results/hdf5-table.h"
#include "scenarios/versions.h"
#include "scenarios/yaml/named-choices.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace weir
{

namespace
{

/** Writes a table of one text column that integer columns elsewhere index. */
void
WriteCatalog(Hdf5File& file, const std::string& group, const std::vector<std::string>& names)
{
    Hdf5RowTable<std::string> table(file, group, "index");
    table.Add({"name", "", "name"}, [](const std::string& name) { return name; });
    table.AppendAll(names);
}

struct BreakdownRow
{
    uint32_t job;
    uint32_t stage;
    const RankBreakdown& breakdown;
};

/** Adds one column per TimeCategory: the time spent in it. */
template <typename Row>
void
AddBreakdown(Hdf5RowTable<Row>& table)
{
    for (std::size_t i = 0; i < TIME_CATEGORY_COUNT; i++)
    {
        const std::string name = ToString(static_cast<TimeCategory>(i));
        table.Add({name, "s", "time of the steady step spent in " + name},
                  [i](const Row& row) { return row.breakdown.spent[i]; });
    }
}

} // namespace

void
WriteMemory(Hdf5File& file, const RunResult& result)
{
    if (std::all_of(result.jobs.begin(), result.jobs.end(), [](const JobResult& job) {
            return job.isWorkload; // without a known model
        }))
    {
        return;
    }
    using Row = std::pair<uint32_t, const MemoryEstimate&>;
    Hdf5RowTable<Row> table(file, "/memory", "row");
    table.Add({"job", "", "job", "/catalogs/jobs/name"}, [](const Row& row) { return row.first; });
    table.Add({"stage", "", "pipeline stage with the highest memory estimate, from 0"},
              [](const Row& row) { return row.second.stage; });
    for (const auto& [name, bytes] : MemoryEstimate::PARTS)
    {
        table.Add({name, "B", "estimated memory of a GPU of that stage: " + std::string(name)},
                  [bytes = bytes](const Row& row) { return row.second.*bytes; });
    }
    table.Add({"total", "B", "estimated memory of a GPU of that stage: sum of all parts"},
              [](const Row& row) { return row.second.Total(); });
    for (std::size_t i = 0; i < result.jobs.size(); i++)
    {
        if (!result.jobs[i].isWorkload)
        {
            table.Append({static_cast<uint32_t>(i), result.jobs[i].memory});
        }
    }
    table.Finish();
}

JobNames
JobNamesOf(Simulation& simulation)
{
    JobNames names;
    const auto add = [&names](const std::string& job) {
        names.jobs.push_back(job);
        names.firstLabel.push_back(static_cast<uint32_t>(names.labels.size()));
    };
    const auto addLabels = [&names](const std::vector<std::string>& labels) {
        names.labels.insert(names.labels.end(), labels.begin(), labels.end());
    };
    for (std::size_t i = 0; i < simulation.JobCount(); i++)
    {
        const auto& job = simulation.GetJob(JobId(i));
        add(job.GetSpec().name);
        addLabels(job.GetGraph().labels);
    }
    for (const auto& collective : simulation.Collectives())
    {
        add(collective->GetName());
        for (const CollectiveCall& call : collective->Calls())
        {
            names.labels.push_back(std::string(ToString(call.op)) + " " +
                                   std::to_string(call.bytes.Count()) + " B");
        }
    }
    for (const auto& traffic : simulation.TrafficJobs())
    {
        add(traffic->GetName());
        names.labels.emplace_back(ToString(traffic->GetSpec().kind));
    }
    add(simulation.TrafficName());
    addLabels(simulation.TrafficLabels());
    return names;
}

void
WriteCatalogs(Hdf5File& file, Simulation& simulation)
{
    const auto writeNamesUpTo = [&file](const char* group, auto last) {
        WriteCatalog(file, group, ChoiceNames(ChoicesUpTo(last)));
    };
    const JobNames names = JobNamesOf(simulation);
    std::vector<std::string> devices;
    for (std::size_t i = 0; i < simulation.GetTopology().DeviceCount(); i++)
    {
        devices.push_back(simulation.GetTopology().GetDevice(DeviceId(i)).name);
    }
    devices.emplace_back(); // for flows that begin and end at every rank
    WriteCatalog(file, "/catalogs/jobs", names.jobs);
    WriteCatalog(file, "/catalogs/labels", names.labels);
    writeNamesUpTo("/catalogs/streams", static_cast<StreamKind>(STREAM_COUNT - 1));
    writeNamesUpTo("/catalogs/collective_ops", LAST_COLLECTIVE_OP);
    WriteCatalog(file, "/catalogs/devices", devices);
    writeNamesUpTo("/catalogs/algorithms", LAST_ALGORITHM);
    writeNamesUpTo("/catalogs/protocols", Protocol::Simple);
    writeNamesUpTo("/catalogs/fidelities", Fidelity::Auto);
}

void
WriteSummary(Hdf5File& file, const RunResult& result)
{
    Hdf5RowTable<BreakdownRow> table(file, "/summary", "row");
    table.Add({"job", "", "job", "/catalogs/jobs/name"}, &BreakdownRow::job);
    table.Add({"stage", "", "pipeline stage, from 0"}, &BreakdownRow::stage);
    table.Add({"step_time", "s", "time of the steady step, defined by the attribute step_kind"},
              [&](const BreakdownRow& row) { return result.jobs[row.job].stepTime; });
    AddBreakdown(table);
    for (uint32_t job = 0; job < result.jobs.size(); job++)
    {
        const auto& stages = result.jobs[job].stages;
        for (uint32_t stage = 0; stage < stages.size(); stage++)
        {
            table.Append({job, stage, stages[stage]});
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
        const bool isInside = bound.IsInside(); // otherwise there may be no step to multiply
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
    struct Row
    {
        uint32_t job;
        uint32_t rank;
        uint32_t stage;
        GpuId gpu;
        const RankBreakdown& breakdown;
    };

    const Cluster& cluster = simulation.GetCluster();
    Hdf5RowTable<Row> table(file, "/ranks", "row");
    table.Add({"job", "", "job", "/catalogs/jobs/name"}, &Row::job);
    table.Add({"rank", "", "rank within the job"}, &Row::rank);
    table.Add({"stage", "", "pipeline stage, from 0"}, &Row::stage);
    table.Add({"node", "", "node of its GPU"},
              [&](const Row& row) { return cluster.NodeOf(row.gpu); });
    table.Add({"gpu", "", "device name of its GPU"}, [&](const Row& row) {
        return cluster.GetTopology().GetDevice(cluster.GpuDevice(row.gpu)).name;
    });
    AddBreakdown(table);
    for (uint32_t job = 0; job < result.jobs.size(); job++)
    {
        const auto& trained = simulation.GetJob(JobId(job));
        const auto& graph = trained.GetGraph();
        for (uint32_t rank = 0; rank < result.jobs[job].ranks.size(); rank++)
        {
            table.Append({job,
                          rank,
                          graph.programStage[graph.rankProgram[rank]],
                          trained.GetSpec().gpus[rank],
                          result.jobs[job].ranks[rank]});
        }
    }
    table.Finish();
}

struct LinkRow
{
    LinkId id;
    const Link& link;
    const LinkUsage& usage;
    const PortCounters* port; //!< null where the transport has no packet queues
};

void
AddPortCounters(Hdf5RowTable<LinkRow>& table)
{
    const auto add = [&table](const ColumnInfo& info, auto PortCounters::*counter) {
        table.Add(info, [counter](const LinkRow& row) {
            return static_cast<int64_t>(row.port->*counter);
        });
    };
    add({"packets", "1", "packets sent"}, &PortCounters::packets);
    add({"marks", "1", "packets marked (ECN)"}, &PortCounters::marks);
    add({"drops", "1", "packets lost"}, &PortCounters::drops);
    add({"trims", "1", "packets whose payload was cut off"}, &PortCounters::trims);
    add({"pauses", "1", "PFC pauses that it received"}, &PortCounters::pauses);
    table.Add({"paused", "s", "time with a paused class"},
              [](const LinkRow& row) { return static_cast<double>(row.port->paused) * 1e-12; });
    table.Add({"max_queued", "B", "maximum queue length"},
              [](const LinkRow& row) { return static_cast<double>(row.port->maxQueued); });
    add({"retransmissions", "1", "packets retransmitted by its device"},
        &PortCounters::retransmissions);
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
    const MeasuredLinks& measured = simulation.GetMeasuredLinks();
    const Topology& topology = simulation.GetTopology();
    Hdf5RowTable<LinkRow> table(file, "/links", "link");
    table.Add({"name", "", "name of the link"},
              [&](const LinkRow& row) { return topology.LinkName(row.id); });
    table.Add({"kind", "", "link type"},
              [](const LinkRow& row) { return ToString(row.link.kind); });
    table.Add({"profile", "", "link profile"},
              [&](const LinkRow& row) { return topology.GetProfileName(row.link.profile); });
    table.Add({"rate", "B s-1", "payload rate, one direction"},
              [](const LinkRow& row) { return row.link.rate.ToBytesPerSecond(); });
    table.Add({"latency", "s", "latency"}, [](const LinkRow& row) { return row.link.latency; });
    table.Add({"bytes", "B", "bytes carried in the measured interval"},
              [](const LinkRow& row) { return row.usage.bytes; });
    table.Add({"busy", "s", "time with any traffic"},
              [](const LinkRow& row) { return row.usage.busy; });
    table.Add({"saturated", "s", "time at full rate"},
              [](const LinkRow& row) { return row.usage.saturated; });
    table.Add({"utilization", "1", "utilization: bytes over rate times the measured interval"},
              [&](const LinkRow& row) {
                  const double capacity =
                      row.link.rate.ToBytesPerSecond() * measured.end.ToSeconds();
                  return capacity > 0 ? row.usage.bytes / capacity : 0.0;
              });
    if (HasPortCounters(simulation))
    {
        AddPortCounters(table);
    }
    for (std::size_t i = 0; i < topology.LinkCount(); i++)
    {
        const LinkId id(i);
        table.Append({id,
                      topology.GetLink(id),
                      measured.usage[i],
                      measured.ports.empty() ? nullptr : &measured.ports[i]});
    }
    table.Finish();
}

void
WriteFlowPaths(Hdf5File& file, Simulation& simulation, const std::vector<FlowPath>& paths)
{
    struct Row
    {
        uint32_t path;
        LinkId link;
        double share;
    };

    Hdf5RowTable<Row> table(file, "/flow_paths", "row");
    table.Add({"path", "", "path number, as in /flows/path"}, &Row::path);
    table.Add({"link", "", "link that the path crosses", "/links/name"}, &Row::link);
    table.Add({"share",
               "1",
               "bytes that cross the link over those of the flow; k if it represents k flows"},
              &Row::share);
    for (uint32_t i = 0; i < paths.size(); i++)
    {
        if (!paths[i].path.IsValid())
        {
            continue;
        }
        for (const auto& entry : simulation.GetRouting().Paths().Links(paths[i].path))
        {
            table.Append({i, entry.link, static_cast<double>(entry.multiplicity) / paths[i].unit});
        }
    }
    table.Finish();
}

void
WriteVersions(Hdf5File& file)
{
    file.AddGroup("/provenance");
    file.SetAttribute("/provenance", "weir_version", WeirVersion());
    file.SetAttribute("/provenance", "ns3_version", Ns3Version());
    unsigned major = 0;
    unsigned minor = 0;
    unsigned release = 0;
    H5get_libversion(&major, &minor, &release);
    file.SetAttribute("/provenance",
                      "hdf5_version",
                      std::to_string(major) + "." + std::to_string(minor) + "." +
                          std::to_string(release));
}

void
WriteProvenance(Hdf5File& file, const RecordingSpec& spec)
{
    WriteVersions(file);
    file.WriteText("/provenance/scenario", spec.provenance());
    file.SetAttribute("/provenance", "mode", ToString(spec.fidelity));
    file.SetAttribute("/provenance", "seed", static_cast<int64_t>(spec.seed));
    file.SetAttribute("/provenance", "nccl_version", spec.ncclVersion);
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/results/result-file.h"

#include "scenarios/results/recorder.h"
#include "scenarios/results/result-groups.h"
#include "scenarios/simulation/simulation.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace weir
{

namespace
{

constexpr uint32_t NO_COLLECTIVE = 0xffffffff; //!< value of /flows/collective for flows without one

} // namespace

struct ResultFile::Representation
{
    Representation(const TrainingRun& job, const std::vector<Rank>& recordedRanks)
        : ranks(job.GetGraph().RankCount()),
          groups(job.GetGraph().groups.size())
    {
        const StepGraph& graph = job.GetGraph();
        const TrainingJobSpec& spec = job.GetSpec();
        const bool areAlike = !RankDifference{spec.computeScale, spec.jitter}.IsAny();
        const auto counts = RepresentedRankCounts(graph, recordedRanks, areAlike);
        std::vector<bool> isRecorded(graph.RankCount());
        for (std::size_t i = 0; i < recordedRanks.size(); i++)
        {
            isRecorded[recordedRanks[i].Index()] = true;
            ranks[recordedRanks[i].Index()] = counts[i];
        }
        std::map<std::vector<uint32_t>, std::pair<double, double>> alike; // all, recorded
        std::vector<std::vector<uint32_t>> programs(groups.size());
        for (std::size_t group = 0; group < groups.size(); group++)
        {
            bool hasRecorded = false;
            for (const Rank rank : graph.groups[group])
            {
                programs[group].push_back(graph.rankProgram[rank.Index()]);
                hasRecorded = hasRecorded || isRecorded[rank.Index()];
            }
            auto& [all, recorded] = alike[programs[group]];
            all += 1;
            recorded += hasRecorded ? 1 : 0;
        }
        for (std::size_t group = 0; group < groups.size(); group++)
        {
            const auto& [all, recorded] = alike[programs[group]];
            groups[group] = recorded > 0 ? all / recorded : 0;
        }
    }

    std::vector<uint32_t> ranks; //!< by rank: the number of ranks that a recorded rank represents
    std::vector<double> groups;  //!< by group: groups that a recorded one represents
};

struct ResultFile::Tables
{
    struct CallRow
    {
        uint32_t job;
        uint32_t id;
        uint32_t step;
        uint32_t group;
        double groups;
        uint32_t firstRank;
        uint32_t ranks;
        uint32_t label;
        const CollectiveCall& call;
        const CollectivePlan& plan;
        Fidelity fidelity;
        Time firstArrival;
        Time started;
        Time finished;
    };

    struct FlowRow
    {
        const FlowRecord& record;
        uint32_t job;
        uint32_t collective;
        uint32_t label;
        uint32_t source;
        uint32_t destination;
    };

    Tables(Hdf5File& file, bool hasPackets, const std::vector<Representation>& represented)
        : steps(file, "/steps", "row"),
          ops(file, "/ops", "op", MAX_ROWS),
          collectives(file, "/collectives", "collective", MAX_ROWS),
          flows(file, "/flows", "flow", MAX_ROWS)
    {
        const ColumnInfo job{"job", "", "job", "/catalogs/jobs/name"};
        const ColumnInfo step{"step", "1", "step number, from 0"};
        const ColumnInfo label{"label", "", "label of the operation", "/catalogs/labels/name"};

        steps.Add(job, &StepRecord::job);
        steps.Add(step, &StepRecord::step);
        steps.Add({"start", "s", "start time of the step"}, &StepRecord::started);
        steps.Add({"duration", "s", "duration of the step"},
                  [](const StepRecord& row) { return row.finished - row.started; });

        ops.Add(job, &OpRecord::job);
        ops.Add(step, &OpRecord::step);
        ops.Add({"rank", "", "rank within the job"}, &OpRecord::rank);
        ops.Add({"ranks", "1", "number of ranks with its program, which it represents"},
                [&represented](const OpRecord& row) {
                    return represented[row.job.Index()].ranks[row.rank.Index()];
                });
        ops.Add({"stream", "", "CUDA stream", "/catalogs/streams/name"}, &OpRecord::stream);
        ops.Add(label, [this](const OpRecord& row) {
            return firstLabel[row.job.Index()] + row.op->label;
        });
        ops.Add({"micro_batch", "1", "micro-batch, from 0"},
                [](const OpRecord& row) { return row.op->microBatch; });
        ops.Add({"bytes", "B", "size of a communication operation, else 0"},
                [](const OpRecord& row) { return row.op->bytes; });
        ops.Add({"posted", "s", "time when the rank reached it"}, &OpRecord::posted);
        ops.Add({"start", "s", "time when it began to make progress"}, &OpRecord::started);
        ops.Add({"finish", "s", "time when it ended"}, &OpRecord::finished);

        collectives.Add(job, &CallRow::job);
        collectives.Add({"id", "", "call number in the job, as in /flows/collective"},
                        &CallRow::id);
        collectives.Add({"step", "1", "step number (of a collective job: round number), from 0"},
                        &CallRow::step);
        collectives.Add({"group", "", "number of the rank group within the job"}, &CallRow::group);
        collectives.Add(
            {"groups", "1", "number of groups with the same programs, which it represents"},
            &CallRow::groups);
        collectives.Add({"first_rank", "", "first rank of the group"}, &CallRow::firstRank);
        collectives.Add({"ranks", "1", "number of ranks in the group"}, &CallRow::ranks);
        collectives.Add({"op", "", "operation", "/catalogs/collective_ops/name"},
                        [](const CallRow& row) { return row.call.op; });
        collectives.Add(label, &CallRow::label);
        collectives.Add({"algorithm", "", "algorithm", "/catalogs/algorithms/name"},
                        [](const CallRow& row) { return row.plan.algorithm; });
        collectives.Add({"protocol", "", "protocol", "/catalogs/protocols/name"},
                        [](const CallRow& row) { return row.plan.protocol; });
        collectives.Add({"channels", "1", "number of channels"},
                        [](const CallRow& row) { return row.plan.channels; });
        collectives.Add({"bytes", "B", "size as nccl-tests counts it"},
                        [](const CallRow& row) { return row.call.bytes; });
        collectives.Add({"first_arrival", "s", "arrival time of its first rank"},
                        &CallRow::firstArrival);
        collectives.Add({"start", "s", "arrival time of its last rank"}, &CallRow::started);
        collectives.Add({"finish", "s", "time when it ended on all ranks"}, &CallRow::finished);
        collectives.Add(
            {"fidelity", "", "fidelity in which it was simulated", "/catalogs/fidelities/name"},
            &CallRow::fidelity);

        const std::string devices = "/catalogs/devices/name";
        flows.Add({"job", "", "job, or background", job.catalog}, &FlowRow::job);
        flows.Add({"collective",
                   "",
                   "collective of the job, as in /collectives/id (of traffic: flow number); "
                   "4294967295: none"},
                  &FlowRow::collective);
        flows.Add({"label", "", "label of the operation that it belongs to", label.catalog},
                  &FlowRow::label);
        flows.Add({"source", "", "source device; empty: every rank", devices}, &FlowRow::source);
        flows.Add({"destination", "", "destination device; empty: every rank", devices},
                  &FlowRow::destination);
        flows.Add({"path", "", "path number, as in /flow_paths/path"},
                  [](const FlowRow& row) { return row.record.pathNumber; });
        flows.Add(
            {"bytes", "B", "bytes moved, with NCCL's flags (LL, LL128), without packet headers"},
            [](const FlowRow& row) { return row.record.bytes; });
        flows.Add({"weight", "1", "weight in link sharing; k for k equal flows merged into one"},
                  [](const FlowRow& row) { return row.record.weight; });
        flows.Add({"start", "s", "start time"},
                  [](const FlowRow& row) { return row.record.started; });
        flows.Add({"finish", "s", "time when its last byte has passed"},
                  [](const FlowRow& row) { return row.record.finished; });
        const auto fct = [](const FlowRow& row) {
            return row.record.finished - row.record.started;
        };
        flows.Add({"fct", "s", "flow completion time: finish - start"}, fct);
        flows.Add({"slowdown", "1", "flow completion time over that of the uncontended flow"},
                  [fct](const FlowRow& row) {
                      return row.record.ideal > Time() ? fct(row) / row.record.ideal : 1.0;
                  });
        if (hasPackets) // columns are 0 for flows without packets
        {
            AddPacketColumns();
        }
    }

    void AddPacketColumns()
    {
        const auto add = [this](const ColumnInfo& info, uint32_t FlowCounters::*counter) {
            flows.Add(info, [counter](const FlowRow& row) { return row.record.packets.*counter; });
        };
        add({"marks", "1", "received packets with an ECN mark"}, &FlowCounters::marks);
        add({"drops", "1", "packets lost"}, &FlowCounters::drops);
        add({"trims", "1", "received packets that were trimmed"}, &FlowCounters::trims);
        add({"retransmissions", "1", "packets retransmitted"}, &FlowCounters::retransmissions);
        flows.Add({"paused", "s", "time in which the port into the network was paused"},
                  [](const FlowRow& row) {
                      return static_cast<double>(row.record.packets.paused) * 1e-12;
                  });
    }

    /** Adds /link_series: bytes of links by time bin. */
    void AddLinkBins(Hdf5File& file)
    {
        auto& table = linkBins.emplace(file, "/link_series", "");
        table.Add({"link", "", "link", "/links/name"}, &LinkBinRecord::link);
        table.Add({"bin", "1", "index of the time bin, from 0"}, &LinkBinRecord::bin);
        table.Add({"bytes", "B", "bytes carried in the bin"},
                  [](const LinkBinRecord& row) { return static_cast<float>(row.bytes); });
    }

    /** Adds /port_series: queue lengths and pauses of the busiest ports by time bin. */
    void AddPortBins(Hdf5File& file)
    {
        auto& table = portBins.emplace(file, "/port_series", "");
        table.Add({"link", "", "link that the port sends on", "/links/name"}, &PortBinRecord::link);
        table.Add({"bin", "1", "index of the time bin, from 0"}, &PortBinRecord::bin);
        table.Add({"queue", "B", "mean queue length in the bin"},
                  [](const PortBinRecord& row) { return static_cast<float>(row.meanQueued); });
        table.Add({"max_queued", "B", "maximum queue length in the bin"},
                  &PortBinRecord::maxQueued);
        table.Add({"queued", "s", "time with a nonempty queue"}, &PortBinRecord::waiting);
        table.Add({"paused", "s", "time with a paused class"}, &PortBinRecord::paused);
        table.Add({"credit_wait", "s", "time in which a packet waited for credits"},
                  &PortBinRecord::creditWait);
        table.Add({"queued_held", "s", "time with a nonempty queue and a pause or credit wait"},
                  &PortBinRecord::waitingHeld);
        table.Add({"marks", "1", "packets marked (ECN)"}, &PortBinRecord::marks);
        table.Add({"drops", "1", "packets lost"}, &PortBinRecord::drops);
    }

    Hdf5RowTable<StepRecord> steps;
    Hdf5RowTable<OpRecord> ops;
    Hdf5RowTable<CallRow> collectives;
    Hdf5RowTable<FlowRow> flows;
    std::vector<FlowPath> paths;                         //!< by number; invalid if unused
    std::optional<Hdf5RowTable<LinkBinRecord>> linkBins; //!< if the output requests the series
    std::optional<Hdf5RowTable<PortBinRecord>> portBins; //!< if the output requests the series
    std::vector<uint32_t> firstLabel; //!< by job: index of its first label in the catalog
};

ResultFile::ResultFile(const RecordingSpec& spec)
    : m_spec(spec),
      m_file(spec.output.file, spec.output.fileWhere)
{
}

ResultFile::~ResultFile() = default;

void
ResultFile::Begin(Simulation& simulation, const std::vector<std::vector<Rank>>& recorded)
{
    m_simulation = &simulation;
    m_file.AddGroup("/catalogs");
    m_tables = std::make_unique<Tables>(m_file, HasPortCounters(simulation), m_represented);
    if (m_spec.output.linkSeries)
    {
        m_tables->AddLinkBins(m_file);
        m_file.SetAttribute("/link_series",
                            "bin_width_s",
                            static_cast<double>(m_spec.output.linkSeries->ToPicoseconds()) / 1e12);
    }
    if (m_spec.output.portSeries)
    {
        m_tables->AddPortBins(m_file);
        m_portBinWidth = *m_spec.output.portSeries;
    }
    for (std::size_t job = 0; job < simulation.JobCount(); job++)
    {
        m_represented.emplace_back(simulation.GetJob(JobId(job)), recorded[job]);
    }
    m_tables->firstLabel = JobNamesOf(simulation).firstLabel;
}

void
ResultFile::OnStep(const StepRecord& record)
{
    m_tables->steps.Append(record);
}

void
ResultFile::OnOp(const OpRecord& record)
{
    m_tables->ops.Append(record);
}

void
ResultFile::OnCollective(const CollectiveRecord& record)
{
    if (!m_tables->collectives.HasRoom())
    {
        return;
    }
    const uint32_t job = record.job.Index();
    const TrainingRun& trained = m_simulation->GetJob(record.job);
    const auto& members = trained.GetGraph().groups[record.group];
    const CollectiveCall call = trained.CallOf(record.group, *record.op);
    m_tables->collectives.Append(
        {job,
         static_cast<uint32_t>(record.number),
         record.step,
         record.group,
         m_represented[job].groups[record.group],
         members.front().Index(),
         static_cast<uint32_t>(members.size()),
         m_tables->firstLabel[job] + record.op->label,
         call,
         m_simulation->GetPlanner().Plan(call),
         m_simulation->FidelityOfEndedCall(m_simulation->FidelityOf(record.job)),
         record.firstArrival,
         record.started,
         record.finished});
}

void
ResultFile::OnCall(const CallRecord& record)
{
    if (!m_tables->collectives.HasRoom())
    {
        return;
    }
    const CollectiveLoop& loop = *m_simulation->Collectives()[record.collectiveJob];
    const CollectiveCall& call = loop.GetCall(record.number);
    const auto calls = static_cast<uint32_t>(loop.Calls().size());
    const auto job = static_cast<uint32_t>(m_simulation->JobCount()) + record.collectiveJob;
    Planner& planner = m_simulation->GetPlanner();
    m_tables->collectives.Append(
        {job,
         record.number,
         record.number / calls,
         0,
         1,
         0,
         static_cast<uint32_t>(planner.GetGroup(call.communicator).Size()),
         m_tables->firstLabel[job] + record.number % calls,
         call,
         planner.Plan(call),
         m_simulation->FidelityOfEndedCall(m_simulation->CollectiveFidelity(record.collectiveJob)),
         record.started,
         record.started,
         record.finished});
}

void
ResultFile::OnFlow(const FlowRecord& record)
{
    if (!m_tables->flows.HasRoom())
    {
        return;
    }
    const FlowOwner& owner = record.owner;
    // In the order of JobNames::jobs.
    const std::size_t collectives = m_simulation->JobCount();
    const std::size_t traffics = collectives + m_simulation->Collectives().size();
    const std::size_t firsts[] = {0, collectives, traffics};
    const std::size_t job =
        owner.work ? firsts[static_cast<std::size_t>(owner.work->kind)] + owner.work->index
                   : traffics + m_simulation->TrafficJobs().size();
    const Routing& routing = m_simulation->GetRouting();
    const auto devices = static_cast<uint32_t>(m_simulation->GetTopology().DeviceCount());
    const auto indexOf = [devices](DeviceId device) {
        return device.IsValid() ? static_cast<uint32_t>(device.Index()) : devices;
    };
    m_tables->flows.Append({record,
                            static_cast<uint32_t>(job),
                            owner.work        ? static_cast<uint32_t>(owner.collective)
                            : owner.label > 0 ? owner.label - 1
                                              : NO_COLLECTIVE,
                            m_tables->firstLabel[job] + owner.label,
                            indexOf(routing.SourceOf(record.route)),
                            indexOf(routing.DestinationOf(record.route))});
    auto& paths = m_tables->paths;
    paths.resize(std::max<std::size_t>(paths.size(), record.pathNumber + 1));
    paths[record.pathNumber] = record.path;
}

void
ResultFile::OnPortBin(const PortBinRecord& record)
{
    m_portBinWidth = record.width;
    m_tables->portBins->Append(record);
}

void
ResultFile::OnLinkBin(const LinkBinRecord& record)
{
    m_tables->linkBins->Append(record);
}

void
ResultFile::Commit(const RunResult& result)
{
    std::vector<std::string> groups{"/steps", "/ops", "/collectives", "/flows", "/links"};
    WriteCatalogs(m_file, *m_simulation);
    WriteSummary(m_file, result);
    WriteMemory(m_file, result);
    m_tables->steps.Finish();
    m_tables->ops.Finish();
    m_tables->collectives.Finish();
    m_tables->flows.Finish();
    m_file.SetAttribute("/ops", "rows_left_out", m_tables->ops.LeftOut());
    m_file.SetAttribute("/collectives", "rows_left_out", m_tables->collectives.LeftOut());
    m_file.SetAttribute("/flows", "rows_left_out", m_tables->flows.LeftOut());
    WriteFlowPaths(m_file, *m_simulation, m_tables->paths);
    if (m_tables->linkBins)
    {
        m_tables->linkBins->Finish();
        groups.emplace_back("/link_series");
    }
    if (m_tables->portBins)
    {
        m_tables->portBins->Finish();
        groups.emplace_back("/port_series");
        m_file.SetAttribute("/port_series",
                            "bin_width_s",
                            static_cast<double>(m_portBinWidth.ToPicoseconds()) / 1e12);
    }
    WriteRanks(m_file, result, *m_simulation);
    WriteLinks(m_file, *m_simulation);
    for (const std::string& group : groups)
    {
        m_file.SetAttribute(group, "window_start_s", 0.0);
        m_file.SetAttribute(group, "window_end_s", result.measured.ToSeconds());
    }
    WriteProvenance(m_file, m_spec);
    m_file.SetAttribute("/", "title", m_spec.title);
    m_tables.reset();
    m_file.Commit();
}

} // namespace weir

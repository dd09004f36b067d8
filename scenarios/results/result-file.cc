// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/results/result-file.h"

#include "scenarios/results/record-tables.h"
#include "scenarios/results/recorder.h"
#include "scenarios/results/result-groups.h"
#include "scenarios/simulation/simulation.h"

#include <algorithm>
#include <map>
#include <utility>

namespace weir
{

namespace
{

constexpr uint32_t NO_COLLECTIVE = 0xffffffff; //!< in /flows/collective

/** Whether another row goes into @p table, which counts those that do not. */
template <typename Table>
bool
HasRoom(Table& table)
{
    const bool hasRoom = table.table.Rows() < ResultFile::MAX_ROWS;
    table.leftOut += hasRoom ? 0 : 1;
    return hasRoom;
}

} // namespace

struct ResultFile::Tables
{
    Tables(Hdf5File& file, bool hasPackets)
        : steps(file),
          ops(file),
          collectives(file),
          flows(file, hasPackets)
    {
    }

    StepTable steps;
    OpTable ops;
    CollectiveTable collectives;
    FlowTable flows;
    std::unique_ptr<LinkBinTable> linkBins; //!< where the output asks for the series
    std::unique_ptr<PortBinTable> portBins; //!< where the output asks for the series
    std::vector<uint32_t> firstLabel;       //!< by job: where its labels begin in the catalogue
};

struct ResultFile::Representation
{
    Representation(const TrainingRun& job, const std::vector<Rank>& recordedRanks)
        : ranks(job.GetGraph().RankCount()),
          groups(job.GetGraph().groups.size())
    {
        const StepGraph& graph = job.GetGraph();
        const TrainingJobSpec& spec = job.GetSpec();
        const bool areAlike = !RankDifference{spec.computeScale, spec.jitter}.IsAny();
        const auto counts = RanksStoodFor(graph, recordedRanks, areAlike);
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

    std::vector<uint32_t> ranks; //!< by rank: how many a recorded one stands for
    std::vector<double> groups;  //!< by group: how many have its programs, over those recorded
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
    m_tables = std::make_unique<Tables>(m_file, HasPortCounters(simulation));
    if (m_spec.output.linkSeries)
    {
        m_tables->linkBins = std::make_unique<LinkBinTable>(m_file);
        m_file.SetAttribute("/link_series",
                            "bin_width_s",
                            static_cast<double>(m_spec.output.linkSeries->ToPicoseconds()) / 1e12);
    }
    if (m_spec.output.portSeries)
    {
        m_tables->portBins = std::make_unique<PortBinTable>(m_file);
        m_portBinWidth = *m_spec.output.portSeries;
    }
    uint32_t labels = 0;
    for (std::size_t job = 0; job < simulation.JobCount(); job++)
    {
        m_represented.emplace_back(simulation.GetJob(JobId(job)), recorded[job]);
        m_tables->firstLabel.push_back(labels);
        labels += static_cast<uint32_t>(simulation.GetJob(JobId(job)).GetGraph().labels.size());
    }
    for (std::size_t i = 0; i < simulation.Collectives().size(); i++)
    {
        m_tables->firstLabel.push_back(labels);
        labels += static_cast<uint32_t>(simulation.Collectives()[i]->Calls().size());
    }
    for (std::size_t i = 0; i < simulation.TrafficJobs().size(); i++)
    {
        m_tables->firstLabel.push_back(labels++);
    }
    m_tables->firstLabel.push_back(labels); // of what no job does
}

void
ResultFile::OnStep(const StepRecord& record)
{
    auto& table = m_tables->steps;
    table.job.Append(record.job.Index());
    table.step.Append(record.step);
    table.start.Append(record.started.ToSeconds());
    table.duration.Append((record.finished - record.started).ToSeconds());
}

void
ResultFile::OnOp(const OpRecord& record)
{
    auto& table = m_tables->ops;
    if (!HasRoom(table))
    {
        return;
    }
    table.step.Append(record.step);
    table.ranks.Append(m_represented[record.job.Index()].ranks[record.rank.Index()]);
    table.job.Append(record.job.Index());
    table.rank.Append(record.rank.Index());
    table.stream.Append(static_cast<uint32_t>(record.stream));
    table.label.Append(m_tables->firstLabel[record.job.Index()] + record.op->label);
    table.microBatch.Append(record.op->microBatch);
    table.bytes.Append(record.op->bytes.Count());
    table.posted.Append(record.posted.ToSeconds());
    table.start.Append(record.started.ToSeconds());
    table.finish.Append(record.finished.ToSeconds());
}

void
ResultFile::OnCollective(const CollectiveRecord& record)
{
    auto& table = m_tables->collectives;
    if (!HasRoom(table))
    {
        return;
    }
    const auto& members = m_simulation->GetJob(record.job).GetGraph().groups[record.group];
    table.id.Append(static_cast<uint32_t>(record.number));
    table.step.Append(record.step);
    table.group.Append(record.group);
    table.groups.Append(m_represented[record.job.Index()].groups[record.group]);
    table.firstRank.Append(members.front().Index());
    table.ranks.Append(static_cast<uint32_t>(members.size()));
    table.firstArrival.Append(record.firstArrival.ToSeconds());
    AppendCall(record.job.Index(),
               record.op->label,
               m_simulation->CallOf(record.job, record.group, *record.op),
               m_simulation->FidelityOf(record.job),
               record.started,
               record.finished);
}

void
ResultFile::OnCall(const CallRecord& record)
{
    auto& table = m_tables->collectives;
    if (!HasRoom(table))
    {
        return;
    }
    const CollectiveLoop& loop = *m_simulation->Collectives()[record.collectiveJob];
    const CollectiveCall& call = loop.GetCall(record.number);
    const auto calls = static_cast<uint32_t>(loop.Calls().size());
    table.id.Append(record.number);
    table.step.Append(record.number / calls);
    table.group.Append(0);
    table.groups.Append(1);
    table.firstRank.Append(0);
    table.ranks.Append(static_cast<uint32_t>(
        m_simulation->GetPlanner().GetCommunicator(call.communicator).Size()));
    table.firstArrival.Append(record.started.ToSeconds());
    AppendCall(m_simulation->JobCount() + record.collectiveJob,
               record.number % calls,
               call,
               m_simulation->CollectiveFidelity(record.collectiveJob),
               record.started,
               record.finished);
}

void
ResultFile::AppendCall(std::size_t job,
                       uint32_t label,
                       const CollectiveCall& call,
                       Fidelity fidelity,
                       Time started,
                       Time finished)
{
    auto& table = m_tables->collectives;
    const CollectivePlan& plan = m_simulation->GetPlanner().Plan(call);
    table.job.Append(static_cast<uint32_t>(job));
    table.op.Append(static_cast<uint32_t>(call.op));
    table.label.Append(m_tables->firstLabel[job] + label);
    table.algorithm.Append(static_cast<uint32_t>(plan.algorithm));
    table.protocol.Append(static_cast<uint32_t>(plan.protocol));
    table.channels.Append(plan.channels);
    table.bytes.Append(call.bytes.Count());
    table.start.Append(started.ToSeconds());
    table.finish.Append(finished.ToSeconds());
    table.fidelity.Append(static_cast<uint32_t>(m_simulation->FidelityOfEndedCall(fidelity)));
}

void
ResultFile::OnFlow(const FlowRecord& record)
{
    auto& table = m_tables->flows;
    if (!HasRoom(table))
    {
        return;
    }
    table.paths.resize(std::max<std::size_t>(table.paths.size(), record.pathNumber + 1));
    table.paths[record.pathNumber] = record.path;
    const FlowOwner& owner = record.owner;
    const bool isCollective = owner.collectiveJob != FlowOwner::NO_COLLECTIVE_JOB;
    const bool isTraffic = owner.trafficJob != FlowOwner::NO_COLLECTIVE_JOB;
    const bool hasJob = owner.job.IsValid() || isCollective || isTraffic;
    // Jobs, then collectives, then traffic, then what is no job's.
    const std::size_t jobs = m_simulation->JobCount();
    const std::size_t traffics = jobs + m_simulation->Collectives().size();
    const std::size_t job = owner.job.IsValid() ? owner.job.Index()
                            : isCollective      ? jobs + owner.collectiveJob
                            : isTraffic         ? traffics + owner.trafficJob
                                                : traffics + m_simulation->TrafficJobs().size();
    const Routing& routing = m_simulation->GetRouting();
    const auto devices = static_cast<uint32_t>(m_simulation->GetTopology().DeviceCount());
    const auto indexOf = [devices](DeviceId device) {
        return device.IsValid() ? static_cast<uint32_t>(device.Index()) : devices;
    };
    const Time fct = record.finished - record.started;
    table.job.Append(static_cast<uint32_t>(job));
    table.collective.Append(hasJob            ? static_cast<uint32_t>(owner.collective)
                            : owner.label > 0 ? owner.label - 1
                                              : NO_COLLECTIVE);
    table.label.Append(m_tables->firstLabel[job] + owner.label);
    table.source.Append(indexOf(routing.SourceOf(record.route)));
    table.destination.Append(indexOf(routing.DestinationOf(record.route)));
    table.fct.Append(fct.ToSeconds());
    table.slowdown.Append(record.ideal > Time() ? fct / record.ideal : 1);
    table.path.Append(record.pathNumber);
    table.bytes.Append(record.bytes.Count());
    table.weight.Append(record.weight);
    table.start.Append(record.started.ToSeconds());
    table.finish.Append(record.finished.ToSeconds());
    if (table.packets)
    {
        table.packets->Append(record.packets);
    }
}

void
ResultFile::OnPortBin(const PortBinRecord& record)
{
    auto& table = *m_tables->portBins;
    m_portBinWidth = record.width;
    table.link.Append(record.link.Index());
    table.bin.Append(record.bin);
    table.queue.Append(static_cast<float>(record.meanQueued));
    table.maxQueued.Append(record.maxQueued.Count());
    table.queued.Append(record.waiting.ToSeconds());
    table.paused.Append(record.paused.ToSeconds());
    table.creditWait.Append(record.creditWait.ToSeconds());
    table.queuedHeld.Append(record.waitingHeld.ToSeconds());
    table.marks.Append(record.marks);
    table.drops.Append(record.drops);
}

void
ResultFile::OnLinkBin(const LinkBinRecord& record)
{
    auto& table = *m_tables->linkBins;
    table.link.Append(record.link.Index());
    table.bin.Append(record.bin);
    table.bytes.Append(static_cast<float>(record.bytes));
}

void
ResultFile::Commit(const RunResult& result)
{
    std::vector<std::string> groups{"/steps", "/ops", "/collectives", "/flows", "/links"};
    WriteCatalogs(m_file, *m_simulation);
    WriteSummary(m_file, result);
    WriteMemory(m_file, result);
    m_tables->steps.table.Finish();
    m_tables->ops.table.Finish();
    m_tables->collectives.table.Finish();
    m_tables->flows.table.Finish();
    m_file.SetAttribute("/ops", "rows_left_out", m_tables->ops.leftOut);
    m_file.SetAttribute("/collectives", "rows_left_out", m_tables->collectives.leftOut);
    m_file.SetAttribute("/flows", "rows_left_out", m_tables->flows.leftOut);
    WriteFlowPaths(m_file, *m_simulation, m_tables->flows.paths);
    if (m_tables->linkBins)
    {
        m_tables->linkBins->table.Finish();
        groups.emplace_back("/link_series");
    }
    if (m_tables->portBins)
    {
        m_tables->portBins->table.Finish();
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

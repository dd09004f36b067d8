// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/results/result-file.h"

#include "scenarios/results/record-tables.h"
#include "scenarios/results/result-groups.h"
#include "scenarios/simulation/simulation.h"

#include <algorithm>

namespace weir
{

struct ResultFile::Tables
{
    explicit Tables(Hdf5File& file)
        : steps(file),
          ops(file),
          collectives(file),
          flows(file)
    {
    }

    StepTable steps;
    OpTable ops;
    CollectiveTable collectives;
    FlowTable flows;
    std::unique_ptr<LinkBinTable> linkBins; //!< where the output asks for the series
    std::vector<uint32_t> firstLabel;       //!< by job: where its labels begin in the catalogue
};

ResultFile::ResultFile(const Scenario& scenario)
    : m_scenario(scenario),
      m_file(scenario.output.file, "output.file")
{
}

ResultFile::~ResultFile() = default;

void
ResultFile::Begin(Simulation& simulation)
{
    m_simulation = &simulation;
    m_file.AddGroup("/catalogs");
    m_tables = std::make_unique<Tables>(m_file);
    if (m_scenario.output.linkSeries)
    {
        m_tables->linkBins = std::make_unique<LinkBinTable>(m_file);
        m_file.SetAttribute("/link_series",
                            "bin_width_s",
                            static_cast<double>(m_scenario.output.linkSeries->ToPicoseconds()) /
                                1e12);
    }
    uint32_t labels = 0;
    for (std::size_t job = 0; job < simulation.JobCount(); job++)
    {
        m_tables->firstLabel.push_back(labels);
        labels += static_cast<uint32_t>(simulation.GetJob(JobId(job)).GetGraph().labels.size());
    }
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
    const auto& graph = m_simulation->GetJob(record.job).GetGraph();
    const auto& members = graph.groups[record.group];
    const CollectiveCall call = m_simulation->CallOf(record.job, record.group, *record.op);
    const CollectivePlan& plan = m_simulation->GetPlanner().Plan(call);
    auto& table = m_tables->collectives;
    table.job.Append(record.job.Index());
    table.group.Append(record.group);
    table.firstRank.Append(members.front().Index());
    table.ranks.Append(static_cast<uint32_t>(members.size()));
    table.op.Append(static_cast<uint32_t>(call.op));
    table.label.Append(m_tables->firstLabel[record.job.Index()] + record.op->label);
    table.protocol.Append(static_cast<uint32_t>(plan.protocol));
    table.channels.Append(plan.channels);
    table.bytes.Append(call.bytes.Count());
    table.firstArrival.Append(record.firstArrival.ToSeconds());
    table.start.Append(record.started.ToSeconds());
    table.finish.Append(record.finished.ToSeconds());
}

void
ResultFile::OnFlow(const FlowRecord& record)
{
    auto& table = m_tables->flows;
    if (table.table.Rows() == MAX_FLOWS)
    {
        table.leftOut++;
        return;
    }
    const uint32_t path = record.path.Index();
    table.paths.resize(std::max<std::size_t>(table.paths.size(), path + 1));
    table.paths[path] = true;
    table.path.Append(path);
    table.bytes.Append(record.bytes.Count());
    table.weight.Append(record.weight);
    table.start.Append(record.started.ToSeconds());
    table.finish.Append(record.finished.ToSeconds());
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
ResultFile::Commit(const RunResult& result, Time end)
{
    WriteCatalogs(m_file, *m_simulation);
    WriteSummary(m_file, result);
    m_tables->steps.table.Finish();
    m_tables->ops.table.Finish();
    m_tables->collectives.table.Finish();
    m_tables->flows.table.Finish();
    m_file.SetAttribute("/flows", "rows_left_out", m_tables->flows.leftOut);
    WriteFlowPaths(m_file, *m_simulation, m_tables->flows.paths);
    if (m_tables->linkBins)
    {
        m_tables->linkBins->table.Finish();
    }
    WriteRanks(m_file, result, *m_simulation);
    WriteLinks(m_file, *m_simulation, end);
    WriteProvenance(m_file, m_scenario);
    m_file.SetAttribute("/", "title", m_scenario.title);
    m_tables.reset();
    m_file.Commit();
}

} // namespace weir

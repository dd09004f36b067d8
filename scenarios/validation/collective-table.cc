// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/collective-table.h"

#include "scenarios/readers/located-lines.h"
#include "scenarios/readers/read-nccl.h"
#include "scenarios/readers/read-system.h"
#include "scenarios/readers/scenario-names.h"

#include <algorithm>

namespace weir
{

namespace
{

uint32_t
ReadCount(const YamlNode& node, int64_t max)
{
    return static_cast<uint32_t>(node.AsInteger(1, max));
}

void
ReadRows(LocatedLines& lines, std::vector<MeasuredCollective>& runs)
{
    const auto& fields = lines.Fields();
    const std::size_t columns = lines.NextHeader({"run", "size_bytes", "time_us"}).size();
    while (lines.NextRow(columns))
    {
        const auto run = std::find_if(
            runs.begin(), runs.end(), [&](const auto& each) { return each.name == fields[0]; });
        if (run == runs.end())
        {
            throw lines.Refusal("run", fields[0], "a run that the suite describes");
        }
        constexpr int64_t LARGEST = int64_t{1} << 50;
        const Bytes size(lines.Whole(1, "size_bytes", 1, LARGEST));
        const double time = lines.Positive(2, "time_us", "microseconds");
        if (!run->sweep.sizes.empty() && size <= run->sweep.sizes.back())
        {
            throw lines.Refusal("size_bytes", fields[1], "more than in the run's row before");
        }
        run->sweep.sizes.push_back(size);
        run->measured.push_back(time * 1e-6);
    }
}

} // namespace

MeasuredCollective
ReadMeasuredRun(const YamlNode& node, const Catalog& catalog)
{
    constexpr int64_t MAX_NODES = 1 << 20;
    MeasuredCollective run;
    run.name = node.Get("name").AsString();
    CollectiveSweepSpec& sweep = run.sweep;
    sweep.cluster = ReadSystem(node.Get("system"), catalog).cluster;
    sweep.cluster.nodes = ReadCount(node.Get("nodes"), MAX_NODES);
    sweep.gpusPerNode = ReadCount(node.Get("gpusPerNode"), sweep.cluster.node.gpus);
    sweep.op = node.Get("op").AsEnum(ChoicesUpTo(LAST_COLLECTIVE_OP));
    sweep.nccl = ReadNccl(node.Get("nccl"));
    ReadNcclParameters(node, "suite.collectives", sweep.nccl);
    sweep.overrides = ReadOverrides(node);
    node.Read("launch", sweep.nccl.launch, ChoicesUpTo(LAST_LAUNCH_MODE));
    return run;
}

std::vector<MeasuredCollective>
ReadCollectiveTable(const YamlNode& suite, const Catalog& catalog)
{
    std::vector<MeasuredCollective> runs;
    const YamlNode list = suite.Get("collectives");
    for (const auto& item : list.Items())
    {
        runs.push_back(ReadMeasuredRun(item, catalog));
    }
    const YamlNode table = suite.Get("measured");
    LocatedLines lines(table.AsPathBesideFile(), table.Where());
    ReadRows(lines, runs);
    for (std::size_t i = 0; i < runs.size(); ++i)
    {
        if (runs[i].measured.empty())
        {
            list.Items()[i].Fail("run '" + runs[i].name + "' has no rows in " + lines.Path());
        }
    }
    return runs;
}

} // namespace weir

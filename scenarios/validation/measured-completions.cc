// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/measured-completions.h"

#include "fabric/kinds/graph-fabric.h"
#include "scenarios/flows/hpcc-network.h"
#include "scenarios/flows/htsim-topology.h"
#include "scenarios/flows/play-flows.h"
#include "scenarios/readers/located-lines.h"
#include "scenarios/readers/read-fabric.h"
#include "scenarios/readers/yaml-keys.h"
#include "scenarios/traffic/source-ports.h"
#include "scenarios/validation/row-packets.h"

#include <algorithm>
#include <filesystem>

namespace weir
{

namespace
{

const std::vector<std::string> RUN_COLUMNS{
    "run", "class", "topology", "matrix", "routing", "first_us", "last_us"};
const std::vector<std::string> MESSAGE_COLUMNS{"matrix", "src", "dst", "size_B", "start_us"};

void
ReadMessages(const YamlNode& file, MeasuredCompletions& measured)
{
    constexpr int64_t MAX_BYTES = int64_t{1} << 50;
    constexpr int64_t MAX_US = 1'000'000'000;
    LocatedLines lines(file.AsPathBesideFile(), file.Where());
    if (lines.NextHeader() != MESSAGE_COLUMNS)
    {
        throw lines.Error("found other columns, expected matrix,src,dst,size_B,start_us");
    }
    while (lines.NextAtCommas())
    {
        lines.ExpectFields(MESSAGE_COLUMNS.size());
        MatrixMessage message;
        message.source = static_cast<uint32_t>(lines.Whole(1, "src", 0, 1 << 24));
        message.destination = static_cast<uint32_t>(lines.Whole(2, "dst", 0, 1 << 24));
        message.bytes = Bytes(lines.Whole(3, "size_B", 1, MAX_BYTES));
        message.start =
            Time::Microseconds(static_cast<double>(lines.Whole(4, "start_us", 0, MAX_US)));
        measured.matrices[std::string(lines.Fields()[0])].push_back(message);
    }
}

double
PositiveMicroseconds(const LocatedLines& lines, std::size_t index)
{
    const double value = lines.Decimal(index, RUN_COLUMNS[index].c_str());
    if (value <= 0)
    {
        throw lines.Refusal(RUN_COLUMNS[index], lines.Fields()[index], "a time above zero");
    }
    return value * 1e-6;
}

void
ReadRuns(const YamlNode& file,
         const YamlNode& network,
         const FabricKindRegistry& kinds,
         MeasuredCompletions& measured)
{
    LocatedLines lines(file.AsPathBesideFile(), file.Where());
    const std::vector<std::string> columns = lines.NextHeader();
    if (columns.size() < RUN_COLUMNS.size() ||
        !std::equal(RUN_COLUMNS.begin(), RUN_COLUMNS.end(), columns.begin()))
    {
        throw lines.Error(
            "found other columns, expected run,class,topology,matrix,routing,"
            "first_us,last_us and keys of the network");
    }
    const auto folder = std::filesystem::path(lines.Path()).parent_path();
    while (lines.NextAtCommas())
    {
        lines.ExpectFields(columns.size());
        MeasuredCompletionRun run;
        run.name = lines.Fields()[0];
        run.ofClass = lines.Fields()[1];
        run.topology = folder / std::string(lines.Fields()[2]);
        run.matrix = lines.Fields()[3];
        if (measured.matrices.count(run.matrix) == 0)
        {
            throw lines.Refusal("matrix", lines.Fields()[3], "a matrix of the suite's messages");
        }
        run.fabric.kind = GraphFabric();
        try
        {
            ReadRouting(
                YamlNode::Parse(std::string(lines.Fields()[4]), "routing"), run.fabric, kinds);
        }
        catch (const InputError& error)
        {
            throw lines.Error(error.what());
        }
        run.first = PositiveMicroseconds(lines, 5);
        run.last = PositiveMicroseconds(lines, 6);
        run.packets = ReadRowPackets(lines, columns, RUN_COLUMNS.size(), network);
        measured.runs.push_back(std::move(run));
    }
}

} // namespace

MeasuredCompletions
ReadMeasuredCompletions(const YamlNode& node, const FabricKindRegistry& kinds)
{
    node.CheckKeys(YamlKeysOf("suite.completions"));
    MeasuredCompletions measured;
    ReadMessages(node.Get("messages"), measured);
    ReadRuns(node.Get("runs"), node.Get("network"), kinds, measured);
    return measured;
}

std::vector<CaseOutcome>
PlayMeasuredCompletions(const MeasuredCompletions& measured, const MeasuredCompletionRun& run)
{
    HpccNetwork network(ReadHtsimTopology(run.topology), run.fabric, {run.packets});
    FlowResults flows;
    SourcePorts ports;
    for (const MatrixMessage& message : measured.matrices.at(run.matrix))
    {
        const RouteId route =
            network.FindRoute(message.source,
                              message.destination,
                              {ports.Next(message.source, message.destination), 0, 0});
        flows.Add(message.source, message.destination, message.bytes, message.start, route);
    }
    PlainLoop loop;
    PlayFlows(flows, network, loop, [](Time) {});
    double first = flows.Finish(0).ToSeconds();
    double last = first;
    for (std::size_t i = 1; i < flows.Size(); i++)
    {
        const double time = flows.Finish(i).ToSeconds();
        first = std::min(first, time);
        last = std::max(last, time);
    }
    return {{run.name + ", first", {"first", run.ofClass + ", first"}, run.first, first},
            {run.name + ", last", {"last", run.ofClass + ", last"}, run.last, last}};
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/measured-flows.h"

#include "fabric/kinds/graph-fabric.h"
#include "fabric/transport/packet/packet-spec.h"
#include "scenarios/flows/flow-network.h"
#include "scenarios/flows/hpcc-topology.h"
#include "scenarios/flows/htsim-topology.h"
#include "scenarios/flows/play-flows.h"
#include "scenarios/readers/located-lines.h"
#include "scenarios/readers/read-fabric.h"
#include "scenarios/readers/read-packets.h"
#include "scenarios/readers/yaml-keys.h"
#include "scenarios/traffic/source-ports.h"
#include "scenarios/yaml/yaml-node.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace weir
{

namespace
{

/**
 * The packet configuration of a run: the map @p network (ReadPackets), in which the non-empty
 * fields of the current row of @p lines replace the keys named by @p columns, starting with column
 * @p first.
 * @throws InputError with the location of the row.
 */
PacketSpec
ReadRowPackets(const LocatedLines& lines,
               const std::vector<std::string>& columns,
               std::size_t first,
               const YamlNode& network)
{
    YamlNode node = YamlNode::Parse("{}", lines.Path());
    node.Overlay(network);
    return LocateErrors(lines.Where(), [&] {
        for (std::size_t i = first; i < columns.size(); i++)
        {
            if (!lines.Fields()[i].empty())
            {
                node.Set(columns[i], std::string(lines.Fields()[i]));
            }
        }
        return ReadPackets(node);
    });
}

constexpr uint64_t DRAWS = 9;     //!< number of seeds; odd, for the median
constexpr uint16_t PORTS = 10000; //!< the first source port, as for flows from files

std::vector<MeasuredFlowRun>
ReadRuns(const YamlNode& file, const YamlNode& network)
{
    LocatedLines lines(file.AsPathBesideFile(), file.Where());
    const std::vector<std::string> columns =
        lines.NextHeader({"run", "class"}, "keys of the network");
    std::vector<MeasuredFlowRun> runs;
    while (lines.NextRow(columns.size()))
    {
        MeasuredFlowRun run;
        run.name = lines.Fields()[0];
        run.classes = {std::string(lines.Fields()[1])};
        run.packets = ReadRowPackets(lines, columns, 2, network);
        runs.push_back(std::move(run));
    }
    return runs;
}

/** Reads ends and size of the message in the current row, all but its start. */
void
ReadMessage(const LocatedLines& lines, int64_t min, int64_t max, MeasuredMessage& message)
{
    message.source = static_cast<uint32_t>(lines.Whole(1, "src", 0, 1 << 24));
    message.destination = static_cast<uint32_t>(lines.Whole(2, "dst", 0, 1 << 24));
    message.bytes = Bytes(lines.Whole(3, "size_B", min, max));
}

void
ReadFlows(const YamlNode& file, std::vector<MeasuredFlowRun>& runs)
{
    constexpr int64_t MAX_WHOLE = std::numeric_limits<int64_t>::max() / 2000;
    LocatedLines lines(file.AsPathBesideFile(), file.Where());
    const auto columns =
        lines.NextHeader({"run", "src", "dst", "size_B", "start_ns", "fct_ns", "ideal_ns"});
    while (lines.NextRow(columns.size()))
    {
        const std::string name(lines.Fields()[0]);
        const auto run = std::find_if(
            runs.begin(), runs.end(), [&](const MeasuredFlowRun& one) { return one.name == name; });
        if (run == runs.end())
        {
            throw lines.Refusal("run", lines.Fields()[0], "a run of the suite");
        }
        MeasuredFlow flow;
        ReadMessage(lines, 0, MAX_WHOLE, flow);
        flow.start = Time::Picoseconds(lines.Whole(4, "start_ns", 0, MAX_WHOLE) * 1000);
        flow.measured = lines.Decimal(5, "fct_ns") * 1e-9;
        flow.ideal = lines.Decimal(6, "ideal_ns") * 1e-9;
        run->flows.push_back(flow);
    }
}

/** The mean and the 99th percentile: the value with index 0.99 n of n. */
std::array<double, 2>
MeanAndP99(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    const auto count = static_cast<double>(values.size());
    const std::size_t index = std::min(values.size() - 1, static_cast<std::size_t>(0.99 * count));
    return {sum / count, values[index]};
}

const std::vector<std::string> RUN_COLUMNS{
    "run", "class", "topology", "matrix", "routing", "first_us", "last_us"};

void
ReadMessages(const YamlNode& file, MeasuredCompletions& measured)
{
    constexpr int64_t MAX_BYTES = int64_t{1} << 50;
    constexpr int64_t MAX_US = 1'000'000'000;
    LocatedLines lines(file.AsPathBesideFile(), file.Where());
    const auto columns = lines.NextHeader({"matrix", "src", "dst", "size_B", "start_us"});
    while (lines.NextRow(columns.size()))
    {
        MeasuredMessage message;
        ReadMessage(lines, 1, MAX_BYTES, message);
        message.start =
            Time::Microseconds(static_cast<double>(lines.Whole(4, "start_us", 0, MAX_US)));
        measured.matrices[std::string(lines.Fields()[0])].push_back(message);
    }
}

void
ReadCompletionRuns(const YamlNode& file,
                   const YamlNode& network,
                   const FabricKindRegistry& kinds,
                   MeasuredCompletions& measured)
{
    LocatedLines lines(file.AsPathBesideFile(), file.Where());
    const std::vector<std::string> columns = lines.NextHeader(RUN_COLUMNS, "keys of the network");
    const auto folder = std::filesystem::path(lines.Path()).parent_path();
    while (lines.NextRow(columns.size()))
    {
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
        LocateErrors(lines.Where(), [&] {
            ReadRouting(
                YamlNode::Parse(std::string(lines.Fields()[4]), "routing"), run.fabric, kinds);
        });
        run.first = lines.Positive(5, "first_us", "a time") * 1e-6;
        run.last = lines.Positive(6, "last_us", "a time") * 1e-6;
        run.packets = ReadRowPackets(lines, columns, RUN_COLUMNS.size(), network);
        measured.runs.push_back(std::move(run));
    }
}

/** Simulates @p messages, each from the source port that @p portOf gives. */
template <typename Message, typename PortOf>
FlowResults
Play(const std::vector<Message>& messages, HostNetwork& network, const PortOf& portOf)
{
    FlowResults flows;
    for (const MeasuredMessage& each : messages)
    {
        const RouteId route =
            network.FindRoute(each.source, each.destination, {portOf(each), 0, 0});
        flows.Add(each.source, each.destination, each.bytes, each.start, route);
    }
    PlainLoop loop;
    PlayFlows(flows, network, loop, [](Time) {});
    return flows;
}

} // namespace

MeasuredFlows
ReadMeasuredFlows(const YamlNode& node)
{
    node.CheckKeys(YamlKeysOf("suite.flows"));
    MeasuredFlows measured;
    measured.topology = node.Get("topology").AsPathBesideFile();
    measured.runs = ReadRuns(node.Get("runs"), node.Get("network"));
    ReadFlows(node.Get("table"), measured.runs);
    return measured;
}

std::vector<Time>
CompletionTimesOf(const std::string& topology, const MeasuredFlowRun& run, uint64_t seed)
{
    FabricSpec fabric;
    fabric.kind = GraphFabric();
    PacketSpec packets = run.packets;
    packets.seed = seed;
    HostNetwork network(ReadHpccTopology(topology), fabric, {std::move(packets)});
    uint16_t port = PORTS;
    const FlowResults flows =
        Play(run.flows, network, [&port](const MeasuredMessage&) { return port++; });
    std::vector<Time> times;
    for (std::size_t i = 0; i < run.flows.size(); i++)
    {
        times.push_back(flows.CompletionTime(i));
    }
    return times;
}

std::vector<CaseOutcome>
PlayMeasuredFlows(const std::string& topology, const MeasuredFlowRun& run)
{
    std::vector<double> measured;
    for (const MeasuredFlow& flow : run.flows)
    {
        measured.push_back(flow.measured / flow.ideal);
    }
    const auto was = MeanAndP99(std::move(measured));
    std::array<std::vector<double>, 2> drawn;
    for (uint64_t seed = 1; seed <= DRAWS; seed++)
    {
        const std::vector<Time> times = CompletionTimesOf(topology, run, seed);
        std::vector<double> predicted;
        for (std::size_t i = 0; i < times.size(); i++)
        {
            predicted.push_back(times[i].ToSeconds() / run.flows[i].ideal);
        }
        const auto figures = MeanAndP99(std::move(predicted));
        drawn[0].push_back(figures[0]);
        drawn[1].push_back(figures[1]);
    }
    std::vector<CaseOutcome> cases;
    for (const std::size_t i : {0, 1})
    {
        const char* figure = i == 0 ? "mean slowdown" : "p99 slowdown";
        CaseOutcome one;
        one.name = run.name + ", " + figure;
        one.classes = {figure};
        for (const std::string& each : run.classes)
        {
            one.classes.push_back(each + ", " + figure);
        }
        one.measured = was[i];
        std::nth_element(drawn[i].begin(), drawn[i].begin() + DRAWS / 2, drawn[i].end());
        one.predicted = drawn[i][DRAWS / 2];
        one.isRatio = true;
        cases.push_back(std::move(one));
    }
    return cases;
}

MeasuredCompletions
ReadMeasuredCompletions(const YamlNode& node, const FabricKindRegistry& kinds)
{
    node.CheckKeys(YamlKeysOf("suite.completions"));
    MeasuredCompletions measured;
    ReadMessages(node.Get("messages"), measured);
    ReadCompletionRuns(node.Get("runs"), node.Get("network"), kinds, measured);
    return measured;
}

std::vector<CaseOutcome>
PlayMeasuredCompletions(const MeasuredCompletions& measured, const MeasuredCompletionRun& run)
{
    HostNetwork network(ReadHtsimTopology(run.topology), run.fabric, {run.packets});
    SourcePorts ports;
    const FlowResults flows =
        Play(measured.matrices.at(run.matrix), network, [&ports](const MeasuredMessage& message) {
            return ports.Next(message.source, message.destination);
        });
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

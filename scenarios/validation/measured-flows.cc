// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/measured-flows.h"

#include "fabric/kinds/graph-fabric.h"
#include "scenarios/flows/hpcc-network.h"
#include "scenarios/flows/hpcc-topology.h"
#include "scenarios/flows/play-flows.h"
#include "scenarios/readers/located-lines.h"
#include "scenarios/readers/yaml-keys.h"
#include "scenarios/validation/row-packets.h"

#include <algorithm>
#include <array>
#include <limits>

namespace weir
{

namespace
{

constexpr uint64_t DRAWS = 9;     //!< of what switches draw; odd
constexpr uint16_t PORTS = 10000; //!< the first source port, as flows of files have it

std::vector<MeasuredFlowRun>
ReadRuns(const YamlNode& file, const YamlNode& network)
{
    LocatedLines lines(file.AsPathBesideFile(), file.Where());
    const std::vector<std::string> columns = lines.NextHeader();
    if (columns.size() < 2 || columns[0] != "run" || columns[1] != "class")
    {
        throw lines.Error("found other columns, expected run,class and keys of the network");
    }
    std::vector<MeasuredFlowRun> runs;
    while (lines.NextAtCommas())
    {
        lines.ExpectFields(columns.size());
        MeasuredFlowRun run;
        run.name = lines.Fields()[0];
        run.classes = {std::string(lines.Fields()[1])};
        run.packets = ReadRowPackets(lines, columns, 2, network);
        runs.push_back(std::move(run));
    }
    return runs;
}

void
ReadFlows(const YamlNode& file, std::vector<MeasuredFlowRun>& runs)
{
    constexpr std::array<const char*, 7> COLUMNS{
        "run", "src", "dst", "size_B", "start_ns", "fct_ns", "ideal_ns"};
    constexpr int64_t MAX_WHOLE = std::numeric_limits<int64_t>::max() / 2000;
    LocatedLines lines(file.AsPathBesideFile(), file.Where());
    const std::vector<std::string> columns = lines.NextHeader();
    if (!std::equal(columns.begin(), columns.end(), COLUMNS.begin(), COLUMNS.end()))
    {
        throw lines.Error(
            "found other columns, expected run,src,dst,size_B,start_ns,fct_ns,"
            "ideal_ns");
    }
    while (lines.NextAtCommas())
    {
        lines.ExpectFields(COLUMNS.size());
        const std::string name(lines.Fields()[0]);
        const auto run = std::find_if(
            runs.begin(), runs.end(), [&](const MeasuredFlowRun& one) { return one.name == name; });
        if (run == runs.end())
        {
            throw lines.Refusal("run", lines.Fields()[0], "a run of the suite");
        }
        MeasuredFlow flow;
        flow.source = static_cast<uint32_t>(lines.Whole(1, "src", 0, 1 << 24));
        flow.destination = static_cast<uint32_t>(lines.Whole(2, "dst", 0, 1 << 24));
        flow.bytes = Bytes(lines.Whole(3, "size_B", 0, MAX_WHOLE));
        flow.start = Time::Picoseconds(lines.Whole(4, "start_ns", 0, MAX_WHOLE) * 1000);
        flow.measured = lines.Decimal(5, "fct_ns") * 1e-9;
        flow.ideal = lines.Decimal(6, "ideal_ns") * 1e-9;
        run->flows.push_back(flow);
    }
}

/** The mean, and the one at 0.99 of all. */
std::array<double, 2>
MeanAndP99(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    double sum = 0;
    for (const double value : values)
    {
        sum += value;
    }
    const auto count = static_cast<double>(values.size());
    const std::size_t place = std::min(values.size() - 1, static_cast<std::size_t>(0.99 * count));
    return {sum / count, values[place]};
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
    HpccNetwork network(ReadHpccTopology(topology), fabric, {std::move(packets)});
    FlowResults flows;
    uint16_t port = PORTS;
    for (const MeasuredFlow& flow : run.flows)
    {
        const RouteId route = network.FindRoute(flow.source, flow.destination, {port++, 0, 0});
        flows.Add(flow.source, flow.destination, flow.bytes, flow.start, route);
    }
    PlainLoop loop;
    PlayFlows(flows, network, loop, [](Time) {});
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

} // namespace weir

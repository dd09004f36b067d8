// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/command/commands.h"

#include "scenarios/command/interruption.h"
#include "scenarios/command/packets-option.h"
#include "scenarios/command/result-option.h"
#include "scenarios/command/verb-options.h"
#include "scenarios/flows/flow-network.h"
#include "scenarios/flows/flow-report.h"
#include "scenarios/flows/hpcc-config.h"
#include "scenarios/flows/hpcc-topology.h"
#include "scenarios/flows/play-flows.h"
#include "scenarios/readers/key-uses.h"
#include "scenarios/readers/read-event.h"
#include "scenarios/readers/read-packets.h"
#include "scenarios/results/link-series.h"
#include "scenarios/results/output-file.h"
#include "scenarios/simulation/progress.h"
#include "scenarios/simulation/run-recording.h"
#include "scenarios/simulation/run-scenario.h"
#include "scenarios/topology/read-graph.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/quantity.h"
#include "scenarios/yaml/text-file.h"
#include "scenarios/yaml/yaml-node.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <utility>

namespace weir
{

namespace
{

struct FlowsOptions
{
    std::string topology;
    std::string flows;
    std::string fidelity{"flow"};
    std::string csv;
    NetworkOverrides network;
    PacketsOptions packets;
    ResultOptions result;
    bool json{false};
    bool quiet{false};
    bool keepPartial{false};
};

/** Measures wall-clock time in laps. */
class Stopwatch
{
  public:
    /** Seconds since the last lap, or since construction. */
    double Lap()
    {
        const auto now = std::chrono::steady_clock::now();
        return std::chrono::duration<double>(now - std::exchange(m_since, now)).count();
    }

  private:
    std::chrono::steady_clock::time_point m_since{std::chrono::steady_clock::now()};
};

/** Checks the options that a configuration of the HPCC simulator determines or requires. */
void
ExpectWithHpccConfig(const FlowsOptions& options, Fidelity fidelity)
{
    const std::string with = " with --network " + options.packets.network +
                             ", a configuration of HPCC's simulator, expected ";
    if (FormOf(fidelity) != FlowForm::Packets)
    {
        throw InputError("--fidelity: found '" + options.fidelity + "'" + with + "packet");
    }
    if (!options.packets.congestionControl.empty())
    {
        throw InputError("--congestion-control: found '" + options.packets.congestionControl + "'" +
                         with + "no such option: its CC_MODE selects the congestion control");
    }
    if (IsSystem(options.topology) || IsGraph(options.topology) ||
        std::filesystem::path(options.topology).extension() == ".topo")
    {
        throw InputError("--topology: found '" + options.topology + "'" + with +
                         "a topology file of that simulator");
    }
}

/** The content of the file of --network. */
struct FlowsNetwork
{
    YamlNode keys; //!< keys given by the user
    TransportSpec transport;
    FlowSelection selection; //!< flows that are packets, in hybrid fidelity
    std::vector<EventSpec> events;
    std::string config{}; //!< file of an HPCC configuration, for messages; empty: none
};

/** Reads events on links; others are refused: flows come from --flows, and nothing is computed. */
std::vector<EventSpec>
ReadLinkEvents(const YamlNode& list)
{
    std::vector<EventSpec> events;
    for (const YamlNode& item : list.Items())
    {
        events.push_back(ReadEvent(item, 1));
        const EventKind kind = events.back().kind;
        if (kind == EventKind::Background || kind == EventKind::SlowGpu)
        {
            const YamlNode found = item.Get("kind");
            found.Fail("found '" + found.AsString() +
                       "', expected an event on links: flows are given by --flows");
        }
    }
    return events;
}

/** Reads which flows are packets in hybrid fidelity, and refuses what is impossible there. */
void
ReadPacketsBesideFluid(const FlowsOptions& options, const YamlNode& keys, FlowsNetwork& network)
{
    ExpectNotSettled(keys, *network.transport.packets);
    if (const auto packets = keys.Find("packets"))
    {
        network.selection = ReadFlowSelection(*packets);
        network.transport.coupling->links = network.selection.links;
        if (!network.selection.links.empty())
        {
            NetworkOverrides plain = options.network;
            plain.settings = SplitSettings(options.packets.settings).system;
            const auto opened = OpenNetwork(options.topology, plain, Catalog());
            CheckLinks(packets->Get("links"), opened->GetRouting().GetTopology());
        }
    }
    if (network.selection.IsEmpty())
    {
        throw InputError(
            "--fidelity: found hybrid without any packets, expected packets: with flows, sources, "
            "destinations, below or links in the file of --network");
    }
}

/** Reads the transport and the events; those of an HPCC configuration depend on the topology. */
FlowsNetwork
ReadFlowsNetwork(const FlowsOptions& options, Fidelity fidelity)
{
    FlowsNetwork network{YamlNode::ParseArgument("{}", "--network"), {}, {}, {}};
    if (HpccConfig::IsOne(options.packets.network))
    {
        const HpccConfig config(options.packets.network);
        std::vector<EventSpec> lossy;
        const Topology topology = ReadHpccTopology(options.topology, &lossy);
        network.events = config.Events(topology, lossy);
        const YamlNode keys = LoadNetwork(options.packets, config.Network(topology));
        network.transport = ReadTransportSpec(options.packets, keys, fidelity);
        keys.CheckAllRead({});
        ApplySettings(network.keys, SplitSettings(options.packets.settings).network);
        network.config = options.packets.network;
        return network;
    }
    network.keys = LoadNetwork(options.packets);
    const YamlNode& keys = network.keys;
    network.transport = ReadTransportSpec(options.packets, keys, fidelity, {"events", "packets"});
    keys.Read("events", network.events, ReadLinkEvents);
    if (fidelity == Fidelity::Hybrid)
    {
        ReadPacketsBesideFluid(options, keys, network);
    }
    else if (const auto packets = keys.Find("packets"))
    {
        packets->Fail("found it with fidelity " + options.fidelity +
                      ", expected fidelity hybrid: it selects the flows that move as packets");
    }
    keys.CheckAllRead({});
    return network;
}

/** Adds the files that an HPCC configuration names and no option gives. */
FlowsOptions
WithFiles(FlowsOptions options)
{
    if ((options.topology.empty() || options.flows.empty()) &&
        HpccConfig::IsOne(options.packets.network))
    {
        const HpccConfig config(options.packets.network);
        options.topology = options.topology.empty() ? config.TopologyFile() : options.topology;
        options.flows = options.flows.empty() ? config.FlowFile() : options.flows;
    }
    for (const auto& [name, file] :
         {std::pair("--topology", options.topology), std::pair("--flows", options.flows)})
    {
        if (file.empty())
        {
            throw InputError("found no " + std::string(name) +
                             ", expected it; see weir flows --help");
        }
    }
    return options;
}

/**
 * The number of traffic classes of flows. Where the class changes at each hop, flows start in the
 * first.
 */
uint32_t
ClassesOf(const TransportSpec& transport)
{
    return transport.packets && !transport.packets->switches.classByHop
               ? transport.packets->trafficClasses
               : 1;
}

FlowResults
ReadFlowFile(const std::string& path, FlowNetwork& network, uint32_t trafficClasses)
{
    FlowFile file(path);
    return ReadFlows(file, network, trafficClasses);
}

NetworkOverrides
ReadOverrides(const FlowsOptions& options)
{
    NetworkOverrides overrides = options.network;
    overrides.settings = SplitSettings(options.packets.settings).system;
    ExpectOneOf("--topology", "base", overrides.settings);
    if (overrides.nodes)
    {
        ExpectOneOf("--nodes", "nodes", overrides.settings);
    }
    if (overrides.hashSeed)
    {
        ExpectOneOf("--hash-seed", "fabric.hashSeed", overrides.settings);
    }
    if (!overrides.routing.empty())
    {
        ExpectOneOf("--routing", "fabric.routing", overrides.settings);
    }
    return overrides;
}

/** The result of @p run; an error about packet values gets its location in @p network. */
template <typename Run>
auto
AddLocationToErrors(const FlowsNetwork& network, const Run& run)
{
    try
    {
        return run();
    }
    catch (const std::invalid_argument& error)
    {
        if (!IsOfPackets(error.what()))
        {
            throw;
        }
        const std::string located = AddLocation(network.keys, error.what());
        const bool hasLocation = located != error.what();
        throw InputError((hasLocation || network.config.empty() ? "" : network.config + ": ") +
                         located);
    }
}

/** Refuses series, which replayed transfers do not have. */
void
ExpectNoSeries(const ResultOptions& options)
{
    for (const auto& [name, width] :
         {std::pair("--link-series", options.series), std::pair("--port-series", options.ports)})
    {
        if (!width.empty())
        {
            throw InputError(std::string(name) + ": " + EXPECTED_UNSETTLED);
        }
    }
}

ExitCode
RunFlows(const FlowsOptions& options, const CLI::App& verb)
{
    const Fidelity fidelity = ParseFidelityOf("flows", options.fidelity);
    if (options.keepPartial)
    {
        KeepWhenInterrupted();
    }
    if (HpccConfig::IsOne(options.packets.network))
    {
        ExpectWithHpccConfig(options, fidelity);
    }
    NetworkOverrides overrides = ReadOverrides(options);
    FlowReport report;
    const FlowsNetwork given = ReadFlowsNetwork(options, fidelity);
    overrides.transport = given.transport;
    overrides.events = given.events;
    report.corrections = CorrectionsText(given.keys);
    const bool isSettled = given.transport.packets && given.transport.packets->settle.IsOn();
    if (isSettled)
    {
        ExpectNoSeries(options.result);
    }
    const bool isCsvPrinted = IsStandardOutput(options.csv, options.json);
    const auto csv =
        OpenCsv(options.csv, options.json, options.result, {options.flows, options.topology});
    const RecordingSpec kept = ReadResultOptions(
        options.result,
        options.flows + " on " + options.topology,
        fidelity,
        verb,
        {{"topology", options.topology},
         {"flows", options.flows},
         {"fidelity", options.fidelity},
         {"sharing tolerance", FormatNumber(overrides.transport.sharing.tolerance)},
         {"corrections", report.corrections}});
    RunRecording recording(kept);
    RemoveOutputIfInterrupted(options.result.file);
    Stopwatch watch;
    const auto network = AddLocationToErrors(
        given, [&] { return OpenNetwork(options.topology, overrides, Catalog()); });
    PrintNotes(network->Notes());
    ExpectSimulated(network->Events(), fidelity, isSettled, options.topology);
    FlowResults flows = IsYamlFile(options.flows)
                            ? DrawFlows(LoadTrafficFile(options.flows, Catalog()), *network)
                            : ReadFlowFile(options.flows, *network, ClassesOf(given.transport));
    given.selection.Apply(flows);
    if (const auto& width = kept.output.linkSeries)
    {
        LinkSeries::ExpectFit(MinLinkBins(flows, network->GetRouting(), *width), *width);
    }
    report.cost.readSeconds = watch.Lap();
    if (given.transport.packets)
    {
        const bool hasNodes = network->GetSimulation().GetCluster().GpuCount() > 0;
        PrintNotes(NotesOnPacketUse(given.keys,
                                    *given.transport.packets,
                                    {network->GetRouting().Policy(), hasNodes, false}));
    }
    recording.Begin(network->GetSimulation());
    {
        ProgressLine line = TerminalProgress(options.flows);
        const auto progress = [&](const RunProgress& current) {
            line.Update(current);
            StopIfInterrupted(options.keepPartial);
        };
        report.run = AddLocationToErrors(
            given, [&] { return PlayFlows(flows, *network, *MakeEngineLoop(fidelity), progress); });
    }
    report.cost.playSeconds = watch.Lap();
    if (csv)
    {
        WriteFlowCsv(flows, network->GetTransport(), csv->TemporaryPath());
        csv->Commit();
    }
    report.result = recording.Finish([&report](RunResult& found, Hdf5File* /* file */) {
        found.isPartial = report.run.isPartial;
        found.waiting = report.run.isPartial ? "" : found.waiting;
    });
    report.cost.writeSeconds = watch.Lap();
    report.fidelity = options.fidelity;
    report.sharingTolerance = overrides.transport.sharing.tolerance;
    report.topology = options.topology;
    report.flows = options.flows;
    report.endPoints = network->EndPointCount();
    report.endPointName = network->EndPointName();
    report.sortedInput = IsYamlFile(options.flows) || flows.IsSortedByStart();
    report.summary = SummarizeFlows(flows, network->GetTransport());
    if (fidelity == Fidelity::Hybrid)
    {
        report.packetFlows = CountPacketFlows(flows, network->GetTransport());
    }
    report.cost.peakRssBytes = PeakRssBytes();
    if (options.json)
    {
        std::cout << ToJson(report) << "\n";
    }
    else if (isCsvPrinted)
    {
        WriteFlowCsv(flows, network->GetTransport(), std::cout);
    }
    else if (!options.quiet)
    {
        std::cout << ToText(report);
        std::cout << (csv ? "  flows in " + options.csv + "\n" : "");
        std::cout << (options.result.file.empty() ? ""
                                                  : "  results in " + options.result.file + "\n");
    }
    if (given.transport.packets)
    {
        PrintIdlePathNotes(given.keys, *given.transport.packets, report.result);
    }
    if (report.run.isPartial)
    {
        std::cout.flush();
        throw Interrupted{PendingSignal(), "kept the finished flows"};
    }
    PrintNotes(NotesOnLateEvents(network->Events(), report.result.measured));
    return ExitCode::Done;
}

} // namespace

Command
AddFlowsCommand(CLI::App& application)
{
    auto* verb = application.add_subcommand(
        "flows", "Simulate user-defined flows on a user-defined network");
    auto options = std::make_shared<FlowsOptions>();
    verb->add_option("--topology",
                     options->topology,
                     "Network: an HPCC-style topology file, htsim's .topo, a graph of hosts and "
                     "switches (.yaml, "
                     ".graphml), or a system of the catalog or its .yaml file (default: the one "
                     "that a configuration of HPCC's simulator names)");
    verb->add_option(
        "--flows",
        options->flows,
        "Flows: an HPCC-style flow file (src dst pg dport size start_s; dport may be absent), "
        "htsim's .cm (starts in microseconds), CSV with the header src,dst,bytes,start_s, or a "
        ".yaml file of random traffic patterns (default: as for --topology)");
    verb->add_option("--fidelity",
                     options->fidelity,
                     "flow, packet, or hybrid: flows selected by `packets` in the file of "
                     "--network move as packets, the others as a fluid")
        ->capture_default_str();
    AddPacketsOptions(*verb, options->packets);
    AddCsvOption(
        *verb, options->csv, "flow,src,dst,bytes,start_s,finish_s,fct_s,ideal_fct_s,slowdown");
    AddResultOptions(*verb, options->result);
    verb->add_option("--nodes",
                     options->network.nodes,
                     "Number of nodes of a system (default: the system's)")
        ->check(CLI::Range(1, 1 << 20));
    verb->add_option("--hash-seed",
                     options->network.hashSeed,
                     "Seed of the ECMP hashes, which choose among equal-cost paths")
        ->check(CheckSeed);
    verb->add_option("--routing",
                     options->network.routing,
                     "Routing policy, as fabric.routing: static, ecmp, adaptive, flowlet, spray, "
                     "... (default: the system's, or ecmp)");
    verb->add_flag("--json", options->json, "Print one JSON object and nothing else");
    verb->add_flag("--quiet", options->quiet, "Print no summary");
    verb->add_flag(
        "--keep-partial",
        options->keepPartial,
        "At Ctrl-C write the finished flows, marked as partial; a second Ctrl-C discards them");
    verb->footer(
        R"(End points are the hosts of a topology file, with its numbers, or the GPUs of a system, counted node
by node. Between nodes a flow goes from the sender's own NIC to the receiver's. In fidelity flow,
flows share links max-min fairly, and their sizes include headers. In fidelity packet, each flow is
a queue pair, its size is payload, and packets wait in queues. The ideal completion time
(ideal_fct_s) of an uncontended flow is its path's latency plus bytes over the bottleneck's rate,
in packets plus the time of headers and store-and-forward.
Flows need not be sorted by start time. Flows of one pair of end points get source ports, which
ECMP hashes, in the order of the file.
In fidelity hybrid, the flows selected by `packets` in the file of --network move as packets, the
others as a fluid, on the same links: {packets: {sources: [0-15], below: 100kB}}. Its `events` make
links fail, slow down or lose packets, as in a scenario. With several trafficClasses, a flow's pg
selects its class.
A .yaml file describes random flows: {seed: 1, traffic: [{pattern: poisson, sizes: websearch,
load: 0.5, duration: 10ms}]}; the reference lists its keys under traffic file.
Examples:
  weir flows --topology fat.txt --flows flow.txt --csv fct.csv
  weir flows --topology hgx-h100 --nodes 16 --flows flows.csv --json
  weir flows --topology fat.txt --flows flow.txt -o flows.h5 --link-series 10us
  weir flows --topology fat.txt --flows flow.txt --fidelity packet --congestion-control dcqcn
  weir flows --topology fat.txt --flows flow.txt --fidelity packet --network net.yaml --set switch.buffer=16MiB
  weir flows --topology fat.txt --flows flow.txt --fidelity hybrid --set packets.destinations=[3]
  weir flows --network config.txt --fidelity packet
  scripts/make-fat-tree and scripts/make-flows make such files.)");
    return {verb, [options, verb] { return RunFlows(WithFiles(*options), *verb); }};
}

} // namespace weir

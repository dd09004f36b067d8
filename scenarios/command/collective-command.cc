// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/catalog.h"
#include "scenarios/command/commands.h"
#include "scenarios/command/interruption.h"
#include "scenarios/command/packets-option.h"
#include "scenarios/command/result-option.h"
#include "scenarios/command/verb-options.h"
#include "scenarios/describe/explain-collective.h"
#include "scenarios/msccl/read-msccl.h"
#include "scenarios/readers/check-wiring.h"
#include "scenarios/readers/key-uses.h"
#include "scenarios/readers/read-nccl.h"
#include "scenarios/readers/read-packets.h"
#include "scenarios/readers/read-system.h"
#include "scenarios/readers/scenario-names.h"
#include "scenarios/readers/yaml-keys.h"
#include "scenarios/results/output-file.h"
#include "scenarios/results/summary.h"
#include "scenarios/simulation/collective-sweep.h"
#include "scenarios/simulation/progress.h"
#include "scenarios/simulation/run-recording.h"
#include "scenarios/writers/parameter-writer.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/named-choices.h"
#include "scenarios/yaml/names.h"
#include "scenarios/yaml/quantity.h"
#include "scenarios/yaml/size-list.h"
#include "scenarios/yaml/text-file.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <optional>

namespace weir
{

namespace
{

constexpr const char* DIMENSION_WISE = "network.nccl.dimensionWise";

/** The option for a key of `nccl` in `network` of a run, with the same values: "--cross-nic". */
std::string
NcclOptionName(const std::string& key)
{
    std::string name = "--";
    for (const char c : key)
    {
        name += 'A' <= c && c <= 'Z' ? std::string("-") + static_cast<char>(c - 'A' + 'a')
                                     : std::string(1, c);
    }
    return key == "queuePairs" ? "--qps" : name;
}

bool
IsNcclFlag(const std::string& key)
{
    return key == "balanced" || key == "direct";
}

bool
IsNcclList(const std::string& key)
{
    return key == "perDimension";
}

/** Adds options for the parameters of NcclSettings, then for the keys of dimensionWise. */
void
AddNcclOptions(CLI::App& verb)
{
    using Values = std::vector<std::string>;
    const auto add = [&verb](const std::string& key, const std::string& help) {
        return verb.add_option_function<Values>(
            NcclOptionName(key), [](const Values&) {}, help);
    };
    NcclSettings settings;
    ForEachParameter(settings, [&](const ParameterInfo& info, const Parameter& parameter) {
        const std::string help = info.help;
        add(info.key, help.substr(0, help.rfind('.')))->expected(1)->default_str(TextOf(parameter));
    });
    for (const auto& [key, help] : YamlKeyMapOf(DIMENSION_WISE).keys)
    {
        const std::string about = "Algorithm dimension-wise: " + help;
        if (IsNcclFlag(key))
        {
            verb.add_flag(NcclOptionName(key), about);
            continue;
        }
        IsNcclList(key) ? add(key, about)->delimiter(',') : add(key, about)->expected(1);
    }
}

struct CollectiveOptions
{
    std::string system;
    std::optional<uint32_t> nodes; //!< nothing: that of the system
    uint32_t gpusPerNode{0};       //!< 0: all GPUs of a node
    std::string op;                //!< empty: that of the MSCCL file
    std::string msccl;             //!< file of a schedule; empty: NCCL's own
    std::string sizes{"8B:16GiB:x2"};
    std::string counts; //!< file of an all-to-all-v; empty: equal parts of the sizes
    std::string algorithm{"auto"};
    std::string protocol{"auto"};
    uint32_t channels{0}; //!< 0: NCCL's choice
    std::string nccl{NcclSettings().version};
    std::string launch{ToString(NcclSettings().launch)};
    std::string tuner;
    std::string fidelity;  //!< empty: stream; for an MSCCL file, flow
    std::string tolerance; //!< of auto; empty: its default
    PacketsOptions packets;
    BoundOptions bound;
    std::string csv;
    ResultOptions result;
    bool json{false};
    bool keepPartial{false};
    bool explain{false};
};

std::vector<Bytes>
ReadSizes(const std::string& text)
{
    std::vector<Bytes> sizes = LocateErrors("--sizes", [&] { return ParseSizeList(text); });
    for (const Bytes size : sizes)
    {
        if (size > LARGEST_CALL)
        {
            throw InputError("--sizes: found " + FormatBytes(size) + ", expected at most " +
                             FormatBytes(LARGEST_CALL));
        }
    }
    return sizes;
}

std::vector<TunerRule>
ReadTuner(const std::string& file)
{
    const std::string text = ReadTextFile(file, "a tuner's rules as CSV");
    std::vector<TunerRule> rules = ConvertErrors("", [&] { return ParseTunerRules(text, file); });
    if (rules.empty())
    {
        throw InputError(file + ": found no rules, expected at least one");
    }
    return rules;
}

YamlNode
SystemOf(const CollectiveOptions& options)
{
    const std::vector<std::string> settings = SplitSettings(options.packets.settings).system;
    ExpectOneOf("--system", "base", settings);
    if (options.nodes)
    {
        ExpectOneOf("--nodes", "nodes", settings);
    }
    return SystemArgument(options.system, "--system", settings);
}

void
ReadMachine(const CollectiveOptions& options, CollectiveSweepSpec& spec)
{
    const Catalog catalog;
    const YamlNode system = SystemOf(options);
    spec.cluster = ReadSystem(system, catalog).cluster;
    spec.cluster.nodes = options.nodes.value_or(spec.cluster.nodes);
    if (spec.cluster.nodes > 1 && spec.cluster.node.nics > 0 &&
        std::string(spec.cluster.fabric.kind->Name()) == "none")
    {
        FailAtField(ResolveBase(system, CatalogKind::Systems, catalog),
                    "fabric.kind: 'none' with " + std::to_string(spec.cluster.nodes) +
                        " nodes, expected a network between them");
    }
    PrintNotes(CheckWiring(system, catalog, spec.cluster));
    spec.gpusPerNode = options.gpusPerNode == 0 ? spec.cluster.node.gpus : options.gpusPerNode;
    if (spec.gpusPerNode > spec.cluster.node.gpus)
    {
        throw InputError("--gpus-per-node: found " + std::to_string(spec.gpusPerNode) +
                         ", expected at most " + std::to_string(spec.cluster.node.gpus) +
                         ", as a node of " + spec.cluster.name + " has");
    }
}

void
ReadOperation(const CollectiveOptions& options, CollectiveSweepSpec& spec)
{
    if (options.msccl.empty())
    {
        spec.op = ChoiceOf("--op", options.op, ChoicesUpTo(LAST_COLLECTIVE_OP));
        return;
    }
    if (!options.op.empty() || options.algorithm != "auto" || options.channels > 0 ||
        !options.tuner.empty())
    {
        throw InputError(
            "--msccl: found --op, --algorithm, --channels or --tuner beside it, "
            "expected only those of '" +
            options.msccl + "'");
    }
    spec.program = ReadMscclFile(options.msccl);
    spec.op = spec.program->op;
}

/** Reads the links on which a call moves as packets in hybrid fidelity. */
void
ReadPacketLinks(const YamlNode& network, const TransportSpec& transport, CollectiveSweepSpec& spec)
{
    const auto packets = network.Find("packets");
    ExpectNotSettled(network, *transport.packets);
    spec.coupling = *transport.coupling;
    if (packets)
    {
        packets->CheckKeys(YamlKeysOf("network.packets (weir collective)"));
        packets->Read("links", spec.coupling.links, ReadLinkNames);
    }
    if (spec.coupling.links.empty())
    {
        throw InputError(
            "--fidelity: found hybrid without packets.links, expected it by --set or in the file "
            "of --network");
    }
    CheckLinks(packets->Get("links"), Cluster(spec.cluster).GetTopology());
}

void
ReadAuto(const CollectiveOptions& options, CollectiveSweepSpec& spec)
{
    CheckTolerance(options.tolerance, spec.fidelity);
    if (spec.fidelity != Fidelity::Auto)
    {
        return;
    }
    spec.automatic.coverage = options.bound.coverage;
    if (!options.tolerance.empty())
    {
        spec.automatic.tolerance = ParseTolerance(options.tolerance);
    }
}

/**
 * Reads a choice in NCCL's or Weir's spelling; "auto" is NCCL's choice. A text in the syntax of
 * NCCL's lists goes to @p restrict, which limits what NCCL chooses from.
 */
template <typename E, typename Restrict>
void
ReadNcclChoice(const char* option,
               const std::string& text,
               const NamedChoices<E>& choices,
               const Restrict& restrict,
               std::optional<E>& choice)
{
    if (text.find_first_of(",;:^") != std::string::npos)
    {
        ConvertErrors(option, restrict);
        return;
    }
    for (const auto& [name, value] : choices)
    {
        if (NormalizedNcclName(text) == NormalizedNcclName(name))
        {
            choice = value;
            return;
        }
    }
    if (text != "auto")
    {
        std::vector<std::string> names = ChoiceNames(choices);
        names.emplace_back("auto");
        FailOption(option, text, names);
    }
}

/** Reads the algorithm and the protocol, or the sets that NCCL may choose from. */
void
ReadChoice(const CollectiveOptions& options, CollectiveSweepSpec& spec)
{
    NcclFilter& filter = spec.nccl.filter;
    ReadNcclChoice(
        "--algorithm",
        options.algorithm,
        CalledAlgorithms(),
        [&] { filter.SetAlgorithms(options.algorithm); },
        spec.overrides.algorithm);
    ReadNcclChoice(
        "--protocol",
        options.protocol,
        ChoicesUpTo(Protocol::Simple),
        [&] { filter.SetProtocols(options.protocol); },
        spec.overrides.protocol);
}

/**
 * Reads settings of NCCL; those of dimension-wise collectives are refused with other algorithms.
 */
void
ReadNcclOptions(const CollectiveOptions& options, const CLI::App& verb, CollectiveSweepSpec& spec)
{
    const auto find = [&verb](const std::string& key) -> std::optional<YamlNode> {
        const std::string name = NcclOptionName(key);
        const CLI::Option* option = verb.get_option(name);
        if (option->count() == 0 || (IsNcclFlag(key) && !option->as<bool>()))
        {
            return std::nullopt;
        }
        const std::string text = IsNcclFlag(key)   ? "true"
                                 : IsNcclList(key) ? "[" + JoinNames(option->results()) + "]"
                                                   : option->results().front();
        return YamlNode::ParseArgument(text, name);
    };
    ReadNcclParameters(find, spec.nccl);
    spec.nccl.dimensionWise = ReadDimensionWise(find);
    if (!spec.nccl.dimensionWise.IsGiven() || spec.overrides.algorithm == Algorithm::DimensionWise)
    {
        return;
    }
    for (const std::string& key : YamlKeysOf(DIMENSION_WISE))
    {
        if (const auto given = find(key))
        {
            given->Fail("found it with --algorithm " + options.algorithm +
                        ", expected --algorithm dimension-wise with it");
        }
    }
}

void
ReadUnequalParts(const CollectiveOptions& options, CollectiveSweepSpec& spec)
{
    if (options.counts.empty())
    {
        return;
    }
    if (spec.op != CollectiveOp::AllToAll)
    {
        throw InputError("--counts: found it with --op " + std::string(ToString(spec.op)) +
                         ", expected --op all-to-all with it");
    }
    if (options.sizes != CollectiveOptions().sizes)
    {
        throw InputError("--counts: found --sizes " + options.sizes +
                         " beside it, expected one of the two");
    }
    spec.counts = ReadCounts(options.counts, spec.cluster.nodes * spec.gpusPerNode);
    ConvertErrors(options.counts, [&] { spec.sizes = {Traffic(spec.counts).LargestRow()}; });
}

/** @param network is set to the network map of the options */
CollectiveSweepSpec
ReadSweep(const CollectiveOptions& options, const CLI::App& verb, YamlNode& network)
{
    CollectiveSweepSpec spec;
    spec.onlyTimes =
        !options.json && options.result.file.empty() && options.result.timeline.empty();
    ReadMachine(options, spec);
    ReadOperation(options, spec);
    ReadChoice(options, spec);
    ReadNcclOptions(options, verb, spec);
    if (options.channels > 0)
    {
        spec.overrides.channels = options.channels;
    }
    spec.sizes = ReadSizes(options.sizes);
    ReadUnequalParts(options, spec);
    if (!options.fidelity.empty())
    {
        spec.fidelity = ChoiceOf("--fidelity", options.fidelity, FidelitiesOf("collective"));
    }
    ReadAuto(options, spec);
    network = LoadNetwork(options.packets);
    const TransportSpec transport =
        ReadTransportSpec(options.packets,
                          network,
                          spec.fidelity,
                          spec.fidelity == Fidelity::Hybrid ? std::vector<std::string>{"packets"}
                                                            : std::vector<std::string>());
    if (spec.fidelity == Fidelity::Hybrid)
    {
        ReadPacketLinks(network, transport, spec);
    }
    network.CheckAllRead({});
    if (transport.packets)
    {
        spec.packets = *transport.packets;
        PrintNotes(NotesOnPacketUse(network, spec.packets, {*spec.cluster.fabric.routing}));
    }
    spec.sharing = transport.sharing;
    spec.corrections = transport.corrections;
    spec.correctionsText = CorrectionsText(network);
    const YamlNode version = YamlNode::ParseArgument(options.nccl, "--nccl");
    spec.nccl.version = ReadNcclVersion(version);
    if (const std::string note = NoteOnNcclVersion(version); !note.empty())
    {
        PrintNotes({note});
    }
    spec.nccl.launch = ChoiceOf("--launch", options.launch, ChoicesUpTo(LAST_LAUNCH_MODE));
    const ChannelLimits& limits = spec.nccl.channelLimits;
    const bool isBelow = options.channels > 0 && options.channels < limits.min;
    if (isBelow || options.channels > limits.max)
    {
        throw InputError(
            "--channels: found " + std::to_string(options.channels) +
            (isBelow ? ", expected at least --min-channels, " + std::to_string(limits.min)
                     : ", expected at most --max-channels, " + std::to_string(limits.max)));
    }
    if (!options.tuner.empty())
    {
        spec.nccl.tuner = ReadTuner(options.tuner);
    }
    return spec;
}

/** Runs the sweep with a progress line. At Ctrl-C finished sizes are kept with --keep-partial. */
CollectiveSweepResult
RunShowingProgress(const CollectiveSweepSpec& spec,
                   RunRecording& recording,
                   const SweepBounds& bounds,
                   const CollectiveOptions& options)
{
    ProgressLine line = TerminalProgress(ToString(spec.op));
    return RecordCollectiveSweep(spec, recording, bounds, [&](std::size_t done, std::size_t sizes) {
        line.Update(done, sizes, Time());
        if (options.keepPartial && PendingSignal() != 0)
        {
            return false;
        }
        ThrowIfInterrupted();
        return true;
    });
}

/**
 * The result of @p run. An error about packet values gets its location in @p network; an error of
 * the planner gets the name of the option at fault.
 */
template <typename Run>
auto
Naming(const YamlNode& network,
       const CollectiveSweepSpec& spec,
       const CollectiveOptions& options,
       const Run& run)
{
    try
    {
        return run();
    }
    catch (const InputError& error)
    {
        if (IsOfPackets(error.what()))
        {
            throw InputError(AddLocation(network, error.what()));
        }
        const std::string said = error.what();
        const auto begins = [&said](const std::string& text) { return said.rfind(text, 0) == 0; };
        const std::string channels = std::to_string(options.channels) + " channels";
        const char* option =
            (begins("found no algorithm") || begins("found algorithm ")) &&
                    options.algorithm != "auto"
                ? "--algorithm: "
            : begins("found protocol") && options.protocol != "auto" ? "--protocol: "
            : begins("found algorithms for")                         ? "--per-dimension: "
            : begins("found a dispatch")                             ? "--dispatch: "
            : begins("found " + channels) && spec.overrides.channels ? "--channels: "
                                                                     : "";
        throw InputError(option + said);
    }
}

ExitCode
RunCollective(const CollectiveOptions& options, const CLI::App& verb)
{
    YamlNode network = YamlNode::ParseArgument("{}", "--network");
    CollectiveSweepSpec spec = ReadSweep(options, verb, network);
    const Catalog catalog;
    const std::optional<Calibration> calibration =
        CalibrationFor(options.bound, false, spec.fidelity, catalog);
    if (spec.fidelity == Fidelity::Auto)
    {
        spec.automatic.calibration = calibration; // also of collectives
    }
    if (options.keepPartial)
    {
        KeepWhenInterrupted();
    }
    const bool isCsvPrinted = IsStandardOutput(options.csv, options.json);
    const bool isTable = !options.json && !isCsvPrinted;
    if (options.explain && !isTable)
    {
        throw InputError(std::string("--explain: found it with ") +
                         (options.json ? "--json" : "--csv -") +
                         ", expected neither: it precedes the printed table");
    }
    const auto csv = OpenCsv(options.csv, options.json, options.result);
    RecordingSpec kept =
        ReadResultOptions(options.result,
                          std::string(ToString(spec.op)) + " on " +
                              FormatNodes(spec.cluster.nodes) + " of " + spec.cluster.name,
                          spec.fidelity,
                          verb,
                          {{"system", options.system},
                           {"nodes", std::to_string(spec.cluster.nodes)},
                           {"op", ToString(spec.op)},
                           {"sizes", options.sizes},
                           {"fidelity", ToString(spec.fidelity)},
                           {"sharing tolerance", FormatNumber(spec.sharing.tolerance)},
                           {"corrections", spec.correctionsText},
                           {"nccl", options.nccl}});
    kept.ncclVersion = options.nccl;
    RunRecording recording(std::move(kept));
    RemoveOutputIfInterrupted(options.result.file);
    std::optional<MeasuredBounds> measured;
    if (calibration && isTable)
    {
        measured.emplace(SystemOf(options), catalog);
    }
    if (options.explain && isTable)
    {
        std::cout << Naming(network, spec, options, [&] { return ExplainCollective(spec); })
                  << "#\n";
    }
    const SweepBounds bounds{calibration ? &*calibration : nullptr, options.bound.coverage};
    const CollectiveSweepResult result = Naming(network, spec, options, [&] {
        return RunShowingProgress(spec, recording, bounds, options);
    });
    PrintIdlePathNotes(network, spec.packets, result.result);
    if (csv)
    {
        csv->Save(ToCsv(spec, result.points));
    }
    std::cout << (options.json   ? ToJson(spec, result) + "\n"
                  : isCsvPrinted ? ToCsv(spec, result.points)
                                 : ToNcclTestsTable(spec, result.points));
    if (const std::string coupling = CouplingLine(result.result); isTable && !coupling.empty())
    {
        std::cout << "#" << coupling.substr(1);
    }
    if (measured)
    {
        std::cout << MeasuredLines(spec, *measured, options.bound.coverage, result.points);
    }
    if (result.points.size() < spec.sizes.size())
    {
        std::cout.flush();
        throw Interrupted{PendingSignal(), "kept the finished sizes"};
    }
    return ExitCode::Done;
}

} // namespace

Command
AddCollectiveCommand(CLI::App& application)
{
    auto* verb = application.add_subcommand("collective",
                                            "Time one collective over message sizes, as "
                                            "nccl-tests does");
    auto options = std::make_shared<CollectiveOptions>();
    verb->add_option("--system", options->system, "System of the catalog, or its file")->required();
    verb->add_option("--nodes",
                     options->nodes,
                     "Number of participating nodes (default: the system's, else 1)")
        ->check(CLI::Range(1, 1 << 20));
    verb->add_option("--gpus-per-node", options->gpusPerNode, "GPUs per node (default: all)")
        ->check(CLI::Range(1, 1024));
    verb->add_option("--op",
                     options->op,
                     "all-reduce, all-gather, reduce-scatter, broadcast, reduce, all-to-all, "
                     "gather, scatter, send-recv (each rank to the next) or send (the first to "
                     "the last)");
    verb->add_option(
        "--msccl", options->msccl, "Instead of --op: run the schedule of this MSCCL XML file");
    verb->add_option("--sizes",
                     options->sizes,
                     "Message sizes: first:last:xFACTOR, or a list such as 1MiB,64MiB; bare "
                     "numbers are bytes")
        ->capture_default_str();
    verb->add_option("--counts",
                     options->counts,
                     "Instead of --sizes: CSV file of an all-to-all-v, with a row of sizes for "
                     "each sender or one row for all");
    verb->add_option(
            "--algorithm",
            options->algorithm,
            "ring, tree, nvls, nvls-tree, collnet-direct, collnet-chain, pat, point-to-point, "
            "symmetric, dimension-wise, auto (NCCL's choice), or in the syntax of NCCL_ALGO the "
            "algorithms "
            "that NCCL chooses from: ^nvls,nvlstree or allreduce:tree,ring;allgather:ring")
        ->capture_default_str();
    verb->add_option(
            "--protocol",
            options->protocol,
            "ll, ll128, simple, auto (NCCL's choice), or in the syntax of NCCL_PROTO: ^ll128")
        ->capture_default_str();
    verb->add_option("--channels", options->channels, "Number of channels (default: NCCL's choice)")
        ->check(CLI::Range(1, 64));
    verb->add_option("--nccl", options->nccl, "NCCL version whose constants apply")
        ->capture_default_str();
    verb->add_option(
            "--launch",
            options->launch,
            "Launch mode: process-per-gpu, one-process (for all GPUs of a node), threads (a "
            "thread per GPU in one process, as nccl-tests -t), waited "
            "(a process per GPU that waits for each call before the next, as in torch's "
            "benchmarks) or graph (a CUDA graph of the calls, as nccl-tests -G)")
        ->capture_default_str();
    AddNcclOptions(*verb);
    verb->add_option(
        "--tuner",
        options->tuner,
        "CSV file of NCCL's example tuner plug-in, which selects what the options leave open");
    verb->add_option(
        "--fidelity",
        options->fidelity,
        "analytical, stream, flow, packet, hybrid (packets on the links of packets.links) or "
        "auto (default: stream)");
    verb->add_option("--tolerance",
                     options->tolerance,
                     "Fidelity auto: maximum deviation of a call time from flow (default: 3%)");
    AddPacketsOptions(*verb, options->packets);
    AddBoundOptions(*verb, options->bound);
    verb->add_flag("--explain",
                   options->explain,
                   "First print channels, NCCL's candidates, chunks, bottlenecks and launch times");
    AddResultOptions(*verb, options->result);
    verb->add_flag("--json", options->json, "Print one JSON object and nothing else");
    verb->add_flag(
        "--keep-partial",
        options->keepPartial,
        "At Ctrl-C write the finished sizes, marked as partial; a second Ctrl-C discards them");
    AddCsvOption(*verb,
                 options->csv,
                 "collective,size_bytes,time_us,algbw_GBps,busbw_GBps (with error bounds also "
                 "lower_us,upper_us,coverage,regime,region; with fidelity auto also fidelity)");
    verb->footer(R"(Examples:
  weir collective --system hgx-h100 --nodes 4 --op all-reduce
  weir collective --system dgx-a100 --op all-gather --sizes 1MiB:4GiB:x4 --fidelity flow --csv out.csv
  weir collective --system hgx-h100 --op all-to-all --sizes 1MiB:1GiB:x4
  weir collective --system hgx-h100 --nodes 16 --op all-to-all --set fabric.kind=leaf-spine --set fabric.oversubscription=2 --csv -
  weir collective --system hgx-h100 --msccl scenarios/msccl/all-pairs-all-reduce-8.xml)");
    return {verb, [options, verb] { return RunCollective(*options, *verb); }};
}

} // namespace weir

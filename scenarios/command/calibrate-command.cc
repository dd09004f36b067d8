// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/bound/calibrate-shortcut.h"
#include "scenarios/bound/calibration.h"
#include "scenarios/command/commands.h"
#include "scenarios/command/interruption.h"
#include "scenarios/command/verb-options.h"
#include "scenarios/machine/calibrate-machine.h"
#include "scenarios/machine/machine-runs.h"
#include "scenarios/machine/machine-system.h"
#include "scenarios/readers/read-system.h"
#include "scenarios/readers/scenario-names.h"
#include "scenarios/results/output-file.h"
#include "scenarios/results/text-table.h"
#include "scenarios/simulation/progress.h"
#include "scenarios/validation/packet-agreement.h"
#include "scenarios/writers/parameter-writer.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/mapped.h"
#include "scenarios/yaml/names.h"
#include "scenarios/yaml/text-file.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

namespace weir
{

namespace
{

/** "3.1 9.4": median and 90th percentile of |predicted / measured - 1| in percent. */
std::string
ErrorCell(const std::vector<double>& errors)
{
    auto sizes =
        Mapped<double>(errors, [&](double error) { return 100 * std::abs(std::exp(-error) - 1); });
    std::sort(sizes.begin(), sizes.end());
    const auto at = [&](double part) {
        const auto index = static_cast<std::size_t>(part * static_cast<double>(sizes.size()));
        return sizes[std::min(sizes.size() - 1, index)];
    };
    return FormatText("%7.1f %7.1f", at(0.5), at(0.9));
}

std::string
ParameterLine(const FittedParameter& each)
{
    const MachineParameter& parameter = each.parameter;
    const std::string initial = ToText(parameter.unit, parameter.initial);
    if (each.isDetermined)
    {
        return FormatText("  %-26s %12s %12s %9.1f %%\n",
                          parameter.Name().c_str(),
                          initial.c_str(),
                          ToText(parameter.unit, each.value).c_str(),
                          100 * each.error);
    }
    return FormatText("  %-26s %12s %12s  %s%s\n",
                      parameter.Name().c_str(),
                      initial.c_str(),
                      "kept",
                      each.alike.empty() ? "these runs do not determine it"
                                         : "indistinguishable from ",
                      each.alike.c_str());
}

/** "a.csv: all-reduce, 4 nodes of 8 GPUs, NCCL 2.26.2, 27 sizes". */
std::string
DescribeRun(const MeasuredCollective& run)
{
    const CollectiveSweepSpec& sweep = run.sweep;
    return FormatText("%s: %s, %u node%s of %u GPUs, NCCL %s, %s, %zu sizes",
                      run.name.c_str(),
                      ToString(sweep.op),
                      sweep.cluster.nodes,
                      sweep.cluster.nodes == 1 ? "" : "s",
                      sweep.gpusPerNode,
                      sweep.nccl.version.c_str(),
                      ToString(sweep.nccl.launch),
                      sweep.sizes.size());
}

/**
 * Describes a calibration: the runs; each parameter with its value before and after, its standard
 * error or why it is not determined; errors by class before, after and held out; the bounds.
 */
std::string
DescribeCalibration(const MachineCalibration& calibration, const MachineFitSpec& spec)
{
    std::string text;
    for (const MeasuredCollective& run : spec.runs)
    {
        text += DescribeRun(run) + "\n";
    }
    text +=
        FormatText("\n  %-26s %12s %12s  %s\n", "parameter", "before", "fitted", "standard error");
    for (const FittedParameter& each : calibration.parameters)
    {
        text += ParameterLine(each);
    }
    for (const OtherExplanation& other : calibration.others)
    {
        std::string figures;
        for (const auto& [parameter, value] : other)
        {
            figures += (figures.empty() ? "" : ", ") + parameter.Name() + " " +
                       ToText(parameter.unit, value);
        }
        text += "\n  the runs fit about equally well with " + figures +
                ";\n  runs of other operations or numbers of nodes may resolve the ambiguity\n";
    }
    text += FormatText("\ncross-validation by %s: %zu parts; fitted points scatter by %.1f %%\n",
                       calibration.heldOut.c_str(),
                       calibration.parts,
                       100 * calibration.scatter);
    text += FormatText("\n  %-42s %6s %15s %15s %15s\n",
                       "error in %: median, 90th percentile",
                       "cases",
                       "before",
                       "fitted",
                       "held out");
    for (const ClassErrors& errors : calibration.classes)
    {
        text += FormatText("  %-42s %6zu %s %s %s\n",
                           errors.name.c_str(),
                           errors.after.size(),
                           ErrorCell(errors.before).c_str(),
                           ErrorCell(errors.after).c_str(),
                           ErrorCell(errors.heldOut).c_str());
    }
    text += "\n";
    for (const MeasuredBound& bound : calibration.bounds)
    {
        text += FormatText("held-out %s: %s, nested %.0f %%\n",
                           bound.name.c_str(),
                           ToText(bound).c_str(),
                           100 * bound.nestedCoverage);
    }
    return text;
}

namespace fs = std::filesystem;

struct CalibrateOptions
{
    std::string shortcut;
    std::string corrections;
    uint64_t seed{1};
    std::size_t scenarios{4000};
    std::string system;
    std::vector<std::string> from;
    std::string op;          //!< empty: that of each file
    uint32_t nodes{0};       //!< 0: those of each file
    uint32_t gpusPerNode{0}; //!< 0: those of each file, else all of a node
    std::string nccl{NcclSettings().version};
    uint32_t jobs{1};
    std::string output;
};

CalibratedThing
ReadThing(const CalibrateOptions& options)
{
    return YamlNode::ParseArgument(options.shortcut, "--shortcut")
        .AsEnum(ChoicesUpTo(LAST_CALIBRATED_THING));
}

ExitCode
CalibrateShortcuts(const CalibrateOptions& options)
{
    SampleSpec spec;
    spec.thing = ReadThing(options);
    spec.seed = options.seed;
    spec.scenarios = options.scenarios;
    spec.threads = options.jobs;
    const auto file = OpenOutput(options.output, "--output", TEXT_FORMAT);
    ProgressLine line = TerminalProgress("calibration");
    const Calibration calibration = CalibrateShortcut(spec, Catalog(), [&](std::size_t done) {
        line.Update(done, spec.scenarios, Time());
        ThrowIfInterrupted();
    });
    file->Save(ToYaml(calibration));
    std::cout << spec.scenarios << " scenarios, " << calibration.Regimes().size() << " regimes\n";
    return ExitCode::Done;
}

ExitCode
CalibrateFluid(const CalibrateOptions& options)
{
    const std::vector<std::string> regimes = PacketRegimes();
    if (!IsAmong(options.corrections, regimes))
    {
        YamlNode::ParseArgument(options.corrections, "--corrections").FailChoice(regimes);
    }
    const auto file = OpenOutput(options.output, "--output", TEXT_FORMAT);
    ProgressLine line = TerminalProgress("calibration");
    const auto show = [&](const SuiteProgress& current) {
        line.Update(current.done, current.cases, Time());
        ThrowIfInterrupted();
    };
    const CorrectionFit fit = CalibrateCorrections(options.corrections, Catalog(), show);
    const std::string errors = "from " + FormatPercent(fit.errorBefore) + " to " +
                               FormatPercent(fit.errorAfter) +
                               ", mean error of flow against packet over seven kinds of traffic";
    YamlWriter out;
    out.Text("title", "Packet-level corrections of the fluid model: " + options.corrections);
    out.Text("source",
             "weir calibrate --corrections " + options.corrections + " (seeds 1 to 4): " + errors +
                 "; weir validate fidelity tests other seeds");
    WriteCorrections(out, fit.spec);
    file->Save("# SPDX-License-Identifier: GPL-2.0-only\n" + out.GetText());
    std::cout << options.corrections << ": " << errors << "\n";
    return ExitCode::Done;
}

/** The properties of runs that apply where their files do not give them. */
RunSettings
DefaultsOf(const CalibrateOptions& options, const Catalog& catalog)
{
    RunSettings defaults{{"nccl", options.nccl}};
    const auto system = YamlNode::ParseArgument(options.system, "--system");
    const uint32_t all = ReadSystem(system, catalog).cluster.node.gpus;
    const uint32_t gpus = options.gpusPerNode == 0 ? all : options.gpusPerNode;
    defaults.emplace_back("gpusPerNode", std::to_string(gpus));
    if (!options.op.empty())
    {
        defaults.emplace_back("op", options.op);
    }
    if (options.nodes > 0)
    {
        defaults.emplace_back("nodes", std::to_string(options.nodes));
    }
    return defaults;
}

/** The name of the base as seen from the output's folder. */
std::string
BaseFor(const CalibrateOptions& options)
{
    if (!Catalog::IsPath(options.system))
    {
        return options.system;
    }
    const fs::path folder = fs::absolute(options.output).parent_path();
    const std::string path = fs::relative(fs::absolute(options.system), folder).string();
    return Catalog::IsPath(path) ? path : "./" + path;
}

ExitCode
CalibrateSystem(const CalibrateOptions& options)
{
    const Catalog catalog;
    const bool isName = YamlNode::ParseArgument(options.system, "--system").IsScalar();
    if (!isName || IsNcclXmlFile(options.system))
    {
        throw InputError("--system: found '" + options.system +
                         "', expected a name of the catalog or a YAML file, which the result "
                         "is based on");
    }
    if (!Catalog::IsPath(options.output))
    {
        throw InputError(
            "--output: found '" + options.output +
            "', expected a name that ends in .yaml, so that --system can read the file");
    }
    MachineFitSpec spec;
    spec.system = options.system;
    spec.threads = options.jobs;
    const RunSettings defaults = DefaultsOf(options, catalog);
    ExpectOtherFile("--output", options.output, "system", options.system);
    MachineOrigin origin;
    for (const std::string& text : options.from)
    {
        const RunArgument argument = ParseRunArgument(text);
        ExpectOtherFile("--output", options.output, "file of --from", argument.file);
        auto runs = ReadMachineRuns(argument, options.system, defaults, catalog);
        for (MeasuredCollective& run : runs)
        {
            origin.runs.push_back(DescribeRun(run));
            spec.runs.push_back(std::move(run));
        }
    }
    const auto file = OpenOutput(options.output, "--output", TEXT_FORMAT);
    const MachineCalibration calibration =
        CalibrateMachine(spec, catalog, [] { ThrowIfInterrupted(); });
    origin.base = BaseFor(options);
    origin.name = fs::path(options.output).stem().string();
    origin.command = "weir calibrate --system " + options.system + " --from";
    for (const std::string& text : options.from)
    {
        origin.command += " " + text;
    }
    file->Save(ToSystemYaml(calibration, origin));
    std::cout << DescribeCalibration(calibration, spec);
    return ExitCode::Done;
}

/**
 * @throws InputError at a given option of @p names, which needs another option; @p why ends the
 *         message.
 */
void
ExpectNone(const CLI::App& verb, const std::vector<std::string>& names, const std::string& why)
{
    for (const std::string& name : names)
    {
        if (verb.get_option(name)->count() > 0)
        {
            throw InputError(name + ": found it " + why);
        }
    }
}

ExitCode
Calibrate(const CalibrateOptions& options, const CLI::App& verb)
{
    if (options.shortcut.empty())
    {
        ExpectNone(verb, {"--seed", "--scenarios"}, "without --shortcut, expected both");
    }
    if (!options.shortcut.empty())
    {
        ExpectNone(verb, {"--corrections"}, "with --shortcut, expected one of them");
    }
    if (!options.shortcut.empty() || !options.corrections.empty())
    {
        ExpectNone(verb,
                   {"--system", "--from", "--op", "--nodes", "--gpus-per-node", "--nccl"},
                   "with --shortcut or --corrections, expected it with nccl-tests runs only");
    }
    if (!options.shortcut.empty())
    {
        return CalibrateShortcuts(options);
    }
    if (!options.corrections.empty())
    {
        return CalibrateFluid(options);
    }
    if (options.system.empty() || options.from.empty())
    {
        throw InputError(
            "calibrate: found neither --shortcut nor --corrections nor --system with --from, "
            "expected one of them");
    }
    return CalibrateSystem(options);
}

void
AddShortcutOptions(CLI::App& verb, CalibrateOptions& options)
{
    verb.add_option(
        "--shortcut",
        options.shortcut,
        "Calibrate the error bounds of a shortcut with a seeded sample run by analytical, stream "
        "and flow: collectives, steps or packets (also run by packet)");
    verb.add_option("--corrections",
                    options.corrections,
                    "Fit the corrections of fluid flows for packet effects: roce, roce-dcqcn, "
                    "roce-hpcc, roce-swift, infiniband, spray-dcqcn or spray-nscc");
    verb.add_option("--seed", options.seed, "Seed of the sample")
        ->check(CheckSeed)
        ->capture_default_str();
    verb.add_option("--scenarios", options.scenarios, "Number of scenarios of the sample")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str();
}

void
AddSystemOptions(CLI::App& verb, CalibrateOptions& options)
{
    verb.add_option("--system",
                    options.system,
                    "System with the initial values: a name of the catalog, or its file");
    verb.add_option(
        "--from",
        options.from,
        "nccl-tests results of the system, as text, JSON or CSV: FILE... or FILE:key=value,... "
        "with the keys op, nodes, gpusPerNode, nccl, algorithm, protocol, channels, launch, "
        "queuePairs, minChannels, maxChannels, crossNic, p2pLevel, bufferSize, mergeNics, pxn and "
        "symmetricMemory");
    verb.add_option("--op,--operation", options.op, "Operation of runs whose files do not name it");
    verb.add_option("--nodes", options.nodes, "Number of nodes of runs whose files do not give it")
        ->check(CLI::Range(1, 1 << 20));
    verb.add_option("--gpus-per-node",
                    options.gpusPerNode,
                    "GPUs per node of runs whose files do not give it (default: all of a node)")
        ->check(CLI::Range(1, 1024));
    verb.add_option("--nccl", options.nccl, "NCCL version of runs whose files do not name it")
        ->capture_default_str();
}

} // namespace

Command
AddCalibrateCommand(CLI::App& application)
{
    auto* verb = application.add_subcommand("calibrate",
                                            "Fit a system to nccl-tests runs, or generate error "
                                            "bounds of shortcuts or corrections of fluid flows");
    auto options = std::make_shared<CalibrateOptions>();
    AddShortcutOptions(*verb, *options);
    AddSystemOptions(*verb, *options);
    verb->add_option("-j,--jobs", options->jobs, "Number of scenarios or runs executed in parallel")
        ->check(CLI::Range(1, 1024))
        ->capture_default_str();
    AddOutputOption(*verb,
                    "-o,--output",
                    options->output,
                    "Write the calibration, or the calibrated system, to this file");
    verb->get_option("--output")->required();
    verb->footer(R"(Examples:
  weir calibrate --system hgx-h100 --from all_reduce_2x8.txt all_reduce_4x8.txt -o mine.yaml
  weir calibrate --system polaris --from runs.csv:nodes=2,nccl=2.21.5 -o mine.yaml
  weir collective --system mine.yaml --nodes 16 --op all-reduce
  weir calibrate --shortcut collectives -j 2 -o collectives.yaml
  weir calibrate --corrections roce-dcqcn -o roce-dcqcn.yaml
The fit keeps each value within its range and near the system's initial value; values that the
runs do not determine are kept. The same input gives the same file.
scripts/calibrate-shortcut regenerates the bounds of the shortcuts that Weir ships.)");
    return {verb, [options, verb] { return Calibrate(*options, *verb); }};
}

} // namespace weir

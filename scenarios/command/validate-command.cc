// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/catalog.h"
#include "scenarios/command/commands.h"
#include "scenarios/command/interruption.h"
#include "scenarios/command/output-option.h"
#include "scenarios/command/simulation-loop.h"
#include "scenarios/readers/read-system.h"
#include "scenarios/results/output-file.h"
#include "scenarios/running/progress.h"
#include "scenarios/validation/error-charts.h"
#include "scenarios/validation/fabric-agreement.h"
#include "scenarios/validation/fidelity-agreement.h"
#include "scenarios/validation/plan-agreement.h"
#include "scenarios/validation/validate.h"
#include "scenarios/yaml/input-error.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <unistd.h>

namespace weir
{

namespace
{

struct ValidateOptions
{
    std::vector<std::string> suites;
    std::string output;
    bool allRows{false};
    std::string fidelity{ToString(Fidelity::Analytical)};
    std::string plot;
};

/** Stands for every suite of step times. */
constexpr const char* ALL_STEPS = "steps";

/** Stands for every suite of collectives. */
constexpr const char* ALL_COLLECTIVES = "nccl";

/** Stands for every suite of single kernels. */
constexpr const char* ALL_KERNELS = "kernels";

/** Asks for a comparison of Weir's fidelities with each other, which needs no measurement. */
constexpr const char* FIDELITIES = "fidelity";

/** Asks for a comparison of steps at two fidelities, likewise. */
constexpr const char* PLANS = "plans";

/** Machines whose collectives are compared: of one NVSwitch generation and another, and a mesh. */
constexpr const char* COMPARED_SYSTEMS[] = {"hgx-h100", "dgx-a100", "alps-gh200"};

/** Whose nodes are put on other fabrics. */
constexpr const char* SYSTEM_ON_FABRICS = "alps-gh200";

/** Which of them stands for the suite called @p name, among others. */
std::string
KindOf(const std::string& name, const Catalog& catalog)
{
    return HoldsCollectives(name, catalog) ? ALL_COLLECTIVES
           : HoldsKernels(name, catalog)   ? ALL_KERNELS
                                           : ALL_STEPS;
}

bool
IsKind(const std::string& name)
{
    return name == ALL_STEPS || name == ALL_COLLECTIVES || name == ALL_KERNELS;
}

std::vector<ValidationSuite>
LoadSuites(const ValidateOptions& options)
{
    const Catalog catalog;
    std::vector<std::string> names;
    const auto addAllOf = [&](const std::string& kind) {
        for (const auto& entry : catalog.List(CatalogKind::Suites))
        {
            if (kind.empty() || KindOf(entry.name, catalog) == kind)
            {
                names.push_back(entry.name);
            }
        }
    };
    for (const std::string& name : options.suites)
    {
        IsKind(name) ? addAllOf(name) : names.push_back(name);
    }
    if (options.suites.empty())
    {
        addAllOf("");
    }
    std::vector<ValidationSuite> suites;
    for (const auto& name : names)
    {
        suites.push_back(LoadSuite(name, catalog));
    }
    return suites;
}

SuiteOutcome
RunShowingProgress(const ValidationSuite& suite, Fidelity collectiveFidelity)
{
    ProgressLine line(std::cerr, isatty(STDERR_FILENO) == 1, suite.title);
    const auto show = [&](const SuiteProgress& place) {
        line.Update(place.done, place.cases, place.now);
        ThrowIfInterrupted();
    };
    return RunSuite(suite, MakeEngineLoop, show, collectiveFidelity);
}

/** Statistics over all runs of collectives, where there are several suites of them. */
std::string
SummaryOfCollectives(const std::vector<SuiteOutcome>& outcomes)
{
    std::vector<SuiteOutcome> collectives;
    std::copy_if(outcomes.begin(),
                 outcomes.end(),
                 std::back_inserter(collectives),
                 [](const SuiteOutcome& each) { return !each.collectives.empty(); });
    return collectives.size() < 2 ? "" : ToText(Together(ALL_COLLECTIVES, collectives));
}

/** Predicted against measured times, and how errors are distributed. */
void
AddErrorCharts(const SuiteOutcome& outcome, std::vector<Chart>& charts)
{
    std::vector<TimePair> pairs;
    for (const auto& one : outcome.cases)
    {
        pairs.push_back({one.measured, one.predicted});
    }
    charts.push_back(ParityChart(outcome.name, pairs));
    charts.push_back(ErrorDistribution(outcome.name, pairs));
}

void
WritePlot(const std::vector<SuiteOutcome>& outcomes, OutputFile& file)
{
    constexpr std::size_t MOST_COLUMNS = 4;
    std::vector<Chart> charts;
    for (const auto& outcome : outcomes)
    {
        for (const auto& run : outcome.collectives)
        {
            charts.push_back(BandwidthChart(run));
        }
        if (outcome.collectives.empty())
        {
            AddErrorCharts(outcome, charts);
        }
    }
    file.Save(ToSvg(charts, std::clamp<std::size_t>(charts.size(), 1, MOST_COLUMNS)));
}

ExitCode
ValidateFidelities()
{
    const Catalog catalog;
    std::vector<FidelityPoint> points;
    for (const char* name : COMPARED_SYSTEMS)
    {
        const auto cluster = ReadSystem(YamlNode::Parse(name, "fidelity"), catalog).cluster;
        const auto here = CompareFidelities(name, cluster, ThrowIfInterrupted);
        points.insert(points.end(), here.begin(), here.end());
    }
    std::cout << ToText(points) << std::flush;
    const auto base = ReadSystem(YamlNode::Parse(SYSTEM_ON_FABRICS, "fidelity"), catalog).cluster;
    const auto onFabrics = CompareOnFabrics(base.node, base.fabric.link, ThrowIfInterrupted);
    std::cout << '\n' << ToText(onFabrics);
    return Agree(points) && Agree(onFabrics) ? ExitCode::Done : ExitCode::CheckFailed;
}

ExitCode
ValidatePlans()
{
    const auto points = ComparePlans(Catalog(), ThrowIfInterrupted);
    std::cout << ToText(points);
    return Agree(points) ? ExitCode::Done : ExitCode::CheckFailed;
}

ExitCode
Validate(const ValidateOptions& options)
{
    if (options.suites == std::vector<std::string>{PLANS})
    {
        return ValidatePlans();
    }
    if (options.suites == std::vector<std::string>{FIDELITIES})
    {
        return ValidateFidelities();
    }
    const auto fidelity = ParseFidelity(options.fidelity);
    if (!fidelity)
    {
        throw InputError("--fidelity: found '" + options.fidelity +
                         "', expected analytical, stream or flow");
    }
    const auto suites = LoadSuites(options);
    std::optional<OutputFile> plot;
    if (!options.plot.empty())
    {
        ExpectOtherFile("--plot", options.plot, "file of --output", options.output);
        plot.emplace(options.plot, "--plot");
        RemoveIfInterrupted(plot->TemporaryPath());
    }
    std::optional<Hdf5File> file;
    if (!options.output.empty())
    {
        file.emplace(options.output, "--output");
        RemoveIfInterrupted(OutputFile::TemporaryName(options.output));
    }
    std::vector<SuiteOutcome> outcomes;
    std::size_t within = 0;
    for (const auto& suite : suites)
    {
        outcomes.push_back(RunShowingProgress(suite, *fidelity));
        std::cout << ToText(outcomes.back(), options.allRows ? CaseList::All : CaseList::Brief)
                  << std::flush;
        within += outcomes.back().IsWithinTolerance() ? 1 : 0;
    }
    std::cout << SummaryOfCollectives(outcomes);
    std::cout << within << " of " << outcomes.size() << " suites within their tolerances\n";
    if (plot)
    {
        WritePlot(outcomes, *plot);
    }
    if (file)
    {
        WriteOutcomes(*file, outcomes);
        file->Commit();
    }
    return within == outcomes.size() ? ExitCode::Done : ExitCode::CheckFailed;
}

} // namespace

Command
AddValidateCommand(CLI::App& application)
{
    auto* verb = application.add_subcommand("validate", "Compare with published measurements");
    auto options = std::make_shared<ValidateOptions>();
    verb->add_option(
        "SUITE",
        options->suites,
        "Suites to run, as weir list suites; 'steps': all measured training steps; "
        "'nccl': all measured collectives; 'kernels': all measured kernels; 'fidelity': the "
        "fidelities against each other, 'plans': closed forms of whole steps against streams "
        "(default: all measured)");
    verb->add_flag("--rows", options->allRows, "List every case of long suites, too");
    verb->add_option(
            "--fidelity", options->fidelity, "Of measured collectives: analytical, stream or flow")
        ->capture_default_str();
    AddOutputOption(*verb,
                    "--plot",
                    options->plot,
                    "Draw to this SVG file: of collectives bus bandwidth against message size, of "
                    "other suites predicted against measured time, and the errors' distribution");
    AddOutputOption(*verb, "-o,--output", options->output, "Write the outcome to this HDF5 file");
    verb->footer(
        "Examples:\n"
        "  weir validate\n"
        "  weir validate korthikanti-2022 -o validation.h5\n"
        "  weir validate steps --rows\n"
        "  weir validate nccl --fidelity flow --plot nccl.svg\n"
        "Exit code 1: a case lies outside its tolerance, or a suite's mean error above its limit.");
    return {verb, [options] { return Validate(*options); }};
}

} // namespace weir

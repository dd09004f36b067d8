// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/catalog.h"
#include "scenarios/command/commands.h"
#include "scenarios/command/interruption.h"
#include "scenarios/command/packets-option.h"
#include "scenarios/command/verb-options.h"
#include "scenarios/readers/key-uses.h"
#include "scenarios/readers/read-scenario.h"
#include "scenarios/results/output-file.h"
#include "scenarios/results/run-json.h"
#include "scenarios/results/summary.h"
#include "scenarios/results/timeline.h"
#include "scenarios/results/trace-writer.h"
#include "scenarios/simulation/progress.h"
#include "scenarios/simulation/run-scenario.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

namespace weir
{

namespace
{

struct RunOptions
{
    std::string file;
    std::string fidelity;
    std::string tolerance; //!< empty: the scenario's
    std::vector<std::string> settings;
    std::string output;
    std::string timeline;
    BoundOptions bound;
    bool json{false};
    bool quiet{false};
    bool keepPartial{false};
};

Scenario
ReadRun(const RunOptions& options)
{
    std::vector<std::string> settings = options.settings;
    if (!options.fidelity.empty())
    {
        ExpectOneOf("--fidelity", "network.fidelity", settings);
        ChoiceOf("--fidelity", options.fidelity, FidelitiesOf("run"));
        settings.push_back("network.fidelity=" + options.fidelity);
    }
    if (!options.tolerance.empty())
    {
        ExpectOneOf("--tolerance", "network.tolerance", settings);
        ParseTolerance(options.tolerance); // an error names the option, not the key
        settings.push_back("network.tolerance=" + JsonQuoted(options.tolerance));
    }
    if (!options.output.empty())
    {
        ExpectOneOf("--output", "output.file", settings);
        settings.push_back("output.file=" + JsonQuoted(options.output)); // valid YAML as well
    }
    Scenario scenario = LoadScenario(options.file, settings, Catalog());
    scenario.automatic.coverage = options.bound.coverage;
    scenario.output.keepsStuck = options.keepPartial;
    if (!options.output.empty())
    {
        scenario.output.fileWhere = "--output";
    }
    CheckTolerance(options.tolerance, scenario.fidelity);
    if (!options.timeline.empty())
    {
        scenario.output.timeline = true;
        scenario.output.timelineFile = options.timeline;
        scenario.output.timelineWhere = "--timeline";
    }
    return scenario;
}

/** Checks that the run's output files do not overwrite each other or its input. */
void
CheckOutputs(const Scenario& scenario)
{
    const std::string& file = scenario.output.file;
    ExpectOtherFile(scenario.output.fileWhere, file, "scenario", scenario.path);
    RemoveOutputIfInterrupted(file);
    if (scenario.output.timeline)
    {
        const std::string timeline = TimelinePath(scenario);
        ExpectOtherFile(scenario.output.timelineWhere, timeline, "scenario", scenario.path);
        ExpectOtherFile(scenario.output.timelineWhere, timeline, "results", file);
        RemoveOutputIfInterrupted(timeline);
    }
}

void
PrintOutputs(const Scenario& scenario)
{
    if (!scenario.output.file.empty())
    {
        std::cout << "  results in " << scenario.output.file << "\n";
    }
    if (scenario.output.timeline)
    {
        std::cout << "  timeline in " << TimelinePath(scenario) << " (open in ui.perfetto.dev)\n";
    }
}

/** Prints notes that depend on the result of the run. */
void
PrintLateNotes(const Scenario& scenario, const RunResult& result)
{
    PrintNotes(NotesOnLateEvents(scenario.events, result.measured));
    if (result.longestPath)
    {
        for (const std::string& note : NotesOnIdlePath(scenario.packets, *result.longestPath))
        {
            PrintNotes({scenario.path + ": network." + note});
        }
    }
}

ExitCode
Run(const RunOptions& options)
{
    const Scenario scenario = ReadRun(options);
    if (options.keepPartial)
    {
        KeepWhenInterrupted();
    }
    CheckOutputs(scenario);
    PrintNotes(scenario.notes);
    RunResult result;
    {
        ProgressLine line = TerminalProgress(scenario.title);
        const auto loop = MakeEngineLoop(scenario.fidelity);
        const Catalog catalog;
        const std::optional<Calibration> calibration =
            CalibrationFor(options.bound, !scenario.jobs.empty(), scenario.fidelity, catalog);
        const auto measured = MeasuredBounds(catalog).Find(MEASURED_STEPS, options.bound.coverage);
        const auto progress = [&](const RunProgress& current) {
            line.Update(current);
            StopIfInterrupted(options.keepPartial);
        };
        const RunBounds bounds{
            calibration ? &*calibration : nullptr, options.bound.coverage, measured};
        result = RunScenario(scenario, *loop, progress, bounds);
    }
    if (options.json)
    {
        std::cout << ToJson(scenario, result) << "\n";
    }
    else if (!options.quiet)
    {
        std::cout << Summarize(scenario, result);
        if (result.waiting.empty() || options.keepPartial)
        {
            PrintOutputs(scenario);
        }
    }
    if (result.isPartial)
    {
        std::cout.flush();
        throw Interrupted{PendingSignal(), "kept the results so far, marked as partial"};
    }
    PrintLateNotes(scenario, result);
    if (!result.waiting.empty())
    {
        std::cerr << "weir: the run stalled: " << result.waiting << "\n";
        return ExitCode::CheckFailed;
    }
    return ExitCode::Done;
}

} // namespace

Command
AddRunCommand(CLI::App& application)
{
    auto* verb = application.add_subcommand("run", "Run a scenario");
    auto options = std::make_shared<RunOptions>();
    verb->add_option("FILE", options->file, "Scenario file, or the name of a run of the catalog")
        ->required();
    verb->add_option("--fidelity",
                     options->fidelity,
                     "analytical, stream, flow, packet, hybrid or auto (for each step, else each "
                     "call, the cheapest of the first three whose error bound meets --tolerance)");
    verb->add_option(
        "--tolerance",
        options->tolerance,
        "Fidelity auto: maximum deviation of a step or call time from flow (default: 3%)");
    AddBoundOptions(*verb, options->bound);
    AddSettingsOption(*verb, options->settings);
    AddOutputOption(*verb, "-o,--output", options->output, "Write results to this HDF5 file");
    AddOutputOption(
        *verb, "--timeline", options->timeline, "Write a timeline for Perfetto to this file");
    verb->add_flag("--json", options->json, "Print one JSON object and nothing else");
    verb->add_flag("--quiet", options->quiet, "Print no summary");
    verb->add_flag("--keep-partial",
                   options->keepPartial,
                   "Write partial results, marked as such, at Ctrl-C or if the run stalls; a "
                   "second Ctrl-C discards them");
    verb->footer(
        "Examples:\n"
        "  weir run gpt-175b-96-h800\n"
        "  weir run my-run.yaml --fidelity flow -o my-run.h5 --timeline my-run.json\n"
        "  weir run gpt-175b-1024-h800 --fidelity auto --tolerance 5%\n"
        "  weir run gpt-175b-96-h800 --set jobs.0.parallel.microBatch=2 --json");
    return {verb, [options] { return Run(*options); }};
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/catalog.h"
#include "scenarios/command/commands.h"
#include "scenarios/command/sweep-run.h"
#include "scenarios/command/verb-options.h"
#include "scenarios/sweep/sweep-tables.h"

#include <CLI/CLI.hpp>
#include <memory>

namespace weir
{
namespace
{

struct SweepOptions
{
    std::string file;
    std::vector<std::string> settings;
    SweepRunOptions run;
};

ExitCode
RunSweep(const SweepOptions& options, const CaseProcesses::Command& command)
{
    const std::string file = Catalog().Find(CatalogKind::Sweeps, options.file);
    CheckSweepOutputs(options.run, file);
    SweepRun run(LoadSweep(file, options.settings), options.run, command);
    const Sweep& sweep = run.GetSweep();
    return run.Run([&](const std::vector<EndedCase>& ended) {
        ShowSweep(options.run, sweep, ended, [&] { return ToText(sweep, ended); });
        PrintNotesOf(ended);
        run.PrintRefusals();
        return run.End(run.Done() == 0);
    });
}

} // namespace

Command
AddSweepCommand(CLI::App& application, CaseProcesses::Command command)
{
    auto* verb = application.add_subcommand(
        "sweep", "Run a command for every combination of some values, in parallel");
    auto options = std::make_shared<SweepOptions>();
    verb->add_option("FILE", options->file, "Sweep file, or the name of a sweep of the catalog")
        ->required();
    AddSettingsOption(*verb, options->settings, "every case, such as output.linkSeries=1ms");
    AddSweepRunOptions(*verb, options->run);
    verb->add_flag("--skip-refused",
                   options->run.continuesAfterRefusal,
                   "Continue after a case with invalid input, and list it as refused");
    verb->add_option("--results",
                     options->run.results,
                     "Also write the result file of each case to this folder")
        ->type_name("FOLDER");
    verb->footer(
        R"(A sweep is {command: run congestion-512-h100, vary: {system.fabric.routing: [ecmp, spray],
system.fabric.oversubscription: [1, 2, 4]}}: a run, collective or flows command, and keys as
for --set, or options such as --nodes, each with a list of values or a map from labels to values.
"system.nodes, jobs.0.gpus": [[16, 64], [32, 128]] changes several keys in step.
Each case runs in its own process: a case that fails does not affect the others.
Examples:
  weir sweep congestion-512-h100 -o congestion.h5
  weir sweep my-sweep.yaml -j 8 --csv sweep.csv --results cases
  srun -n 64 weir sweep my-sweep.yaml -j 1 -o sweep.h5)");
    return {verb, [options, command] { return RunSweep(*options, command); }};
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/catalog.h"
#include "scenarios/command/commands.h"
#include "scenarios/command/packets-option.h"
#include "scenarios/command/sweep-run.h"
#include "scenarios/command/verb-options.h"
#include "scenarios/readers/read-scenario.h"
#include "scenarios/sweep/plan-search.h"
#include "scenarios/sweep/sweep-tables.h"
#include "scenarios/yaml/input-error.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>

namespace weir
{
namespace
{

struct SearchOptions
{
    std::string file;
    std::string job; //!< empty: the first
    std::string fidelity{"analytical"};
    std::vector<std::string> settings;
    uint32_t gpus{0}; //!< 0: as many as the job's own plan has
    std::size_t top{10};
    SweepRunOptions run;
};

/** The reason why a plan was not run; empty if all were. */
std::string
RefusalIn(const std::vector<EndedCase>& ended)
{
    const auto refused = std::find_if(
        ended.begin(), ended.end(), [](const EndedCase& one) { return one.exit != 0; });
    return refused == ended.end() ? "" : refused->message;
}

/** "914 plans of 96 GPUs" */
std::string
PlansText(const std::vector<EndedCase>& ended, uint32_t gpus)
{
    return std::to_string(ended.size()) + " plans of " + std::to_string(gpus) + " GPUs";
}

/** How many of @p plans ran, and the reason of one that was refused. */
std::string
CountOf(const std::string& plans, const std::vector<EndedCase>& ended, std::size_t ranked)
{
    const std::string refusal = RefusalIn(ended);
    return "  of " + plans + " " + std::to_string(ranked) + " were run" +
           (refusal.empty() ? "" : "; others were refused, for example\n  " + refusal) + "\n";
}

/** @throws InputError unless the fidelity is one for many runs, given once. */
void
CheckFidelity(const SearchOptions& options)
{
    ParseFidelityOf("search", options.fidelity);
    ExpectOneOf("--fidelity", "network.fidelity", options.settings);
}

/**
 * The scenario with the first valid plan of --gpus GPUs that has the values of --set, as its own
 * plan may not fit the system.
 * @throws InputError with the refusal of the last plan, where none is valid
 */
Scenario
LoadForGpus(const SearchOptions& options)
{
    std::vector<std::string> ofOwn; // the own plan needs no settings of the system
    std::vector<std::string> kept;  // values that do not vary
    for (const std::string& setting : options.settings)
    {
        if (SetsVaried(setting))
        {
            kept.push_back(setting);
        }
        else if (setting.rfind("system", 0) != 0)
        {
            ofOwn.push_back(setting);
        }
    }
    const Scenario own = LoadScenario(options.file, ofOwn, Catalog());
    const std::size_t job = FindTrainingJob(own, options.job);
    std::string refusal = "found no plan for this number of GPUs";
    for (const auto& plan : DivisionsOf(own, job, options.gpus))
    {
        std::vector<std::string> settings = options.settings;
        settings.insert(settings.end(), plan.begin(), plan.end());
        settings.insert(settings.end(), kept.begin(), kept.end());
        try
        {
            Scenario scenario = LoadScenario(options.file, settings, Catalog());
            if (scenario.jobs[job].plan.Ranks() == options.gpus)
            {
                return scenario;
            }
        }
        catch (const InputError& error)
        {
            refusal = error.what();
        }
    }
    throw InputError("--gpus: found " + std::to_string(options.gpus) +
                     ", for which no plan is possible: " + refusal);
}

ExitCode
RunSearch(const SearchOptions& options, const CaseProcesses::Command& command)
{
    CheckFidelity(options);
    const Scenario scenario = options.gpus > 0
                                  ? LoadForGpus(options)
                                  : LoadScenario(options.file, options.settings, Catalog());
    CheckSweepOutputs(options.run, scenario.path);
    if (scenario.jobs.empty())
    {
        throw InputError(options.file +
                         ": found no training job, expected one to search plans for");
    }
    const std::size_t job = FindTrainingJob(scenario, options.job);
    if (scenario.jobs[job].recorded)
    {
        throw InputError(scenario.jobs[job].where +
                         ": found an imported workload, expected a model to search plans for");
    }
    const std::vector<std::string> words{"run", options.file, "--fidelity", options.fidelity};
    SweepRunOptions runOptions = options.run;
    runOptions.continuesAfterRefusal = true;
    SweepRun run(PlansOf(scenario, job, words, options.settings), runOptions, command);
    return run.Run([&](const std::vector<EndedCase>& ended) {
        const std::string plans = PlansText(ended, scenario.jobs[job].plan.Ranks());
        Sweep ranked = run.GetSweep();
        std::vector<EndedCase> best = ended;
        RankBySteps(job, ranked, best);
        ShowSweep(options.run, ranked, best, [&] {
            const std::size_t count = best.size();
            if (count == 0)
            {
                return std::string();
            }
            ranked.cases.resize(std::min(options.top, count));
            best.resize(ranked.cases.size());
            return ToText(ranked, best) + CountOf(plans, ended, count);
        });
        if (best.empty())
        {
            std::cerr << "weir: found none of " << plans
                      << " that can be run, expected one; for example " << RefusalIn(ended) << "\n";
        }
        return run.End(best.empty());
    });
}

} // namespace

Command
AddSearchCommand(CLI::App& application, CaseProcesses::Command command)
{
    auto* verb = application.add_subcommand(
        "search", "Rank the parallel plans of a training job by step time");
    auto options = std::make_shared<SearchOptions>();
    verb->add_option("FILE", options->file, "Scenario file, or the name of a run of the catalog")
        ->required();
    verb->add_option(
        "--job", options->job, "Training job to search plans for (default: the first)");
    verb->add_option(
            "--fidelity", options->fidelity, "Fidelity of the runs: analytical, stream or flow")
        ->capture_default_str();
    verb->add_option(
            "--gpus",
            options->gpus,
            "Number of GPUs of the plans (default: those of the job's own plan, with the values of "
            "--set, which must fit)")
        ->check(CLI::Range(1U, 1U << 24));
    verb->add_option("--top", options->top, "Number of plans in the table")
        ->capture_default_str()
        ->check(CLI::Range(std::size_t{1}, std::size_t{1000000}));
    AddSettingsOption(*verb, options->settings);
    AddSweepRunOptions(*verb, options->run);
    verb->footer(
        R"(The search runs every factorization of the job's GPUs, or of --gpus, into tensor ranks of one node,
pipeline stages and replicas, with each micro-batch of 1 to 8 samples that divides a replica's
batch, 1, 2 or 4 model chunks per stage, with and without recomputation. The other settings of the
plan are kept, as are those that --set gives: --set jobs.0.parallel.tensor=4 --gpus 96 ranks plans
of 96 GPUs with 4 tensor ranks. Plans that the model or the memory of a GPU does not allow are
refused and counted.
Bounds are those of weir run: this fidelity cannot rank two plans whose bounds overlap.
Examples:
  weir search gpt-175b-96-h800
  weir search my-run.yaml --set system.nodes=16 --gpus 128 --top 20 --csv plans.csv
  weir search my-run.yaml --fidelity stream -j 8 -o plans.h5)");
    return {verb, [options, command] { return RunSearch(*options, command); }};
}

} // namespace weir

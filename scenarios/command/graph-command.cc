// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/step-builder.h"
#include "compute-model/plan/memory-estimate.h"
#include "scenarios/catalog.h"
#include "scenarios/command/commands.h"
#include "scenarios/command/verb-options.h"
#include "scenarios/describe/describe-graph.h"
#include "scenarios/readers/read-scenario.h"
#include "scenarios/yaml/input-error.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string>

namespace weir
{

namespace
{

struct GraphOptions
{
    std::string file;
    std::vector<std::string> settings;
    std::string job;
    GraphView view;
};

/** The memory that a GPU of the fullest stage needs. */
std::string
MemoryOf(const JobSpec& job)
{
    if (job.recorded)
    {
        return "";
    }
    const auto* table = std::get_if<LayerTable>(&job.network);
    const MemoryEstimate memory =
        table != nullptr ? EstimateTableMemory(*table, job.plan)
                         : EstimateMemory(std::get<Transformer>(job.network), job.plan);
    return "memory of a GPU of stage " + std::to_string(memory.stage) + ": " + ToText(memory) +
           "\n";
}

ExitCode
ShowGraph(const GraphOptions& options)
{
    const Scenario scenario = LoadScenario(options.file, options.settings, Catalog());
    const JobSpec& job = scenario.jobs[FindTrainingJob(scenario, options.job)];
    const uint32_t microBatches = job.recorded ? 1 : job.plan.MicroBatches();
    if (options.view.microBatch && *options.view.microBatch >= microBatches)
    {
        throw InputError("--micro-batch: found " + std::to_string(*options.view.microBatch) +
                         ", expected one of 0 to " + std::to_string(microBatches - 1));
    }
    const std::string where = job.where.empty() ? scenario.path : job.where;
    const std::string text = ConvertErrors(where, [&] {
        const StepGraph graph =
            job.recorded ? *job.recorded : BuildStep(job.network, job.plan, scenario.gpu);
        if (options.view.rank >= graph.RankCount())
        {
            throw InputError("--rank: found " + std::to_string(options.view.rank) +
                             ", expected one of 0 to " + std::to_string(graph.RankCount() - 1));
        }
        return DescribeGraph(graph, options.view) + MemoryOf(job);
    });
    PrintNotes(scenario.notes);
    std::cout << scenario.title << ", job " << job.name << ", " << text;
    return ExitCode::Done;
}

} // namespace

Command
AddGraphCommand(CLI::App& application)
{
    auto* verb =
        application.add_subcommand("graph", "Show the operations of one rank in a step, in order");
    auto options = std::make_shared<GraphOptions>();
    verb->add_option("FILE", options->file, "Scenario file, or the name of a run of the catalog")
        ->required();
    AddSettingsOption(*verb, options->settings);
    verb->add_option("--job", options->job, "Name of the job (default: the first)");
    verb->add_option("--rank", options->view.rank, "Rank, from 0")->capture_default_str();
    verb->add_option("--micro-batch",
                     options->view.microBatch,
                     "Show only the operations of this micro-batch (default: all)");
    verb->add_flag(
        "--kernels", options->view.kernels, "Also show shape, bytes and FLOPs of each kernel");
    verb->footer(
        R"(Times are of uncontended kernels that are launched well ahead. Bytes are nccl-tests' size for
communication and the memory traffic for kernels.
Examples:
  weir graph gpt-175b-96-h800 --rank 8 --micro-batch 0
  weir graph gpt-175b-96-h800 --kernels | less)");
    return {verb, [options] { return ShowGraph(*options); }};
}

} // namespace weir

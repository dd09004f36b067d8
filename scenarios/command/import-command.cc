// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/command/commands.h"
#include "scenarios/command/interruption.h"
#include "scenarios/command/verb-options.h"
#include "scenarios/results/output-file.h"
#include "scenarios/traces/goal-schedule.h"
#include "scenarios/traces/open-trace.h"
#include "scenarios/traces/process-groups.h"
#include "scenarios/traces/trace-calls.h"
#include "scenarios/traces/trace-counts.h"
#include "scenarios/traces/trace-graph.h"
#include "scenarios/workload/workload-file.h"
#include "scenarios/yaml/input-error.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string>

namespace weir
{

namespace
{

struct ImportOptions
{
    std::vector<std::string> files;
    std::string output;
    std::string form{"workload"};
    std::string gatherSize{"by-file"};
    std::string groups;
    TraceOptions trace;
    bool checks{false};
    bool isJson{false};
};

/** Workloads are replaced by workloads only. */
OutputFormat
WorkloadFormat()
{
    return {"workload", {WORKLOAD_BEGINNING}};
}

/** Writes @p text as the output. */
void
SaveOutput(const ImportOptions& options, const std::string& text, const OutputFormat& format)
{
    for (const std::string& file : options.files)
    {
        ExpectOtherFile("--output", options.output, "input", file);
    }
    OutputFile file(options.output, "--output", format);
    RemoveIfInterrupted(OutputFile::TemporaryName(file.Path()));
    file.Save(text);
}

/** GOAL in its other form, or in the same, normalized. */
ExitCode
ConvertGoal(const ImportOptions& options)
{
    const auto parts = ReadTraceBytes(options.files.front());
    const bool isGoal = IsGoalBinary(parts.front().bytes) || IsGoalText(parts.front().bytes);
    if (options.files.size() != 1 || parts.size() != 1 || !isGoal || options.output.empty())
    {
        throw InputError("--to: found '" + options.form +
                         "', expected one GOAL schedule and --output with it");
    }
    const GoalSchedule schedule = ReadGoal(parts.front());
    SaveOutput(options,
               options.form == "goal-text" ? ToGoalText(schedule) : ToGoalBinary(schedule),
               TextFormat());
    std::cout << options.output << ": " << schedule.ranks.size() << " ranks\n";
    return ExitCode::Done;
}

/** "8 ranks, 1 program, 12 operations, 3 groups". */
std::string
DescribeWorkload(const Workload& workload)
{
    std::size_t operations = 0;
    for (const StepProgram& program : workload.graph.programs)
    {
        for (const auto& ops : program.streams)
        {
            operations += ops.size();
        }
    }
    return std::to_string(workload.graph.RankCount()) + " ranks, " +
           std::to_string(workload.graph.programs.size()) + " programs of " +
           std::to_string(operations) + " operations, " +
           std::to_string(workload.graph.groups.size()) + " groups";
}

void
PrintCounts(const std::vector<TraceFile>& files, bool isJson)
{
    if (!isJson)
    {
        for (const TraceFile& file : files)
        {
            std::cout << DescribeCounts(file);
        }
        return;
    }
    Json list = Json::array();
    for (const TraceFile& file : files)
    {
        list.push_back(CountsToJson(file));
    }
    std::cout << list.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
}

/** What ranks do together, checked. @return how the command ends. */
ExitCode
CheckTogether(const std::vector<TraceFile>& files, const ImportOptions& options)
{
    ExitCode code = ExitCode::Done;
    std::string text;
    try
    {
        const Workload workload = MakeWorkload(MatchCalls(files, options.trace));
        text = "together: " + DescribeWorkload(workload) + "\n";
        for (const std::string& remark : workload.remarks)
        {
            text += "  " + remark + "\n";
        }
    }
    catch (const IncompleteTraces& incomplete)
    {
        text = std::string("no workload of these alone: ") + incomplete.what() + "\n";
    }
    catch (const InputError& wrong)
    {
        text = std::string("no workload: ") + wrong.what() + "\n";
        code = ExitCode::CheckFailed;
    }
    (options.isJson ? std::cerr : std::cout) << text;
    return code;
}

ExitCode
Import(ImportOptions options)
{
    if (options.output.empty() && !options.checks)
    {
        throw InputError("import: found neither --output nor --check, expected one of them");
    }
    options.trace.gatherSize = options.gatherSize == "shard"   ? GatherSize::Shard
                               : options.gatherSize == "total" ? GatherSize::Total
                                                               : GatherSize::ByFile;
    if (options.form != "workload")
    {
        return ConvertGoal(options);
    }
    if (!options.groups.empty())
    {
        options.trace.groups = ReadGroupFile(options.groups);
    }
    const std::vector<TraceFile> files = ReadTraces(options.files, options.trace);
    if (options.checks)
    {
        PrintCounts(files, options.isJson);
    }
    if (options.output.empty())
    {
        return CheckTogether(files, options);
    }
    Workload workload = MakeWorkload(MatchCalls(files, options.trace));
    for (const TraceFile& file : files)
    {
        workload.sources.push_back(file.path + ": " + file.dialect);
        for (const std::string& remark : file.remarks)
        {
            workload.remarks.push_back(file.path + ": " + remark);
        }
    }
    SaveOutput(options, ToText(workload), WorkloadFormat());
    std::ostream& out = options.isJson ? std::cerr : std::cout;
    out << options.output << ": " << DescribeWorkload(workload) << "\n";
    for (const std::string& remark : workload.remarks)
    {
        out << "  " << remark << "\n";
    }
    return ExitCode::Done;
}

} // namespace

Command
AddImportCommand(CLI::App& application)
{
    auto* verb = application.add_subcommand(
        "import",
        "Make a workload of traces and workloads of other programs, or say what they hold");
    auto options = std::make_shared<ImportOptions>();
    verb->add_option(
            "FILE",
            options->files,
            "Chakra ET (also JSON), PyTorch ExecutionTrace, Kineto, SimAI or AICB workload, "
            "AICB CSV, GOAL (text or binary); by content, also in gzip and tar")
        ->required();
    AddOutputOption(*verb, "-o,--output", options->output, "Write the workload to this file");
    verb->add_flag(
        "--check",
        options->checks,
        "Print what each file holds, and whether ranks agree (exit 1: they do not; 0, too, "
        "where files of other ranks are missing)");
    verb->add_flag("--json", options->isJson, "Print counts as JSON");
    verb->add_option("--ranks",
                     options->trace.ranks,
                     "One rank is played by so many (SPMD; default: every rank has its file)")
        ->check(CLI::Range(std::size_t{2}, MAX_WORKLOAD_RANKS));
    verb->add_option("--gather-size",
                     options->gatherSize,
                     "What the size of an all-gather is: of what a rank gives (shard), of what it "
                     "gets (total), or as the file's writer has it")
        ->check(CLI::IsMember({"by-file", "shard", "total"}))
        ->capture_default_str();
    verb->add_option("--groups",
                     options->groups,
                     "Ranks by name of the process group, as ASTRA-sim's comm_group.json has them")
        ->type_name("FILE");
    verb->add_flag("--drop-dangling",
                   options->trace.dropsDangling,
                   "Leave out dependencies on nodes that are not there");
    verb->add_option("--to", options->form, "What to write: a workload, or GOAL in the other form")
        ->check(CLI::IsMember({"workload", "goal-text", "goal-binary"}))
        ->capture_default_str();
    verb->footer(
        "Examples:\n"
        "  weir import all_reduce.*.et -o all-reduce.json\n"
        "  weir import et.json.gz kineto.json.gz --ranks 8 -o step.json\n"
        "  weir import workload.txt --check\n"
        "A scenario plays it: jobs: [{name: trace, workload: step.json}]; compute takes its "
        "recorded\ntime, communication what the scenario's fabric gives it.");
    return {verb, [options] { return Import(*options); }};
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/command/commands.h"
#include "scenarios/command/verb-options.h"
#include "scenarios/results/output-file.h"
#include "scenarios/results/text-table.h"
#include "scenarios/traces/collective-fields.h"
#include "scenarios/traces/goal-schedule.h"
#include "scenarios/traces/import-traces.h"
#include "scenarios/workload/json-fields.h"
#include "scenarios/workload/workload-file.h"
#include "scenarios/yaml/input-error.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

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

/** A workload file; only workloads are overwritten by it. */
const OutputFormat WORKLOAD_FORMAT{"workload", {WORKLOAD_BEGINNING}};

/**
 * The text or binary form of a GOAL schedule; only schedules are overwritten by it. The binary form
 * begins with its magic number of 64 bits, little-endian.
 */
const OutputFormat GOAL_FORMAT{"GOAL schedule",
                               {"num_ranks ", std::string("\x7f\x10\0\0\0\0\0\0", 8)}};

void
SaveOutput(const ImportOptions& options, const std::string& text, const OutputFormat& format)
{
    for (const std::string& file : options.files)
    {
        ExpectOtherFile("--output", options.output, "input", file);
    }
    const auto file = OpenOutput(options.output, "--output", format);
    file->Save(text);
}

/** "1 rank", "2 ranks". */
std::string
Counted(std::size_t count, const char* noun)
{
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

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
               GOAL_FORMAT);
    std::cout << options.output << ": " << Counted(schedule.ranks.size(), "rank") << "\n";
    return ExitCode::Done;
}

/** "8 ranks, 1 program of 12 operations, 3 groups". */
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
    return Counted(workload.graph.RankCount(), "rank") + ", " +
           Counted(workload.graph.programs.size(), "program") + " of " +
           Counted(operations, "operation") + ", " + Counted(workload.graph.groups.size(), "group");
}

/** Calls of one operation on one group, over all ranks of a file. */
struct CallCount
{
    std::size_t calls{0};
    double in{0}; //!< bytes
    double out{0};
    const TraceEvent* first{nullptr};
};

/** Describes a group: "0: 8 ranks", or "0: 0 1" with its ranks when they are few and known. */
std::string
DescribeGroup(const TraceFile& file, const std::string& name)
{
    constexpr std::size_t FEW = 8;
    const auto& groups = file.ranks.front().groups;
    const auto found = groups.find(name);
    const std::string plain = name.empty() ? "-" : name;
    if (found == groups.end())
    {
        return plain;
    }
    const TraceGroup& group = found->second;
    std::string ranks;
    for (const uint32_t rank : group.ranks)
    {
        ranks += " " + std::to_string(rank);
    }
    return group.ranks.empty()
               ? group.size > 0 ? plain + ": " + std::to_string(group.size) + " ranks" : plain
           : group.ranks.size() <= FEW
               ? plain + ":" + ranks
               : plain + ": " + std::to_string(group.ranks.size()) + " ranks";
}

struct TraceCounts
{
    std::map<std::pair<std::string, std::string>, CallCount> calls; //!< by operation and group
    std::optional<Time> first;
    Time last;
};

TraceCounts
CountsOf(const TraceFile& file)
{
    TraceCounts counts;
    for (const RankTrace& rank : file.ranks)
    {
        for (const TraceEvent& event : rank.events)
        {
            if (event.begin && event.kind != TraceEventKind::Mark)
            {
                counts.first = std::min(counts.first.value_or(*event.begin), *event.begin);
                counts.last = std::max(counts.last, *event.begin + event.duration);
            }
            if (!event.IsCommunication())
            {
                continue;
            }
            CallCount& count = counts.calls[{NameOfCall(event), event.group}];
            count.calls++;
            count.in += event.in.ToDouble();
            count.out += event.out.ToDouble();
            const bool isFirst = count.first == nullptr || event.position < count.first->position;
            count.first = isFirst ? &event : count.first;
        }
    }
    return counts;
}

/** "26550272 B in, 26550272 B out, Float, 2636.669 us, stream 40, 8 channels (event 5)". */
std::string
DescribeFirst(const TraceEvent& event)
{
    std::string text =
        std::to_string(event.in.Count()) + " B in, " + std::to_string(event.out.Count()) + " B out";
    text += event.dtype.empty() ? "" : ", " + event.dtype;
    text += event.duration > Time() ? FormatText(", %.3f us", event.duration.ToMicroseconds()) : "";
    text += event.stream == TraceEvent::NO_STREAM ? "" : ", stream " + std::to_string(event.stream);
    text += event.channels > 0 ? ", " + std::to_string(event.channels) + " channels" : "";
    return text + " (" + event.id + ")";
}

/** "rank 3", "one rank for 128", "32 ranks". */
std::string
DescribeRanks(const TraceFile& file)
{
    if (file.ranks.empty())
    {
        return "no operations to replay";
    }
    if (file.ranks.size() > 1)
    {
        return std::to_string(file.ranks.size()) + " ranks";
    }
    const RankTrace& rank = file.ranks.front();
    return rank.ranks > 0 ? "one rank representing " + std::to_string(rank.ranks)
           : rank.rank    ? "rank " + std::to_string(*rank.rank)
                          : "a rank without a number";
}

/**
 * Describes the content of @p file for the terminal: its format, nodes, kernels, first and last
 * time, calls by operation and group with their bytes, dropped data with the reason, and defaults
 * assumed.
 */
std::string
DescribeCounts(const TraceFile& file)
{
    const TraceCounts counts = CountsOf(file);
    std::string text = file.path + ": " + file.dialect + ", " + DescribeRanks(file) + "\n";
    std::size_t calls = 0;
    for (const auto& [key, count] : counts.calls)
    {
        calls += count.calls;
    }
    text += "  nodes " + std::to_string(file.nodes) + ", kernels " + std::to_string(file.kernels) +
            ", calls " + std::to_string(calls);
    text += counts.first ? FormatText(", %.3f us to %.3f us",
                                      counts.first->ToMicroseconds(),
                                      counts.last.ToMicroseconds())
                         : std::string(", no times");
    text += file.origin > 0 ? FormatText(" after %.3f us\n", file.origin) : std::string("\n");
    for (const std::string& line : file.listing)
    {
        text += "  " + line + "\n";
    }
    if (counts.calls.empty() && file.listing.empty())
    {
        text += "  no collectives\n";
    }
    else if (!counts.calls.empty())
    {
        TextTable table(2);
        table.Row({"call", "group", "calls", "B in", "B out"});
        for (const auto& [key, count] : counts.calls)
        {
            table.Row({key.first,
                       DescribeGroup(file, key.second),
                       std::to_string(count.calls),
                       FormatText("%.0f", count.in),
                       FormatText("%.0f", count.out)});
        }
        text += table.Print(2);
        for (const auto& [key, count] : counts.calls)
        {
            text += "  first " + key.first + ": " + DescribeFirst(*count.first) + "\n";
        }
    }
    for (const auto& [reason, count] : file.dropped)
    {
        text += "  dropped " + std::to_string(count) + ": " + reason + "\n";
    }
    if (file.dangling > 0)
    {
        text += "  dangling dependencies " + std::to_string(file.dangling) +
                " (--drop-dangling), the first: " + file.firstDangling + "\n";
    }
    for (const std::string& remark : file.remarks)
    {
        text += "  " + remark + "\n";
    }
    return text;
}

/**
 * The same as a JSON object: file, dialect, ranks, nodes, kernels, first_us, last_us, origin_us,
 * calls, listing, dropped, dangling, remarks.
 */
Json
CountsToJson(const TraceFile& file)
{
    const TraceCounts counts = CountsOf(file);
    Json calls = Json::array();
    for (const auto& [key, count] : counts.calls)
    {
        calls.push_back({{"op", key.first},
                         {"group", key.second},
                         {"calls", count.calls},
                         {"bytes_in", count.in},
                         {"bytes_out", count.out},
                         {"first_bytes_in", count.first->in.Count()},
                         {"first_bytes_out", count.first->out.Count()},
                         {"first_dtype", count.first->dtype},
                         {"first_us", count.first->duration.ToMicroseconds()},
                         {"first_id", count.first->id}});
    }
    return {{"file", file.path},
            {"dialect", file.dialect},
            {"ranks", file.ranks.size()},
            {"nodes", file.nodes},
            {"kernels", file.kernels},
            {"first_us", counts.first ? Json(counts.first->ToMicroseconds()) : Json(nullptr)},
            {"last_us", counts.first ? Json(counts.last.ToMicroseconds()) : Json(nullptr)},
            {"origin_us", file.origin},
            {"calls", std::move(calls)},
            {"listing", file.listing},
            {"dropped", file.dropped},
            {"dangling", file.dangling},
            {"remarks", file.remarks}};
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

/** Checks whether the ranks of all files agree. @return the exit code */
ExitCode
CheckRankAgreement(const std::vector<TraceFile>& files, const ImportOptions& options)
{
    ExitCode code = ExitCode::Done;
    std::string text;
    try
    {
        const Workload workload = MakeWorkload(MatchCalls(files, options.trace));
        text = "workload: " + DescribeWorkload(workload) + "\n";
        for (const std::string& remark : workload.remarks)
        {
            text += "  " + remark + "\n";
        }
    }
    catch (const IncompleteTraces& incomplete)
    {
        text = std::string("no workload from these files only: ") + incomplete.what() + "\n";
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
        return CheckRankAgreement(files, options);
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
    SaveOutput(options, ToText(workload), WORKLOAD_FORMAT);
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
    auto* verb = application.add_subcommand("import",
                                            "Convert traces and workloads of other programs to a "
                                            "Weir workload, or show their contents");
    auto options = std::make_shared<ImportOptions>();
    verb->add_option("FILE",
                     options->files,
                     "Chakra ET (also JSON), PyTorch ExecutionTrace, Kineto, SimAI or AICB "
                     "workload, AICB CSV, GOAL (text or binary), also in gzip and tar; the format "
                     "is detected from the content")
        ->required()
        ->check([](const std::string& name) {
            return name.empty() ? "found '', expected the name of a file" : std::string();
        });
    AddOutputOption(*verb, "-o,--output", options->output, "Write the workload to this file");
    verb->add_flag("--check",
                   options->checks,
                   "Print the contents of each file and whether the ranks agree (exit code 1 if "
                   "they do not; 0 also if files of other ranks are missing)");
    verb->add_flag("--json", options->isJson, "Print counts as JSON");
    verb->add_option(
            "--ranks",
            options->trace.ranks,
            "Number of ranks that one rank represents (SPMD; default: every rank has its file)")
        ->check(CLI::Range(std::size_t{2}, MAX_WORKLOAD_RANKS));
    verb->add_option("--gather-size",
                     options->gatherSize,
                     "Meaning of the size of an all-gather: the rank's contribution (shard), the "
                     "gathered result (total), or as the file's writer defines it (by-file)")
        ->check(CLI::IsMember({"by-file", "shard", "total"}))
        ->capture_default_str();
    verb->add_option("--groups",
                     options->groups,
                     "File of the ranks of each process group, by name, in the format of "
                     "ASTRA-sim's comm_group.json")
        ->type_name("FILE");
    verb->add_flag(
        "--drop-dangling", options->trace.dropsDangling, "Ignore dependencies on missing nodes");
    verb->add_option("--to", options->form, "Output format: a workload, or GOAL in the other form")
        ->check(CLI::IsMember({"workload", "goal-text", "goal-binary"}))
        ->capture_default_str();
    verb->footer(R"(Examples:
  weir import all_reduce.*.et -o all-reduce.json
  weir import et.json.gz kineto.json.gz --ranks 8 -o step.json
  weir import workload.txt --check
A scenario runs it with jobs: [{name: trace, workload: step.json}]. Compute operations take their
recorded time, and communication is simulated on the scenario's fabric.)");
    return {verb, [options] { return Import(*options); }};
}

} // namespace weir

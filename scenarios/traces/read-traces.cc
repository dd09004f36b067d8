// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/traces/import-traces.h"

#include "scenarios/traces/goal-schedule.h"
#include "scenarios/traces/trace-formats.h"
#include "scenarios/yaml/input-error.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

namespace weir
{

namespace
{

constexpr const char* DIALECTS =
    "a Chakra ET, a PyTorch ExecutionTrace or Kineto trace, a SimAI workload, an AICB CSV or a "
    "GOAL schedule";

TraceFile
ReadJsonTrace(const TraceBytes& file, const TraceOptions& options)
{
    if (file.bytes.find("\"traceEvents\"") != std::string::npos || BeginsWithOneOf("[", file.bytes))
    {
        return ReadKineto(file);
    }
    const Json root = ParseJson(file.bytes, file.name);
    if (FindField(root, "workload_graph") != nullptr)
    {
        return ReadChakraJson(root, file.name, options);
    }
    if (FindField(root, "nodes") != nullptr && FindField(root, "schema") != nullptr)
    {
        return ReadExecutionTrace(root, file.name);
    }
    if (FindField(root, "results") != nullptr)
    {
        return ListNcclTests(file); // as nccl-tests -J writes
    }
    throw InputError(file.name +
                     ": found JSON without workload_graph, traceEvents, results, or schema and "
                     "nodes, expected " +
                     DIALECTS);
}

/** Whether @p bytes are lines that begin with a tag in brackets, as mpirun's [1,0]<stdout>. */
bool
AreTaggedLines(const std::string& bytes)
{
    const std::size_t tag = bytes.find('[');
    return BeginsWithOneOf("[", bytes) && !BeginsWithOneOf("{]", bytes.substr(tag + 1, 100)) &&
           (IsNcclTests(bytes) || IsNcclLog(bytes));
}

/** A format of trace files: how its content is recognized and read. */
struct Dialect
{
    bool (*has)(const std::string& bytes);
    TraceFile (*read)(const TraceBytes& file, const TraceOptions& options);
};

/** The dialect that the content of a file is of; null if there is none. */
const Dialect*
FindDialect(const std::string& bytes)
{
    static constexpr Dialect ALL[] = {
        {IsAicb, ReadAicb}, // may begin with a list of ranks
        {[](const std::string& text) {
             return BeginsWithOneOf("{[", text) && !AreTaggedLines(text);
         },
         ReadJsonTrace},
        {[](const std::string& text) { return IsGoalBinary(text) || IsGoalText(text); },
         [](const TraceBytes& file, const TraceOptions&) { return ToTrace(ReadGoal(file), file); }},
        {IsSimAi, ReadSimAi},
        {IsNcclTests,
         [](const TraceBytes& file, const TraceOptions&) { return ListNcclTests(file); }},
        {IsNcclLog, [](const TraceBytes& file, const TraceOptions&) { return ListNcclLog(file); }},
        {IsChakra, ReadChakra}};
    const auto* found = std::find_if(
        std::begin(ALL), std::end(ALL), [&](const Dialect& each) { return each.has(bytes); });
    return found == std::end(ALL) ? nullptr : found;
}

/** The kernel trace of the same rank as @p host; null if there is none. */
TraceFile*
FindKernels(std::vector<TraceFile>& files, const TraceFile& host)
{
    TraceFile* found = nullptr;
    std::size_t hosts = 0;
    std::size_t kernels = 0;
    for (TraceFile& file : files)
    {
        hosts += file.isHostTrace ? 1 : 0;
        kernels += file.isKernelTrace ? 1 : 0;
        if (file.isKernelTrace && file.ranks.front().rank == host.ranks.front().rank)
        {
            found = &file;
        }
    }
    for (TraceFile& file : files)
    {
        if (hosts == 1 && kernels == 1 && file.isKernelTrace)
        {
            return &file; // the only pair, whatever its ranks
        }
    }
    return found;
}

/** Remarks on process groups whose ranks are unknown, unless they have all ranks. */
void
RemarkOnUnlistedGroups(TraceFile& file)
{
    std::size_t unlisted = 0;
    for (const auto& [name, group] : file.ranks.front().groups)
    {
        const bool isPart = group.size > 1 && group.size != file.ranks.front().world;
        unlisted += group.ranks.empty() && isPart ? 1 : 0;
    }
    AddRemark(unlisted,
              "process groups do not list their ranks: taken as adjacent ranks (--groups)",
              file.remarks);
}

/** Whether a rank of @p files has the process group @p name. */
bool
IsGroupOf(const std::vector<TraceFile>& files, const std::string& name)
{
    return std::any_of(files.begin(), files.end(), [&](const TraceFile& file) {
        return std::any_of(file.ranks.begin(), file.ranks.end(), [&](const RankTrace& rank) {
            return rank.groups.count(name) > 0;
        });
    });
}

} // namespace

TraceFile
ReadTrace(const TraceBytes& file, const TraceOptions& options)
{
    if (file.bytes.find_first_not_of(WHITE_SPACE) == std::string::npos)
    {
        throw InputError(file.name + ": found no content, expected " + DIALECTS);
    }
    if (const Dialect* dialect = FindDialect(file.bytes))
    {
        return dialect->read(file, options);
    }
    throw InputError(file.name + ": found no dialect that its content is of, expected " + DIALECTS);
}

std::vector<TraceFile>
ReadTraces(const std::vector<std::string>& paths, const TraceOptions& options)
{
    std::vector<TraceFile> files;
    for (const std::string& path : paths)
    {
        const std::vector<TraceBytes> parts = ReadTraceBytes(path);
        std::size_t passed = 0;
        for (const TraceBytes& part : parts)
        {
            if (parts.size() > 1 && FindDialect(part.bytes) == nullptr)
            {
                passed++;
                continue;
            }
            files.push_back(ReadTrace(part, options));
        }
        if (passed > 0 && passed < parts.size())
        {
            files.back().dropped["other files of the archive"] += passed;
        }
        else if (passed > 0)
        {
            throw InputError(path + ": found no trace among " + std::to_string(passed) +
                             " files, expected " + DIALECTS);
        }
    }
    for (TraceFile& file : files)
    {
        TraceFile* kernels = file.isHostTrace ? FindKernels(files, file) : nullptr;
        if (kernels != nullptr)
        {
            JoinHostTrace(file, *kernels);
            file.isJoined = true;
            file.remarks.resize(1); // keep the number of calls
            file.remarks.push_back("its calls are joined with " + kernels->path);
        }
    }
    const auto unused =
        std::count_if(options.groups.begin(), options.groups.end(), [&](const auto& group) {
            return !IsGroupOf(files, group.first);
        });
    if (!files.empty())
    {
        AddRemark(static_cast<std::size_t>(unused),
                  "process groups of --groups are of no trace",
                  files.front().remarks);
    }
    for (TraceFile& file : files)
    {
        for (RankTrace& rank : file.ranks)
        {
            for (const auto& [name, ranks] : options.groups)
            {
                rank.groups[name].ranks = ranks;
            }
        }
        if (file.isKernelTrace || (file.isHostTrace && !file.isJoined))
        {
            RemarkOnUnlistedGroups(file);
        }
    }
    return files;
}

} // namespace weir

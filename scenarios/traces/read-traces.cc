// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/traces/import-traces.h"

#include "scenarios/traces/goal-schedule.h"
#include "scenarios/traces/trace-formats.h"
#include "scenarios/yaml/input-error.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
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

void
JoinHostTrace(const TraceFile& host, TraceFile& kernels)
{
    const RankTrace& calls = host.ranks.front();
    RankTrace& rank = kernels.ranks.front();
    std::unordered_map<uint64_t, const HostCall*> byRecord;
    for (const HostCall& call : calls.hostCalls)
    {
        for (const uint64_t record : call.recordIds)
        {
            byRecord[record] = &call;
        }
    }
    std::size_t joined = 0;
    const auto take = [&](uint32_t index, const HostCall& call) {
        TraceEvent& event = rank.events[index];
        TraceEvent taken = call.event;
        taken.id = event.id;
        taken.name = event.name;
        taken.position = event.position;
        taken.stream = event.stream;
        taken.channels = event.channels;
        taken.duration = event.duration;
        taken.begin = event.begin;
        taken.launch = event.launch;
        taken.epoch = event.epoch;
        taken.after = event.after;
        event = std::move(taken);
        joined++;
    };
    std::map<CollectiveOp, std::vector<uint32_t>> unjoined; // event indices
    for (uint32_t i = 0; i < rank.events.size(); i++)
    {
        if (rank.events[i].kind != TraceEventKind::Collective)
        {
            continue;
        }
        const auto record = rank.recordIds.find(i);
        const auto call =
            record == rank.recordIds.end() ? byRecord.end() : byRecord.find(record->second);
        if (call != byRecord.end() && call->second->event.op == rank.events[i].op)
        {
            take(i, *call->second);
        }
        else
        {
            unjoined[rank.events[i].op].push_back(i);
        }
    }
    const std::size_t byId = joined;
    for (const auto& [op, events] : unjoined)
    {
        std::vector<const HostCall*> own;
        for (const HostCall& call : calls.hostCalls)
        {
            if (call.event.op == op && call.event.kind == TraceEventKind::Collective)
            {
                own.push_back(&call);
            }
        }
        // A host trace covers one step; the kernels may cover several.
        for (std::size_t i = 0;
             byId == 0 && !own.empty() && events.size() % own.size() == 0 && i < events.size();
             i++)
        {
            take(events[i], *own[i % own.size()]);
        }
    }
    for (const auto& [name, group] : calls.groups)
    {
        TraceGroup& known = rank.groups[name];
        known = known.ranks.empty() ? group : known;
    }
    kernels.remarks.push_back(
        "joined with " + host.path + " by rf_id: " + std::to_string(rank.recordIds.size()) +
        " of " + std::to_string(rank.events.size()) + " GPU events, " + std::to_string(byId) +
        " collectives" +
        (joined > byId ? "; by order: " + std::to_string(joined - byId) + " collectives" : ""));
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

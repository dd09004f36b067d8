// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/traces/import-traces.h"

#include "scenarios/machine/nccl-tests-file.h"
#include "scenarios/results/text-table.h"
#include "scenarios/traces/goal-schedule.h"
#include "scenarios/traces/trace-formats.h"
#include "scenarios/traces/trace-lines.h"
#include "scenarios/yaml/input-error.h"

#include <map>
#include <set>

namespace weir
{

namespace
{

constexpr const char* DIALECTS =
    "a Chakra ET, a PyTorch ExecutionTrace or Kineto trace, a SimAI workload, an AICB CSV or a "
    "GOAL "
    "schedule";

constexpr std::string_view NCCL_INFO = "NCCL INFO ";

/** The word after @p before in @p text; empty if there is none. */
std::string
WordAfter(std::string_view text, std::string_view before)
{
    const std::size_t at = text.find(before);
    if (at == std::string_view::npos)
    {
        return "";
    }
    const std::string_view rest = text.substr(at + before.size());
    const std::size_t begin = std::min(rest.find_first_not_of(' '), rest.size());
    const std::size_t end = std::min(rest.find_first_of(" \t,;", begin), rest.size());
    return std::string(rest.substr(begin, end - begin));
}

/** Counts events in the lines of an NCCL log. */
class NcclLog
{
  public:
    void Take(std::string_view text)
    {
        if (text.find("Init COMPLETE") != std::string_view::npos)
        {
            m_communicators[WordAfter(text, "nranks ")]++;
        }
        else if (text.compare(0, 8, "Channel ") == 0)
        {
            TakeChannel(text);
        }
        else if (text.compare(0, 5, "Ring ") == 0)
        {
            m_rings.insert(WordAfter(text, "Ring "));
        }
        else if (text.compare(0, 6, "Trees ") == 0)
        {
            m_trees++;
        }
        else if (text.find(" coll channels, ") != std::string_view::npos)
        {
            m_channels[std::string(text)]++;
        }
        else if (const std::string network = WordAfter(text, "Using network "); !network.empty())
        {
            m_networks[network]++;
        }
    }

    std::vector<std::string> Describe() const
    {
        std::vector<std::string> lines;
        const auto add = [&](const auto& counts, const std::string& what) {
            for (const auto& [name, count] : counts)
            {
                lines.push_back(std::to_string(count) + " " + what + name);
            }
        };
        add(m_communicators, "ranks initialized in communicators of ");
        add(m_networks, "ranks use network ");
        add(m_channels, "ranks have ");
        add(m_connections, "connections via ");
        if (!m_rings.empty())
        {
            lines.push_back(std::to_string(m_rings.size()) + " rings");
        }
        if (m_trees > 0)
        {
            lines.push_back(std::to_string(m_trees) + " lines of trees");
        }
        return lines;
    }

  private:
    /** Counts a line "Channel 00/0 : 8[0] -> 9[1] via P2P/IPC", or a ring as a list of ranks. */
    void TakeChannel(std::string_view text)
    {
        const std::string via = WordAfter(text, " via ");
        if (via.empty())
        {
            m_rings.insert(WordAfter(text, "Channel "));
            return;
        }
        // NET/IB/0/GDRDMA: ignore the NIC's number
        std::string transport;
        for (const char c : via)
        {
            transport += c >= '0' && c <= '9' ? '*' : c;
        }
        m_connections[transport]++;
    }

    std::map<std::string, std::size_t> m_communicators; //!< number of ranks by communicator size
    std::map<std::string, std::size_t> m_networks;
    std::map<std::string, std::size_t> m_channels;
    std::map<std::string, std::size_t> m_connections; //!< by transport
    std::set<std::string> m_rings;
    std::size_t m_trees{0};
};

/** Whether @p bytes contain a table of nccl-tests, as text or CSV. */
bool
IsNcclTests(const std::string& bytes)
{
    const bool isTable = bytes.find("algbw") != std::string::npos &&
                         bytes.find("busbw") != std::string::npos &&
                         bytes.find("redop") != std::string::npos;
    constexpr std::size_t HEADER = 200; // bytes within which the header line of a CSV begins
    return isTable || bytes.substr(0, HEADER).find("size_bytes") != std::string::npos;
}

/** Lists the runs in an output of nccl-tests (ReadNcclTests); it has no ranks to simulate. */
TraceFile
ListNcclTests(const TraceBytes& file)
{
    TraceFile listed;
    listed.path = file.name;
    listed.dialect = "nccl-tests output";
    for (const NcclTestsRun& run : ReadNcclTests(file.name))
    {
        listed.nodes += run.sizes.size();
        listed.listing.push_back(
            (run.op ? ToString(*run.op) : std::string("an operation without a name")) +
            (run.nodes ? ", " + std::to_string(*run.nodes) + " nodes" : "") +
            (run.gpusPerNode ? " of " + std::to_string(*run.gpusPerNode) + " GPUs" : "") +
            (run.ncclVersion ? ", NCCL " + *run.ncclVersion : "") + ": " +
            std::to_string(run.sizes.size()) + " sizes, " +
            std::to_string(run.sizes.front().Count()) + " B in " +
            FormatText("%.2f us to ", run.seconds.front() * 1e6) +
            std::to_string(run.sizes.back().Count()) + " B in " +
            FormatText("%.2f us", run.seconds.back() * 1e6));
    }
    listed.remarks.emplace_back("weir calibrate --from fits a machine to it");
    return listed;
}

/** Whether @p bytes contain lines of NCCL_DEBUG=INFO. */
bool
IsNcclLog(const std::string& bytes)
{
    return bytes.find(NCCL_INFO) != std::string::npos;
}

/**
 * Lists the content of a log of NCCL_DEBUG=INFO: NCCL's version, communicators by their number of
 * ranks, channels, connections by transport, rings and trees. Prefixes before "NCCL INFO" are
 * ignored. It has no ranks to simulate.
 */
TraceFile
ListNcclLog(const TraceBytes& file)
{
    TraceFile listed;
    listed.path = file.name;
    NcclLog log;
    std::string version;
    TraceLines lines(file.bytes, file.name);
    while (lines.Next())
    {
        const std::string_view line = lines.Line();
        if (version.empty())
        {
            version = WordAfter(line, "NCCL version ");
        }
        const std::size_t at = line.find(NCCL_INFO);
        if (at == std::string_view::npos)
        {
            continue;
        }
        log.Take(line.substr(at + NCCL_INFO.size()));
        listed.nodes++;
    }
    listed.dialect = "NCCL log" + (version.empty() ? "" : " of version " + version);
    listed.listing = log.Describe();
    return listed;
}

TraceFile
ReadJsonTrace(const TraceBytes& file, const TraceOptions& options)
{
    if (file.bytes.find("\"traceEvents\"") != std::string::npos || file.bytes[0] == '[')
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
    throw InputError(file.name +
                     ": found JSON without workload_graph, traceEvents, or schema and "
                     "nodes, expected " +
                     DIALECTS);
}

bool
IsOfKnownDialect(const std::string& bytes)
{
    return bytes.compare(0, 1, "{") == 0 || bytes.compare(0, 1, "[") == 0 || IsGoalBinary(bytes) ||
           IsGoalText(bytes) || IsSimAi(bytes) || IsAicb(bytes) || IsNcclLog(bytes) ||
           IsChakra(bytes);
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

} // namespace

TraceFile
ReadTrace(const TraceBytes& file, const TraceOptions& options)
{
    const std::size_t begin = file.bytes.find_first_not_of(" \t\r\n");
    if (begin == std::string::npos)
    {
        throw InputError(file.name + ": found no content, expected " + DIALECTS);
    }
    if (IsAicb(file.bytes)) // may begin with a list of ranks
    {
        return ReadAicb(file, options);
    }
    if (file.bytes[begin] == '{' || file.bytes[begin] == '[')
    {
        return ReadJsonTrace(file, options);
    }
    if (IsGoalBinary(file.bytes) || IsGoalText(file.bytes))
    {
        return ToTrace(ReadGoal(file), file);
    }
    if (IsSimAi(file.bytes))
    {
        return ReadSimAi(file, options);
    }
    if (IsNcclTests(file.bytes) || IsNcclLog(file.bytes))
    {
        return IsNcclTests(file.bytes) ? ListNcclTests(file) : ListNcclLog(file);
    }
    if (IsChakra(file.bytes))
    {
        return ReadChakra(file, options);
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
            if (parts.size() > 1 && !IsOfKnownDialect(part.bytes))
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
    return files;
}

} // namespace weir

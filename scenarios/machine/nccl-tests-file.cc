// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/machine/nccl-tests-file.h"

#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/names.h"
#include "scenarios/yaml/text-file.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

namespace weir
{

namespace
{

using Json = nlohmann::json;

constexpr double MAX_BYTES = 1125899906842624; // 2^50
constexpr double MAX_SECONDS = 1e5;

/** Host and process of a rank. */
struct RankProcess
{
    std::string host;
    std::string process;
};

/** The GPU name in "... device  0 [0x18] NVIDIA H100 80GB HBM3": "NVIDIA H100 80GB HBM3". */
std::string
GpuOf(const std::vector<std::string>& fields)
{
    std::string name;
    bool isBehind = false;
    for (const std::string& field : fields)
    {
        if (isBehind)
        {
            name += (name.empty() ? "" : " ") + field;
        }
        isBehind = isBehind || field.front() == '[';
    }
    return name;
}

/** The times of one run by size, in any order of the file; the first time of a size counts. */
struct RunRows
{
    NcclTestsRun run;
    std::vector<RankProcess> ranks;
    bool hasThreadPerGpu{false};
    std::map<int64_t, double> microseconds;

    void AddRank(const RankProcess& rank, const std::string& gpu, const std::string& where)
    {
        run.devicesWhere = ranks.empty() ? where : run.devicesWhere;
        ranks.push_back(rank);
        if (!gpu.empty())
        {
            run.gpus.emplace(gpu, where);
        }
    }
};

std::optional<double>
NumberOf(const std::string& text)
{
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    const bool isNumber = !text.empty() && *end == '\0' && std::isfinite(value);
    return isNumber ? std::optional(value) : std::nullopt;
}

/** The NCCL version of a code such as 22602, or in text such as 2.26.2+cuda12.4. */
std::optional<std::string>
VersionOf(const std::string& text)
{
    constexpr int OLD_CODES = 10000; // 2804 is 2.8.4
    std::smatch found;
    if (std::regex_search(text, found, std::regex(R"((\d+\.\d+(\.\d+)?))")))
    {
        return found[1].str();
    }
    const auto number = NumberOf(text);
    if (!number || *number < 2000 || *number > 1e6)
    {
        return std::nullopt;
    }
    const int code = static_cast<int>(*number);
    const int major = code < OLD_CODES ? code / 1000 : code / 10000;
    return std::to_string(major) + "." +
           std::to_string(code / 100 % (code < OLD_CODES ? 10 : 100)) + "." +
           std::to_string(code % 100);
}

/** Adds a time, unless the call is empty or the time is not available. */
void
AddRow(RunRows& rows, const std::string& where, const std::string& size, const std::string& time)
{
    const auto bytes = NumberOf(size);
    if (!bytes || *bytes < 0 || *bytes > MAX_BYTES || *bytes != std::floor(*bytes))
    {
        throw InputError(where + ": size: found '" + size + "', expected bytes");
    }
    const std::string plain = NormalizedName(time);
    if (*bytes == 0 || plain.empty() || plain == "na")
    {
        return;
    }
    const auto microseconds = NumberOf(time);
    if (!microseconds || !(*microseconds > 0) || *microseconds > MAX_SECONDS * 1e6)
    {
        throw InputError(where + ": time: found '" + time + "', expected microseconds above zero");
    }
    rows.microseconds.emplace(static_cast<int64_t>(*bytes), *microseconds);
}

/** Derives nodes, GPUs and processes from hosts and processes of the ranks. */
void
DeriveNodes(const std::string& path, RunRows& rows)
{
    std::map<std::string, uint32_t> byHost;
    std::set<std::pair<std::string, std::string>> processes;
    for (const RankProcess& rank : rows.ranks)
    {
        byHost[rank.host]++;
        processes.emplace(rank.host, rank.process);
    }
    if (byHost.empty())
    {
        return;
    }
    for (const auto& [host, ranks] : byHost)
    {
        if (ranks != byHost.begin()->second)
        {
            throw InputError(path + ": found " + std::to_string(byHost.begin()->second) +
                             " ranks on " + byHost.begin()->first + " and " +
                             std::to_string(ranks) + " on " + host +
                             ", expected the same number on every node");
        }
    }
    rows.run.nodes = static_cast<uint32_t>(byHost.size());
    rows.run.gpusPerNode = byHost.begin()->second;
    const LaunchMode shared = rows.hasThreadPerGpu ? LaunchMode::Threads : LaunchMode::OneProcess;
    rows.run.launch = processes.size() == rows.ranks.size() ? LaunchMode::ProcessPerGpu : shared;
}

/** Takes what the file does not state from its name: all_reduce_n004x8.txt. */
void
AskName(const std::string& path, NcclTestsRun& run)
{
    const std::string name = std::filesystem::path(path).stem().string();
    if (!run.op)
    {
        run.op = FindCollectiveOp(name);
    }
    std::smatch found;
    if (!run.nodes && std::regex_search(name, found, std::regex(R"((\d{1,6})x(\d{1,4}))")))
    {
        run.nodes = static_cast<uint32_t>(std::stoul(found[1].str()));
        run.gpusPerNode = run.gpusPerNode.value_or(std::stoul(found[2].str()));
    }
}

std::vector<NcclTestsRun>
Finish(const std::string& path, std::vector<RunRows> all)
{
    std::vector<NcclTestsRun> runs;
    for (RunRows& rows : all)
    {
        if (rows.microseconds.empty())
        {
            continue;
        }
        DeriveNodes(path, rows);
        AskName(path, rows.run);
        for (const auto& [bytes, microseconds] : rows.microseconds)
        {
            rows.run.sizes.emplace_back(bytes);
            rows.run.seconds.push_back(microseconds * 1e-6);
        }
        runs.push_back(std::move(rows.run));
    }
    if (runs.empty())
    {
        throw InputError(path +
                         ": found no times, expected output of nccl-tests: its table, its "
                         "JSON (-J), or CSV with size_bytes and time_us");
    }
    return runs;
}

/** The fields of @p line between commas, without surrounding white space and quotes. */
std::vector<std::string>
CutAtCommas(const std::string& line)
{
    std::vector<std::string> fields;
    std::istringstream text(line);
    for (std::string field; std::getline(text, field, ',');)
    {
        const auto first = field.find_first_not_of(" \t\r\"");
        const auto last = field.find_last_not_of(" \t\r\"");
        fields.push_back(first == std::string::npos ? "" : field.substr(first, last - first + 1));
    }
    return fields;
}

std::vector<std::string>
CutAtSpaces(const std::string& line)
{
    std::istringstream text(line);
    std::vector<std::string> fields;
    for (std::string field; text >> field;)
    {
        fields.push_back(field);
    }
    return fields;
}

/** The index of the first of @p names among @p fields. */
std::optional<std::size_t>
IndexOf(const std::vector<std::string>& fields, std::initializer_list<const char*> names)
{
    for (const char* name : names)
    {
        const auto found = std::find(fields.begin(), fields.end(), name);
        if (found != fields.end())
        {
            return found - fields.begin();
        }
    }
    return std::nullopt;
}

/** The columns of a CSV that are read. */
struct CsvColumns
{
    explicit CsvColumns(const std::vector<std::string>& header)
        : size(IndexOf(header, {"size_bytes", "size"})),
          time(IndexOf(header, {"time_us", "time"})),
          op(IndexOf(header, {"collective", "op"})),
          inPlace(IndexOf(header, {"in_place"})),
          count(header.size())
    {
    }

    bool AreThere() const
    {
        return size && time;
    }

    /** @throws InputError where @p header names a column of @p where twice. */
    static void CheckNames(const std::string& where, const std::vector<std::string>& header)
    {
        std::set<std::string> known;
        for (const std::string& name : header)
        {
            if (!name.empty() && !known.insert(name).second)
            {
                throw InputError(where + ": found the column '" + name +
                                 "' twice, expected it once");
            }
        }
    }

    std::optional<std::size_t> size;
    std::optional<std::size_t> time;
    std::optional<std::size_t> op;
    std::optional<std::size_t> inPlace;
    std::size_t count;
};

/** Whether the field in_place says that a row is in-place: a number, true, false, yes or no. */
bool
IsInPlace(const std::string& where, const std::string& field)
{
    const std::string plain = NormalizedName(field);
    if (plain == "true" || plain == "yes")
    {
        return true;
    }
    if (plain.empty() || plain == "false" || plain == "no")
    {
        return false;
    }
    const auto number = NumberOf(field);
    if (!number)
    {
        throw InputError(where + ": in_place: found '" + field + "', expected 0 or 1");
    }
    return *number != 0;
}

std::vector<RunRows>
ReadCsv(const std::string& path, std::istream& text, const CsvColumns& columns, std::size_t number)
{
    std::vector<RunRows> runs;
    std::vector<std::string> ops; // by run
    for (std::string line; std::getline(text, line);)
    {
        const std::string where = path + ":" + std::to_string(++number);
        const auto first = line.find_first_not_of(" \t\r");
        if (first == std::string::npos || line[first] == '#')
        {
            continue;
        }
        auto fields = CutAtCommas(line);
        if (line.back() == ',' && fields.size() < columns.count)
        {
            fields.emplace_back(); // getline passes over an empty last field
        }
        if (fields.size() != columns.count)
        {
            throw InputError(where + ": found " + std::to_string(fields.size()) +
                             " fields, expected " + std::to_string(columns.count) +
                             " as the header has");
        }
        if (columns.inPlace && IsInPlace(where, fields[*columns.inPlace]))
        {
            continue;
        }
        const std::string op = columns.op ? fields[*columns.op] : "";
        const auto known = std::find(ops.begin(), ops.end(), op) - ops.begin();
        if (static_cast<std::size_t>(known) == ops.size())
        {
            ops.push_back(op);
            runs.emplace_back().run.op = FindCollectiveOp(op);
            runs.back().run.opWhere = op.empty() ? "" : where;
            if (!op.empty() && !runs.back().run.op)
            {
                throw InputError(where + ": found '" + op +
                                 "', expected a collective as nccl-tests calls it: all_reduce, "
                                 "all_gather, ...");
            }
        }
        AddRow(runs[known], where, fields[*columns.size], fields[*columns.time]);
    }
    return runs;
}

/** Reads the text output of nccl-tests line by line. */
class TextReader
{
  public:
    explicit TextReader(std::string path)
        : m_path(std::move(path))
    {
    }

    void Read(std::string line)
    {
        m_number++;
        line = std::regex_replace(line, std::regex(R"(^\s*\[[^\]]*\]<std(out|err)>:)"), "");
        const auto first = line.find_first_not_of(" \t\r");
        if (first == std::string::npos)
        {
            return;
        }
        if (line[first] == '#')
        {
            ReadRemark(CutAtSpaces(line.substr(first + 1)), line);
            return;
        }
        const auto fields = CutAtSpaces(line);
        // A malformed number is an error; words of a log are skipped.
        const bool isTorn = fields.size() == m_columns && std::isdigit(fields.front().front()) != 0;
        if (m_columns > 0 && (isTorn || NumberOf(fields.front())))
        {
            ReadRow(fields);
        }
        ReadSettings(line);
    }

    std::vector<RunRows> Finish()
    {
        End();
        return std::move(m_runs);
    }

  private:
    RunRows& Current()
    {
        if (m_runs.empty() || m_isEnded)
        {
            m_runs.emplace_back();
            m_isEnded = false;
            m_columns = 0;
        }
        return m_runs.back();
    }

    /** Whether the current run has times: the settings and header that follow are another's. */
    bool HasTimes() const
    {
        return !m_runs.empty() && !m_isEnded && !m_runs.back().microseconds.empty();
    }

    /** The run whose settings or header follow: a new one behind times without a footer. */
    RunRows& Begin()
    {
        if (!HasTimes())
        {
            return Current();
        }
        m_isEnded = true;
        Current().run = std::move(m_next);
        m_next = {};
        return Current();
    }

    /** The run that a name of an operation or a version belongs to. */
    NcclTestsRun& Named()
    {
        return HasTimes() ? m_next : Current().run;
    }

    /** Ends the current run, which takes what it lacks from the names behind its times. */
    void End()
    {
        if (HasTimes())
        {
            NcclTestsRun& run = Current().run;
            run.opWhere = run.op ? run.opWhere : m_next.opWhere;
            run.op = run.op ? run.op : m_next.op;
            run.ncclVersion = run.ncclVersion ? run.ncclVersion : m_next.ncclVersion;
        }
        m_isEnded = true;
        m_next = {};
    }

    std::string Where() const
    {
        return m_path + ":" + std::to_string(m_number);
    }

    /** Finds the operation and the NCCL version, wherever they occur. */
    void ReadSettings(const std::string& line)
    {
        std::smatch found;
        if (std::regex_search(line, found, std::regex(R"(([a-zA-Z_]+)_perf\b)")))
        {
            const auto op = FindCollectiveOp(found[1].str());
            Named().op = op ? op : Named().op;
            Named().opWhere = op ? Where() : Named().opWhere;
        }
        static const std::regex version(R"((nccl-library=|NCCL version |using nccl )\s*([\d.]+))",
                                        std::regex::icase);
        if (std::regex_search(line, found, version))
        {
            Named().ncclVersion = VersionOf(found[2].str());
        }
    }

    void ReadRemark(const std::vector<std::string>& fields, const std::string& line)
    {
        const auto size = IndexOf(fields, {"size"});
        const auto time = IndexOf(fields, {"time"});
        if (size && time)
        {
            Begin();
            m_columns = fields.size();
            m_size = *size;
            m_time = *time;
            return;
        }
        if (const auto threads = IndexOf(fields, {"nThread"});
            threads && fields.size() > *threads + 3)
        {
            const bool hasSeveral = fields[*threads + 1] != "1";
            RunRows& run = Begin();
            run.hasThreadPerGpu = hasSeveral && fields[*threads + 3] == "1"; // of nGpus
            run.ranks.clear(); // of a run that broke off before its times
            run.run.gpus.clear();
            return;
        }
        const auto pid = IndexOf(fields, {"Pid"});
        const auto on = IndexOf(fields, {"on"});
        if (IndexOf(fields, {"Rank"}) && pid && on && *on + 1 < fields.size())
        {
            Current().AddRank({fields[*on + 1], fields[*pid + 1]}, GpuOf(fields), Where());
            return;
        }
        if (IndexOf(fields, {"Avg"}) || IndexOf(fields, {"Out"}))
        {
            End();
            return;
        }
        ReadSettings(line);
    }

    void ReadRow(const std::vector<std::string>& fields)
    {
        if (fields.size() != m_columns) // a missing cell would move the others
        {
            throw InputError(Where() + ": found " + std::to_string(fields.size()) +
                             " fields, expected " + std::to_string(m_columns) +
                             " as the table's header has");
        }
        AddRow(Current(), Where(), fields[m_size], fields[m_time]);
    }

    std::string m_path;
    std::size_t m_number{0};
    std::size_t m_columns{0}; //!< in the table's header; 0: no header yet
    std::size_t m_size{0};
    std::size_t m_time{0};
    bool m_isEnded{false}; //!< the run's footer has been read
    NcclTestsRun m_next;   //!< what is named behind the times of the current run
    std::vector<RunRows> m_runs;
};

std::string
TextOf(const Json& value)
{
    return value.is_string() ? value.get<std::string>() : value.dump();
}

/** A member of a map as text; empty when absent. */
std::string
MemberText(const Json& map, const char* key)
{
    return map.is_object() && map.contains(key) ? TextOf(map[key]) : "";
}

std::vector<RunRows>
ReadJson(const std::string& path, const std::string& text)
{
    const Json file = Json::parse(text, nullptr, false);
    if (file.is_discarded() || !file.is_object() || !file.contains("results") ||
        !file["results"].is_array())
    {
        throw InputError(path +
                         ": found JSON without `results`, expected what nccl-tests writes "
                         "with -J");
    }
    std::vector<RunRows> runs(1);
    RunRows& rows = runs.front();
    rows.run.op = FindCollectiveOp(MemberText(file, "args"));
    rows.run.opWhere = rows.run.op ? path + ": args" : "";
    rows.run.ncclVersion = VersionOf(MemberText(file, "nccl_version"));
    for (const Json& device : file.value("devices", Json::array()))
    {
        rows.AddRank({MemberText(device, "hostname"), MemberText(device, "pid")},
                     MemberText(device, "device_info") + MemberText(device, "device_name"),
                     path + ": devices");
    }
    std::size_t index = 0;
    for (const Json& result : file["results"])
    {
        const std::string where = path + ": results[" + std::to_string(index++) + "]";
        const Json outOfPlace =
            result.is_object() ? result.value("out_of_place", Json::object()) : Json();
        AddRow(rows, where, MemberText(result, "size"), MemberText(outOfPlace, "time"));
    }
    return runs;
}

} // namespace

std::optional<CollectiveOp>
FindCollectiveOp(const std::string& text)
{
    const std::string plain = NormalizedName(text);
    std::optional<CollectiveOp> found;
    std::size_t length = 0;
    for (int i = 0; i <= static_cast<int>(LAST_COLLECTIVE_OP); i++)
    {
        const auto op = static_cast<CollectiveOp>(i);
        const std::string name = NormalizedName(ToString(op));
        if (name.size() > length && plain.find(name) != std::string::npos)
        {
            found = op;
            length = name.size();
        }
    }
    return found;
}

std::vector<NcclTestsRun>
ReadNcclTests(const std::string& path)
{
    return ParseNcclTests(ReadTextFile(path, "output of nccl-tests"), path);
}

std::vector<NcclTestsRun>
ParseNcclTests(const std::string& text, const std::string& path)
{
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first != std::string::npos && text[first] == '{')
    {
        return Finish(path, ReadJson(path, text));
    }
    std::istringstream lines(text);
    TextReader reader(path);
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);)
    {
        number++;
        const std::vector<std::string> header = CutAtCommas(line);
        const CsvColumns columns(header);
        if (columns.AreThere())
        {
            CsvColumns::CheckNames(path + ":" + std::to_string(number), header);
            return Finish(path, ReadCsv(path, lines, columns, number));
        }
        reader.Read(line);
    }
    return Finish(path, reader.Finish());
}

} // namespace weir

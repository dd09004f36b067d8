// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/workload/workload-file.h"

#include "scenarios/traces/trace-bytes.h"
#include "scenarios/workload/json-fields.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/mapped.h"
#include "scenarios/yaml/named-choices.h"
#include "scenarios/yaml/names.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <stdexcept>

namespace weir
{

namespace
{

constexpr int64_t VERSION = 1;
constexpr int64_t MAX_PICOSECONDS = MAX_WORKLOAD_TIME.ToPicoseconds();
constexpr int64_t MAX_BYTES = int64_t{1} << 50;
constexpr int64_t MAX_INDEX = std::numeric_limits<uint32_t>::max() - 1;
constexpr int64_t MAX_SHORT = std::numeric_limits<uint16_t>::max() - 1;

/** The enumerator up to @p last that @p key names, or @p absent; null: the key is required. */
template <typename E>
E
ChoiceOf(const Json& object,
         const char* key,
         E last,
         const std::string& location,
         const char* absent = nullptr)
{
    const std::string where = location + ", " + key;
    const std::string text = absent ? TextOf(object, key, absent, location)
                                    : TextOf(FieldOf(object, key, location), where);
    const NamedChoices<E> choices = ChoicesUpTo(last);
    if (const std::optional<E> choice = FindChoice(choices, text))
    {
        return *choice;
    }
    throw InputError(where + ": found '" + text +
                     "', expected one of: " + JoinNames(ChoiceNames(choices)));
}

Json
ToJson(const StepGraph& graph, const StepOp& op)
{
    Json object = {{"do", ToString(op.kind)}, {"label", op.label}};
    if (op.launch > Time())
    {
        object["launch_ps"] = op.launch.ToPicoseconds();
    }
    if (op.epoch > 0)
    {
        object["epoch"] = op.epoch;
    }
    if (op.synchronizes)
    {
        object["synchronizes"] = true;
    }
    if (op.kind == StepOpKind::Compute)
    {
        object["time_ps"] = op.duration.ToPicoseconds();
        if (op.kernelCount > 0)
        {
            object["flops"] = graph.kernels[op.firstKernel].flops.ToDouble();
            object["memory_bytes"] = graph.kernels[op.firstKernel].bytes.Count();
        }
        return object;
    }
    if (op.kind == StepOpKind::Collective)
    {
        object["op"] = ToString(op.collective);
    }
    object["group"] = op.group;
    object["bytes"] = op.bytes.Count();
    object["category"] = ToString(op.category);
    if (op.root > 0)
    {
        object["root"] = op.root;
    }
    if (op.traffic != StepOp::EVEN)
    {
        object["splits"] = op.traffic;
    }
    return object;
}

/** The operations of a program, stream by stream. */
Json
ToJson(const StepGraph& graph, const StepProgram& program)
{
    std::array<std::size_t, STREAM_COUNT> first{};
    for (std::size_t stream = 1; stream < STREAM_COUNT; stream++)
    {
        first[stream] = first[stream - 1] + program.streams[stream - 1].size();
    }
    Json list = Json::array();
    for (std::size_t stream = 0; stream < STREAM_COUNT; stream++)
    {
        for (const StepOp& op : program.streams[stream])
        {
            Json object = ToJson(graph, op);
            object["stream"] = ToString(static_cast<StreamKind>(stream));
            Json after = Json::array();
            for (uint32_t i = 0; i < op.dependencyCount; i++)
            {
                const StepDependency& need = program.dependencies[op.firstDependency + i];
                after.push_back(first[static_cast<std::size_t>(need.stream)] + need.position);
            }
            if (!after.empty())
            {
                object["after"] = std::move(after);
            }
            list.push_back(std::move(object));
        }
    }
    return list;
}

/** A list of lists of numbers. */
template <typename Rows, typename Number>
Json
RowsToJson(const Rows& rows, Number number)
{
    Json list = Json::array();
    for (const auto& row : rows)
    {
        Json numbers = Json::array();
        for (const auto& each : row)
        {
            numbers.push_back(number(each));
        }
        list.push_back(std::move(numbers));
    }
    return list;
}

Json
RanksToJson(const StepGraph& graph)
{
    Json list = Json::array();
    for (std::size_t rank = 0; rank < graph.RankCount(); rank++)
    {
        Json slots = Json::array();
        for (const uint32_t slot : graph.rankGroups[rank])
        {
            slots.push_back(slot == RankGroups::NO_GROUP ? Json(nullptr) : Json(slot));
        }
        list.push_back({{"program", graph.rankProgram[rank]}, {"groups", std::move(slots)}});
    }
    return list;
}

/** The keys that every operation may have, and @p own. */
std::vector<const char*>
KeysWith(std::initializer_list<const char*> own)
{
    std::vector<const char*> keys{
        "do", "label", "stream", "after", "launch_ps", "epoch", "synchronizes"};
    keys.insert(keys.end(), own);
    return keys;
}

/** The keys that an operation of @p kind may have. */
const std::vector<const char*>&
KeysOf(StepOpKind kind)
{
    static const auto compute = KeysWith({"time_ps", "flops", "memory_bytes"});
    static const auto transfer = KeysWith({"op", "group", "bytes", "category", "root", "splits"});
    return kind == StepOpKind::Compute ? compute : transfer;
}

/** Reads a workload from JSON. */
class WorkloadReader
{
  public:
    WorkloadReader(const Json& root, const std::string& path)
        : m_root(root),
          m_path(path)
    {
    }

    Workload Read()
    {
        const std::string format = TextOf(m_root, "format", "", m_path);
        const int64_t version = IntegerOf(m_root, "version", 0, 0, MAX_INDEX, m_path);
        if (format != "weir-workload" || version != VERSION)
        {
            throw InputError(m_path + ": found format '" + format + "', version " +
                             std::to_string(version) + ", expected weir-workload, " +
                             std::to_string(VERSION) + ", as weir import writes it");
        }
        ExpectKeys(m_root,
                   {"format",
                    "version",
                    "sources",
                    "remarks",
                    "labels",
                    "slots",
                    "groups",
                    "splits",
                    "ranks",
                    "programs"},
                   m_path);
        ReadLines("sources", m_workload.sources);
        ReadLines("remarks", m_workload.remarks);
        ReadLines("labels", m_graph.labels);
        ReadLines("slots", m_graph.slotNames);
        ReadRanks();
        for (const Json& splits : List("splits"))
        {
            ReadSplits(splits);
        }
        for (const Json& program : List("programs"))
        {
            ReadProgram(program);
        }
        Check();
        return std::move(m_workload);
    }

  private:
    const Json& List(const char* key) const
    {
        return ListOf(FieldOf(m_root, key, m_path), m_path + ": " + key);
    }

    void ReadLines(const char* key, std::vector<std::string>& lines) const
    {
        for (const Json& line : List(key))
        {
            lines.push_back(TextOf(line, m_path + ": " + key));
        }
    }

    void ReadRanks()
    {
        const Json& ranks = List("ranks");
        if (ranks.empty() || ranks.size() > MAX_WORKLOAD_RANKS)
        {
            throw InputError(m_path + ": found " + std::to_string(ranks.size()) +
                             " ranks, expected 1 to " + std::to_string(MAX_WORKLOAD_RANKS));
        }
        const auto last = static_cast<int64_t>(ranks.size()) - 1;
        for (const Json& group : List("groups"))
        {
            std::vector<Rank> members;
            const std::string location =
                m_path + ": group " + std::to_string(m_graph.groups.size());
            for (const Json& member : ListOf(group, location))
            {
                members.emplace_back(
                    static_cast<std::size_t>(IntegerOf(member, 0, last, location)));
            }
            m_graph.groups.push_back(std::move(members));
        }
        const auto groups = static_cast<int64_t>(m_graph.groups.size());
        for (const Json& rank : ranks)
        {
            const std::string location = m_path + ": rank " + std::to_string(m_graph.RankCount());
            ExpectKeys(rank, {"program", "groups"}, location);
            m_graph.rankProgram.push_back(
                static_cast<uint32_t>(IntegerOf(rank, "program", 0, MAX_INDEX, location)));
            std::vector<uint32_t> slots;
            for (const Json& slot : ListOf(FieldOf(rank, "groups", location), location))
            {
                const bool isNone = slot.is_null();
                slots.push_back(
                    isNone ? RankGroups::NO_GROUP
                           : static_cast<uint32_t>(IntegerOf(slot, 0, groups - 1, location)));
            }
            m_graph.rankGroups.push_back(std::move(slots));
        }
    }

    void ReadSplits(const Json& splits)
    {
        const std::string location = m_path + ": splits " + std::to_string(m_graph.traffics.size());
        TrafficParts parts;
        for (const Json& row : ListOf(splits, location))
        {
            const auto bytes = Mapped<Bytes>(ListOf(row, location), [&](const Json& part) {
                return IntegerOf(part, 0, MAX_BYTES, location);
            });
            parts.push_back(std::move(bytes));
        }
        m_graph.traffics.push_back(std::move(parts));
    }

    void ReadProgram(const Json& object)
    {
        const std::string location =
            m_path + ": program " + std::to_string(m_graph.programs.size());
        ExpectKeys(object, {"stage", "ops"}, location);
        m_graph.programStage.push_back(
            static_cast<uint32_t>(IntegerOf(object, "stage", 0, 0, MAX_WORKLOAD_RANKS, location)));
        StepProgram program;
        std::vector<StepDependency> positions; // by operation
        const Json& list = ListOf(FieldOf(object, "ops", location), location);
        for (const Json& item : list)
        {
            const std::string where = location + ", operation " + std::to_string(positions.size());
            const auto stream =
                ChoiceOf(item, "stream", static_cast<StreamKind>(STREAM_COUNT - 1), where);
            auto& ops = program.streams[static_cast<std::size_t>(stream)];
            positions.push_back({stream, static_cast<uint32_t>(ops.size())});
            ops.push_back(ReadOp(item, where));
        }
        for (std::size_t i = 0; i < positions.size(); i++)
        {
            const std::string where = location + ", operation " + std::to_string(i) + ", after";
            const Json* after = FindField(list[i], "after");
            if (after == nullptr)
            {
                continue;
            }
            if (ListOf(*after, where).size() > static_cast<std::size_t>(MAX_SHORT))
            {
                throw InputError(where + ": found " + std::to_string(after->size()) +
                                 " operations, expected at most " + std::to_string(MAX_SHORT));
            }
            auto& ops = program.streams[static_cast<std::size_t>(positions[i].stream)];
            StepOp& op = ops[positions[i].position];
            op.firstDependency = static_cast<uint32_t>(program.dependencies.size());
            op.dependencyCount = static_cast<uint16_t>(after->size());
            const auto last = static_cast<int64_t>(positions.size()) - 1;
            for (const Json& index : *after)
            {
                program.dependencies.push_back(
                    positions[static_cast<std::size_t>(IntegerOf(index, 0, last, where))]);
            }
        }
        m_graph.programs.push_back(std::move(program));
    }

    StepOp ReadOp(const Json& item, const std::string& where)
    {
        StepOp op;
        op.kind = ChoiceOf(item, "do", StepOpKind::Recv, where);
        ExpectKeys(item, KeysOf(op.kind), where);
        op.label = static_cast<uint32_t>(IntegerOf(item, "label", 0, MAX_INDEX, where));
        op.layer = StepOp::NO_LAYER;
        op.launch = Time::Picoseconds(IntegerOf(item, "launch_ps", 0, 0, MAX_PICOSECONDS, where));
        op.epoch = static_cast<uint32_t>(IntegerOf(item, "epoch", 0, 0, MAX_INDEX, where));
        const Json* synchronizes = FindField(item, "synchronizes");
        op.synchronizes = synchronizes != nullptr && *synchronizes == true;
        if (op.kind == StepOpKind::Compute)
        {
            op.duration = Time::Picoseconds(IntegerOf(item, "time_ps", 0, MAX_PICOSECONDS, where));
            // The CPU is late where launch and duration end after the kernel would.
            op.launchBound = op.launch > Time() ? op.duration + Time::Picoseconds(1) : Time();
            ReadKernel(item, op, where);
            return op;
        }
        if (op.kind == StepOpKind::Collective)
        {
            op.collective = ChoiceOf(item, "op", LAST_COLLECTIVE_OP, where);
        }
        const auto slots = static_cast<int64_t>(m_graph.slotNames.size());
        op.group = static_cast<uint16_t>(
            IntegerOf(item, "group", 0, std::min(MAX_SHORT, slots - 1), where));
        op.bytes = Bytes(IntegerOf(item, "bytes", 0, MAX_BYTES, where));
        op.category = ChoiceOf(
            item, "category", static_cast<TimeCategory>(TIME_CATEGORY_COUNT - 1), where, "data");
        op.root = static_cast<uint16_t>(IntegerOf(item, "root", 0, 0, MAX_SHORT, where));
        op.traffic =
            static_cast<uint16_t>(IntegerOf(item, "splits", StepOp::EVEN, 0, MAX_SHORT, where));
        return op;
    }

    void ReadKernel(const Json& item, StepOp& op, const std::string& where)
    {
        const Json* flops = FindField(item, "flops");
        if (flops == nullptr)
        {
            return;
        }
        const double count = flops->is_number() ? flops->get<double>() : -1;
        if (!(count >= 0) || std::isinf(count))
        {
            throw InputError(where + ", flops: " + FoundText(*flops) + ", expected a number >= 0");
        }
        KernelRecord kernel;
        kernel.name = op.label;
        kernel.flops = Flops(count);
        kernel.bytes = Bytes(IntegerOf(item, "memory_bytes", 0, 0, MAX_BYTES, where));
        kernel.duration = op.duration;
        kernel.overlap = {1, 0, 0}; // as an operation without records: it fills all SMs
        op.firstKernel = static_cast<uint32_t>(m_graph.kernels.size());
        op.kernelCount = 1;
        m_graph.kernels.push_back(kernel);
    }

    /** Checks what the executor and the planner rely on. */
    void Check() const
    {
        try
        {
            CheckStepGraph(m_graph);
        }
        catch (const std::invalid_argument& error)
        {
            throw InputError(m_path + ": found a " + error.what() +
                             ", expected what weir import writes");
        }
        for (uint32_t rank = 0; rank < m_graph.RankCount(); rank++)
        {
            const uint32_t program = m_graph.rankProgram[rank];
            if (rank > 0 && program == m_graph.rankProgram[rank - 1] &&
                m_graph.rankGroups[rank] == m_graph.rankGroups[rank - 1])
            {
                continue;
            }
            for (const auto& ops : m_graph.programs[program].streams)
            {
                for (const StepOp& op : ops)
                {
                    CheckCall(rank, op);
                }
            }
        }
    }

    void CheckCall(uint32_t rank, const StepOp& op) const
    {
        if (op.kind == StepOpKind::Compute)
        {
            return;
        }
        const auto& group = m_graph.groups[m_graph.rankGroups[rank][op.group]];
        const std::size_t size = group.size();
        const bool hasSplits = op.traffic != StepOp::EVEN;
        bool isSquare = !hasSplits || (op.traffic < m_graph.traffics.size() &&
                                       m_graph.traffics[op.traffic].size() == size &&
                                       op.collective == CollectiveOp::AllToAll);
        for (std::size_t i = 0; hasSplits && isSquare && i < size; i++)
        {
            isSquare = m_graph.traffics[op.traffic][i].size() == size;
        }
        if (size < 2 || op.root >= size || !isSquare)
        {
            throw InputError(m_path + ": rank " + std::to_string(rank) + ", '" +
                             m_graph.labels[op.label] + "': found a group of " +
                             std::to_string(size) + " ranks, root " + std::to_string(op.root) +
                             (isSquare ? "" : " and splits of another size") +
                             ", expected a group of at least two with that root");
        }
    }

    const Json& m_root;
    std::string m_path;
    Workload m_workload;
    StepGraph& m_graph{m_workload.graph};
};

} // namespace

std::string
ToText(const Workload& workload)
{
    const StepGraph& graph = workload.graph;
    Json programs = Json::array();
    for (std::size_t i = 0; i < graph.programs.size(); i++)
    {
        programs.push_back(
            {{"stage", graph.programStage[i]}, {"ops", ToJson(graph, graph.programs[i])}});
    }
    Json root = {{"format", "weir-workload"},
                 {"version", VERSION},
                 {"sources", workload.sources},
                 {"remarks", workload.remarks},
                 {"labels", graph.labels},
                 {"slots", graph.slotNames},
                 {"groups", RowsToJson(graph.groups, [](Rank rank) { return rank.Index(); })},
                 {"splits", Json::array()},
                 {"ranks", RanksToJson(graph)},
                 {"programs", std::move(programs)}};
    for (const TrafficParts& parts : graph.traffics)
    {
        root["splits"].push_back(RowsToJson(parts, [](Bytes part) { return part.Count(); }));
    }
    return root.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Workload
ReadWorkload(const std::string& path)
{
    const std::vector<TraceBytes> files = ReadTraceBytes(path);
    if (files.size() != 1 || files.front().bytes.compare(0, 1, "{") != 0)
    {
        throw InputError(path + ": found no workload, expected one that weir import has written");
    }
    const Json root = ParseJson(files.front().bytes, path);
    return WorkloadReader(root, path).Read();
}

} // namespace weir

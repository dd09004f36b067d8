// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/traces/collective-fields.h"

#include "scenarios/traces/trace-bytes.h"
#include "scenarios/workload/workload-file.h"
#include "scenarios/yaml/mapped.h"
#include "scenarios/yaml/names.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace weir
{

namespace
{

constexpr auto LAST_RANK = static_cast<int64_t>(MAX_WORKLOAD_RANKS) - 1;

std::vector<uint32_t>
RanksOf(const Json& list, const std::string& location)
{
    return Mapped<uint32_t>(ListOf(list, location), [&](const Json& rank) {
        return static_cast<uint32_t>(IntegerOf(rank, 0, LAST_RANK, location));
    });
}

} // namespace

bool
SetCallByName(TraceEvent& event, const std::string& name)
{
    // Names that contain another name come first.
    static constexpr std::array<std::pair<const char*, CollectiveOp>, 10> NAMES{
        {{"allreduce", CollectiveOp::AllReduce},
         {"reducescatter", CollectiveOp::ReduceScatter},
         {"allgather", CollectiveOp::AllGather},
         {"alltoall", CollectiveOp::AllToAll},
         {"broadcast", CollectiveOp::Broadcast},
         {"barrier", CollectiveOp::AllReduce},
         {"gather", CollectiveOp::Gather},
         {"scatter", CollectiveOp::Scatter},
         {"sendrecv", CollectiveOp::AllToAll},
         {"reduce", CollectiveOp::Reduce}}};
    const std::string plain = NormalizedName(name);
    for (const auto& [word, op] : NAMES)
    {
        if (plain.find(word) != std::string::npos)
        {
            event.kind = TraceEventKind::Collective;
            event.op = op;
            return true;
        }
    }
    for (const auto& [word, kind] : {std::make_pair("send", TraceEventKind::Send),
                                     std::make_pair("recv", TraceEventKind::Recv)})
    {
        if (plain.find(word) != std::string::npos)
        {
            event.kind = kind;
            return true;
        }
    }
    return false;
}

int64_t
ElementBytes(const std::string& dtype)
{
    static constexpr std::array<std::pair<const char*, int64_t>, 24> SIZES{
        {{"float8", 1},       {"bfloat16", 2}, {"float16", 2}, {"float32", 4}, {"float64", 8},
         {"complexfloat", 8}, {"half", 2},     {"double", 8},  {"float", 4},   {"int64", 8},
         {"int32", 4},        {"int16", 2},    {"int8", 1},    {"longint", 8}, {"long", 8},
         {"shortint", 2},     {"short", 2},    {"bool", 1},    {"byte", 1},    {"char", 1},
         {"bf16", 2},         {"fp16", 2},     {"fp32", 4},    {"int", 4}}};
    const std::string plain = NormalizedName(dtype);
    for (const auto& [word, bytes] : SIZES)
    {
        if (plain.find(word) != std::string::npos)
        {
            return bytes;
        }
    }
    return 0;
}

TimeCategory
CategoryOfGroup(const std::string& name)
{
    static constexpr std::array<std::pair<const char*, TimeCategory>, 11> WORDS{
        {{"expert", TimeCategory::Expert},
         {"epdp", TimeCategory::Data},
         {"ep", TimeCategory::Expert},
         {"embedding", TimeCategory::Pipeline},
         {"tensor", TimeCategory::Tensor},
         {"tp", TimeCategory::Tensor},
         {"modelparallel", TimeCategory::Tensor},
         {"pipeline", TimeCategory::Pipeline},
         {"pp", TimeCategory::Pipeline},
         {"context", TimeCategory::Context},
         {"cp", TimeCategory::Context}}};
    const std::string plain = NormalizedName(name);
    for (const auto& [word, category] : WORDS)
    {
        const std::string text = word;
        if (text.size() > 3 ? plain.find(text) != std::string::npos
                            : plain.compare(0, text.size(), text) == 0)
        {
            return category;
        }
    }
    return TimeCategory::Data;
}

void
AddProcessGroups(const Json& list, const std::string& location, RankTrace& rank)
{
    for (const Json& item : ListOf(list, location))
    {
        TraceGroup group;
        for (const int64_t each : NumbersOf(FindField(item, "ranks"), location))
        {
            group.ranks.push_back(static_cast<uint32_t>(std::min(each, LAST_RANK)));
        }
        for (const char* key : {"group_size", "pg_size"})
        {
            group.size =
                static_cast<uint32_t>(IntegerOf(item, key, group.size, 0, LAST_RANK + 1, location));
        }
        rank.groups[TextOf(item, "pg_name", "", location)] = group;
    }
}

void
ReadProcessGroups(const std::string& text, const std::string& location, RankTrace& rank)
{
    Json list = ParseJson(text.empty() ? "[]" : text, location);
    // The text may contain the list, or a list with one such text.
    for (int depth = 0; depth < 2; depth++)
    {
        if (list.is_array() && list.size() == 1 && list[0].is_string())
        {
            list = Json(list[0]);
        }
        if (list.is_string())
        {
            list = ParseJson(list.get<std::string>(), location);
        }
    }
    AddProcessGroups(list, location, rank);
}

std::map<std::string, std::vector<uint32_t>>
ReadGroupFile(const std::string& path)
{
    std::map<std::string, std::vector<uint32_t>> groups;
    const Json root = ParseJson(ReadTraceBytes(path).front().bytes, path);
    if (!root.is_object())
    {
        ListOf(root, path + ": groups"); // throws, since it is not a list
    }
    for (const auto& [name, ranks] : root.items())
    {
        groups[name] = RanksOf(ranks, path + ": group " + name);
    }
    return groups;
}

std::vector<int64_t>
NumbersOf(const Json* value, const std::string& location)
{
    const Json given = value == nullptr ? Json() : Json(*value);
    const std::string text = given.is_string() ? given.get<std::string>() : "";
    const bool isCut = text.find("...") != std::string::npos; // abbreviated: "[0, 1, ..., 1023]"
    const Json parsed = text.empty() || isCut ? given : ParseJson(text, location + ", list");
    return Mapped<int64_t>(parsed.is_array() ? parsed : Json::array(), [&](const Json& item) {
        return IntegerOf(item, 0, MAX_EVENT_BYTES, location + ", splits");
    });
}

void
SetSplits(TraceEvent& event,
          const std::vector<int64_t>& inParts,
          const std::vector<int64_t>& outParts)
{
    if (event.kind != TraceEventKind::Collective || event.op != CollectiveOp::AllToAll)
    {
        return;
    }
    const auto toBytes = [](const std::vector<int64_t>& parts, Bytes all) {
        const double sum = std::accumulate(parts.begin(), parts.end(), 0.0);
        return Mapped<Bytes>(parts, [&](int64_t part) {
            return sum > 0 ? Bytes::Nearest(all.ToDouble() * static_cast<double>(part) / sum)
                           : Bytes();
        });
    };
    const auto isUneven = [](const std::vector<int64_t>& parts) {
        return std::any_of(
            parts.begin(), parts.end(), [&](int64_t part) { return part != parts.front(); });
    };
    if (isUneven(inParts) || isUneven(outParts))
    {
        event.inSplits = toBytes(inParts, event.in);
        event.outSplits = toBytes(outParts, event.out);
    }
}

} // namespace weir

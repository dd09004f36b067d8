// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/traces/collective-fields.h"

#include "scenarios/traces/trace-bytes.h"
#include "scenarios/workload/workload-file.h"
#include "scenarios/yaml/mapped.h"
#include "scenarios/yaml/names.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <utility>

namespace weir
{

namespace
{

constexpr std::string_view ELLIPSIS = "...";
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
    static constexpr std::array<std::pair<const char*, int64_t>, 27> SIZES{
        {{"float4", 1},       {"complexdouble", 16}, {"complexhalf", 4}, {"float8", 1},
         {"bfloat16", 2},     {"float16", 2},        {"float32", 4},     {"float64", 8},
         {"complexfloat", 8}, {"half", 2},           {"double", 8},      {"float", 4},
         {"int64", 8},        {"int32", 4},          {"int16", 2},       {"int8", 1},
         {"longint", 8},      {"long", 8},           {"shortint", 2},    {"short", 2},
         {"bool", 1},         {"byte", 1},           {"char", 1},        {"bf16", 2},
         {"fp16", 2},         {"fp32", 4},           {"int", 4}}};
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
        for (const char* key : {"group_size", "pg_size"})
        {
            group.size =
                static_cast<uint32_t>(IntegerOf(item, key, group.size, 0, LAST_RANK + 1, location));
        }
        SetRanks(FindField(item, "ranks"), location + ", ranks", group);
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
NumbersOf(const Json* value, int64_t max, const std::string& location)
{
    if (value == nullptr || IsAbbreviated(value))
    {
        return {};
    }
    const bool isText = value->is_string() && !value->get_ref<const std::string&>().empty();
    const Json parsed =
        isText ? ParseJson(value->get<std::string>(), location + ", list") : Json(*value);
    return Mapped<int64_t>(parsed.is_array() ? parsed : Json::array(),
                           [&](const Json& item) { return IntegerOf(item, 0, max, location); });
}

bool
IsAbbreviated(const Json* value)
{
    return value != nullptr && value->is_string() &&
           value->get_ref<const std::string&>().find(ELLIPSIS) != std::string::npos;
}

namespace
{

void
DropRanksOfOtherSize(TraceGroup& group)
{
    if (group.size > 0 && group.ranks.size() != group.size)
    {
        group.ranks.clear();
    }
}

} // namespace

void
SetRanks(const Json* value, const std::string& location, TraceGroup& group)
{
    if (!IsAbbreviated(value))
    {
        group.ranks = Mapped<uint32_t>(NumbersOf(value, LAST_RANK, location),
                                       [](int64_t rank) { return static_cast<uint32_t>(rank); });
        DropRanksOfOtherSize(group);
        return;
    }
    auto text = value->get<std::string>(); // "[0, 8, ..., 504]"
    text.replace(text.find(ELLIPSIS), ELLIPSIS.size(), "null");
    Json list = ParseJson(text, location + ", list");
    const std::size_t shown = list.size() - std::min<std::size_t>(list.size(), 2);
    if (!list.is_array() || shown < 2 || !list[shown].is_null())
    {
        return;
    }
    list.erase(shown);
    const std::vector<int64_t> ranks = NumbersOf(&list, LAST_RANK, location);
    const int64_t stride = ranks[1] - ranks[0];
    bool isEven = stride > 0 && (ranks[shown] - ranks[shown - 1]) % stride == 0;
    for (std::size_t i = 1; i < shown; i++)
    {
        isEven = isEven && ranks[i] - ranks[i - 1] == stride;
    }
    for (int64_t rank = ranks[0]; isEven && rank <= ranks[shown]; rank += stride)
    {
        group.ranks.push_back(static_cast<uint32_t>(rank));
    }
    DropRanksOfOtherSize(group);
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

// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/traces/process-groups.h"

#include "scenarios/traces/pytorch-trace.h"
#include "scenarios/traces/trace-bytes.h"
#include "scenarios/workload/workload-file.h"

#include <algorithm>

namespace weir
{

namespace
{

constexpr auto LAST_RANK = static_cast<int64_t>(MAX_WORKLOAD_RANKS) - 1;

std::vector<uint32_t>
RanksOf(const Json& list, const std::string& location)
{
    std::vector<uint32_t> ranks;
    for (const Json& rank : ListOf(list, location))
    {
        ranks.push_back(static_cast<uint32_t>(IntegerOf(rank, 0, LAST_RANK, location)));
    }
    return ranks;
}

} // namespace

void
AddProcessGroups(const Json& list, const std::string& location, RankTrace& rank)
{
    for (const Json& item : ListOf(list, location))
    {
        TraceGroup group;
        if (const Json* ranks = FindField(item, "ranks"))
        {
            for (const int64_t each : NumbersOf(*ranks, location))
            {
                group.ranks.push_back(static_cast<uint32_t>(std::min(each, LAST_RANK)));
            }
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

} // namespace weir

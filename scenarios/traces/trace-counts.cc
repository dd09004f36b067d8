// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/traces/trace-counts.h"

#include "scenarios/results/text-table.h"

#include <algorithm>
#include <map>
#include <utility>

namespace weir
{

namespace
{

/** The calls of one operation on one group, of all ranks of a file. */
struct CallCount
{
    std::size_t calls{0};
    double in{0}; //!< bytes
    double out{0};
    const TraceEvent* first{nullptr};
};

/** "0: 8 ranks" of group "0", "0: 0 1" of few that are known. */
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

/** What a file holds, counted. */
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
        return "nothing to play";
    }
    if (file.ranks.size() > 1)
    {
        return std::to_string(file.ranks.size()) + " ranks";
    }
    const RankTrace& rank = file.ranks.front();
    return rank.ranks > 0 ? "one rank for " + std::to_string(rank.ranks)
           : rank.rank    ? "rank " + std::to_string(*rank.rank)
                          : "a rank without a number";
}

} // namespace

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

} // namespace weir

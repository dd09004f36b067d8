// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/flows/flow-report.h"

#include "scenarios/results/run-json.h"
#include "scenarios/results/summary.h"
#include "scenarios/results/text-table.h"
#include "scenarios/yaml/quantity.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

namespace weir
{
namespace
{

/** Flows of more than `above` and at most `upTo` bytes. */
struct SizeClass
{
    const char* name;
    int64_t above;
    int64_t upTo;
};

constexpr int64_t NOTHING = -1;
constexpr int64_t SMALL = 100'000;
constexpr int64_t MEDIUM = 10'000'000;
constexpr int64_t ANY = std::numeric_limits<int64_t>::max();

constexpr SizeClass SIZE_CLASSES[] = {{"all", NOTHING, ANY},
                                      {"<= 100 kB", NOTHING, SMALL},
                                      {"<= 10 MB", SMALL, MEDIUM},
                                      {"> 10 MB", MEDIUM, ANY}};

/** The statistics of a size class; @p scratch is reused memory. */
FlowClass
Classify(const SizeClass& size,
         const FlowResults& results,
         Transport& transport,
         std::vector<double>& scratch)
{
    const auto collect = [&](const auto& valueOf) {
        scratch.clear();
        for (std::size_t flow = 0; flow < results.Size(); flow++)
        {
            const int64_t bytes = results.GetBytes(flow).Count();
            if (bytes > size.above && bytes <= size.upTo && !results.Finish(flow).IsInfinite())
            {
                scratch.push_back(valueOf(flow));
            }
        }
        return scratch.empty() ? Percentiles() : PercentilesOf(scratch);
    };
    FlowClass found;
    found.name = size.name;
    found.completionSeconds =
        collect([&](std::size_t flow) { return results.CompletionTime(flow).ToSeconds(); });
    found.slowdown = collect([&](std::size_t flow) { return results.Slowdown(flow, transport); });
    found.flows = scratch.size();
    return found;
}

using Json = nlohmann::ordered_json;

double
WallSeconds(const FlowRunCost& cost)
{
    return cost.readSeconds + cost.playSeconds + cost.writeSeconds;
}

/** A whole number with thousands separators. */
std::string
FormatCount(uint64_t count)
{
    return FormatFixed(static_cast<double>(count), 0);
}

std::string
ClassTable(const FlowSummary& summary)
{
    TextTable table;
    table.Row({"size", "flows", "FCT p50", "p95", "p99", "slowdown p50", "p95", "p99"});
    for (const FlowClass& size : summary.classes)
    {
        const Percentiles& fct = size.completionSeconds;
        table.Row({size.name,
                   FormatCount(size.flows),
                   FormatSeconds(fct.p50),
                   FormatSeconds(fct.p95),
                   FormatSeconds(fct.p99),
                   FormatFixed(size.slowdown.p50, 3),
                   FormatFixed(size.slowdown.p95, 3),
                   FormatFixed(size.slowdown.p99, 3)});
    }
    return table.Print(2);
}

Json
ToJson(const PacketCounts& packets)
{
    const PortCounters& ports = packets.ports;
    return {{"drops", ports.drops},
            {"trims", ports.trims},
            {"marks", ports.marks},
            {"retransmissions", ports.retransmissions},
            {"pauses", ports.pauses},
            {"longest_queue_bytes", ports.maxQueued},
            {"longest_queue", packets.longestQueue}};
}

/** The nonzero counters in one line. */
std::string
ToText(const PacketCounts& packets)
{
    const PortCounters& ports = packets.ports;
    std::string text;
    for (const auto& [count, name] : {std::pair(ports.drops, "dropped"),
                                      std::pair(ports.trims, "trimmed"),
                                      std::pair(ports.marks, "marked"),
                                      std::pair(ports.retransmissions, "retransmitted")})
    {
        if (count > 0)
        {
            text += (text.empty() ? "" : ", ") + FormatCount(count) + " " + name;
        }
    }
    if (ports.pauses > 0)
    {
        text += (text.empty() ? "" : "; ") + FormatCount(ports.pauses) + " pauses";
    }
    if (ports.maxQueued > 0)
    {
        text += (text.empty() ? "" : "; ") + std::string("longest queue ") +
                FormatDecimalBytes(static_cast<double>(ports.maxQueued)) + " at " +
                packets.longestQueue;
    }
    return text.empty() ? text : "  packets: " + text + "\n";
}

Json
ToJson(const Percentiles& percentiles)
{
    return {{"p50", percentiles.p50}, {"p95", percentiles.p95}, {"p99", percentiles.p99}};
}

} // namespace

FlowSummary
SummarizeFlows(const FlowResults& results, Transport& transport)
{
    FlowSummary summary;
    Time first = Time::Infinite();
    Time last;
    double activeSeconds = 0;
    for (std::size_t flow = 0; flow < results.Size(); flow++)
    {
        if (results.Finish(flow).IsInfinite())
        {
            continue; // the run was stopped before it ended
        }
        summary.flows++;
        summary.bytes += results.GetBytes(flow);
        first = std::min(first, results.Start(flow));
        last = std::max(last, results.Finish(flow));
        activeSeconds += results.CompletionTime(flow).ToSeconds();
    }
    if (summary.flows > 0)
    {
        summary.makespan = last - first;
        const double seconds = summary.makespan.ToSeconds();
        summary.meanActive = seconds > 0 ? activeSeconds / seconds : 0;
    }
    std::vector<double> scratch;
    scratch.reserve(results.Size());
    for (const SizeClass& size : SIZE_CLASSES)
    {
        FlowClass found = Classify(size, results, transport, scratch);
        if (found.flows > 0)
        {
            summary.classes.push_back(found);
        }
    }
    return summary;
}

uint64_t
CountPacketFlows(const FlowResults& results, Transport& transport)
{
    uint64_t count = 0;
    for (std::size_t flow = 0; flow < results.Size(); flow++)
    {
        count += transport.FormOf(results.Request(flow)) == FlowForm::Packets ? 1 : 0;
    }
    return count;
}

std::string
ToText(const FlowReport& report)
{
    const FlowSummary& summary = report.summary;
    std::string text = FormatCount(summary.flows) + " flows, " +
                       FormatDecimalBytes(summary.bytes.ToDouble()) + " on " + report.topology +
                       " (" + FormatCount(report.endPoints) + " " + report.endPointName + "s)\n";
    if (!report.sortedInput)
    {
        text += "  " + report.flows + " is not sorted by start time; flows were sorted\n";
    }
    if (report.packetFlows)
    {
        text += "  " + FormatCount(*report.packetFlows) +
                " flows move as packets, the others as a fluid\n";
    }
    if (report.sharingTolerance > 0)
    {
        text += "  sharing tolerance " + FormatNumber(report.sharingTolerance) + "\n";
    }
    if (!report.corrections.empty())
    {
        text += "  corrected by " + report.corrections + "\n";
    }
    if (summary.flows > 0)
    {
        text += "  makespan " + FormatSeconds(summary.makespan.ToSeconds()) +
                " from the first start to the last finish; concurrent: " +
                FormatFixed(summary.meanActive, 1) + " flows on average, " +
                FormatCount(report.run.maxActive) + " at most\n\n" + ClassTable(summary) + "\n";
    }
    if (report.result.packets)
    {
        text += ToText(*report.result.packets);
    }
    text += CouplingLine(report.result) + BusiestLinkLines(report.result);
    return text + "  " + FormatCount(report.run.events) + " events; wall time " +
           FormatSeconds(WallSeconds(report.cost)) + " (read and route " +
           FormatSeconds(report.cost.readSeconds) + ", simulate " +
           FormatSeconds(report.cost.playSeconds) + ", write " +
           FormatSeconds(report.cost.writeSeconds) + "), peak memory " +
           FormatDecimalBytes(static_cast<double>(report.cost.peakRssBytes)) + "\n";
}

std::string
ToJson(const FlowReport& report)
{
    const FlowSummary& summary = report.summary;
    Json object = {{"topology", report.topology},
                   {"flows_file", report.flows},
                   {"fidelity", report.fidelity},
                   {"end_points", report.endPoints},
                   {"flows", summary.flows},
                   {"bytes", summary.bytes.Count()},
                   {"makespan_s", summary.makespan.ToSeconds()},
                   {"mean_active", summary.meanActive},
                   {"max_active", report.run.maxActive},
                   {"sorted_input", report.sortedInput}};
    if (report.packetFlows)
    {
        object["packet_flows"] = *report.packetFlows;
    }
    if (report.sharingTolerance > 0)
    {
        object["sharing_tolerance"] = report.sharingTolerance;
    }
    if (!report.corrections.empty())
    {
        object["corrections"] = report.corrections;
    }
    if (report.run.isPartial)
    {
        object["partial"] = true;
    }
    object["classes"] = Json::array();
    for (const FlowClass& size : summary.classes)
    {
        object["classes"].push_back({{"name", size.name},
                                     {"flows", size.flows},
                                     {"fct_s", ToJson(size.completionSeconds)},
                                     {"slowdown", ToJson(size.slowdown)}});
    }
    if (report.result.packets)
    {
        object["packets"] = ToJson(*report.result.packets);
    }
    AddCoupling(object, report.result);
    AddBusiestLinks(object, report.result);
    object["events"] = report.run.events;
    object["wall_s"] = WallSeconds(report.cost);
    object["read_s"] = report.cost.readSeconds;
    object["play_s"] = report.cost.playSeconds;
    object["write_s"] = report.cost.writeSeconds;
    object["peak_rss_bytes"] = report.cost.peakRssBytes;
    return object.dump(2, ' ', false, Json::error_handler_t::replace);
}

} // namespace weir

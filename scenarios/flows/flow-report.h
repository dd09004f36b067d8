// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_FLOWS_FLOW_REPORT_H
#define WEIR_SCENARIOS_FLOWS_FLOW_REPORT_H

#include "scenarios/flows/flow-results.h"
#include "scenarios/flows/play-flows.h"
#include "scenarios/results/percentiles.h"
#include "scenarios/simulation/run-result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir
{

/** The flows of one class of sizes. */
struct FlowClass
{
    std::string name;
    uint64_t flows{0};
    Percentiles completionSeconds;
    Percentiles slowdown;
};

/** What the flows of a run add up to. */
struct FlowSummary
{
    uint64_t flows{0};
    Bytes bytes;
    Time makespan;        //!< from the first start to the last finish
    double meanActive{0}; //!< flows under way, over the makespan (Little's law)
    /** All flows, then small, medium and large: at most 100 kB, at most 10 MB, above (the classes
     * of pFabric, SIGCOMM 2013, section 5.4); classes without flows are left out. */
    std::vector<FlowClass> classes;
};

/** O(flows); takes 8 bytes a flow while it runs. */
FlowSummary SummarizeFlows(const FlowResults& results, Transport& transport);

/** Flows of @p results that @p transport moves as packets. */
uint64_t CountPacketFlows(const FlowResults& results, Transport& transport);

/** Wall-clock seconds of a run's parts. */
struct FlowRunCost
{
    double readSeconds{0}; //!< topology and flows, paths included
    double playSeconds{0};
    double writeSeconds{0};
    uint64_t peakRssBytes{0};
};

/** What a report says besides the summary. */
struct FlowReport
{
    std::string fidelity;       //!< flow, packet or hybrid
    std::string topology;       //!< as given
    std::string flows;          //!< as given
    double sharingTolerance{0}; //!< as SharingSpec
    std::string corrections;    //!< of the fluid, as given; empty: none
    std::size_t endPoints{0};
    const char* endPointName{""};
    bool sortedInput{true}; //!< the file gave flows by start, or they were drawn
    FlowSummary summary;
    std::optional<uint64_t> packetFlows{}; //!< beside a fluid
    FlowRun run;
    RunResult result; //!< links
    FlowRunCost cost;
};

/** For the terminal. */
std::string ToText(const FlowReport& report);

/**
 * One JSON object: topology, flows_file, fidelity, packet_flows, flows, bytes, makespan_s,
 * mean_active, max_active, sorted_input, packets {drops, trims, marks, retransmissions, pauses,
 * longest_queue_bytes, longest_queue} where there are any, busiest_links, links_window_s, events,
 * wall_s, read_s, play_s, write_s, peak_rss_bytes and classes, each {name, flows, fct_s, slowdown}
 * with p50, p95 and p99.
 */
std::string ToJson(const FlowReport& report);

} // namespace weir

#endif // WEIR_SCENARIOS_FLOWS_FLOW_REPORT_H

// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_FLOWS_FLOW_REPORT_H
#define WEIR_SCENARIOS_FLOWS_FLOW_REPORT_H

#include "compute-model/execution/percentiles.h"
#include "scenarios/flows/flow-results.h"
#include "scenarios/flows/play-flows.h"
#include "scenarios/simulation/run-result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir
{

struct FlowClass
{
    std::string name;
    uint64_t flows{0};
    Percentiles completionSeconds;
    Percentiles slowdown;
};

struct FlowSummary
{
    uint64_t flows{0};
    Bytes bytes;
    Time makespan;        //!< from the first start to the last finish
    double meanActive{0}; //!< mean number of active flows over the makespan (Little's law)
    /**
     * All flows, then small, medium and large ones: at most 100 kB, at most 10 MB, above (the
     * classes of pFabric, SIGCOMM 2013, section 5.4); classes without flows are omitted.
     */
    std::vector<FlowClass> classes;
};

/** Summarizes the finished flows. O(flows log flows); takes 8 bytes per flow while it runs. */
FlowSummary SummarizeFlows(const FlowResults& results, Transport& transport);

/** The number of flows of @p results that @p transport moves as packets. */
uint64_t CountPacketFlows(const FlowResults& results, Transport& transport);

/** Wall-clock seconds of a run's parts. */
struct FlowRunCost
{
    double readSeconds{0}; //!< reading topology and flows, and finding paths
    double playSeconds{0};
    double writeSeconds{0};
    uint64_t peakRssBytes{0};
};

struct FlowReport
{
    std::string fidelity;       //!< flow, packet or hybrid
    std::string topology;       //!< as given
    std::string flows;          //!< as given
    double sharingTolerance{0}; //!< SharingSpec::tolerance
    std::string corrections;    //!< of the fluid model, as given; empty: none
    std::size_t endPoints{0};
    const char* endPointName{""};
    bool sortedInput{true}; //!< flows were in the order of their starts, or drawn
    FlowSummary summary;
    std::optional<uint64_t> packetFlows{}; //!< in hybrid fidelity
    FlowRun run;
    RunResult result; //!< statistics of links and packets
    FlowRunCost cost;
};

/** The report as text for the terminal. */
std::string ToText(const FlowReport& report);

/**
 * The report as one JSON object: topology, flows_file, fidelity, end_points, flows, bytes,
 * makespan_s, mean_active, max_active, sorted_input, and, where they apply, packet_flows,
 * sharing_tolerance, corrections and partial; classes, each {name, flows, fct_s, slowdown} with
 * p50, p95 and p99; packets {drops, trims, marks, retransmissions, pauses, longest_queue_bytes,
 * longest_queue} where there are any; coupling {windows, largest_debt_bytes} of fidelity hybrid;
 * busiest_links, links_window_s, events, wall_s, read_s,
 * play_s, write_s and peak_rss_bytes.
 */
std::string ToJson(const FlowReport& report);

} // namespace weir

#endif // WEIR_SCENARIOS_FLOWS_FLOW_REPORT_H

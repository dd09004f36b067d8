// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_FLOWS_FLOW_SUMMARY_H
#define WEIR_SCENARIOS_FLOWS_FLOW_SUMMARY_H

#include "scenarios/flows/flow-results.h"
#include "scenarios/results/percentiles.h"

#include <cstdint>
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

} // namespace weir

#endif // WEIR_SCENARIOS_FLOWS_FLOW_SUMMARY_H

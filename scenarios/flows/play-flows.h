// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_FLOWS_PLAY_FLOWS_H
#define WEIR_SCENARIOS_FLOWS_PLAY_FLOWS_H

#include "scenarios/flows/flow-file.h"
#include "scenarios/flows/flow-network.h"
#include "scenarios/flows/flow-results.h"
#include "scenarios/simulation/run-scenario.h"

#include <cstdint>
#include <functional>

namespace weir
{

/**
 * Reads all flows of @p file and finds their paths, so that errors are reported before anything
 * runs. Each flow is a queue pair of its own: the k-th flow between two end points has the source
 * port 10000 + k, as in the HPCC simulator; ECMP hashes it with the destination port and priority
 * group.
 * @param trafficClasses number of classes; with several, the priority group of a flow is its class,
 *        and 0 means the first
 * @throws InputError with the location of an end point that does not exist or is a switch, or of a
 *         flow to its own source, without a path, too large to end within the range of Time, or of
 *         a priority group that is no class.
 */
FlowResults ReadFlows(FlowFile& file, FlowNetwork& network, uint32_t trafficClasses = 1);

/** Statistics of a run of flows. */
struct FlowRun
{
    uint64_t events{0};    //!< instants visited
    uint64_t maxActive{0}; //!< largest number of active flows
    bool isPartial{false}; //!< stopped before all flows had ended
};

/**
 * Runs @p flows and the events of @p network until the last flow has ended, and records when each
 * did. Must be called once. Flows may be in any order; they are started by time, ties in the order
 * of the file.
 * @param progress called periodically with the simulated time and the share of finished flows
 * @throws std::runtime_error that names the first flow that does not end within 106 days, the range
 *         of Time.
 * @throws InputError at an event that the network cannot have.
 */
FlowRun PlayFlows(FlowResults& flows,
                  FlowNetwork& network,
                  EngineLoop& loop,
                  const std::function<void(const RunProgress&)>& progress);

} // namespace weir

#endif // WEIR_SCENARIOS_FLOWS_PLAY_FLOWS_H

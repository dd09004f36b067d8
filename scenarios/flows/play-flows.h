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
 * Reads all flows of @p file and finds their paths, so that every wrong row is known before
 * anything is played. Each flow is a queue pair of its own: the k-th flow between two end points
 * has the source port 10000 + k, as in the HPCC simulator, and with its destination port and
 * priority group it decides among paths that tie.
 * @param trafficClasses where packets have several, the priority group of a flow is its class; 0
 *        is the first
 * @throws InputError with the place of an end point that does not exist or is a switch, a flow to
 *         its own source, one without a path, or one of a
 *         priority group that is no class.
 */
FlowResults ReadFlows(FlowFile& file, FlowNetwork& network, uint32_t trafficClasses = 1);

/** What playing flows took. */
struct FlowRun
{
    uint64_t events{0};    //!< instants visited
    uint64_t maxActive{0}; //!< flows under way at once, at most
    bool isPartial{false}; //!< stopped before all had ended
};

/**
 * Plays @p flows and the events of @p network, once, until the last has ended and notes when each
 * did. Flows need not be in the order of their starts; they are taken by start, ties in the order
 * of the file.
 * @param progress called now and then with the simulated time
 * @throws std::runtime_error naming the first flow that never ends (past the 106 days that Time
 *         counts).
 */
FlowRun PlayFlows(FlowResults& flows,
                  FlowNetwork& network,
                  EngineLoop& loop,
                  const std::function<void(const RunProgress&)>& progress);

} // namespace weir

#endif // WEIR_SCENARIOS_FLOWS_PLAY_FLOWS_H

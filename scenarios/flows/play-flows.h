// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_FLOWS_PLAY_FLOWS_H
#define WEIR_SCENARIOS_FLOWS_PLAY_FLOWS_H

#include "fabric/units.h"
#include "scenarios/flows/flow-file.h"
#include "scenarios/flows/flow-network.h"
#include "scenarios/flows/flow-results.h"
#include "scenarios/readers/read-traffic.h"
#include "scenarios/simulation/run-scenario.h"
#include "scenarios/yaml/yaml-node.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace weir
{

/**
 * Reads all flows of @p file and finds their paths, so that errors are reported before anything
 * runs. Each flow is a queue pair of its own: the k-th between two end points has source port 10000
 * + k, as in the HPCC simulator; ECMP hashes it with destination port and priority group.
 * @param trafficClasses if several, a flow's priority group is its class, and 0 means the first
 * @throws InputError at an end point that does not exist or is a switch, and at a flow to its own
 *         source, without a path, too large to end within the range of Time, or of no class.
 */
FlowResults ReadFlows(FlowFile& file, FlowNetwork& network, uint32_t trafficClasses = 1);

/**
 * Draws the flows of traffic patterns between end points of @p network, pattern after pattern;
 * source ports are assigned as by ReadFlows.
 * @throws InputError with the location of end points that the network lacks, or of a pattern with
 *         more flows than memory holds, before any of them is drawn.
 */
FlowResults DrawFlows(const std::vector<FileTraffic>& traffics, FlowNetwork& network);

/** Selects the flows that move as packets in hybrid fidelity: those that match any criterion. */
struct FlowSelection
{
    std::vector<NumberRange> flows;        //!< by number, as in the CSV
    std::vector<NumberRange> sources;      //!< end points
    std::vector<NumberRange> destinations; //!< end points
    std::optional<Bytes> below;            //!< flows of fewer bytes
    std::vector<std::string> links;        //!< flows over these links, by CouplingSpec::links

    /**
     * Marks the selected flows of @p results, except by links. O(flows x ranges).
     * @throws InputError with the location of a range that matches no flow.
     */
    void Apply(FlowResults& results) const;

    bool IsEmpty() const
    {
        return flows.empty() && sources.empty() && destinations.empty() && !below && links.empty();
    }
};

/**
 * Reads `packets` of the network of `weir flows`.
 * @throws InputError with the location of an unknown key, or of a wrong number, range or size.
 */
FlowSelection ReadFlowSelection(const YamlNode& packets);

struct FlowRun
{
    uint64_t events{0};    //!< instants visited
    uint64_t maxActive{0}; //!< largest number of active flows
    bool isPartial{false}; //!< stopped before all flows had ended
};

/**
 * Runs @p flows, in any order, and the events of @p network until the last flow has ended, and
 * records when each did; ties are started in the order of the file. Must be called once.
 * @param progress called periodically with the simulated time and the share of finished flows
 * @throws std::runtime_error that names a flow that does not end within 106 days, Time's range.
 * @throws InputError at an event that the network cannot have.
 */
FlowRun PlayFlows(FlowResults& flows,
                  FlowNetwork& network,
                  EngineLoop& loop,
                  const std::function<void(const RunProgress&)>& progress);

} // namespace weir

#endif // WEIR_SCENARIOS_FLOWS_PLAY_FLOWS_H

// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_FLOWS_DRAW_FLOWS_H
#define WEIR_SCENARIOS_FLOWS_DRAW_FLOWS_H

#include "scenarios/flows/flow-network.h"
#include "scenarios/flows/flow-results.h"
#include "scenarios/readers/read-traffic.h"

#include <vector>

namespace weir
{

/**
 * Draws the flows of traffic patterns between end points of @p network, pattern after pattern;
 * source ports are assigned as by ReadFlows.
 * @throws InputError with the location of end points that the network lacks, or of a pattern with
 *         more flows than memory holds, before any of them is drawn.
 */
FlowResults DrawFlows(const std::vector<FileTraffic>& traffics, FlowNetwork& network);

} // namespace weir

#endif // WEIR_SCENARIOS_FLOWS_DRAW_FLOWS_H

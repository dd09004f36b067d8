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
 * The flows of some patterns of traffic between the end points of @p network, pattern after
 * pattern; ports are as ReadFlows gives them.
 * @throws InputError with the place of what the network does not have, or of more flows than memory
 * holds, before any of that pattern is drawn.
 */
FlowResults DrawFlows(const std::vector<FileTraffic>& traffics, FlowNetwork& network);

} // namespace weir

#endif // WEIR_SCENARIOS_FLOWS_DRAW_FLOWS_H

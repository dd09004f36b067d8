// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_EXECUTION_STEP_CALL_H
#define WEIR_COMPUTE_MODEL_EXECUTION_STEP_CALL_H

#include "collectives/collective.h"
#include "collectives/planner.h"
#include "compute-model/graph/step-program.h"

#include <vector>

namespace weir
{

/**
 * What @p op asks of @p communicator.
 * @param traffics by index into StepGraph::traffics, as AddTraffics gives them.
 */
CollectiveCall CallOf(const StepOp& op,
                      CommunicatorId communicator,
                      const std::vector<TrafficId>& traffics);

/** Makes the unequal parts of @p graph known to @p planner; by index into StepGraph::traffics. */
std::vector<TrafficId> AddTraffics(const StepGraph& graph, Planner& planner);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_EXECUTION_STEP_CALL_H

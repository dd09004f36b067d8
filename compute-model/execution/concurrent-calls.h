// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_EXECUTION_CONCURRENT_CALLS_H
#define WEIR_COMPUTE_MODEL_EXECUTION_CONCURRENT_CALLS_H

#include "collectives/engines/collective-engine.h"
#include "compute-model/execution/rank-fold.h"
#include "compute-model/graph/step-program.h"

#include <vector>

namespace weir
{

/**
 * The calls of @p graph as classes that are made at the same time, for
 * CollectiveEngine::ExpectConcurrent: those of one kind in all groups of a place of @p fold, such
 * as the data-parallel groups of all tensor ranks of a stage, or the transfers of all ranks of a
 * stage to the next. A stream is one of the ranks of an actor.
 *
 * @param communicators by group. @param traffics by index into StepGraph::traffics.
 * O(operations of all programs + calls that differ).
 */
std::vector<CallClass> ConcurrentCalls(const StepGraph& graph,
                                       const RankFold& fold,
                                       const std::vector<CommunicatorId>& communicators,
                                       const std::vector<TrafficId>& traffics = {});

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_EXECUTION_CONCURRENT_CALLS_H

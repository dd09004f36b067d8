// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_EXECUTION_CONCURRENT_CALLS_H
#define WEIR_COMPUTE_MODEL_EXECUTION_CONCURRENT_CALLS_H

#include "collectives/engines/collective-engine.h"
#include "collectives/planner.h"
#include "compute-model/execution/rank-fold.h"
#include "compute-model/graph/step-program.h"

#include <cstdint>
#include <vector>

namespace weir
{

/**
 * By group of @p graph: its kind, for StepExecutorSpec::groupKinds where communication is timed by
 * class. Groups of one kind have the same calls, which take the same times alone.
 *
 * @param communicators by group.
 * @param gpus by rank.
 * @param traffics by index into StepGraph::traffics.
 * Plans every call of every group that spans nodes, and of one of all groups that lie on the same
 * GPUs of a node each; O(operations of all programs + calls).
 * @throws as Planner::Plan does.
 */
std::vector<uint32_t> PlannedGroupKinds(const StepGraph& graph,
                                        const std::vector<CommunicatorId>& communicators,
                                        const std::vector<GpuId>& gpus,
                                        Planner& planner,
                                        const std::vector<TrafficId>& traffics = {});

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

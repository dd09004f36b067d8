// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_EXECUTION_STEP_CALLS_H
#define WEIR_COMPUTE_MODEL_EXECUTION_STEP_CALLS_H

#include "collectives/collective.h"
#include "collectives/engines/collective-engine.h"
#include "collectives/planner.h"
#include "compute-model/execution/rank-fold.h"
#include "compute-model/graph/step-program.h"

#include <cstdint>
#include <vector>

namespace weir
{

/**
 * The engine's call for @p op on @p communicator.
 * @param traffics by index into StepGraph::traffics, as AddTraffics returns them
 */
CollectiveCall CallOf(const StepOp& op,
                      CommunicatorId communicator,
                      const std::vector<TrafficId>& traffics);

/**
 * Registers the unequal parts of @p graph with @p planner.
 * @return by index into StepGraph::traffics
 */
std::vector<TrafficId> AddTraffics(const StepGraph& graph, Planner& planner);

/**
 * Plans the communication of @p graph, and enters into it what each call occupies in each group
 * (StepGraph::loads): one SM per NCCL channel, and the share of the memory bandwidth that the call
 * takes when it is uncontended. Plans every call of every group that spans nodes. Of the groups on
 * the same GPUs of one node each, it plans the calls of one. O(operations of all programs +
 * calls).
 *
 * @param communicators by group
 * @param gpus by rank
 * @param memory HBM rate of a GPU
 * @param traffics by index into StepGraph::traffics
 * @return the kind of each group, for StepExecutorSpec::groupKinds where communication is timed by
 *         class: groups of one kind have the same calls, with the same uncontended times and loads
 * @throws as Planner::Plan does.
 */
std::vector<uint32_t> PlanCommunication(StepGraph& graph,
                                        const std::vector<CommunicatorId>& communicators,
                                        const std::vector<GpuId>& gpus,
                                        Planner& planner,
                                        Rate memory,
                                        const std::vector<TrafficId>& traffics = {});

/**
 * The calls of @p graph in classes of concurrent calls, for CollectiveEngine::ExpectConcurrent. A
 * class holds one call in all groups of a group class of @p fold, such as the data-parallel groups
 * of all tensor ranks of a stage, or the transfers of all ranks of a stage to the next. A stream of
 * a class is a stream of an actor's ranks. Complexity O(operations of all programs + distinct
 * calls).
 *
 * @param communicators by group
 * @param traffics by index into StepGraph::traffics
 */
std::vector<CallClass> ConcurrentCalls(const StepGraph& graph,
                                       const RankFold& fold,
                                       const std::vector<CommunicatorId>& communicators,
                                       const std::vector<TrafficId>& traffics = {});

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_EXECUTION_STEP_CALLS_H

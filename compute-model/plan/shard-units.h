// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_PLAN_SHARD_UNITS_H
#define WEIR_COMPUTE_MODEL_PLAN_SHARD_UNITS_H

#include "compute-model/models/transformer.h"
#include "compute-model/plan/parallel-plan.h"
#include "compute-model/plan/pipeline-schedule.h"
#include "compute-model/plan/rank-groups.h"

#include <cstdint>
#include <vector>

namespace weir
{

/**
 * Parameters by unit of a stage's weights on one tensor rank: its layers in the order of their
 * model chunks, then the root unit (embeddings, final norm, output layer). They sum to
 * RankStageParameters; routed experts are excluded.
 */
std::vector<double> UnitParameters(const Transformer& model,
                                   const ParallelPlan& plan,
                                   uint32_t stage);

/** The same for the routed experts of a rank, whose state ExpertShardRanks() ranks shard. */
std::vector<double> UnitExpertParameters(const Transformer& model,
                                         const ParallelPlan& plan,
                                         uint32_t stage);

/** One pass of one micro-batch over one unit. */
struct UnitUse
{
    uint32_t unit{0};
    bool isBackward{false};
    bool gathers{false}; //!< the unit's weights must be gathered first
};

/**
 * Units that @p schedule of @p stage uses, in order: a forward pass uses the root unit, then the
 * layers; a backward pass uses the root unit, then the layers from the last to the first. Full
 * sharding frees weights as DataSharding says, except those that the next layer pass needs again.
 * Other sharding gathers all weights once.
 */
std::vector<UnitUse> UnitUses(const Transformer& model,
                              const ParallelPlan& plan,
                              uint32_t stage,
                              const std::vector<PipelineStep>& schedule);

/** Slot of the group that shards one copy of the model's dense state. */
GroupSlot ShardSlot(const ParallelPlan& plan);

/** Slot of the group that shards one copy of the state of a rank's experts. */
GroupSlot ExpertShardSlot(const ParallelPlan& plan);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_PLAN_SHARD_UNITS_H

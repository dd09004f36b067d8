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
 * Parameters of a stage's units of weights on one tensor rank, by unit: its layers in the order of
 * their model chunks, and last the root unit: embeddings, final norm, output layer. They sum to
 * RankStageParameters; experts are left out.
 */
std::vector<double> UnitParameters(const Transformer& model,
                                   const ParallelPlan& plan,
                                   uint32_t stage);

/** The same for the experts that a rank holds, which ExpertShardRanks() ranks shard. */
std::vector<double> UnitExpertParameters(const Transformer& model,
                                         const ParallelPlan& plan,
                                         uint32_t stage);

/** One pass of one micro-batch over one unit. */
struct UnitUse
{
    uint32_t unit{0};
    bool isBackward{false};
    bool gathers{false}; //!< the rank does not have the unit's weights yet
};

/**
 * The units that @p schedule of @p stage passes over, in order: in a forward pass the root unit and
 * the layers, in a backward pass the root unit and the layers from the last to the first. Full
 * sharding gives weights up as DataSharding says, but not those that the very next layer pass
 * needs; without it all weights are gathered once.
 */
std::vector<UnitUse> UnitUses(const Transformer& model,
                              const ParallelPlan& plan,
                              uint32_t stage,
                              const std::vector<PipelineStep>& schedule);

/** The group that shares one copy of the model's state out. */
GroupSlot ShardSlot(const ParallelPlan& plan);

/** The group that shares one copy of a rank's experts out. */
GroupSlot ExpertShardSlot(const ParallelPlan& plan);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_PLAN_SHARD_UNITS_H

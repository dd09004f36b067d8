// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_PLAN_SHARD_UNITS_H
#define WEIR_COMPUTE_MODEL_PLAN_SHARD_UNITS_H

#include "compute-model/models/transformer.h"
#include "compute-model/plan/parallel-plan.h"
#include "compute-model/plan/pipeline-schedule.h"
#include "compute-model/plan/rank-groups.h"

#include <array>
#include <cstdint>
#include <vector>

namespace weir
{

/** Weights of a rank that have the same replicas: its routed experts, or all its other weights. */
struct RankWeights
{
    bool ofExperts;
    double parameters;
    uint32_t replicas;     //!< ranks that hold the same weights
    uint32_t shardRanks;   //!< of these, ranks that shard one copy of the state
    GroupSlot replicaSlot; //!< group of the replicas
    GroupSlot shardSlot;   //!< group that shards one copy
    GroupSlot copiesSlot;  //!< group of the ranks that hold the same part in different copies

    /**
     * Parameters by unit: the layers of the stage in the order of their model chunks, then the root
     * unit (embeddings, final norm, output layer).
     */
    std::vector<double> units;

    /** Parameters whose state the rank holds. */
    double Part() const
    {
        return parameters / shardRanks;
    }
};

/** The weights of a rank of @p stage: all but its routed experts, then these. */
std::array<RankWeights, 2> WeightsOf(const Transformer& model,
                                     const ParallelPlan& plan,
                                     uint32_t stage);

/**
 * Whether a pass over model chunk @p chunk of @p stage uses the root unit: the chunk has the
 * embeddings, or the final norm and the output layer.
 */
bool UsesRootUnit(const ParallelPlan& plan, uint32_t stage, uint32_t chunk);

/** One pass of one micro-batch over one unit. */
struct UnitUse
{
    uint32_t unit{0};
    bool isBackward{false};
    bool gathers{false}; //!< the unit's weights must be gathered first
};

/**
 * Units that @p schedule of @p stage uses, in order: a forward pass uses the root unit if its chunk
 * has one (UsesRootUnit), then the layers; a backward pass uses the same root unit, then the layers
 * from the last to the first. Full sharding frees weights as DataSharding says, except those that
 * the next layer pass needs again. Other sharding gathers all weights once.
 */
std::vector<UnitUse> UnitUses(const Transformer& model,
                              const ParallelPlan& plan,
                              uint32_t stage,
                              const std::vector<PipelineStep>& schedule);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_PLAN_SHARD_UNITS_H

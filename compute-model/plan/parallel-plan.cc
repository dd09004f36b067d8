// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/plan/parallel-plan.h"

#include "compute-model/plan/plan-refusal.h"
#include "compute-model/plan/token-spread.h"

#include <stdexcept>

namespace weir
{

namespace
{

[[noreturn]] void
RefuseSharding(const std::string& found, const std::string& expected)
{
    RefusePlan("dataSharding", found, expected);
}

void
CheckGroups(const ParallelPlan& plan)
{
    const uint32_t ranks = plan.sharding.ranks;
    const uint32_t replicas = plan.DenseReplicas();
    if (ranks != 0 && (ranks > replicas || replicas % ranks != 0 || (ranks == 1 && replicas > 1)))
    {
        RefuseSharding("ranks = " + std::to_string(ranks),
                       "0 (all replicas) or a divisor of the " + std::to_string(replicas) +
                           " replicas from 2 on");
    }
}

/**
 * Checks how replicas of @p model share its state out: groups divide the replicas, what is asked
 * for goes together.
 * @throws std::invalid_argument as CheckPlan.
 */
void
CheckSharding(const Transformer& model, const ParallelPlan& plan)
{
    if (plan.recomputeEvery == 0)
    {
        throw std::invalid_argument("recomputeEvery: found 0, expected at least 1");
    }
    if (plan.SplitsBackward() && plan.Sharded() == ShardedState::Full)
    {
        throw std::invalid_argument(
            "schedule: found a zero-bubble schedule with dataSharding full"
            ", expected 1f1b, interleaved or gpipe");
    }
    if (plan.Sharded() == ShardedState::None)
    {
        if (plan.sharding.ranks != 0)
        {
            RefuseSharding("ranks = " + std::to_string(plan.sharding.ranks) + " with state none",
                           "a state to distribute");
        }
        return;
    }
    CheckGroups(plan);
    const uint32_t expertRanks = plan.expert * plan.ExpertTensor();
    if (model.HasExperts() && plan.tensor * plan.ShardRanks() % expertRanks != 0)
    {
        RefuseSharding("ranks = " + std::to_string(plan.sharding.ranks),
                       "groups whose " + std::to_string(plan.tensor * plan.ShardRanks()) +
                           " GPUs (tensor * ranks) are a multiple of the " +
                           std::to_string(expertRanks) + " that hold a layer's experts");
    }
    if (plan.Sharded() == ShardedState::Gradients && plan.DenseReplicas() > 1 &&
        !plan.overlapGradients)
    {
        RefuseSharding("state gradients without overlapGradients", "overlapGradients: true");
    }
    if (plan.Sharded() == ShardedState::Gradients && !plan.sharding.scatter)
    {
        RefuseSharding("state gradients with scatter: false", "scatter: true");
    }
}

void
RequirePositive(const char* field, uint64_t value)
{
    if (value == 0)
    {
        RefusePlan(field, value, "at least 1");
    }
}

void
CheckModel(const Transformer& model)
{
    RequirePositive("layers", model.layers);
    RequirePositive("hidden", model.hidden);
    RequirePositive("heads", model.heads);
    RequirePositive("kvHeads", model.kvHeads);
    RequirePositive("headDim", model.headDim);
    RequirePositive("ffn", model.ffn);
    RequirePositive("sequence", model.sequence);
    RequirePositive("vocabulary", model.vocabulary);
    RequireDivides("kvHeads", model.kvHeads, "heads", model.heads);
}

void
CheckPipeline(const Transformer& model, const ParallelPlan& plan)
{
    const uint32_t chunks = plan.virtualStages;
    if (plan.schedule == PipelineScheduleKind::Interleaved)
    {
        if (chunks < 2)
        {
            RefusePlan("virtualStages", chunks, "at least 2 with the interleaved schedule");
        }
        if (plan.pipeline < 2)
        {
            RefusePlan("pipeline", plan.pipeline, "at least 2 with the interleaved schedule");
        }
        if (plan.MicroBatches() % plan.pipeline != 0)
        {
            RefusePlan("globalBatch",
                       plan.globalBatch,
                       "micro-batches per pipeline (here " + std::to_string(plan.MicroBatches()) +
                           ") divisible by pipeline = " + std::to_string(plan.pipeline) +
                           " with the interleaved schedule");
        }
    }
    else if (chunks != 1)
    {
        RefusePlan("virtualStages", chunks, "1 unless the schedule is interleaved");
    }
    const uint64_t parts = static_cast<uint64_t>(plan.pipeline) * chunks;
    const uint64_t assigned = model.layers + (plan.embeddingsAsLayers ? 2 : 0);
    RequireDivides(chunks == 1 ? "pipeline" : "pipeline * virtualStages",
                   parts,
                   plan.embeddingsAsLayers ? "layers + 2" : "layers",
                   assigned);
}

} // namespace

void
CheckPlan(const Transformer& model, const ParallelPlan& plan)
{
    CheckModel(model);
    RequirePositive("tensor", plan.tensor);
    RequirePositive("pipeline", plan.pipeline);
    RequirePositive("data", plan.data);
    RequirePositive("context", plan.context);
    RequirePositive("expert", plan.expert);
    RequirePositive("virtualStages", plan.virtualStages);
    RequirePositive("microBatch", plan.microBatch);
    RequirePositive("globalBatch", plan.globalBatch);
    if (plan.HasGrid())
    {
        CheckTensorGrid(model, plan);
    }
    else
    {
        RequireDivides("tensor", plan.tensor, "heads", model.heads);
        RequireDivides("tensor", plan.tensor, "kvHeads", model.kvHeads);
        RequireDivides("tensor", plan.tensor, "ffn", model.ffn);
    }
    if (plan.sequenceParallel)
    {
        RequireDivides("tensor", plan.tensor, "sequence", model.sequence);
    }
    RequireDivides("microBatch * data",
                   static_cast<uint64_t>(plan.microBatch) * plan.data,
                   "globalBatch",
                   plan.globalBatch);
    CheckContext(model, plan);
    CheckExperts(model, plan);
    CheckSharding(model, plan);
    CheckPipeline(model, plan);
    if (plan.overlapGradients && plan.DenseReplicas() > 1 && plan.bucket <= Bytes())
    {
        throw std::invalid_argument("bucket: found " + std::to_string(plan.bucket.Count()) +
                                    " bytes, expected more than 0 when gradients overlap");
    }
}

} // namespace weir

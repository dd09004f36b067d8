// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/plan/sharding-check.h"

#include "compute-model/plan/plan-refusal.h"

#include <stdexcept>
#include <string>

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

} // namespace

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

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_TESTS_COMPUTE_MODEL_REPLICAS_H
#define WEIR_TESTS_COMPUTE_MODEL_REPLICAS_H

#include "compute-model/plan/parallel-plan.h"

namespace weir
{

/** A plan of @p data whole replicas in fp32, with one micro-batch of @p samples each. */
inline ParallelPlan
Replicas(uint32_t data, uint32_t samples)
{
    ParallelPlan plan;
    plan.data = data;
    plan.microBatch = samples;
    plan.globalBatch = data * samples;
    plan.precision = Precision::Fp32;
    return plan;
}

/** A plan of @p data replicas that shard @p state, with micro-batches of one sample each. */
inline ParallelPlan
Sharded(ShardedState state, uint32_t data, uint32_t microBatches)
{
    ParallelPlan plan;
    plan.data = data;
    plan.globalBatch = data * microBatches;
    plan.sharding.state = state;
    return plan;
}

} // namespace weir

#endif // WEIR_TESTS_COMPUTE_MODEL_REPLICAS_H

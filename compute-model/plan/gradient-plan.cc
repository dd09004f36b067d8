// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/plan/gradient-plan.h"

#include <limits>

namespace weir
{

uint32_t
GradientBytes(const ParallelPlan& plan)
{
    return plan.fp32Gradients ? BytesOf(Precision::Fp32) : ActivationBytes(plan.precision);
}

bool
OverlapsGradients(const ParallelPlan& plan)
{
    return plan.overlapGradients && plan.DenseReplicas() > 1 &&
           plan.Sharded() != ShardedState::Full;
}

double
BucketParameters(const ParallelPlan& plan)
{
    return OverlapsGradients(plan) ? plan.bucket.ToDouble() / GradientBytes(plan)
                                   : std::numeric_limits<double>::infinity();
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/plan/gradient-plan.h"

#include <algorithm>

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
    return plan.overlapGradients && std::max(plan.DenseReplicas(), plan.ExpertReplicas()) > 1 &&
           plan.Sharded() != ShardedState::Full;
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_PLAN_GRADIENT_PLAN_H
#define WEIR_COMPUTE_MODEL_PLAN_GRADIENT_PLAN_H

#include "compute-model/plan/parallel-plan.h"

#include <cstdint>

namespace weir
{

/** Bytes of one accumulated gradient. */
uint32_t GradientBytes(const ParallelPlan& plan);

/** Whether gradients are reduced in buckets beside the last backward passes. */
bool OverlapsGradients(const ParallelPlan& plan);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_PLAN_GRADIENT_PLAN_H

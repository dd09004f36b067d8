// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_STEP_LOAD_H
#define WEIR_COMPUTE_MODEL_LAYERS_STEP_LOAD_H

#include "compute-model/kernels/gpu.h"
#include "compute-model/models/transformer.h"
#include "compute-model/plan/parallel-plan.h"

namespace weir
{

/**
 * How near the layers of a step come to the load that a GPU's sustained clock was read under, in
 * [0, 1]: the share of a layer's clocks that keep the tensor cores busy, over
 * `fullLoadUtilisation`. A layer takes its kernels' time at the burst clock, or the CPU's time to
 * launch them where that is longer.
 *
 * Power is limited over tens of milliseconds (an H200 takes 50 to 80 ms to settle), many layers
 * long: kernels between, and idle time, leave a GEMM more than a loop of that GEMM alone would.
 */
double StepLoad(const Transformer& model, const ParallelPlan& plan, const Gpu& gpu);

/** @p gpu with the sustained clock that it settles at under @p load: burst at 0, its own at 1. */
Gpu UnderLoad(const Gpu& gpu, double load);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_STEP_LOAD_H

// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_WORKLOAD_ROOFLINE_H
#define WEIR_SCENARIOS_WORKLOAD_ROOFLINE_H

#include "compute-model/graph/step-program.h"
#include "compute-model/kernels/gpu.h"

namespace weir
{

/**
 * Replaces the duration of every compute operation of @p graph that has kernel records by
 * max(FLOPs / peak at @p precision, bytes / memory rate) of @p gpu, both as its datasheet has them,
 * as ASTRA-sim's roofline does
 * (astra-sim/workload, Workload.cc: FLOPs / min(peak, rate x FLOPs / bytes)). Others keep theirs.
 */
void UseRoofline(StepGraph& graph, const Gpu& gpu, Precision precision);

} // namespace weir

#endif // WEIR_SCENARIOS_WORKLOAD_ROOFLINE_H

// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_GRAPH_TABLE_STEP_H
#define WEIR_COMPUTE_MODEL_GRAPH_TABLE_STEP_H

#include "compute-model/graph/step-program.h"
#include "compute-model/kernels/gpu.h"
#include "compute-model/models/layer-table.h"
#include "compute-model/plan/memory-estimate.h"
#include "compute-model/plan/parallel-plan.h"

namespace weir
{

/**
 * Checks that @p plan can train @p table: replicas only.
 * @throws std::invalid_argument as CheckPlan.
 */
void CheckTablePlan(const LayerTable& table, const ParallelPlan& plan);

/**
 * One optimizer step of @p table on replicas, as PyTorch's DistributedDataParallel runs it (Li et
 * al. 2020, arXiv 2006.15704, 3.2): gradients are all-reduced in buckets, each when the last of
 * its gradients is final, beside the rest of the backward pass; Adam follows.
 * @throws std::invalid_argument as CheckTablePlan.
 */
StepGraph BuildTableStep(const LayerTable& table, const ParallelPlan& plan, const Gpu& gpu);

/**
 * What a replica holds: weights, gradients (and as much again in buckets), Adam's state, the output
 * of every layer of one micro-batch.
 */
MemoryEstimate EstimateTableMemory(const LayerTable& table, const ParallelPlan& plan);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_GRAPH_TABLE_STEP_H

// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_GRAPH_TABLE_STEP_H
#define WEIR_COMPUTE_MODEL_GRAPH_TABLE_STEP_H

#include "compute-model/graph/step-program.h"
#include "compute-model/kernels/gpu.h"
#include "compute-model/models/layer-table.h"
#include "compute-model/plan/parallel-plan.h"
#include "compute-model/plan/table-memory.h"

namespace weir
{

/**
 * Checks that @p plan can train @p table: replicas only, and no more of them than embedding tables
 * where these lie whole on one rank each.
 * @throws std::invalid_argument as CheckPlan.
 */
void CheckTablePlan(const LayerTable& table, const ParallelPlan& plan);

/**
 * One optimizer step of @p table on replicas, as PyTorch's DistributedDataParallel runs it (Li et
 * al. 2020, arXiv 2006.15704, 3.2): gradients are all-reduced in buckets, each when the last of
 * its gradients is final, beside the rest of the backward pass; the optimizer follows.
 *
 * Embedding tables are spread over the replicas (hybrid parallelism: Mudigere et al. 2022, arXiv
 * 2104.05158, 4): every rank looks its tables up for the samples of all, an all-to-all brings the
 * pooled rows to their samples beside the layers below the join; backward their gradients go the
 * other way beside those layers' backward passes, and the tables are updated. Tables split by rows
 * have partial sums reduce-scattered and gradients gathered instead. All of it and the buckets
 * share one communicator and its stream. Ranks with like tables share a program.
 * @throws std::invalid_argument as CheckTablePlan.
 */
StepGraph BuildTableStep(const LayerTable& table, const ParallelPlan& plan, const Gpu& gpu);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_GRAPH_TABLE_STEP_H

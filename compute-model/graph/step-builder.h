// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_GRAPH_STEP_BUILDER_H
#define WEIR_COMPUTE_MODEL_GRAPH_STEP_BUILDER_H

#include "compute-model/graph/step-program.h"
#include "compute-model/kernels/gpu.h"
#include "compute-model/layers/step-segments.h"
#include "compute-model/models/layer-table.h"
#include "compute-model/models/transformer.h"
#include "compute-model/plan/memory-estimate.h"
#include "compute-model/plan/parallel-plan.h"

namespace weir
{

/**
 * Approximate number of operations of the programs of all stages, before they are written: those of
 * each layer's passes for every micro-batch. This is an upper bound, since short operations are
 * merged.
 */
double EstimateOperations(const StepSegments& segments,
                          const Transformer& model,
                          const ParallelPlan& plan);

/**
 * One optimizer step of @p model under @p plan on GPUs of kind @p gpu, as Megatron-LM runs it. All
 * ranks of a pipeline stage share one program.
 * @throws std::invalid_argument as CheckPlan, or when the programs have more than 2^25 operations.
 */
StepGraph BuildTransformerStep(const Transformer& model, const ParallelPlan& plan, const Gpu& gpu);

/**
 * Checks that @p plan can train @p table: data parallelism only, and no more replicas than
 * embedding tables if each table lies whole on one rank.
 * @throws std::invalid_argument as CheckPlan.
 */
void CheckTablePlan(const LayerTable& table, const ParallelPlan& plan);

/**
 * One optimizer step of @p table on replicas, as PyTorch's DistributedDataParallel runs it (Li et
 * al. 2020, arXiv 2006.15704, 3.2): gradients are all-reduced in buckets, each when the last of its
 * gradients is final, overlapping the rest of the backward pass; the optimizer follows.
 *
 * Embedding tables are distributed over the replicas (hybrid parallelism: Mudigere et al. 2022,
 * arXiv 2104.05158, 4). Every rank looks up its tables for the samples of all ranks. An all-to-all
 * sends the pooled rows to the ranks of their samples, overlapping the layers below the join. In
 * the backward pass the gradients return by an all-to-all that overlaps those layers' backward
 * passes, and the tables are updated. For tables split by rows, partial sums are reduce-scattered
 * and gradients all-gathered instead. All of these and the buckets share one communicator and its
 * stream. Ranks with equal tables share a program.
 * @throws std::invalid_argument as CheckTablePlan.
 */
StepGraph BuildTableStep(const LayerTable& table, const ParallelPlan& plan, const Gpu& gpu);

/** The step of a job: BuildTransformerStep or BuildTableStep. */
StepGraph BuildStep(const Network& network, const ParallelPlan& plan, const Gpu& gpu);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_GRAPH_STEP_BUILDER_H

// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_PLAN_TABLE_MEMORY_H
#define WEIR_COMPUTE_MODEL_PLAN_TABLE_MEMORY_H

#include "compute-model/models/layer-table.h"
#include "compute-model/plan/memory-estimate.h"
#include "compute-model/plan/parallel-plan.h"

namespace weir
{

/** Memory traffic and state of the optimizer of dense weights. */
struct DenseOptimizer
{
    const char* name;
    double operands{0}; //!< numbers read or written per weight, over all passes
    double kept{0};     //!< numbers kept per weight
};

/** Adam; for a model with embedding tables, the optimizer of its tables. */
DenseOptimizer DenseOptimizerOf(const LayerTable& table, const ParallelPlan& plan);

/**
 * Memory of the fullest replica: weights, gradients (and the same again in buckets), optimizer
 * state, the outputs of all layers of one micro-batch that are not computed in place, embedding
 * tables with their optimizer state, and the exchanged pooled rows of all replicas' samples with
 * their gradients.
 */
MemoryEstimate EstimateTableMemory(const LayerTable& table, const ParallelPlan& plan);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_PLAN_TABLE_MEMORY_H

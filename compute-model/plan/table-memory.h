// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_PLAN_TABLE_MEMORY_H
#define WEIR_COMPUTE_MODEL_PLAN_TABLE_MEMORY_H

#include "compute-model/models/layer-table.h"
#include "compute-model/plan/memory-estimate.h"
#include "compute-model/plan/parallel-plan.h"

namespace weir
{

/** Passes over the dense weights that their optimizer makes, and what it keeps of each. */
struct DenseOptimizer
{
    const char* name;
    double operands{0}; //!< numbers read or written per weight
    double kept{0};     //!< numbers kept per weight
};

/** Adam; of a model with embedding tables, whatever its tables are updated by. */
DenseOptimizer DenseOptimizerOf(const LayerTable& table, const ParallelPlan& plan);

/**
 * What the fullest replica holds: weights, gradients (and as much again in buckets), the
 * optimizer's state, the output of every layer of one micro-batch that is not computed in place;
 * embedding tables with their
 * state, and of their exchange the pooled rows of all replicas' samples, and their gradients.
 */
MemoryEstimate EstimateTableMemory(const LayerTable& table, const ParallelPlan& plan);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_PLAN_TABLE_MEMORY_H

// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_PLAN_SHARDED_MEMORY_H
#define WEIR_COMPUTE_MODEL_PLAN_SHARDED_MEMORY_H

#include "compute-model/plan/memory-estimate.h"

namespace weir
{

/**
 * Writes the state of one rank under full sharding into @p estimate: its part of the 32-bit
 * weights, of their gradients and of Adam's two moments (Rajbhandari et al. 2020, table 1: 16 bytes
 * over N in mixed precision, here without a 16-bit copy of the weights), and what is whole while it
 * is used: the root unit's weights and gradients, of the layers the one at work and those gathered
 * ahead (all of them without resharding), a layer's gradients and their reduction's buffer, and
 * all gradients where passes do not reduce them.
 */
void WriteShardedState(const Transformer& model,
                       const ParallelPlan& plan,
                       MemoryEstimate& estimate);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_PLAN_SHARDED_MEMORY_H

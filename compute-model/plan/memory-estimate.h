// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_PLAN_MEMORY_ESTIMATE_H
#define WEIR_COMPUTE_MODEL_PLAN_MEMORY_ESTIMATE_H

#include "compute-model/models/transformer.h"
#include "compute-model/plan/parallel-plan.h"
#include "fabric/units.h"

#include <cstdint>
#include <string>

namespace weir
{

/** What one GPU of one pipeline stage holds at its peak. */
struct MemoryEstimate
{
    uint32_t stage{0};
    Bytes weights;
    Bytes embeddings; //!< rows of embedding tables and what their optimizer keeps
    Bytes gradients;
    Bytes optimizer;
    Bytes activations; //!< of all micro-batches in flight under the plan's schedule
    Bytes gathered;    //!< weights and gradients that a rank keeps a part of, while they are whole
    Bytes buffers;     //!< CUDA context, NCCL channels, workspace, blocks of a tensor grid

    Bytes Total() const
    {
        return weights + embeddings + gradients + optimizer + activations + gathered + buffers;
    }
};

/** "61.2 GiB". */
std::string InGiB(Bytes bytes);

/** "61.2 GiB (weights 14.9 GiB, gradients 29.8 GiB, ...)". */
std::string ToText(const MemoryEstimate& estimate);

/** The estimate of the fullest stage; activations after Korthikanti et al. 2022, equations 1 to 6.
 */
MemoryEstimate EstimateMemory(const Transformer& model, const ParallelPlan& plan);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_PLAN_MEMORY_ESTIMATE_H

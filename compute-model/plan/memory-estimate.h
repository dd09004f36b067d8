// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_PLAN_MEMORY_ESTIMATE_H
#define WEIR_COMPUTE_MODEL_PLAN_MEMORY_ESTIMATE_H

#include "compute-model/models/layer-table.h"
#include "compute-model/models/transformer.h"
#include "compute-model/plan/parallel-plan.h"
#include "fabric/units.h"

#include <array>
#include <cstdint>
#include <string>

namespace weir
{

/** Peak memory of one GPU of a pipeline stage, by component. */
struct MemoryEstimate
{
    /** A component and its name in results. */
    struct Part
    {
        const char* name;
        Bytes MemoryEstimate::*bytes;
    };

    static const std::array<Part, 7> PARTS;

    uint32_t stage{0};
    Bytes weights;
    Bytes embeddings; //!< rows of embedding tables and their optimizer state
    Bytes gradients;
    Bytes optimizer;
    Bytes activations; //!< of all micro-batches in flight under the plan's schedule
    Bytes gathered;    //!< sharded weights and gradients while they are whole; pooled rows that
                       //!< replicas exchange
    Bytes buffers;     //!< CUDA context, NCCL channels, workspace, blocks of a tensor grid

    Bytes Total() const
    {
        Bytes total;
        for (const Part& part : PARTS)
        {
            total += this->*part.bytes;
        }
        return total;
    }
};

inline constexpr std::array<MemoryEstimate::Part, 7> MemoryEstimate::PARTS{
    {{"weights", &MemoryEstimate::weights},
     {"embeddings", &MemoryEstimate::embeddings},
     {"gradients", &MemoryEstimate::gradients},
     {"optimizer", &MemoryEstimate::optimizer},
     {"activations", &MemoryEstimate::activations},
     {"gathered", &MemoryEstimate::gathered},
     {"buffers", &MemoryEstimate::buffers}}};

/** Formats @p bytes as "61.2 GiB". */
std::string InGiB(Bytes bytes);

/** Formats the total and its components: "61.2 GiB (weights 14.9 GiB, gradients 29.8 GiB, ...)". */
std::string ToText(const MemoryEstimate& estimate);

/**
 * Memory estimate of the fullest stage. Activations follow Korthikanti et al. 2022, equations 1 to
 * 6.
 * @throws std::invalid_argument as CheckPlan.
 */
MemoryEstimate EstimateMemory(const Transformer& model, const ParallelPlan& plan);

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

#endif // WEIR_COMPUTE_MODEL_PLAN_MEMORY_ESTIMATE_H

// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_TABLE_KERNELS_H
#define WEIR_COMPUTE_MODEL_LAYERS_TABLE_KERNELS_H

#include "compute-model/layers/segment-writer.h"
#include "compute-model/models/layer-table.h"
#include "compute-model/plan/table-placement.h"

#include <cstdint>

namespace weir
{

/**
 * Look-ups of @p rank for one micro-batch of all replicas: one kernel for all tables that it holds
 * whole, and one for its parts of split tables (FBGEMM's table-batched embeddings).
 */
SegmentSequence LookupForward(KernelTable& kernels,
                              const LayerTable& table,
                              const TablePlacement& placement,
                              uint32_t rank,
                              const ParallelPlan& plan);

/**
 * The backward pass fused with the update. Plain gradient descent updates rows at each look-up; the
 * other optimizers first sort the look-ups by row, so that each row is updated once.
 */
SegmentSequence LookupBackward(KernelTable& kernels,
                               const LayerTable& table,
                               const TablePlacement& placement,
                               uint32_t rank,
                               const ParallelPlan& plan);

/** Layer indices from first to end - 1. */
struct LayerRange
{
    std::size_t first{0};
    std::size_t end{0};
};

/**
 * The forward pass of one micro-batch through the layers @p range of @p table. For the layer
 * Embeddings these are the kernels after the vectors have arrived.
 * @param convolutions precision of convolutions; the plan's precision is that of everything else
 */
SegmentSequence TableForward(KernelTable& kernels,
                             const LayerTable& table,
                             const LayerRange& range,
                             const ParallelPlan& plan,
                             Precision convolutions);

/**
 * Its backward pass, from the last layer to the first. A layer's gradients are ready when its
 * kernels have ended.
 *
 * Convolutions are those of convolution-kernels.h; the first layer needs no input gradient. Norms,
 * ReLUs, pools and additions are memory-bound. Batch norms of few channels and maximum pools are
 * slower than their memory traffic, as measured on an H100. The gradients of an addition's two
 * branches are summed where the branches fork.
 */
SegmentSequence TableBackward(KernelTable& kernels,
                              const LayerTable& table,
                              const LayerRange& range,
                              const ParallelPlan& plan,
                              Precision convolutions);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_TABLE_KERNELS_H

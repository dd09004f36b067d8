// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_TABLE_KERNELS_H
#define WEIR_COMPUTE_MODEL_LAYERS_TABLE_KERNELS_H

#include "compute-model/layers/segment-writer.h"
#include "compute-model/models/layer-table.h"
#include "compute-model/plan/table-places.h"

#include <cstdint>

namespace weir
{

/**
 * What @p rank does with its embedding tables for one micro-batch of all replicas: one kernel looks
 * up all tables that it holds whole, one its parts of those that are split (FBGEMM's table-batched
 * embeddings).
 */
SegmentSequence LookupForward(KernelTable& kernels,
                              const LayerTable& table,
                              const TablePlaces& places,
                              uint32_t rank,
                              const ParallelPlan& plan);

/**
 * The backward pass and the update, in one: plain gradient descent where gradients fall; the
 * others sort the look-ups by row first, so that each row is updated once.
 */
SegmentSequence LookupBackward(KernelTable& kernels,
                               const LayerTable& table,
                               const TablePlaces& places,
                               uint32_t rank,
                               const ParallelPlan& plan);

/** Layers from first to the one before end, by number. */
struct LayerRange
{
    std::size_t first{0};
    std::size_t end{0};
};

/**
 * The forward pass of one micro-batch through the layers @p range of @p table; of the layer
 * Embeddings what happens to the vectors once they are there.
 * @param convolutions what they compute in, the plan's precision being that of everything else
 */
SegmentSequence TableForward(KernelTable& kernels,
                             const LayerTable& table,
                             const LayerRange& range,
                             const ParallelPlan& plan,
                             Precision convolutions);

/**
 * Its backward pass, last layer first. A layer's gradients are ready when its kernels have ended.
 *
 * Convolutions are those of convolution-kernels.h; the first layer needs no input gradient. Norms,
 * ReLUs, pools and additions are memory traffic; batch norms of few channels and maximum pools are
 * slower than their bytes say, as measured on an H100. Where the two sides of an addition part,
 * their gradients are summed.
 */
SegmentSequence TableBackward(KernelTable& kernels,
                              const LayerTable& table,
                              const LayerRange& range,
                              const ParallelPlan& plan,
                              Precision convolutions);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_TABLE_KERNELS_H

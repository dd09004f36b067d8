// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_EMBEDDING_BAG_KERNELS_H
#define WEIR_COMPUTE_MODEL_LAYERS_EMBEDDING_BAG_KERNELS_H

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

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_EMBEDDING_BAG_KERNELS_H

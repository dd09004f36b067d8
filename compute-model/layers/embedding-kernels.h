// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_EMBEDDING_KERNELS_H
#define WEIR_COMPUTE_MODEL_LAYERS_EMBEDDING_KERNELS_H

#include "compute-model/layers/segment-writer.h"
#include "compute-model/models/transformer.h"

namespace weir
{

/**
 * The vocabulary-parallel word embedding (each tensor rank looks up its words, the results are
 * summed over ranks), learned positions and dropout, as Megatron-LM's first stage runs them.
 *
 * In a tensor grid of q x q ranks rank (i, j) has the i-th part of the words and the j-th of their
 * columns. As a SUMMA product with one-hot rows (Optimus) row t gives its words to its columns in
 * step t, and every rank looks up those that are among them.
 */
SegmentSequence EmbeddingForward(KernelTable& kernels,
                                 const Transformer& model,
                                 const ParallelPlan& plan);

/**
 * Its backward pass: a dense gradient of the rank's words, added to the gradient buffer; in a grid
 * of every row's words in turn, summed over columns into that row.
 */
SegmentSequence EmbeddingBackward(KernelTable& kernels,
                                  const Transformer& model,
                                  const ParallelPlan& plan);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_EMBEDDING_KERNELS_H

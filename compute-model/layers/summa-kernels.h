// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_SUMMA_KERNELS_H
#define WEIR_COMPUTE_MODEL_LAYERS_SUMMA_KERNELS_H

#include "compute-model/layers/linear-kernels.h"

namespace weir
{

/** Y = X W; Y = X E^T where the weight is a word embedding. */
void WriteSummaForward(SegmentWriter& writer, const LinearShape& linear, const ParallelPlan& plan);

/** dX = dY W^T; dX = dY E. */
void WriteSummaInputGradient(SegmentWriter& writer,
                             const LinearShape& linear,
                             const ParallelPlan& plan);

/** dW = X^T dY, or dE = dY^T X, added to the gradients so far. */
void WriteSummaWeightGradient(SegmentWriter& writer,
                              const LinearShape& linear,
                              const ParallelPlan& plan);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_SUMMA_KERNELS_H

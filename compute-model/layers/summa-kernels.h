// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_SUMMA_KERNELS_H
#define WEIR_COMPUTE_MODEL_LAYERS_SUMMA_KERNELS_H

#include "compute-model/layers/linear-kernels.h"

#include <string>

namespace weir
{

/** A product of matrices that lie in blocks on a grid of q x q ranks, as one rank sees it. */
struct SummaProduct
{
    GemmShape gemm; //!< of two blocks
    std::string rowName;
    Bytes row; //!< block that goes along rows: of the left operand, or of the result
    std::string columnName;
    Bytes column; //!< block that goes along columns: of the right operand, or of the result
    std::string name;
};

/**
 * C = A B by SUMMA (van de Geijn and Watts 1997; Optimus and Tesseract, arXiv 2105.14500): in step
 * t of q column t gives its blocks of A to its rows, row t its blocks of B to its columns, and
 * every rank adds the product of what it got to its block of C.
 *
 * Where the plan overlaps tensor communication there are two buffers for each operand: blocks of
 * step t + 1 are on their way while those of step t are multiplied, rows and columns at once. Else
 * every broadcast is waited for, rows before columns.
 */
void WriteSumma(SegmentWriter& writer, const SummaProduct& product, const ParallelPlan& plan);

/**
 * C = A B^T: in step t row t gives its blocks of B to its columns; the products are summed along
 * rows into column t's blocks of C, beside the next product where the plan overlaps.
 */
void WriteSummaRightTransposed(SegmentWriter& writer,
                               const SummaProduct& product,
                               const ParallelPlan& plan);

/**
 * C = A^T B: in step t column t gives its blocks of A to its rows; the products are summed along
 * columns into row t's blocks of C, similarly.
 */
void WriteSummaLeftTransposed(SegmentWriter& writer,
                              const SummaProduct& product,
                              const ParallelPlan& plan);

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

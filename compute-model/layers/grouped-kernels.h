// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_GROUPED_KERNELS_H
#define WEIR_COMPUTE_MODEL_LAYERS_GROUPED_KERNELS_H

#include "compute-model/layers/segment-writer.h"
#include "compute-model/plan/expert-shape.h"
#include "compute-model/plan/parallel-plan.h"

#include <cstdint>
#include <string>

namespace weir
{

/** One kind of product of the rows of a rank's experts, each with its expert's matrix. */
struct GroupedProduct
{
    std::string name;    //!< "experts FC1"
    uint64_t columns{0}; //!< of the outcome
    uint64_t inner{0};   //!< columns of the rows
    GemmLayout layout{GemmLayout::Tn};
};

/**
 * [rows of an expert, inner] times [inner, columns], for all experts of a rank at once. In fp8 the
 * rows are cast first, as WriteFp8Cast says, for this product and the gradient of weights; casts of
 * weights are left out (Transformer Engine's GroupedLinear does them in a step's first
 * micro-batch).
 */
void WriteGroupedGemm(SegmentWriter& writer,
                      const ExpertShape& shape,
                      const ParallelPlan& plan,
                      const GroupedProduct& product);

/** The gradients of all matrices, each [inner, columns] summed over the rows of its expert. */
void WriteGroupedWeightGradient(SegmentWriter& writer,
                                const ExpertShape& shape,
                                const ParallelPlan& plan,
                                const GroupedProduct& product);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_GROUPED_KERNELS_H

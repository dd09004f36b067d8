// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_INTERACTION_KERNELS_H
#define WEIR_COMPUTE_MODEL_LAYERS_INTERACTION_KERNELS_H

#include "compute-model/layers/segment-writer.h"

#include <cstdint>
#include <string>

namespace weir
{

/** A layer in which the vectors of a sample meet. */
struct InteractionShape
{
    std::string name;
    uint64_t samples{0};
    uint64_t width{0};   //!< of a vector
    uint64_t vectors{1}; //!< of a sample
    uint64_t rank{0};    //!< of a cross layer's matrices
};

/**
 * The products of every two vectors of a sample, behind its first vector (Naumov et al. 2019, arXiv
 * 1906.00091, 2.1.2). In PyTorch's eager mode: a product of each sample's vectors with themselves,
 * its lower triangle picked, the first vector put before it; else one kernel.
 */
void WriteDotForward(SegmentWriter& writer,
                     const InteractionShape& shape,
                     const ParallelPlan& plan);
void WriteDotBackward(SegmentWriter& writer,
                      const InteractionShape& shape,
                      const ParallelPlan& plan);

/**
 * y = x0 * (W V x + b) + x over all vectors of a sample as one, V [rank, n], W [n, rank] (Wang et
 * al. 2021, DCN V2, equation 4). Biases ride on the elementwise kernels; in eager mode the
 * product and the sum are one each. Backward gives the gradients of the layer when it ends.
 */
void WriteCrossForward(SegmentWriter& writer,
                       const InteractionShape& shape,
                       const ParallelPlan& plan);
void WriteCrossBackward(SegmentWriter& writer,
                        const InteractionShape& shape,
                        const ParallelPlan& plan);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_INTERACTION_KERNELS_H

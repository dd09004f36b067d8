// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_KERNELS_ESTIMATE_PROVENANCE_H
#define WEIR_COMPUTE_MODEL_KERNELS_ESTIMATE_PROVENANCE_H

#include "compute-model/kernels/embedding-time.h"
#include "compute-model/kernels/kernel-time.h"

#include <vector>

namespace weir
{

/**
 * Carried if the figures are another GPU's; else Measured inside, Extrapolated outside the measured
 * shapes.
 */
inline EstimateProvenance
ProvenanceOf(const Gpu& gpu, bool isInsideMeasured)
{
    if (gpu.kernels.measuredOn != gpu.name)
    {
        return EstimateProvenance::Carried;
    }
    return isInsideMeasured ? EstimateProvenance::Measured : EstimateProvenance::Extrapolated;
}

/** @name Whether every feature of a call lies within the measured range of its kind. */
///@{

/** False for GEMMs over images and for accumulating GEMMs, which were not measured separately. */
bool IsMeasured(const MeasuredShapes& measured, const GemmShape& shape);

bool IsMeasured(const MeasuredShapes& measured, const AttentionShape& shape);

bool IsMeasured(const MeasuredShapes& measured, MemoryKernel kernel, Bytes bytes, Bytes rowBytes);

/** False for all but one unsharded table with uniform or Zipf-distributed indices. */
bool IsMeasured(const MeasuredShapes& measured,
                const std::vector<EmbeddingLookup>& batch,
                bool isBackward);
///@}

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_KERNELS_ESTIMATE_PROVENANCE_H

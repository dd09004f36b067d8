// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_KERNELS_ESTIMATE_PROVENANCE_H
#define WEIR_COMPUTE_MODEL_KERNELS_ESTIMATE_PROVENANCE_H

#include "compute-model/kernels/embedding-time.h"
#include "compute-model/kernels/kernel-time.h"

#include <vector>

namespace weir
{

/** Carried from another GPU, or this one's figures inside or outside the shapes measured. */
inline EstimateProvenance
ProvenanceOf(const Gpu& gpu, bool isInsideMeasured)
{
    if (gpu.kernels.measuredOn != gpu.name)
    {
        return EstimateProvenance::Carried;
    }
    return isInsideMeasured ? EstimateProvenance::Measured : EstimateProvenance::Extrapolated;
}

/** @name Whether every feature of a call lies within what was measured of its kind. */
///@{

/** Products over images were not measured by themselves. */
bool IsMeasured(const MeasuredShapes& measured, const GemmShape& shape);

bool IsMeasured(const MeasuredShapes& measured, const AttentionShape& shape);

bool IsMeasured(const MeasuredShapes& measured, MemoryKernel kernel, Bytes bytes, Bytes rowBytes);

/** One whole table looked up uniformly or by Zipf's law was measured. */
bool IsMeasured(const MeasuredShapes& measured,
                const std::vector<EmbeddingLookup>& batch,
                bool isBackward);
///@}

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_KERNELS_ESTIMATE_PROVENANCE_H

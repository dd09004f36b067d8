// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_KERNELS_ESTIMATE_PROVENANCE_H
#define WEIR_COMPUTE_MODEL_KERNELS_ESTIMATE_PROVENANCE_H

#include "compute-model/kernels/kernel-time.h"

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

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_KERNELS_ESTIMATE_PROVENANCE_H

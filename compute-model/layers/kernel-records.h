// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_KERNEL_RECORDS_H
#define WEIR_COMPUTE_MODEL_LAYERS_KERNEL_RECORDS_H

#include "compute-model/kernels/kernel-time.h"
#include "fabric/units.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace weir
{

/**
 * A kernel inside a compute operation, kept for the overlap model, display, export and validation.
 */
struct KernelRecord
{
    uint32_t name{0}; //!< index into KernelRecords::labels
    Flops flops;
    Bytes bytes; //!< memory traffic, each operand once
    Time duration;
    uint8_t provenance{0};           //!< an EstimateProvenance
    float tensorBusy{0};             //!< share of its clocks that keep the tensor cores busy
    OverlapTraits overlap;           //!< sensitivity to overlapping communication
    std::array<uint32_t, 4> shape{}; //!< m, n, k, batch for a GEMM; rows, columns otherwise
};

/** Kernels of a step, each sequence once, and their names. */
struct KernelRecords
{
    std::vector<std::string> labels; //!< names shared by operations and kernels
    std::vector<KernelRecord> kernels;
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_KERNEL_RECORDS_H

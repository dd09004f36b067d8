// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_KERNELS_GPU_H
#define WEIR_COMPUTE_MODEL_KERNELS_GPU_H

#include "compute-model/kernels/kernel-calibration.h"
#include "compute-model/models/precision.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/units.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace weir
{

/** A GPU: its datasheet figures and the measured figures of its kernels. */
struct Gpu
{
    std::string name;               //!< "a100-sxm-80g"
    uint32_t computeCapability{80}; //!< times ten: 80, 90
    uint32_t sms{0};
    double boostClockHz{0};     //!< highest SM clock
    double datasheetClockHz{0}; //!< SM clock of the datasheet's rates; 0: the boost clock
    double burstTensorClockHz{
        0}; //!< SM clock that large 16-bit GEMMs hold in their first milliseconds
    double sustainedClockHz{
        0}; //!< SM clock that large 16-bit GEMMs settle at under the power limit
    std::array<double, 5>
        tensorFlopsPerSmPerClock{}; //!< by Precision; a fused multiply-add counts as two
    double clockSpread{
        0}; //!< relative standard deviation, between GPUs of one model, of the clock under load
    Rate memoryRate; //!< datasheet HBM rate
    Bytes memory;    //!< capacity
    Bytes l2;
    Bytes l1{Bytes::KiB(192)}; //!< L1 and shared memory of an SM
    KernelCalibration kernels; //!< efficiencies, with provenance
    std::string source;
    std::vector<NodeCost> costs{}; //!< of collectives; replace the architecture's

    /** Peak at the datasheet's clock. */
    FlopRate DatasheetPeak(Precision precision) const
    {
        const double clockHz = datasheetClockHz > 0 ? datasheetClockHz : boostClockHz;
        return FlopRate::FlopsPerSecond(
            tensorFlopsPerSmPerClock[static_cast<std::size_t>(precision)] * sms * clockHz);
    }
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_KERNELS_GPU_H

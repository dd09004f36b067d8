// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_EXECUTION_SM_PACE_H
#define WEIR_COMPUTE_MODEL_EXECUTION_SM_PACE_H

#include "compute-model/graph/step-program.h"
#include "fabric/units.h"

namespace weir
{

/** Rates at which the SMs of a GPU move data for communication. */
struct SmPace
{
    Rate memoryRate;               //!< datasheet HBM rate; zero: SMs are never the bottleneck
    double boostClockHz{0};        //!< highest SM clock
    double tensorClockHz{0};       //!< SM clock under GEMMs
    double copyBytesPerClock{0};   //!< payload that a block of 512 threads copies per clock
    double reduceBytesPerClock{0}; //!< payload that such a block reduces per clock

    bool IsKnown() const
    {
        return memoryRate > Rate();
    }

    /**
     * Bytes per second that one SM receives for @p communication when it is uncontended on its GPU
     * and limited by its latencies.
     */
    double Uncontended(const StepOp& communication) const;

    /**
     * Bytes per second that each SM of a communication of @p load must receive for the links to be
     * the bottleneck.
     */
    double Needed(const CallLoad& load) const;

    /**
     * Share of Uncontended that the kernels of @p compute leave: their clock, times
     *     1 - u^2 / 2
     * where they take the share u of the HBM rate. Measured on an H200 with 1 to 32 copying or
     * reducing blocks at full speed: 0.76 to 0.85 with GEMMs (0.83 here), 0.84 to 0.88 with
     * attention, 0.74 to 0.95 with norms, softmaxes and look-ups, 0.52 to 0.75 with additions and
     * activations, 0.42 to 0.50 with Adam (0.74 here). Blocks at 20 GB/s keep their rate with all
     * but Adam (0.84 to 0.93) and additions (0.92 to 0.98).
     */
    double Left(const StepGraph& graph, const StepOp& compute) const;
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_EXECUTION_SM_PACE_H

// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_EXECUTION_SM_PACE_H
#define WEIR_COMPUTE_MODEL_EXECUTION_SM_PACE_H

#include "compute-model/graph/step-program.h"
#include "fabric/units.h"

namespace weir
{

/** What of a GPU says how fast its multiprocessors move data for communication. */
struct SmPace
{
    Rate memoryRate;               //!< datasheet HBM rate; zero: multiprocessors never hold data up
    double boostClockHz{0};        //!< highest SM clock
    double tensorClockHz{0};       //!< SM clock under matrix products
    double copyBytesPerClock{0};   //!< payload that a block of 512 threads copies
    double reduceBytesPerClock{0}; //!< ... or reduces

    bool IsKnown() const
    {
        return memoryRate > Rate();
    }

    /**
     * Bytes that one multiprocessor receives for @p communication in a second, alone on its GPU,
     * whose latencies limit it.
     */
    double Alone(const StepOp& communication) const;

    /** Bytes a second that each of its multiprocessors receives when the links set the pace. */
    double Needed(const StepOp& communication) const;

    /**
     * The share of Alone that the kernels of @p compute leave: their clock, and
     *     1 - u^2 / 2
     * with u of the HBM rate taken by them. On an H200 beside 1 to 32 copying or reducing blocks
     * at full speed 0.76 to 0.85 beside matrix products (0.83 here), 0.84 to 0.88 beside attention,
     * 0.74 to 0.95 beside norms, softmaxes and lookups, 0.52 to 0.75 beside additions and
     * activations, 0.42 to 0.50 beside Adam (0.74 here); blocks at 20 GB/s keep their rate beside
     * all but the last (0.84 to 0.93) and additions (0.92 to 0.98).
     */
    double Left(const StepGraph& graph, const StepOp& compute) const;
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_EXECUTION_SM_PACE_H

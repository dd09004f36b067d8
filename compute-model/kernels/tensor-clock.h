// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_KERNELS_TENSOR_CLOCK_H
#define WEIR_COMPUTE_MODEL_KERNELS_TENSOR_CLOCK_H

#include "compute-model/kernels/kernel-time.h"

namespace weir
{

/**
 * The SM clock, in hertz, under a kernel that keeps the tensor cores busy for @p utilisation of
 * its clocks.
 *
 * Power limits the clock, and tensor cores draw most of it: the clock falls linearly from the
 * boost clock at none to the regime's loaded clock at `fullLoadUtilisation`,
 *     f(u) = boost - (boost - loaded) min(u / u_full, 1).
 * Measured on an H200 in steady state: 1980 MHz under memory-bound kernels, 1795 at u = 0.35
 * (flash-2), 1575 at 0.66 (cuDNN attention), 1425 at 0.88 (8192^3 GEMM); the line is within 2 %.
 */
double TensorClock(const Gpu& gpu, ClockRegime regime, double utilisation);

/**
 * The SM clock, in hertz, that a kernel's own tensor utilisation leads to: the fixed point of
 *     f = TensorClock(tensorClocks / (f secondsAt(f))).
 * @param tensorClocks clocks per SM that the products take at the tensor rate, without any loss.
 * @param secondsAt the kernel's time at a given clock (hertz); must not grow with the clock.
 */
template <typename F>
double
OwnClock(const Gpu& gpu, ClockRegime regime, double tensorClocks, const F& secondsAt)
{
    constexpr int ITERATIONS = 4; // each leaves at most (boost - loaded) / boost of the error
    double clock = gpu.boostClockHz;
    for (int i = 0; i < ITERATIONS; i++)
    {
        clock = TensorClock(gpu, regime, tensorClocks / (clock * secondsAt(clock)));
    }
    return clock;
}

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_KERNELS_TENSOR_CLOCK_H

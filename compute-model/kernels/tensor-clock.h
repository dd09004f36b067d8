// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_KERNELS_TENSOR_CLOCK_H
#define WEIR_COMPUTE_MODEL_KERNELS_TENSOR_CLOCK_H

#include "compute-model/kernels/gpu.h"
#include "compute-model/kernels/kernel-time.h"

#include <cstdint>

namespace weir
{

/**
 * The largest of @p parts draws of a standard normal, on the average: the quantile of
 * (n - 3/8) / (n + 1/4) (Blom 1958, Statistical Estimates and Transformed Beta-Variables); 0 for
 * one, 1.42 for 8, 2.50 for 100. @p parts is at least 1.
 */
double ExpectedLargest(uint32_t parts);

/**
 * The slowest of @p parts GPUs of one model, on the average: under a power limit every part settles
 * at a clock of its own (`clockSpread`), and GPUs that train one model in step go as the slowest.
 */
Gpu SlowestOf(const Gpu& gpu, uint32_t parts);

/**
 * The SM clock, in hertz, under a kernel that keeps the tensor cores busy for @p utilization of
 * its clocks.
 *
 * In the first milliseconds it falls linearly from the boost clock at none to the burst clock at
 * `fullLoadUtilization`, f(u) = boost - (boost - burst) min(u / u_full, 1). Later the power limit
 * holds too. Power goes as (1 + r u) f V^2 and voltage with the clock, so that one limit leaves
 *     f(u) = sustained ((1 + r u_full) / (1 + r min(u, u_full)))^(1/3),
 * and a lower limit all kernels that reach it a clock lower by one factor. Measured on an H200 in
 * its first third of a second: 1980 MHz under memory-bound kernels, 1795 at u = 0.35 (flash-2),
 * 1575 at 0.66 (cuDNN attention), 1425 at 0.88 (8192^3 GEMM), of which 0.975 are left from a second
 * and a half on; this is within 2.5 %.
 */
double TensorClock(const Gpu& gpu, ClockRegime regime, double utilization);

/**
 * What a kernel's tensor work would spend of the power that the limit leaves to tensor work,
 * [0, 1]: u f^3 / (u_full sustained^3) at its burst clock f, at most 1.
 */
double TensorPower(const Gpu& gpu, double utilization);

/**
 * The SM clock, in hertz, that a kernel's own tensor utilization leads to: the fixed point of
 *     f = TensorClock(tensorClocks / (f secondsAt(f))).
 * @param tensorClocks clocks per SM that the products take at the tensor rate, without any loss.
 * @param secondsAt the kernel's time at a given clock (hertz); must not grow with the clock.
 */
template <typename F>
double
OwnClock(const Gpu& gpu, ClockRegime regime, double tensorClocks, const F& secondsAt)
{
    constexpr int ITERATIONS = 4; // each leaves a third of the error or less
    double clock = gpu.boostClockHz;
    for (int i = 0; i < ITERATIONS; i++)
    {
        clock = TensorClock(gpu, regime, tensorClocks / (clock * secondsAt(clock)));
    }
    return clock;
}

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_KERNELS_TENSOR_CLOCK_H

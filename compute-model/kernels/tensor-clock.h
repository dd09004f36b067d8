// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_KERNELS_TENSOR_CLOCK_H
#define WEIR_COMPUTE_MODEL_KERNELS_TENSOR_CLOCK_H

#include "compute-model/kernels/gpu.h"
#include "compute-model/kernels/kernel-time.h"

#include <cstdint>

namespace weir
{

/**
 * Expected maximum of @p parts draws of a standard normal: the quantile of (n - 3/8) / (n + 1/4)
 * (Blom 1958, Statistical Estimates and Transformed Beta-Variables); 0 for one, 1.42 for 8, 2.50
 * for 100.
 * @throws std::invalid_argument when @p parts is zero.
 */
double ExpectedLargest(uint32_t parts);

/**
 * Expected slowest of @p parts GPUs of one model. Under a power limit every GPU settles at a
 * different clock (`clockSpread`), and GPUs that train one model synchronously run at the pace of
 * the slowest.
 * @throws std::invalid_argument when @p parts is zero.
 */
Gpu SlowestOf(const Gpu& gpu, uint32_t parts);

/**
 * SM clock, in hertz, under a kernel that keeps the tensor cores busy for the share @p utilization
 * of its clocks.
 *
 * In the first milliseconds the clock falls linearly from the boost clock at u = 0 to the burst
 * clock at `fullLoadUtilization`, f(u) = boost - (boost - burst) min(u / u_full, 1). Later the
 * power limit also applies. Power is proportional to (1 + r u) f V^2 and voltage to the clock, so
 * that one limit gives
 *     f(u) = sustained ((1 + r u_full) / (1 + r min(u, u_full)))^(1/3).
 * A lower limit reduces the clock of all kernels that reach it by one factor. Measured on an H200
 * in its first third of a second: 1980 MHz under memory-bound kernels, 1795 at u = 0.35 (flash-2),
 * 1575 at 0.66 (cuDNN attention), 1425 at 0.88 (8192^3 GEMM). From a second and a half on the
 * clocks are 0.975 of these. The model is within 2.5 %.
 */
double TensorClock(const Gpu& gpu, ClockRegime regime, double utilization);

/**
 * Power of a kernel's tensor work over the power that the limit leaves to tensor work, in [0, 1]:
 * u f^3 / (u_full sustained^3) at its burst clock f, at most 1.
 */
double TensorPower(const Gpu& gpu, double utilization);

/**
 * SM clock, in hertz, at a kernel's own tensor utilization: the fixed point of
 *     f = TensorClock(tensorClocks / (f secondsAt(f))).
 * @param tensorClocks clocks per SM of the math at the full tensor rate
 * @param secondsAt the kernel's time at a given clock (hertz); must not grow with the clock
 */
template <typename F>
double
OwnClock(const Gpu& gpu, ClockRegime regime, double tensorClocks, const F& secondsAt)
{
    constexpr int ITERATIONS = 4; // each reduces the error to a third or less
    double clock = gpu.boostClockHz;
    for (int i = 0; i < ITERATIONS; i++)
    {
        clock = TensorClock(gpu, regime, tensorClocks / (clock * secondsAt(clock)));
    }
    return clock;
}

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_KERNELS_TENSOR_CLOCK_H

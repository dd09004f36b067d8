// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/kernels/tensor-clock.h"

#include <algorithm>
#include <cmath>

namespace weir
{

namespace
{

/**
 * Power of tensor cores that never wait over that of all else, at one clock: read from an H200's
 * clocks under its 700 W, 1795 MHz at a utilization of 0.35 and 1425 MHz at 0.88.
 */
constexpr double TENSOR_POWER = 5.5;

} // namespace

double
TensorClock(const Gpu& gpu, ClockRegime regime, double utilization)
{
    const double full = gpu.kernels.fullLoadUtilization;
    const double used = std::min(utilization, full);
    const double burst =
        gpu.boostClockHz - (gpu.boostClockHz - gpu.burstTensorClockHz) * used / full;
    if (regime == ClockRegime::Burst)
    {
        return burst;
    }
    const double spared = (1 + TENSOR_POWER * full) / (1 + TENSOR_POWER * used);
    return std::min(burst, gpu.sustainedClockHz * std::cbrt(spared));
}

double
TensorPower(const Gpu& gpu, double utilization)
{
    const double full = gpu.kernels.fullLoadUtilization;
    const double clock = TensorClock(gpu, ClockRegime::Burst, utilization) / gpu.sustainedClockHz;
    return std::min(1.0, utilization / full * std::pow(clock, 3));
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/kernels/tensor-clock.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace weir
{

double
ExpectedLargest(uint32_t parts)
{
    if (parts == 0)
    {
        throw std::invalid_argument("ExpectedLargest: no parts");
    }
    const double n = parts;
    const double above = 1 - (n - 0.375) / (n + 0.25);
    // Bisection of the normal's upper tail, erfc(x / sqrt 2) / 2, to the last bit.
    constexpr double FURTHEST = 8; // standard deviations; the tail beyond is below 1e-15
    double low = 0;
    double high = FURTHEST;
    for (double middle = FURTHEST / 2; middle > low && middle < high; middle = (low + high) / 2)
    {
        (std::erfc(middle / std::sqrt(2.0)) / 2 > above ? low : high) = middle;
    }
    return low;
}

Gpu
SlowestOf(const Gpu& gpu, uint32_t parts)
{
    Gpu slowest = gpu;
    slowest.sustainedClockHz *= 1 - gpu.clockSpread * ExpectedLargest(parts);
    return slowest;
}

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
    const double power = gpu.kernels.operators.tensorPower;
    const double spared = (1 + power * full) / (1 + power * used);
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

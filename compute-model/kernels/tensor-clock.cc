// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/kernels/tensor-clock.h"

#include <algorithm>
#include <cmath>

namespace weir
{

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

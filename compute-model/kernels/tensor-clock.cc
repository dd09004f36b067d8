// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/kernels/tensor-clock.h"

#include <algorithm>

namespace weir
{

double
TensorClock(const Gpu& gpu, ClockRegime regime, double utilisation)
{
    const double loaded =
        regime == ClockRegime::Sustained ? gpu.sustainedClockHz : gpu.burstTensorClockHz;
    const double load = std::min(utilisation / gpu.kernels.fullLoadUtilisation, 1.0);
    return gpu.boostClockHz - (gpu.boostClockHz - loaded) * load;
}

} // namespace weir

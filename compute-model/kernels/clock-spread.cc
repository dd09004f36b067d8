// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/kernels/clock-spread.h"

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
    // The normal's upper tail, erfc(x / sqrt 2) / 2, halved into to the last bit.
    constexpr double FURTHEST = 8; // standard deviations: 1e-15 lies beyond
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

} // namespace weir

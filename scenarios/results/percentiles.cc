// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/results/percentiles.h"

#include <algorithm>
#include <cstddef>

namespace weir
{

double
QuantileOf(const std::vector<double>& values, double share)
{
    const double rank = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(rank);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return values[below] + (values[above] - values[below]) * (rank - static_cast<double>(below));
}

Percentiles
PercentilesOf(std::vector<double> values)
{
    if (values.empty())
    {
        return {};
    }
    std::sort(values.begin(), values.end());
    return {QuantileOf(values, 0.50), QuantileOf(values, 0.95), QuantileOf(values, 0.99)};
}

} // namespace weir

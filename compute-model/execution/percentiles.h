// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_EXECUTION_PERCENTILES_H
#define WEIR_COMPUTE_MODEL_EXECUTION_PERCENTILES_H

#include <algorithm>
#include <cstddef>
#include <vector>

namespace weir
{

/**
 * The @p share quantile (0 to 1) of the ascending, non-empty @p values; interpolates linearly
 * between ranks as numpy does.
 */
inline double
QuantileOf(const std::vector<double>& values, double share)
{
    const double rank = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(rank);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return values[below] + (values[above] - values[below]) * (rank - static_cast<double>(below));
}

/** Quantiles 0.5, 0.95 and 0.99. */
struct Percentiles
{
    double p50{0};
    double p95{0};
    double p99{0};
};

/** Percentiles of @p values in any order; zeros if there are none. */
inline Percentiles
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

#endif // WEIR_COMPUTE_MODEL_EXECUTION_PERCENTILES_H

// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RESULTS_PERCENTILES_H
#define WEIR_SCENARIOS_RESULTS_PERCENTILES_H

#include <vector>

namespace weir
{

/**
 * The @p share quantile (0 to 1) of the ascending, non-empty @p values; interpolates linearly
 * between ranks as numpy does.
 */
double QuantileOf(const std::vector<double>& values, double share);

/** Quantiles 0.5, 0.95 and 0.99. */
struct Percentiles
{
    double p50{0};
    double p95{0};
    double p99{0};
};

/** Percentiles of @p values in any order; zeros if there are none. */
Percentiles PercentilesOf(std::vector<double> values);

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_PERCENTILES_H

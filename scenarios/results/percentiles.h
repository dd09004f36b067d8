// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RESULTS_PERCENTILES_H
#define WEIR_SCENARIOS_RESULTS_PERCENTILES_H

#include <vector>

namespace weir
{

/** The @p share quantile of ascending @p values, of which there is one, linear between ranks as
 * numpy's. */
double QuantileOf(const std::vector<double>& values, double share);

/** Quantiles of 0.5, 0.95 and 0.99. */
struct Percentiles
{
    double p50{0};
    double p95{0};
    double p99{0};
};

/** Of @p values, in any order; zeros of none. */
Percentiles PercentilesOf(std::vector<double> values);

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_PERCENTILES_H

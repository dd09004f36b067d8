// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RESULTS_PERCENTILES_H
#define WEIR_SCENARIOS_RESULTS_PERCENTILES_H

#include <vector>

namespace weir
{

/** Nearest-rank percentiles: the least value that so many per cent of all do not exceed. */
struct Percentiles
{
    double p50{0};
    double p95{0};
    double p99{0};
};

/** Of @p values, in any order; zeros of none. O(values). */
Percentiles PercentilesOf(std::vector<double> values);

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_PERCENTILES_H

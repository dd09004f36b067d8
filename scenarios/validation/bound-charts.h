// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_BOUND_CHARTS_H
#define WEIR_SCENARIOS_VALIDATION_BOUND_CHARTS_H

#include "scenarios/plot/chart.h"
#include "scenarios/validation/bound-agreement.h"

#include <string>
#include <vector>

namespace weir
{

/** One measured time and what was predicted, in seconds. */
struct TimePair
{
    double measured{0};
    double predicted{0};
};

/** Predicted against measured time, with the lines of equality and of 10 % to either side. */
Chart ParityChart(const std::string& title, const std::vector<TimePair>& pairs);

/** Which share of the cases has an error of at most so many per cent. */
Chart ErrorDistribution(const std::string& title, const std::vector<TimePair>& pairs);

/**
 * Pictures of bounds on fresh cases: the reliability diagram (nominal against observed coverage)
 * and the distribution of widths, of collectives and of steps; then, for the regimes of `stream`
 * with the widest bounds, the errors of collectives against their size with the bound as a band.
 */
std::vector<Chart> BoundCharts(const BoundAgreement& agreement);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_BOUND_CHARTS_H

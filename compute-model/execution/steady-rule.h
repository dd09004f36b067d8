// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_EXECUTION_STEADY_RULE_H
#define WEIR_COMPUTE_MODEL_EXECUTION_STEADY_RULE_H

#include "fabric/units.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir
{

/**
 * Student's t with @p freedom degrees of freedom that 95 % of draws stay within on both sides of
 * zero: 12.7 at 1, 4.30 at 2, and down to the normal distribution's 1.96. Right to 1e-6, relative.
 *
 * Below 30 degrees it is found by bisection of the distribution function, a finite series
 * (Abramowitz and Stegun, 26.7.3 and 26.7.4); from there on by the expansion about the normal
 * quantile (26.7.5).
 * @throws std::invalid_argument at no degrees of freedom.
 */
double StudentT95(std::size_t freedom);

/** Mean, spread and percentiles of some durations. */
struct TimeSpread
{
    double mean{0};      //!< seconds
    double deviation{0}; //!< standard deviation of the sample, seconds; 0 of fewer than two
    double median{0};    //!< seconds
    double p95{0};       //!< 95th percentile, linear between ranks as numpy's, seconds
};

TimeSpread SpreadOf(const std::vector<Time>& times);

/** When the mean step of a run is known well enough. */
struct SteadyRule
{
    static constexpr uint32_t MIN_STEPS = 3; //!< that a deviation is taken of

    double tolerance{0}; //!< of the mean, relative; 0: never known well enough

    bool IsOn() const
    {
        return tolerance > 0;
    }

    /**
     * Whether the mean of @p steps, of which there must be MIN_STEPS, lies within the tolerance
     * with 95 % confidence: t s / sqrt(n) <= tolerance * mean with s the sample's deviation and t
     * Student's at n - 1 degrees of freedom (steps independent and near normal). Durations that
     * are all alike do at once.
     */
    bool IsMet(const std::vector<Time>& steps) const;
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_EXECUTION_STEADY_RULE_H

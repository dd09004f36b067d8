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
 * Two-sided 95 % quantile of Student's t with @p freedom degrees of freedom: 12.7 at 1, 4.30 at 2,
 * and down to the normal distribution's 1.96. The relative error is below 1e-6.
 *
 * Below 30 degrees it is found by bisection of the distribution function, a finite series
 * (Abramowitz and Stegun, 26.7.3 and 26.7.4); from 30 on by the expansion about the normal quantile
 * (26.7.5).
 * @throws std::invalid_argument at zero degrees of freedom.
 */
double StudentT95(std::size_t freedom);

/** Mean, deviation and percentiles of durations. */
struct TimeSpread
{
    double mean{0};      //!< seconds
    double deviation{0}; //!< standard deviation of the sample, seconds; 0 for fewer than two
    double median{0};    //!< seconds
    double p95{0};       //!< 95th percentile, interpolated linearly as in numpy, seconds
};

TimeSpread SpreadOf(const std::vector<Time>& times);

/** Criterion for a sufficiently well known mean step time of a run. */
struct SteadyRule
{
    static constexpr uint32_t MIN_STEPS = 3; //!< minimum number of steps for a deviation

    double tolerance{0}; //!< relative to the mean; 0: the rule is never met

    bool IsOn() const
    {
        return tolerance > 0;
    }

    /**
     * Whether the mean of @p steps lies within the tolerance with 95 % confidence:
     * t s / sqrt(n) <= tolerance * mean, with s the sample's deviation and t Student's at n - 1
     * degrees of freedom (for independent and nearly normal steps). False for fewer than MIN_STEPS
     * steps. Equal durations meet the rule at once.
     */
    bool IsMet(const std::vector<Time>& steps) const;
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_EXECUTION_STEADY_RULE_H

// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_BOUND_CONFORMAL_H
#define WEIR_SCENARIOS_BOUND_CONFORMAL_H

#include <cstddef>
#include <vector>

/**
 * @file
 * Split-conformal prediction: intervals that contain a new score with a stated probability, for any
 * distribution of scores, when it is drawn like the calibration scores (Vovk, Gammerman and Shafer,
 * "Algorithmic Learning in a Random World", 2005).
 */
namespace weir
{

/** An interval of scores with its coverage. */
struct ConformalInterval
{
    double lower{0};       //!< minus infinity when there are too few scores
    double upper{0};       //!< plus infinity when there are too few scores
    std::size_t ranks{0};  //!< order statistics between the ends: coverage ranks / (n + 1)
    std::size_t inside{0}; //!< calibration scores in the closed interval; more than ranks with ties
};

/**
 * The interval from the order statistic floor((n + 1) a / 2) to ceil((n + 1) (1 - a / 2)) of @p
 * sorted scores, a = 1 - @p coverage. Where n < 2 / a - 1, too few for two tails, it is symmetric
 * about 0, with the magnitude of rank ceil((n + 1) (1 - a)) as half-width; infinite where n < 1 / a
 * - 1, too few even for that. It contains a new score with at least the probability @p coverage,
 * and at most 2 / (n + 1) more without ties.
 * @throws std::invalid_argument when @p coverage is not in (0, 1).
 */
ConformalInterval IntervalOf(const std::vector<double>& sorted, double coverage);

/** An interval of scores that come in parts, and its coverage in leave-one-part-out validation. */
struct NestedInterval
{
    double lower{0};
    double upper{0};
    double nestedCoverage{0}; //!< share of scores inside the interval of the other parts
};

/**
 * The interval of scores in @p parts whose errors are correlated (runs, size classes): IntervalOf
 * all scores, widened about their median by the smallest factor, in steps of 0.01, with which the
 * interval of the other parts contains the share @p coverage of all scores. A few parts say little
 * about the variation between parts: where a factor of 10 does not suffice, the interval is not
 * widened, and its nested coverage shows that.
 */
NestedInterval IntervalOfParts(const std::vector<std::vector<double>>& parts, double coverage);

/** A range of the number of new cases inside an interval. */
struct CoverageRange
{
    std::size_t min{0};
    std::size_t max{0};
};

/**
 * The central 99.9 % of the number of @p fresh cases that fall into an interval. Given the
 * calibration set of @p n cases, the coverage is Beta(ranks, n + 1 - ranks), so the count is
 * beta-binomial (Marques, arXiv 2303.02770). With ties the coverage may be larger, up to that of
 * all scores inside. O(fresh).
 */
CoverageRange ExpectedCount(const ConformalInterval& interval, std::size_t n, std::size_t fresh);

} // namespace weir

#endif // WEIR_SCENARIOS_BOUND_CONFORMAL_H

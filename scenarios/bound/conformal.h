// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_BOUND_CONFORMAL_H
#define WEIR_SCENARIOS_BOUND_CONFORMAL_H

#include <cstddef>
#include <vector>

/**
 * @file
 * Split-conformal prediction: intervals that hold a new score with a stated probability, whatever
 * the scores' distribution, when it is drawn like the calibration scores (Vovk, Gammerman and
 * Shafer, "Algorithmic Learning in a Random World", 2005).
 */
namespace weir
{

/** An interval of scores and what is known of its coverage. */
struct ConformalInterval
{
    double lower{0};       //!< minus infinity when there are too few scores
    double upper{0};       //!< plus infinity similarly
    std::size_t ranks{0};  //!< order statistics between its ends: coverage ranks / (n + 1)
    std::size_t inside{0}; //!< calibration scores in it, its ends too; more than ranks with ties
};

/**
 * Of @p sorted scores, from the order statistic floor((n + 1) a / 2) to the one
 * ceil((n + 1) (1 - a / 2)), a = 1 - @p coverage. Where n < 2 / a - 1, too few for two tails, as
 * far to both sides of 0 as the magnitude of rank ceil((n + 1) (1 - a)); infinite where n < 1 / a -
 * 1, too few for that one as well. A new score is in it with at least that probability, and with at
 * most 2 / (n + 1) more when there are no ties.
 * @throws std::invalid_argument when the coverage is not in (0, 1).
 */
ConformalInterval IntervalOf(const std::vector<double>& sorted, double coverage);

/** An interval of the scores of parts, and which part of their scores it held when left out. */
struct NestedInterval
{
    double lower{0};
    double upper{0};
    double nestedCoverage{0}; //!< of scores in the interval of the other parts
};

/**
 * Of scores in @p parts that err alike (runs, classes of sizes): IntervalOf of all of them, widened
 * about their median by the least factor, to a hundredth, with which the intervals of the other
 * parts hold the @p coverage of the scores of each. A few parts say little of how far apart parts
 * are; where ten times the width is not enough, it is not widened, and its nested coverage says so.
 */
NestedInterval IntervalOfParts(const std::vector<std::vector<double>>& parts, double coverage);

/** How many of some new cases an interval should hold. */
struct CoverageRange
{
    std::size_t least{0};
    std::size_t most{0};
};

/**
 * The central 99.9 % of the number of @p fresh cases that an interval holds: given the calibration
 * its coverage is Beta(ranks, n + 1 - ranks), so the count is beta-binomial (Marques, arXiv
 * 2303.02770). With ties the coverage may be larger, up to that of all scores inside.
 * O(fresh).
 */
CoverageRange ExpectedCount(const ConformalInterval& interval, std::size_t n, std::size_t fresh);

} // namespace weir

#endif // WEIR_SCENARIOS_BOUND_CONFORMAL_H

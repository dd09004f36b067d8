// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/bound/conformal.h"

#include "scenarios/bound/random-draws.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <stdexcept>

namespace weir
{
namespace
{

std::vector<double>
UpTo(std::size_t n)
{
    std::vector<double> scores;
    for (std::size_t i = 1; i <= n; i++)
    {
        scores.push_back(static_cast<double>(i));
    }
    return scores;
}

/** n = 99, 90 %: the order statistics floor(100 x 0.05) = 5 and ceil(100 x 0.95) = 95. */
TEST(Conformal, IntervalsEndAtTheFiniteSampleOrderStatistics)
{
    const ConformalInterval interval = IntervalOf(UpTo(99), 0.9);
    EXPECT_EQ(interval.lower, 5);
    EXPECT_EQ(interval.upper, 95);
    EXPECT_EQ(interval.ranks, 90U);
    EXPECT_EQ(interval.inside, 91U);
}

/**
 * One tail of 10 % needs n + 1 >= 10 scores; 8 are too few. Two tails of 5 % need n + 1 >= 20: 19
 * are enough. With fewer the magnitudes are ranked: of 9 scores, rank ceil(10 x 0.9) = 9.
 */
TEST(Conformal, TooFewScoresBoundNothing)
{
    EXPECT_TRUE(std::isinf(IntervalOf(UpTo(8), 0.9).lower));
    EXPECT_TRUE(std::isinf(IntervalOf(UpTo(8), 0.9).upper));
    const ConformalInterval symmetric = IntervalOf({-9, -2, -1, 0, 1, 2, 3, 4, 5}, 0.9);
    EXPECT_EQ(symmetric.lower, -9);
    EXPECT_EQ(symmetric.upper, 9);
    EXPECT_EQ(symmetric.ranks, 9U);
    EXPECT_EQ(symmetric.inside, 9U);
    EXPECT_EQ(IntervalOf(UpTo(19), 0.9).lower, 1);
    EXPECT_EQ(IntervalOf(UpTo(19), 0.9).upper, 19);
    EXPECT_THROW(IntervalOf(UpTo(19), 1), std::invalid_argument);
}

/**
 * Two parts of 39 scores that differ by a shift of 20: the interval of one part holds less than
 * half of the other. The least widening that holds 90 % of each holds at most one further score of
 * each; because the ends of the parts are 20 apart, the interval is wider by more than that.
 */
TEST(Conformal, IntervalsOfPartsAreWidenedUntilTheyHoldThePartsLeftOut)
{
    const std::vector<double> near = UpTo(39);
    std::vector<double> far = near;
    for (double& score : far)
    {
        score += 20;
    }
    const NestedInterval apart = IntervalOfParts({near, far}, 0.9);
    EXPECT_GE(apart.nestedCoverage, 0.9);
    EXPECT_LT(apart.nestedCoverage, 0.9 + 2.0 / 39);
    // If the parts are equal, the interval needs no widening.
    const NestedInterval alike = IntervalOfParts({near, near}, 0.9);
    std::vector<double> both = near;
    both.insert(both.end(), near.begin(), near.end());
    std::sort(both.begin(), both.end());
    EXPECT_EQ(alike.lower, IntervalOf(both, 0.9).lower);
    EXPECT_EQ(alike.upper, IntervalOf(both, 0.9).upper);
    EXPECT_GT(apart.upper - apart.lower, alike.upper - alike.lower + 20);
}

/**
 * Parts that consist of one value each cannot be held by any width: the reported coverage is zero.
 */
TEST(Conformal, IntervalsOfPartsThatNothingHoldsSayIt)
{
    const NestedInterval interval =
        IntervalOfParts({std::vector<double>(39, 1), std::vector<double>(39, 2)}, 0.9);
    EXPECT_EQ(interval.nestedCoverage, 0);
    EXPECT_EQ(interval.lower, 1);
    EXPECT_EQ(interval.upper, 2);
}

/**
 * With Beta(1, 1) the count of m fresh cases is uniform over 0 to m: for m = 2999 each count has
 * probability 1 / 3000, so one count lies in each tail of 0.0005.
 */
TEST(Conformal, CountsAreBetaBinomial)
{
    ConformalInterval interval;
    interval.ranks = 1;
    const CoverageRange range = ExpectedCount(interval, 1, 2999);
    EXPECT_EQ(range.min, 1U);
    EXPECT_EQ(range.max, 2998U);
}

/** With ties the interval may cover everything, more than requested. */
TEST(Conformal, TiesMayCoverMore)
{
    const std::vector<double> equal(99, 0.0);
    const ConformalInterval interval = IntervalOf(equal, 0.9);
    EXPECT_EQ(interval.inside, 99U);
    EXPECT_EQ(ExpectedCount(interval, 99, 50).max, 50U);
}

/**
 * Seeded samples of a skewed distribution: the observed count lies in the expected range except
 * with probability 1e-3; in 200 repetitions more than two failures have a probability of about
 * 1e-3.
 */
TEST(Conformal, CoverageHoldsForAnyDistribution)
{
    std::size_t failures = 0;
    for (uint64_t repetition = 0; repetition < 200; repetition++)
    {
        RandomDraws draws(7, repetition);
        const auto skewed = [&] { return std::exp(3 * draws.Unit()) - draws.Unit(); };
        std::vector<double> scores(150);
        std::generate(scores.begin(), scores.end(), skewed);
        std::sort(scores.begin(), scores.end());
        const ConformalInterval interval = IntervalOf(scores, 0.9);
        std::size_t inside = 0;
        for (int fresh = 0; fresh < 300; fresh++)
        {
            const double score = skewed();
            inside += score >= interval.lower && score <= interval.upper;
        }
        const CoverageRange range = ExpectedCount(interval, scores.size(), 300);
        failures += inside < range.min || inside > range.max;
    }
    EXPECT_LE(failures, 2U);
}

} // namespace
} // namespace weir

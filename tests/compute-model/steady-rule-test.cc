// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/steady-rule.h"

#include <boost/math/distributions/students_t.hpp>

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>
#include <vector>

namespace weir
{
namespace
{

TEST(StudentT, IsBoostsQuantileOnBothSidesOfTheChangeOfMethod)
{
    for (std::size_t freedom = 1; freedom <= 100; freedom++)
    {
        const boost::math::students_t distribution(static_cast<double>(freedom));
        const double oracle = boost::math::quantile(distribution, 0.975);
        EXPECT_NEAR(StudentT95(freedom) / oracle, 1, 1e-6) << freedom;
    }
    const boost::math::students_t many(1e6);
    EXPECT_NEAR(StudentT95(1'000'000), boost::math::quantile(many, 0.975), 1e-9);
    EXPECT_THROW(StudentT95(0), std::invalid_argument);
}

// Three steps of 1 - d, 1 and 1 + d have mean 1 and deviation d. Student's t at two degrees of
// freedom is 4.3027, so for d = 0.01 the half width is 4.3027 * 0.01 / sqrt(3) = 0.02484, more than
// twice the value with the normal distribution's 1.96.
TEST(SteadyRule, FewStepsMakeTheMeanLessCertain)
{
    const std::vector<Time> steps{Time::Seconds(0.99), Time::Seconds(1), Time::Seconds(1.01)};
    EXPECT_TRUE(SteadyRule{0.0249}.IsMet(steps));
    EXPECT_FALSE(SteadyRule{0.0248}.IsMet(steps));
    EXPECT_FALSE(SteadyRule{0.5}.IsMet({steps[0], steps[1]}));
}

// Meaning of 95 % confidence: in 95 % of many runs of five normal steps of mean 1 s, the true mean
// lies within the run's own half width. With 1.96 instead of t it would be 88 %.
TEST(SteadyRule, TheMeanLiesWithinTheToleranceInNineteenOfTwentyRuns)
{
    constexpr int RUNS = 20000;
    std::mt19937_64 random(1);
    std::normal_distribution<double> draw(1, 0.01);
    int within = 0;
    for (int run = 0; run < RUNS; run++)
    {
        std::vector<Time> steps;
        for (int i = 0; i < 5; i++)
        {
            steps.push_back(Time::Seconds(draw(random)));
        }
        const double error = std::abs(SpreadOf(steps).mean - 1);
        // The smallest tolerance that satisfies the rule is the half width over the mean.
        within += SteadyRule{error / SpreadOf(steps).mean}.IsMet(steps) ? 0 : 1;
    }
    EXPECT_NEAR(within / double{RUNS}, 0.95, 0.006); // four standard deviations
}

} // namespace
} // namespace weir

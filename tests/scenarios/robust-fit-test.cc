// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/machine/robust-fit.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace weir
{
namespace
{

using Vector = std::vector<double>;

/** y = a + b t at t = 0 ... n - 1 with unknowns a and b, and a third that has no effect. */
FitProblem
LineProblem(const Vector& observed)
{
    FitProblem problem;
    problem.observed = observed;
    problem.min = {-100, -100, -100};
    problem.max = {100, 100, 100};
    for (std::size_t i = 0; i < observed.size(); i++)
    {
        problem.blocks.push_back(i);
    }
    problem.predict = [n = observed.size()](const std::vector<Vector>& points) {
        std::vector<Vector> predictions;
        for (const Vector& x : points)
        {
            predictions.emplace_back();
            for (std::size_t t = 0; t < n; t++)
            {
                predictions.back().push_back(x[0] + x[1] * static_cast<double>(t));
            }
        }
        return predictions;
    };
    return problem;
}

/** A linear problem with noise far below the priors is solved in one step. */
TEST(RobustFit, FindsALine)
{
    const RobustFit fit = FitRobustly(LineProblem({2, 2.5, 3, 3.5, 4, 4.5}));
    EXPECT_NEAR(fit.unknowns[0].value, 2, 1e-3);
    EXPECT_NEAR(fit.unknowns[1].value, 0.5, 1e-3);
    EXPECT_TRUE(fit.unknowns[0].isDetermined && fit.unknowns[1].isDetermined);
}

/** An unknown without effect keeps its prior: mean 0, standard deviation 1. */
TEST(RobustFit, KeepsWhatNothingDependsOn)
{
    const RobustFit fit = FitRobustly(LineProblem({2, 2.5, 3, 3.5, 4, 4.5}));
    EXPECT_FALSE(fit.unknowns[2].isDetermined);
    EXPECT_EQ(fit.unknowns[2].value, 0);
    EXPECT_EQ(fit.unknowns[2].error, 1);
    EXPECT_EQ(fit.unknowns[2].alike, -1);
}

/**
 * Huber's loss bounds the influence of an observation: an outlier of 50 moves the line by the order
 * of the scale, 0.01 where most observations are exact. Least squares would move it by 50 / 11 at
 * the mean.
 */
TEST(RobustFit, AnOutlierMovesItLittle)
{
    Vector observed;
    for (int t = 0; t < 11; t++)
    {
        observed.push_back(2 + 0.5 * t);
    }
    observed[5] += 50;
    const RobustFit fit = FitRobustly(LineProblem(observed));
    EXPECT_NEAR(fit.unknowns[0].value, 2, 0.02);
    EXPECT_NEAR(fit.unknowns[1].value, 0.5, 0.005);
}

/**
 * Of two unknowns that occur only as their sum one is fitted and the other reported as equivalent.
 */
TEST(RobustFit, SaysWhatCannotBeToldApart)
{
    FitProblem problem = LineProblem({3, 3, 3, 3});
    problem.predict = [](const std::vector<Vector>& points) {
        std::vector<Vector> predictions;
        for (const Vector& x : points)
        {
            predictions.emplace_back(4, x[0] + x[1]);
        }
        return predictions;
    };
    const RobustFit fit = FitRobustly(problem);
    const bool isFirst = fit.unknowns[0].isDetermined;
    EXPECT_NE(isFirst, fit.unknowns[1].isDetermined);
    EXPECT_EQ(fit.unknowns[isFirst ? 1 : 0].alike, isFirst ? 0 : 1);
    EXPECT_NEAR(fit.unknowns[isFirst ? 0 : 1].value, 3, 0.01);
}

/**
 * Observations 1 of a model that depends on each unknown only above 1: the sum of max(x, 1) - 1.
 */
FitProblem
RampProblem(std::size_t unknowns)
{
    FitProblem problem = LineProblem({1, 1, 1, 1});
    problem.min.assign(unknowns, -100);
    problem.max.assign(unknowns, 100);
    problem.predict = [](const std::vector<Vector>& points) {
        std::vector<Vector> predictions;
        for (const Vector& x : points)
        {
            double sum = 0;
            for (const double each : x)
            {
                sum += std::max(each, 1.0) - 1;
            }
            predictions.emplace_back(4, sum);
        }
        return predictions;
    };
    return problem;
}

/** An unknown without effect at the start of the fit is found where it has an effect. */
TEST(RobustFit, FindsWhatHasAnEffectElsewhere)
{
    const RobustFit fit = FitRobustly(RampProblem(1));
    EXPECT_TRUE(fit.unknowns[0].isDetermined);
    EXPECT_NEAR(fit.unknowns[0].value, 2, 0.02);
    EXPECT_TRUE(fit.others.empty());
}

/** Of two unknowns that explain the data equally one is chosen and the other reported. */
TEST(RobustFit, TellsOtherFitsThatAreAsGood)
{
    const RobustFit fit = FitRobustly(RampProblem(2));
    ASSERT_EQ(fit.others.size(), 1U);
    const bool isFirst = fit.unknowns[0].isDetermined;
    EXPECT_NE(isFirst, fit.unknowns[1].isDetermined);
    EXPECT_NEAR(fit.others[0][isFirst ? 1 : 0], 2, 0.02);
    EXPECT_EQ(fit.others[0][isFirst ? 0 : 1], 0);
}

/** A solution beyond a bound is the bound. */
TEST(RobustFit, StaysWithinBounds)
{
    FitProblem problem = LineProblem({2, 2.5, 3, 3.5, 4, 4.5});
    problem.max[1] = 0.25;
    const RobustFit fit = FitRobustly(problem);
    EXPECT_EQ(fit.unknowns[1].value, 0.25);
}

/** A refit to a subset of the observations finds the line of that subset. */
TEST(RobustFit, RefitsToAPart)
{
    const FitProblem problem = LineProblem({2, 2.5, 3, 3.5, 5, 5.5, 6, 6.5});
    const RobustFit fit = FitRobustly(problem);
    const Vector first =
        RefitPart(problem, fit, {true, true, true, true, false, false, false, false});
    EXPECT_NEAR(first[0], 2, 0.02);
    EXPECT_NEAR(first[1], 0.5, 0.02);
}

/**
 * Errors correlated within a block count once: with ten equal errors in each of four blocks the
 * standard error of a mean is that of four observations, not forty.
 */
TEST(RobustFit, BlocksThatErrAlikeCountOnce)
{
    Vector observed;
    FitProblem problem = LineProblem({});
    for (int block = 0; block < 4; block++)
    {
        for (int i = 0; i < 10; i++)
        {
            observed.push_back(block % 2 == 0 ? 0.1 : -0.1);
            problem.blocks.push_back(block);
        }
    }
    problem.observed = observed;
    problem.predict = [](const std::vector<Vector>& points) {
        std::vector<Vector> predictions;
        for (const Vector& x : points)
        {
            predictions.emplace_back(40, x[0]);
        }
        return predictions;
    };
    const RobustFit fit = FitRobustly(problem);
    // sqrt(sum (10 x 0.1)^2 / 40^2 x 4 / 3) = 0.058, where sigma / sqrt(40) would be 0.023
    EXPECT_NEAR(fit.unknowns[0].error, 0.058, 0.01);
}

TEST(RobustFit, RefusesSizesThatDisagree)
{
    FitProblem problem = LineProblem({1, 2});
    problem.max.pop_back();
    EXPECT_THROW(FitRobustly(problem), std::invalid_argument);
    problem = LineProblem({1, 2});
    problem.blocks.pop_back();
    EXPECT_THROW(FitRobustly(problem), std::invalid_argument);
}

} // namespace
} // namespace weir

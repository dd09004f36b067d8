// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/rank-jitter.h"

#include "compute-model/execution/steady-rule.h"
#include "compute-model/execution/step-executor.h"

#include "graph-run.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

namespace weir
{
namespace
{

const Time KERNEL = Time::Milliseconds(1);
const Time EXCHANGE = Time::Microseconds(50);

/**
 * @p ranks ranks of one program: @p kernels consecutive kernels, then an all-reduce of all ranks.
 */
StepGraph
DataParallel(uint32_t ranks, uint32_t kernels = 1)
{
    StepGraph graph;
    graph.labels = {"op"};
    graph.programs.resize(1);
    StepOp compute;
    compute.duration = KERNEL;
    graph.programs[0].streams[static_cast<std::size_t>(StreamKind::Compute)].assign(kernels,
                                                                                    compute);
    StepOp reduce;
    reduce.kind = StepOpKind::Collective;
    reduce.category = TimeCategory::Data;
    reduce.bytes = Bytes(8);
    reduce.dependencyCount = 1;
    graph.programs[0].dependencies = {{StreamKind::Compute, kernels - 1}};
    graph.programs[0].streams[static_cast<std::size_t>(StreamKind::DataComm)] = {reduce};
    graph.groups.emplace_back();
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        graph.rankProgram.push_back(0);
        graph.rankGroups.push_back({0});
        graph.groups[0].push_back(Rank(rank));
    }
    return graph;
}

struct RunSpec
{
    JitterSpec jitter;
    std::vector<double> computeScale;
    uint32_t steps{1};
    SteadyRule steady;
};

std::vector<Time>
StepsOf(const StepGraph& graph, const RunSpec& run)
{
    FixedTimeEngine engine([](const CollectiveCall&) { return EXCHANGE; });
    StepExecutorSpec spec = ExecutorSpec(graph, engine);
    spec.groupKinds.assign(graph.groups.size(), 0);
    spec.steps = run.steps;
    spec.computeScale = run.computeScale;
    spec.jitter = run.jitter;
    spec.steady = run.steady;
    StepExecutor executor(spec);
    Finish(executor, engine);
    return executor.StepTimes();
}

/** E[max of n factors] = integral of 1 - F(x)^n over x > 0, with F lognormal of mean 1. */
double
ExpectedMaximum(uint32_t n, double variation)
{
    const double sigma = std::sqrt(std::log1p(variation * variation));
    const double step = variation / 1000;
    double sum = 0;
    for (double x = step / 2; x < 1 + 12 * variation; x += step)
    {
        const double z = std::log(x) / sigma + sigma / 2;
        sum += step * (1 - std::pow(0.5 * std::erfc(-z / std::sqrt(2.0)), n));
    }
    return sum;
}

// The factors have mean 1 and the requested standard deviation v: over 40000 draws the standard
// error of both is about v / sqrt(n) = v / 200, of which the tolerance is four.
TEST(RankJitter, FactorsHaveMeanOneAndTheVariation)
{
    const RankJitter jitter({0.1, JitterScope::Step, 7});
    constexpr uint32_t DRAWS = 40000;
    double sum = 0;
    double squares = 0;
    for (uint32_t rank = 0; rank < DRAWS; rank++)
    {
        const double factor = jitter.Factor(rank, 3, 0);
        sum += factor;
        squares += (factor - 1) * (factor - 1);
    }
    EXPECT_NEAR(sum / DRAWS, 1, 4 * 0.1 / 200);
    EXPECT_NEAR(std::sqrt(squares / DRAWS), 0.1, 4 * 0.1 / 200);
}

// Draws that a scope does not distinguish share one factor; others have different factors.
TEST(RankJitter, ScopeSaysWhatIsDrawnAnew)
{
    const RankJitter run({0.1, JitterScope::Run, 1});
    const RankJitter step({0.1, JitterScope::Step, 1});
    const RankJitter operation({0.1, JitterScope::Operation, 1});
    EXPECT_EQ(run.Factor(5, 0, 0), run.Factor(5, 1, 2));
    EXPECT_NE(run.Factor(5, 0, 0), run.Factor(6, 0, 0));
    EXPECT_EQ(step.Factor(5, 1, 0), step.Factor(5, 1, 2));
    EXPECT_NE(step.Factor(5, 0, 0), step.Factor(5, 1, 0));
    EXPECT_NE(operation.Factor(5, 1, 0), operation.Factor(5, 1, 2));
}

TEST(RankJitter, RefusesWhatIsNoVariation)
{
    EXPECT_THROW(RankJitter({-0.1, JitterScope::Run, 1}), std::invalid_argument);
    EXPECT_THROW(RankJitter({std::numeric_limits<double>::quiet_NaN(), JitterScope::Run, 1}),
                 std::invalid_argument);
    EXPECT_THROW(RankJitter({std::numeric_limits<double>::infinity(), JitterScope::Run, 1}),
                 std::invalid_argument);
}

// With zero variation steps take the same picoseconds as without jitter.
TEST(JitteredSteps, AreTheSameBitsWithoutVariation)
{
    const StepGraph graph = DataParallel(8, 3);
    RunSpec run;
    run.steps = 3;
    const auto plain = StepsOf(graph, run);
    run.jitter = {0, JitterScope::Operation, 99};
    EXPECT_EQ(StepsOf(graph, run), plain);
    EXPECT_EQ(plain, std::vector<Time>(3, KERNEL * 3 + EXCHANGE));
}

TEST(JitteredSteps, RepeatWithTheirSeedOnly)
{
    const StepGraph graph = DataParallel(8);
    RunSpec run;
    run.steps = 4;
    run.jitter = {0.05, JitterScope::Step, 1};
    const auto first = StepsOf(graph, run);
    EXPECT_EQ(StepsOf(graph, run), first);
    run.jitter.seed = 2;
    EXPECT_NE(StepsOf(graph, run), first);
}

// A step waits for its slowest rank, so the mean step of equal kernels is the expected maximum over
// the ranks; over 400 steps its standard error is s / 20, and the tolerance four of it. Folding 64
// ranks into one would give a mean factor of 1 instead of 1.12.
TEST(JitteredSteps, LastAsLongAsTheExpectedMaximumOverRanks)
{
    const StepGraph graph = DataParallel(64);
    RunSpec run;
    run.steps = 400;
    run.jitter = {0.05, JitterScope::Step, 11};
    const TimeSpread spread = SpreadOf(StepsOf(graph, run));
    const double expected = KERNEL.ToSeconds() * ExpectedMaximum(64, 0.05) + EXCHANGE.ToSeconds();
    EXPECT_NEAR(spread.mean, expected, 4 * spread.deviation / 20);
    EXPECT_GT(expected, 1.1 * KERNEL.ToSeconds());
}

// The mean of k independent factors of variation v has variation v / sqrt(k): jitter of single
// kernels averages out over a step. Over 1000 steps the relative standard error of a deviation is 1
// / sqrt(2000).
TEST(JitteredSteps, OfSingleOperationsAverageOut)
{
    const StepGraph graph = DataParallel(1, 25);
    RunSpec run;
    run.steps = 1000;
    run.jitter = {0.1, JitterScope::Operation, 3};
    const TimeSpread spread = SpreadOf(StepsOf(graph, run));
    const double expected = 25 * KERNEL.ToSeconds() * 0.1 / 5;
    EXPECT_NEAR(spread.deviation, expected, 4 * expected / std::sqrt(2000));
}

// One GPU that is slow by f delays all ranks: f times the kernels, then the all-reduce.
TEST(JitteredSteps, WaitForTheSlowestRank)
{
    const StepGraph graph = DataParallel(16, 2);
    RunSpec run;
    run.computeScale.assign(16, 1);
    run.computeScale[5] = 1.5;
    EXPECT_EQ(StepsOf(graph, run).at(0), KERNEL * 3 + EXCHANGE);
}

// Equal steps are steady at the third; with jitter the run ends when t s / sqrt(n) is within the
// tolerance.
TEST(SteadyRule, EndsARunWhenTheMeanIsKnown)
{
    const StepGraph graph = DataParallel(8);
    RunSpec run;
    run.steps = 1000;
    run.steady.tolerance = 0.002;
    EXPECT_EQ(StepsOf(graph, run).size(), 3U);
    run.jitter = {0.02, JitterScope::Step, 1};
    auto steps = StepsOf(graph, run);
    EXPECT_GT(steps.size(), 3U);
    EXPECT_LT(steps.size(), 1000U);
    const auto halfWidth = [](const std::vector<Time>& times) {
        const TimeSpread spread = SpreadOf(times);
        return StudentT95(times.size() - 1) * spread.deviation / std::sqrt(times.size()) /
               spread.mean;
    };
    EXPECT_LE(halfWidth(steps), 0.002);
    steps.pop_back();
    EXPECT_GT(halfWidth(steps), 0.002);
}

} // namespace
} // namespace weir

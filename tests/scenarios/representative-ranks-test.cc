// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/results/recorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace weir
{
namespace
{

/** Ranks that run @p programs programs in turn, of which @p busiest has the longest kernels. */
StepGraph
GraphOf(uint32_t ranks, uint32_t programs, uint32_t stages, uint32_t busiest)
{
    StepGraph graph;
    graph.programs.resize(programs);
    for (uint32_t program = 0; program < programs; program++)
    {
        StepOp op;
        op.duration = Time::Microseconds(program == busiest ? 2 : 1);
        graph.programs[program].streams[static_cast<std::size_t>(StreamKind::Compute)] = {op};
        graph.programStage.push_back(program * stages / programs);
    }
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        graph.rankProgram.push_back(rank % programs);
    }
    return graph;
}

std::vector<uint32_t>
Shown(const StepGraph& graph)
{
    std::vector<uint32_t> shown;
    for (const Rank rank : RepresentativeRanks(graph))
    {
        shown.push_back(rank.Index());
    }
    return shown;
}

// Replicas of a stage run one program: the first rank of each stage represents it, for any number
// of stages.
TEST(RepresentativeRanks, OneOfEachStage)
{
    EXPECT_EQ(Shown(GraphOf(6, 2, 2, 1)), (std::vector<uint32_t>{0, 1}));
    EXPECT_EQ(Shown(GraphOf(80, 40, 40, 7)).size(), 40U);
}

// Ranks with different embedding tables have different programs. A bounded number of them is shown,
// always including the busiest, which the others wait for.
TEST(RepresentativeRanks, OneOfEachProgramUpToABoundAndTheBusiest)
{
    EXPECT_EQ(Shown(GraphOf(8, 4, 1, 2)), (std::vector<uint32_t>{0, 1, 2, 3}));
    for (const uint32_t busiest : {0U, 5U, 37U})
    {
        const std::vector<uint32_t> shown = Shown(GraphOf(80, 40, 1, busiest));
        EXPECT_EQ(shown.size(), MAX_REPRESENTATIVES);
        EXPECT_EQ(shown.front(), 0U);
        EXPECT_EQ(std::count(shown.begin(), shown.end(), busiest), 1);
        EXPECT_TRUE(std::is_sorted(shown.begin(), shown.end()));
    }
}

std::vector<uint32_t>
Recorded(const StepGraph& graph, const RankDifference& difference, const OutputSpec& output = {})
{
    std::vector<uint32_t> recorded;
    for (const Rank rank : RecordedRanks(graph, difference, output))
    {
        recorded.push_back(rank.Index());
    }
    return recorded;
}

// One stage of 8 ranks with kernels of 1 us. With factors 1, 1.3, 1.1, 1.2, 1.6, 1.5, 1.4, 1.7 the
// last rank is the slowest, and the lower median of 1 1.1 1.2 1.3 | 1.4 1.5 1.6 1.7 is that of rank
// 1. With equal factors the first rank represents all.
TEST(RecordedRanks, TheSlowestAndTheMedianWhereRanksDiffer)
{
    const StepGraph graph = GraphOf(8, 1, 1, 1);
    EXPECT_EQ(Recorded(graph, {{1, 1.3, 1.1, 1.2, 1.6, 1.5, 1.4, 1.7}}),
              (std::vector<uint32_t>{0, 1, 7}));
    EXPECT_EQ(Recorded(graph, {std::vector<double>(8, 1.5)}), (std::vector<uint32_t>{0}));
}

// Even ranks are in stage 0, odd ranks in stage 1. One slow GPU of stage 1 is the slowest of its
// stage, although stage 0 takes longer; the others of the stage are equal, and the first is their
// median. The ranks of stage 0 are equal.
TEST(RecordedRanks, ASlowGpuIsFoundInItsStage)
{
    std::vector<double> scales(8, 1);
    scales[5] = 1.1;
    EXPECT_EQ(Recorded(GraphOf(8, 2, 2, 0), {scales}), (std::vector<uint32_t>{0, 1, 5}));
}

// With jitter, the slowest and the median rank follow from the factors that the executor draws, per
// run, per step or for the step's only operation, which is numbered by the compute stream.
TEST(RecordedRanks, FollowTheJitterOfTheStep)
{
    constexpr auto STREAM = static_cast<uint32_t>(StreamKind::Compute);
    for (const JitterScope scope : {JitterScope::Run, JitterScope::Step, JitterScope::Operation})
    {
        const JitterSpec spec{0.1, scope, 3};
        const RankJitter jitter(spec);
        std::vector<std::pair<double, uint32_t>> factors;
        for (uint32_t rank = 0; rank < 9; rank++)
        {
            factors.emplace_back(jitter.Factor(rank, 2, STREAM), rank);
        }
        std::sort(factors.begin(), factors.end());
        const auto recorded = Recorded(GraphOf(9, 1, 1, 1), {{}, spec, 2});
        for (const uint32_t rank : {0U, factors[4].second, factors[8].second})
        {
            EXPECT_EQ(std::count(recorded.begin(), recorded.end(), rank), 1) << ToString(scope);
        }
        EXPECT_LE(recorded.size(), 3U);
    }
}

TEST(RecordedRanks, ThoseThatTheOutputChooses)
{
    const StepGraph graph = GraphOf(8, 1, 1, 1);
    OutputSpec output;
    output.ranks = {5, 3, 5, 12}; // 12 is of another job
    EXPECT_EQ(Recorded(graph, {}, output), (std::vector<uint32_t>{0, 3, 5}));
    output.allRanks = true;
    EXPECT_EQ(Recorded(graph, {}, output).size(), 8U);
}

// The counts of ranks that recorded ranks represent sum to all ranks if these are equal: of 8 ranks
// with 3 recorded the first represents 1 + 5. If ranks differ, each represents itself.
TEST(RecordedRanks, StandForAllRanksOnceOrForThemselves)
{
    const StepGraph graph = GraphOf(8, 1, 1, 1);
    const std::vector<Rank> recorded{Rank(0), Rank(3), Rank(5)};
    EXPECT_EQ(RepresentedRankCounts(graph, recorded, true), (std::vector<uint32_t>{6, 1, 1}));
    EXPECT_EQ(RepresentedRankCounts(graph, recorded, false), (std::vector<uint32_t>{1, 1, 1}));
}

} // namespace
} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/results/recorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace weir
{
namespace
{

/** Ranks that take turns at so many programs, of which @p busiest has the longest kernels. */
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

// Replicas of a stage run one program: the first rank of each stage stands for all of it, however
// many stages there are.
TEST(RepresentativeRanks, OneOfEachStage)
{
    EXPECT_EQ(Shown(GraphOf(6, 2, 2, 1)), (std::vector<uint32_t>{0, 1}));
    EXPECT_EQ(Shown(GraphOf(80, 40, 40, 7)).size(), 40U);
}

// Ranks that were dealt tables of their own have programs of their own, of which few are shown, and
// always that which the others wait for.
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

} // namespace
} // namespace weir

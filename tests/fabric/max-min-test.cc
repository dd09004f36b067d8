// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/sharing/local-max-min.h"
#include "fabric/sharing/max-min.h"
#include "fabric/sharing/sharing-solver.h"
#include "random-sharing.h"
#include "random-stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace weir
{
namespace
{

using maxmin::LocalMaxMin;

TEST(MaxMin, EqualsProgressiveFillingOnRandomSystemsAtEveryChange)
{
    for (uint64_t seed = 1; seed <= 1500; seed++)
    {
        ASSERT_NO_FATAL_FAILURE(PlayRandomSystem<MaxMin>(seed));
    }
}

TEST(MaxMin, EqualsProgressiveFillingWhereEveryChangeRipplesEverywhere)
{
    for (uint64_t seed = 1; seed <= 30; seed++)
    {
        ASSERT_NO_FATAL_FAILURE(PlayDenseSystem<MaxMin>(seed, 3 + uint32_t(seed % 6), 60));
    }
}

TEST(WalkingMaxMin, EqualsProgressiveFillingOnRandomSystemsAtEveryChange)
{
    for (uint64_t seed = 1; seed <= 1500; seed++)
    {
        ASSERT_NO_FATAL_FAILURE(PlayRandomSystem<WalkingMaxMin>(seed));
    }
}

TEST(WalkingMaxMin, EqualsProgressiveFillingWhereEveryChangeRipplesEverywhere)
{
    for (uint64_t seed = 1; seed <= 60; seed++)
    {
        ASSERT_NO_FATAL_FAILURE(PlayDenseSystem<WalkingMaxMin>(seed, 3 + uint32_t(seed % 9), 60));
    }
}

// All-to-all over cores with spare capacity; the solver keeps loads only from the second solve on.
// A link that is not reported as touched has an unchanged load.
TEST(WalkingMaxMin, TellsEveryChangeOfALoadThatIsKept)
{
    constexpr uint32_t RANKS = 8;
    for (uint64_t seed = 1; seed <= 20; seed++)
    {
        RandomStream random(seed);
        std::vector<double> capacities(2 * RANKS, 100);
        capacities.resize(2 * RANKS + 4, 100 * RANKS);
        WalkingMaxMin solver(capacities);
        std::vector<uint32_t> variables;
        for (uint32_t s = 0; s < RANKS; s++)
        {
            for (uint32_t d = 0; d < RANKS; d++)
            {
                const uint32_t core = 2 * RANKS + (s + d) % 4;
                const std::vector<PathLink> path{{LinkId(s)}, {LinkId(RANKS + d)}, {LinkId(core)}};
                variables.push_back(solver.Add(path, INFINITE));
                solver.SetWeight(variables.back(), random.PowerOfTen(-0.3, 0.3));
            }
        }
        solver.Solve();
        solver.KeepLoads(true);
        for (int step = 0; step < 50; step++)
        {
            std::vector<double> before;
            for (uint32_t link = 0; link < capacities.size(); link++)
            {
                before.push_back(solver.Load(link));
            }
            solver.SetWeight(variables[random.Below(variables.size())],
                             random.PowerOfTen(-0.3, 0.3));
            solver.Solve();
            const std::vector<uint32_t>& touched = solver.TouchedLinks();
            for (uint32_t link = 0; link < capacities.size(); link++)
            {
                if (std::find(touched.begin(), touched.end(), link) == touched.end())
                {
                    ASSERT_NEAR(solver.Load(link), before[link], 1e-9 * capacities[link])
                        << "seed " << seed << " step " << step << " link " << link;
                }
            }
        }
    }
}

TEST(LocalMaxMin, EqualsProgressiveFillingOnRandomSystemsAtEveryChange)
{
    for (uint64_t seed = 1; seed <= 1500; seed++)
    {
        ASSERT_NO_FATAL_FAILURE(PlayRandomSystem<LocalMaxMin>(seed));
    }
}

TEST(LocalMaxMin, EqualsProgressiveFillingWhereEveryChangeRipplesEverywhere)
{
    for (uint64_t seed = 1; seed <= 30; seed++)
    {
        ASSERT_NO_FATAL_FAILURE(PlayDenseSystem<LocalMaxMin>(seed, 3 + uint32_t(seed % 6), 60));
    }
}

// A flow that shares only unsaturated links with others does not change their rates.
TEST(LocalMaxMin, AChangeGoesNoFurtherThanFullLinks)
{
    Pair<LocalMaxMin> pair({10, 10, 100});
    const uint32_t a = pair.Add({{LinkId(0)}, {LinkId(2)}}, INFINITE);
    const uint32_t b = pair.Add({{LinkId(1)}, {LinkId(2)}}, INFINITE);
    pair.SetWeight(a, 1);
    pair.ExpectEqual("one");
    pair.SetWeight(b, 1);
    pair.ExpectEqual("both");
    pair.SetWeight(b, 2);
    pair.ExpectEqual("more");
    EXPECT_EQ(pair.Solver().MovedVariables(), std::vector<uint32_t>{b});
    EXPECT_DOUBLE_EQ(pair.Solver().Level(a), 10);
    EXPECT_DOUBLE_EQ(pair.Solver().Level(b), 5);
}

// 60 x 60 flows of different weights: each change reaches thousands, so the local solver delegates
// to the group solver, which gives the same answer under the same indices.
TEST(SharingSolver, HandsOverWhereEveryChangeRipplesEverywhere)
{
    constexpr uint32_t RANKS = 60;
    RandomStream random(7);
    Pair<SharingSolver> pair(std::vector<double>(2 * RANKS, 100));
    std::vector<uint32_t> variables;
    for (uint32_t s = 0; s < RANKS; s++)
    {
        for (uint32_t d = 0; d < RANKS; d++)
        {
            variables.push_back(pair.Add({{LinkId(s)}, {LinkId(RANKS + d)}}, INFINITE));
            pair.SetWeight(variables.back(), random.PowerOfTen(-0.3, 0.3));
        }
    }
    int changes = 0;
    for (pair.Solver().Solve(); pair.Solver().Bottleneck(variables[0]) == SharingSolver::NONE;
         pair.Solver().Solve())
    {
        ASSERT_LT(changes++, 10000);
        pair.SetWeight(variables[random.Below(variables.size())], random.PowerOfTen(-0.3, 0.3));
    }
    EXPECT_EQ(pair.Solver().MovedVariables().size(), variables.size());
    ASSERT_NO_FATAL_FAILURE(pair.ExpectEqual("delegated"));
    pair.SetWeight(variables[0], 0);
    ASSERT_NO_FATAL_FAILURE(pair.ExpectEqual("gone on"));
    EXPECT_LT(pair.Solver().MovedVariables().size(), variables.size());
}

// A ring over 512 links, each with another flow that comes and goes: a change is propagated around
// the whole ring, but each link holds only one or two flows. Grouping them would save nothing, so
// the local solver keeps the problem.
TEST(SharingSolver, KeepsLongPathsThatMeetFew)
{
    constexpr uint32_t LINKS = 512;
    RandomStream random(11);
    Pair<SharingSolver> pair(std::vector<double>(LINKS, 100));
    std::vector<PathLink> around;
    std::vector<uint32_t> locals;
    for (uint32_t link = 0; link < LINKS; link++)
    {
        around.push_back({LinkId(link)});
        locals.push_back(pair.Add({{LinkId(link)}}, INFINITE));
    }
    const uint32_t ring = pair.Add(around, INFINITE);
    pair.SetWeight(ring, 1);
    for (int change = 0; change < 3000; change++)
    {
        pair.SetWeight(locals[random.Below(LINKS)], change % 2 == 0 ? 1 : 0);
        pair.Solver().Solve();
    }
    EXPECT_FALSE(pair.Solver().HasGroups());
    ASSERT_NO_FATAL_FAILURE(pair.ExpectEqual("around"));
}

TEST(MaxMin, AnUncontendedVariableGetsTheLeastCapacityOverMultiplicity)
{
    Pair<> pair({100, 90, 80});
    const uint32_t v = pair.Add({{LinkId(0), 4}, {LinkId(1), 1}, {LinkId(2), 3}}, INFINITE);
    pair.SetWeight(v, 1);
    pair.ExpectEqual("uncontended");
    EXPECT_TRUE(pair.Solver().IsUncontended(v));
    EXPECT_DOUBLE_EQ(pair.Solver().Level(v), 25);
    // When idle, it stays attached to its links until another variable needs one of them.
    pair.SetWeight(v, 0);
    pair.ExpectEqual("idle");
    EXPECT_TRUE(pair.Solver().IsAttached(v));
    const uint32_t other = pair.Add({{LinkId(1), 1}}, INFINITE);
    pair.SetWeight(other, 1);
    pair.ExpectEqual("taken over");
    EXPECT_FALSE(pair.Solver().IsAttached(v));
    EXPECT_DOUBLE_EQ(pair.Solver().Level(other), 90);
}

TEST(MaxMin, ALinkFarFromFullHearsOfNoRiseUntilItMatters)
{
    // Four variables share link 4 of 100. Each crosses a link of its own, of capacity 1000 except
    // for the last, whose 60 limit its variable only when fewer than two variables share link 4.
    Pair<> pair({1000, 1000, 1000, 60, 100});
    uint32_t variables[4];
    for (uint32_t i = 0; i < 4; i++)
    {
        variables[i] = pair.Add({{LinkId(i)}, {LinkId(4)}}, INFINITE);
        pair.SetWeight(variables[i], 1);
    }
    pair.ExpectEqual("all");
    EXPECT_TRUE(pair.Solver().IsSlack(3));
    for (uint32_t i = 0; i < 3; i++)
    {
        pair.SetWeight(variables[i], 0);
        pair.ExpectEqual("without " + std::to_string(i));
        const auto& touched = pair.Solver().TouchedLinks();
        for (uint32_t other = i + 1; other < 3; other++)
        {
            EXPECT_EQ(std::count(touched.begin(), touched.end(), other), 0) << i << other;
        }
    }
    EXPECT_DOUBLE_EQ(pair.Solver().Level(variables[3]), 60);
    EXPECT_EQ(pair.Solver().Bottleneck(variables[3]), 3U);
    EXPECT_DOUBLE_EQ(pair.Solver().Load(4), 60);
}

TEST(MaxMin, ASolveTouchesOnlyWhatAChangeCanReach)
{
    // Two variables on each of two links; a change on the first leaves the second untouched.
    Pair<> pair({100, 100});
    uint32_t variables[4];
    for (uint32_t i = 0; i < 4; i++)
    {
        variables[i] = pair.Add({{LinkId(i / 2)}}, INFINITE);
        pair.SetWeight(variables[i], 1);
    }
    pair.ExpectEqual("all");
    EXPECT_EQ(pair.Solver().TouchedLinks().size(), 2U);
    pair.SetWeight(variables[0], 3);
    pair.ExpectEqual("one");
    EXPECT_EQ(pair.Solver().TouchedLinks(), std::vector<uint32_t>{0});
    // Changes that cancel out touch nothing.
    pair.SetWeight(variables[0], 0);
    pair.SetWeight(variables[0], 3);
    pair.ExpectEqual("none");
    EXPECT_TRUE(pair.Solver().TouchedLinks().empty());
}

} // namespace
} // namespace weir

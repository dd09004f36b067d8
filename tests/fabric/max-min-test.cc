// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/max-min.h"
#include "fabric/progressive-filling.h"
#include "random-stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace weir
{
namespace
{

constexpr double INFINITE = std::numeric_limits<double>::infinity();

/** A solver beside the plain statement of what it holds. */
class Pair
{
  public:
    explicit Pair(std::vector<double> capacities)
        : m_capacities(capacities),
          m_solver(capacities)
    {
    }

    uint32_t Add(const std::vector<PathLink>& path, double cap)
    {
        const uint32_t v = m_solver.Add({path.data(), path.data() + path.size()}, cap);
        m_flows.resize(std::max<std::size_t>(m_flows.size(), v + 1));
        m_flows[v] = {{}, 0, cap};
        for (const auto& l : path)
        {
            m_flows[v].links.emplace_back(l.link.Index(), l.multiplicity);
        }
        return v;
    }

    void SetWeight(uint32_t v, double weight)
    {
        m_solver.SetWeight(v, weight);
        m_flows[v].weight = weight;
    }

    void SetCapacity(uint32_t link, double capacity)
    {
        m_solver.SetCapacity(link, capacity);
        m_capacities[link] = capacity;
    }

    /** Solves both ways and holds every level against the oracle. */
    void ExpectEqual(const std::string& where)
    {
        m_solver.Solve();
        std::vector<FillingFlow> active;
        std::vector<uint32_t> ids;
        for (uint32_t v = 0; v < m_flows.size(); v++)
        {
            if (m_flows[v].weight > 0)
            {
                active.push_back(m_flows[v]);
                active.back().cap *= m_flows[v].weight; // of level -> of rate
                ids.push_back(v);
            }
        }
        const auto rates = ProgressiveFilling(m_capacities, active);
        for (std::size_t i = 0; i < ids.size(); i++)
        {
            const double expected = rates[i] / active[i].weight;
            const double found = m_solver.Level(ids[i]);
            ASSERT_EQ(found == INFINITE, expected == INFINITE) << where << ": variable " << ids[i];
            ASSERT_TRUE(found == expected || std::abs(found - expected) <= 1e-9 * expected)
                << where << ": variable " << ids[i] << " has " << found << ", oracle " << expected;
        }
        ExpectLoads(where);
    }

    MaxMin& Solver()
    {
        return m_solver;
    }

  private:
    /** The loads the solver keeps are those of its levels, and none is over capacity. */
    void ExpectLoads(const std::string& where)
    {
        for (uint32_t link = 0; link < m_capacities.size(); link++)
        {
            double load = 0;
            for (uint32_t v = 0; v < m_flows.size(); v++)
            {
                for (const auto& [l, times] : m_flows[v].links)
                {
                    load += l == link && m_flows[v].weight > 0
                                ? times * m_flows[v].weight * m_solver.Level(v)
                                : 0;
                }
            }
            ASSERT_LE(load, m_capacities[link] * (1 + 1e-9)) << where << ": link " << link;
            if (m_solver.AloneOn(link) == MaxMin::NONE && m_capacities[link] != INFINITE)
            {
                ASSERT_NEAR(m_solver.SharedLoad(link), load, 1e-9 * m_capacities[link])
                    << where << ": link " << link;
            }
        }
    }

    std::vector<double> m_capacities;
    std::vector<FillingFlow> m_flows;
    MaxMin m_solver;
};

std::vector<PathLink>
RandomPath(RandomStream& random, std::size_t links)
{
    std::vector<PathLink> path;
    for (std::size_t l = 0; l < links; l++)
    {
        if (random.Below(links) < 3)
        {
            path.push_back({LinkId(l), random.OneIn(5) ? 1 + uint32_t(random.Below(4)) : 1});
        }
    }
    return path;
}

double
RandomCapacity(RandomStream& random)
{
    return random.OneIn(12)   ? 0
           : random.OneIn(12) ? INFINITE
           : random.OneIn(2)  ? 100.0
                              : random.PowerOfTen(0, 9);
}

double
RandomWeight(RandomStream& random)
{
    return random.OneIn(3) ? 0 : random.OneIn(2) ? 1 : random.PowerOfTen(-1, 2);
}

/** One system: many variables come, go, change weight; links change capacity, fail and return. */
void
PlayRandomSystem(uint64_t seed)
{
    RandomStream random(seed);
    std::vector<double> capacities(1 + random.Below(16));
    for (auto& c : capacities)
    {
        c = RandomCapacity(random);
    }
    Pair pair(capacities);
    std::vector<uint32_t> variables(1 + random.Below(40));
    for (auto& v : variables)
    {
        v = pair.Add(RandomPath(random, capacities.size()),
                     random.OneIn(3) ? random.PowerOfTen(0, 4) : INFINITE);
        pair.SetWeight(v, RandomWeight(random));
    }
    for (int step = 0; step < 30; step++)
    {
        ASSERT_NO_FATAL_FAILURE(
            pair.ExpectEqual("seed " + std::to_string(seed) + " step " + std::to_string(step)));
        for (uint64_t changes = 1 + random.Below(4); changes > 0; changes--)
        {
            if (random.OneIn(4))
            {
                pair.SetCapacity(uint32_t(random.Below(capacities.size())), RandomCapacity(random));
                continue;
            }
            auto& v = variables[random.Below(variables.size())];
            pair.SetWeight(v, RandomWeight(random));
        }
    }
}

TEST(MaxMin, EqualsProgressiveFillingOnRandomSystemsAtEveryChange)
{
    for (uint64_t seed = 1; seed <= 1500; seed++)
    {
        ASSERT_NO_FATAL_FAILURE(PlayRandomSystem(seed));
    }
}

/**
 * All to all over a switch whose core may be too small: every link shares a variable with every
 * other, so a change anywhere ripples everywhere, and with equal weights everything ties.
 */
void
PlayDenseSystem(uint64_t seed, uint32_t ranks, int steps)
{
    RandomStream random(seed);
    const bool ties = seed % 2 == 0;
    std::vector<double> capacities(2 * ranks, 100);
    capacities.resize(2 * ranks + 4, 25.0 * ranks / 2);
    Pair pair(capacities);
    std::vector<uint32_t> variables;
    for (uint32_t s = 0; s < ranks; s++)
    {
        for (uint32_t d = 0; d < ranks; d++)
        {
            const uint32_t core = 2 * ranks + (s + d) % 4;
            variables.push_back(pair.Add({{LinkId(s)}, {LinkId(ranks + d)}, {LinkId(core)}},
                                         random.OneIn(10) ? 20.0 : INFINITE));
            pair.SetWeight(variables.back(), ties ? 1 : random.PowerOfTen(-0.3, 0.3));
        }
    }
    for (int step = 0; step < steps; step++)
    {
        ASSERT_NO_FATAL_FAILURE(pair.ExpectEqual("dense seed " + std::to_string(seed) + " step " +
                                                 std::to_string(step)));
        for (uint64_t changes = 1 + random.Below(3); changes > 0; changes--)
        {
            const double weight = ties ? 1 : random.PowerOfTen(-0.3, 0.3);
            pair.SetWeight(variables[random.Below(variables.size())], random.OneIn(2) ? 0 : weight);
        }
        if (random.OneIn(10))
        {
            pair.SetCapacity(uint32_t(random.Below(capacities.size())),
                             random.OneIn(3) ? 0
                             : ties          ? 100
                                             : random.PowerOfTen(1, 3));
        }
    }
}

TEST(MaxMin, EqualsProgressiveFillingWhereEveryChangeRipplesEverywhere)
{
    for (uint64_t seed = 1; seed <= 30; seed++)
    {
        ASSERT_NO_FATAL_FAILURE(PlayDenseSystem(seed, 3 + uint32_t(seed % 6), 60));
    }
}

TEST(MaxMin, AVariableAloneGetsTheLeastCapacityOverMultiplicity)
{
    Pair pair({100, 90, 80});
    const uint32_t v = pair.Add({{LinkId(0), 4}, {LinkId(1), 1}, {LinkId(2), 3}}, INFINITE);
    pair.SetWeight(v, 1);
    pair.ExpectEqual("alone");
    EXPECT_TRUE(pair.Solver().IsAlone(v));
    EXPECT_DOUBLE_EQ(pair.Solver().Level(v), 25);
    // Idle it stays on its links until another variable wants one of them.
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
    // Four variables share link 4 of 100; each crosses a link of its own, of 1000 but for the last,
    // whose 60 hold it only when fewer than two share.
    Pair pair({1000, 1000, 1000, 60, 100});
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
    EXPECT_DOUBLE_EQ(pair.Solver().SharedLoad(4), 60);
}

TEST(MaxMin, ASolveTouchesOnlyWhatAChangeCanReach)
{
    // Two variables on each of two links; a change on the first leaves the second untouched.
    Pair pair({100, 100});
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
    // What cancels out touches nothing.
    pair.SetWeight(variables[0], 0);
    pair.SetWeight(variables[0], 3);
    pair.ExpectEqual("none");
    EXPECT_TRUE(pair.Solver().TouchedLinks().empty());
}

} // namespace
} // namespace weir

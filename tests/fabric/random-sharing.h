// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_TESTS_FABRIC_RANDOM_SHARING_H
#define WEIR_TESTS_FABRIC_RANDOM_SHARING_H

#include "fabric/routing/path-table.h"
#include "fabric/sharing/max-min.h"
#include "progressive-filling.h"
#include "random-stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace weir
{

using maxmin::INFINITE;
using maxmin::MaxMin;

/** A solver next to a plain description of its system, for comparison with the oracle. */
template <typename Sharing = MaxMin>
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
        const uint32_t v = m_solver.Add(path, cap);
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

    /** Solves both and compares every level with the oracle. */
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
                active.back().cap *= m_flows[v].weight; // level to rate
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

    Sharing& Solver()
    {
        return m_solver;
    }

  private:
    /** The loads that the solver keeps follow from its levels, and none exceeds a capacity. */
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
            if (m_solver.UncontendedOn(link) == MaxMin::NONE && m_capacities[link] != INFINITE)
            {
                ASSERT_NEAR(m_solver.Load(link), load, 1e-9 * m_capacities[link])
                    << where << ": link " << link;
            }
        }
    }

    std::vector<double> m_capacities;
    std::vector<FillingFlow> m_flows;
    Sharing m_solver;
};

inline std::vector<PathLink>
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

inline double
RandomCapacity(RandomStream& random)
{
    return random.OneIn(12)   ? 0
           : random.OneIn(12) ? INFINITE
           : random.OneIn(2)  ? 100.0
                              : random.PowerOfTen(0, 9);
}

inline double
RandomWeight(RandomStream& random)
{
    return random.OneIn(3) ? 0 : random.OneIn(2) ? 1 : random.PowerOfTen(-1, 2);
}

/**
 * One random system: variables are added, removed and reweighted; links change capacity, fail and
 * recover.
 */
template <typename Sharing>
void
PlayRandomSystem(uint64_t seed)
{
    RandomStream random(seed);
    std::vector<double> capacities(1 + random.Below(16));
    for (auto& c : capacities)
    {
        c = RandomCapacity(random);
    }
    Pair<Sharing> pair(capacities);
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

/**
 * All-to-all over a switch whose core may be too small: every link shares a variable with every
 * other one, so a change propagates everywhere; with equal weights all levels tie.
 */
template <typename Sharing>
void
PlayDenseSystem(uint64_t seed, uint32_t ranks, int steps)
{
    RandomStream random(seed);
    const bool ties = seed % 2 == 0;
    const bool caps = seed % 3 == 0;
    std::vector<double> capacities(2 * ranks, 100);
    capacities.resize(2 * ranks + 4, 25.0 * ranks / 2);
    Pair<Sharing> pair(capacities);
    std::vector<uint32_t> variables;
    for (uint32_t s = 0; s < ranks; s++)
    {
        for (uint32_t d = 0; d < ranks; d++)
        {
            const uint32_t core = 2 * ranks + (s + d) % 4;
            variables.push_back(pair.Add({{LinkId(s)}, {LinkId(ranks + d)}, {LinkId(core)}},
                                         caps && random.OneIn(10) ? 20.0 : INFINITE));
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

/** MaxMin in its mode for changes that touch many links, however few a change touches. */
class WalkingMaxMin : public MaxMin
{
  public:
    explicit WalkingMaxMin(const std::vector<double>& capacities)
        : MaxMin(capacities)
    {
        SetMinLinksOfWalk(1);
    }
};

} // namespace weir

#endif // WEIR_TESTS_FABRIC_RANDOM_SHARING_H

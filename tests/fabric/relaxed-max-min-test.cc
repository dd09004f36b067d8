// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/sharing/relaxed-max-min.h"

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
using maxmin::RelaxedMaxMin;

/** The relaxed solver with a tolerance so small that its levels are exact. */
class TightMaxMin : public RelaxedMaxMin
{
  public:
    explicit TightMaxMin(const std::vector<double>& capacities)
        : RelaxedMaxMin(LocalMaxMin(capacities), 1e-12)
    {
    }
};

TEST(RelaxedMaxMin, WithASmallToleranceEqualsProgressiveFillingOnRandomSystems)
{
    for (uint64_t seed = 1; seed <= 1500; seed++)
    {
        ASSERT_NO_FATAL_FAILURE(PlayRandomSystem<TightMaxMin>(seed));
    }
}

TEST(RelaxedMaxMin, WithASmallToleranceEqualsProgressiveFillingWhereChangesRipple)
{
    for (uint64_t seed = 1; seed <= 60; seed++)
    {
        ASSERT_NO_FATAL_FAILURE(PlayDenseSystem<TightMaxMin>(seed, 3 + uint32_t(seed % 9), 60));
    }
}

/** A random system whose variables come and go, checked against the guarantee of its tolerance. */
class ToleranceCheck
{
  public:
    ToleranceCheck(uint64_t seed, double tolerance)
        : m_random(seed),
          m_tolerance(tolerance),
          m_capacities(CapacitiesOf(m_random)),
          m_solver(LocalMaxMin(m_capacities), tolerance)
    {
        m_variables.resize(20 + m_random.Below(200));
        for (auto& v : m_variables)
        {
            for (std::size_t link = 0; link < m_capacities.size(); link++)
            {
                if (m_random.Below(m_capacities.size()) < 3)
                {
                    v.path.push_back({LinkId(link), m_random.OneIn(5) ? 2U : 1U});
                }
            }
            v.cap = m_random.OneIn(3) ? m_random.PowerOfTen(-1, 2) : INFINITE;
            v.index = m_solver.Add(v.path, v.cap);
            Change(v);
        }
    }

    void Play(int steps)
    {
        for (int step = 0; step < steps; step++)
        {
            m_solver.Solve();
            ASSERT_NO_FATAL_FAILURE(ExpectWithinTolerance(step));
            for (uint64_t changes = 1 + m_random.Below(3); changes > 0; changes--)
            {
                Change(m_variables[m_random.Below(m_variables.size())]);
            }
            if (m_random.OneIn(20))
            {
                const std::size_t link = m_random.Below(m_capacities.size());
                m_capacities[link] = m_random.OneIn(4) ? 0 : m_random.PowerOfTen(1, 2.5);
                m_solver.SetCapacity(static_cast<uint32_t>(link), m_capacities[link]);
            }
        }
    }

  private:
    struct Entry
    {
        std::vector<PathLink> path;
        double cap{0};
        double weight{0};
        uint32_t index{0};
    };

    static std::vector<double> CapacitiesOf(RandomStream& random)
    {
        std::vector<double> capacities(4 + random.Below(30));
        for (auto& c : capacities)
        {
            c = random.OneIn(2) ? 100.0 : random.PowerOfTen(1, 2.5);
        }
        return capacities;
    }

    void Change(Entry& entry)
    {
        entry.weight = m_random.OneIn(3)   ? 0
                       : m_random.OneIn(2) ? 1
                                           : m_random.PowerOfTen(-0.5, 0.5);
        m_solver.SetWeight(entry.index, entry.weight);
    }

    /** The levels are max-min fair for capacities that deviate by at most the tolerance. */
    void ExpectWithinTolerance(int step)
    {
        const double rounding = 1e-9;
        std::vector<double> loads(m_capacities.size(), 0);
        std::vector<double> highest(m_capacities.size(), 0);
        for (const Entry& entry : m_variables)
        {
            for (const PathLink& l : entry.path)
            {
                const double level = entry.weight > 0 ? m_solver.Level(entry.index) : 0;
                loads[l.link.Index()] +=
                    entry.weight > 0 ? l.multiplicity * entry.weight * level : 0;
                highest[l.link.Index()] = std::max(highest[l.link.Index()], level);
            }
        }
        for (std::size_t link = 0; link < loads.size(); link++)
        {
            ASSERT_LE(loads[link], m_capacities[link] * (1 + m_tolerance + rounding) + rounding)
                << "step " << step << ", link " << link;
        }
        for (const Entry& entry : m_variables)
        {
            const double level = m_solver.Level(entry.index);
            bool isHeld = entry.weight == 0 || level == entry.cap;
            for (const PathLink& l : entry.path)
            {
                const std::size_t link = l.link.Index();
                isHeld =
                    isHeld || (level >= highest[link] * (1 - rounding) &&
                               loads[link] >= m_capacities[link] * (1 - m_tolerance) - rounding);
            }
            ASSERT_TRUE(isHeld) << "step " << step << ", variable " << entry.index << " at "
                                << level;
        }
    }

    RandomStream m_random;
    double m_tolerance;
    std::vector<double> m_capacities;
    std::vector<Entry> m_variables;
    RelaxedMaxMin m_solver;
};

TEST(RelaxedMaxMin, IsFairForCapacitiesThatAreOffByNoMoreThanTheTolerance)
{
    for (uint64_t seed = 1; seed <= 120; seed++)
    {
        for (const double tolerance : {1e-3, 1e-2, 0.1})
        {
            SCOPED_TRACE("seed " + std::to_string(seed) + " tolerance " +
                         std::to_string(tolerance));
            ASSERT_NO_FATAL_FAILURE(ToleranceCheck(seed, tolerance).Play(60));
        }
    }
}

// A hundred variables share a link. Each removal raises the fair level by about 1 %: after two
// removals (100 / 98) it is within the tolerance of 2.5 % and the level stays; after the third (100
// / 97) it is updated.
TEST(RelaxedMaxMin, AChangeWithinTheToleranceMovesNobody)
{
    RelaxedMaxMin solver(LocalMaxMin({100}), 0.025);
    std::vector<uint32_t> variables;
    for (int i = 0; i < 100; i++)
    {
        variables.push_back(solver.Add(std::vector<PathLink>{{LinkId(0)}}, INFINITE));
        solver.SetWeight(variables.back(), 1);
    }
    solver.Solve();
    EXPECT_DOUBLE_EQ(solver.LinkLevel(0), 1);
    for (int gone = 0; gone < 3; gone++)
    {
        EXPECT_DOUBLE_EQ(solver.LinkLevel(0), 1) << gone;
        solver.SetWeight(variables[gone], 0);
        solver.Solve();
    }
    EXPECT_DOUBLE_EQ(solver.LinkLevel(0), 100.0 / 97);
}

} // namespace
} // namespace weir

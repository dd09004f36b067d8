// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/passive-engine.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace weir
{
namespace
{

/** Has events at given times, and records when it was advanced. */
class Clockwork : public PassiveEngine
{
  public:
    explicit Clockwork(std::vector<int64_t> due, std::vector<int64_t>* log = nullptr)
        : m_due(std::move(due)),
          m_log(log)
    {
    }

    Time NextEventTime() override
    {
        return m_due.empty() ? Time::Infinite() : Time::Picoseconds(m_due.front());
    }

    void AdvanceTo(Time now) override
    {
        while (!m_due.empty() && m_due.front() <= now.ToPicoseconds())
        {
            m_log->push_back(m_due.front());
            m_due.erase(m_due.begin());
        }
    }

  private:
    std::vector<int64_t> m_due;
    std::vector<int64_t>* m_log;
};

TEST(EngineSet, RunsAllEventsOfAllEnginesInOrder)
{
    std::vector<int64_t> log;
    Clockwork a({1, 4, 9}, &log);
    Clockwork b({2, 4, 6}, &log);
    EngineSet set;
    set.Add(a);
    set.Add(b);
    EXPECT_EQ(set.RunToEnd(), Time::Picoseconds(9));
    EXPECT_EQ(log, (std::vector<int64_t>{1, 2, 4, 4, 6, 9}));
    EXPECT_EQ(set.Instants(), 5U); // the two events at 4 are one instant
}

TEST(EngineSet, RunUntilStopsAfterTheEventsOfThatInstant)
{
    std::vector<int64_t> log;
    Clockwork a({1, 5, 7}, &log);
    EngineSet set;
    set.Add(a);
    set.RunUntil(Time::Picoseconds(5));
    EXPECT_EQ(log, (std::vector<int64_t>{1, 5}));
    EXPECT_EQ(set.NextEventTime(), Time::Picoseconds(7));
    set.RunUntil(Time::Picoseconds(6)); // nothing is due
    EXPECT_EQ(log.size(), 2U);
}

TEST(EngineSet, NothingToDoIsTheEndAtOnce)
{
    EngineSet set;
    EXPECT_TRUE(set.NextEventTime().IsInfinite());
    EXPECT_EQ(set.RunToEnd(), Time());
}

TEST(EngineSet, AnEngineWhoseNextEventIsInThePastIsRefused)
{
    std::vector<int64_t> log;
    Clockwork late({3}, &log);
    EngineSet set;
    set.RunUntil(Time::Picoseconds(5));
    set.Add(late);
    EXPECT_THROW(set.RunToEnd(), std::logic_error);
}

} // namespace
} // namespace weir

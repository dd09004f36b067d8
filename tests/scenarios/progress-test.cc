// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/simulation/progress.h"

#include <gtest/gtest.h>
#include <sstream>

namespace weir
{
namespace
{

/** A clock that the test sets. */
struct ProgressLineTest : testing::Test
{
    std::ostringstream out;
    ProgressLine::Clock::time_point now{};

    ProgressLine Line(bool isTerminal)
    {
        return {out, isTerminal, "run", [this] { return now; }};
    }
};

TEST_F(ProgressLineTest, SaysNothingInAPipe)
{
    {
        ProgressLine line = Line(false);
        now += std::chrono::seconds(10);
        line.Update(RunProgress{Time::Seconds(1), 0});
    }
    EXPECT_EQ(out.str(), "");
}

// Nothing is shown in the first second, then five updates per second, each in place of the previous
// one. At the end the line is erased.
TEST_F(ProgressLineTest, SaysNothingInTheFirstSecondThenWipesItself)
{
    const std::string wipe = "\r\033[K";
    {
        ProgressLine line = Line(true);
        now += std::chrono::milliseconds(999);
        line.Update(RunProgress{Time::Seconds(1), 0});
        EXPECT_EQ(out.str(), "");
        now += std::chrono::milliseconds(1);
        line.Update(RunProgress{Time::Seconds(2), 0});
        EXPECT_EQ(out.str(), wipe + "run: simulated 2.000 s in 1.000 s (2.000 s a second)");
        now += std::chrono::milliseconds(199);
        line.Update(RunProgress{Time::Seconds(3), 0});
        EXPECT_EQ(out.str(), wipe + "run: simulated 2.000 s in 1.000 s (2.000 s a second)");
        now += std::chrono::milliseconds(1);
        out.str("");
        line.Update(1, 4, Time::Seconds(4));
        EXPECT_EQ(out.str(),
                  wipe + "run: 25 %, 1 of 4 cases, simulated 4.000 s in 1.200 s, 3.600 s left");
        out.str("");
    }
    EXPECT_EQ(out.str(), wipe);
}

// A tenth of the work took 3 s, so the other nine tenths take 27 s.
TEST_F(ProgressLineTest, SaysWhatIsLeftByWhatIsDone)
{
    ProgressLine line = Line(true);
    now += std::chrono::seconds(3);
    line.Update(RunProgress{Time::Seconds(6), 0.1});
    EXPECT_EQ(out.str(),
              "\r\033[Krun: 10 %, simulated 6.000 s in 3.000 s (2.000 s a second), 27.00 s left");
}

} // namespace
} // namespace weir

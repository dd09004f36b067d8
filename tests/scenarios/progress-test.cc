// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/running/progress.h"

#include <gtest/gtest.h>
#include <sstream>
#include <thread>

namespace weir
{
namespace
{

TEST(ProgressLine, SaysNothingInAPipe)
{
    std::ostringstream out;
    {
        ProgressLine line(out, false, "run");
        std::this_thread::sleep_for(std::chrono::milliseconds(1050));
        line.Update(Time::Seconds(1));
    }
    EXPECT_EQ(out.str(), "");
}

TEST(ProgressLine, SaysNothingInTheFirstSecondThenWipesItself)
{
    std::ostringstream out;
    {
        ProgressLine line(out, true, "run");
        line.Update(Time::Seconds(1));
        EXPECT_EQ(out.str(), "");
        std::this_thread::sleep_for(std::chrono::milliseconds(1050));
        line.Update(Time::Seconds(2));
        EXPECT_NE(out.str().find("run: simulated 2.000 s"), std::string::npos) << out.str();
    }
    const std::string wiped = "\r\033[K";
    EXPECT_EQ(out.str().substr(out.str().size() - wiped.size()), wiped);
}

} // namespace
} // namespace weir

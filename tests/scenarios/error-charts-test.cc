// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/bound-charts.h"

#include <gtest/gtest.h>

namespace weir
{
namespace
{

/** The share of cases with an error of at most x rises where a case's error is, and only there:
 * with errors of 25 and 50 % by half at each, with one case from nothing to all. */
TEST(ErrorCharts, DistributionsRiseInSteps)
{
    const ChartSeries two = ErrorDistribution("two", {{1, 1.5}, {1, 0.75}}).series[0];
    EXPECT_EQ(two.x, (std::vector<double>{0, 25, 25, 50, 50}));
    EXPECT_EQ(two.y, (std::vector<double>{0, 0, 50, 50, 100}));
    const ChartSeries one = ErrorDistribution("one", {{4, 5}}).series[0];
    EXPECT_EQ(one.x, (std::vector<double>{0, 25, 25}));
    EXPECT_EQ(one.y, (std::vector<double>{0, 0, 100}));
}

} // namespace
} // namespace weir

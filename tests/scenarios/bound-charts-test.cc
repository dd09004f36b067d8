// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/bound-charts.h"

#include <gtest/gtest.h>

namespace weir
{
namespace
{

/** Collectives of one regime whose times of flow are 0 to 9 % above the estimate, and bounds from
 * the estimate to a little less than a tenth of the coverage above it: 8, 9, 9.5 and 9.9 %. */
BoundAgreement
TenCases(const std::string& regime)
{
    BoundAgreement agreement;
    for (int i = 0; i < 10; i++)
    {
        BoundPoint point;
        point.bytes = 8 << i;
        point.ratio = 1 + 0.01 * i;
        for (const double coverage : CalibratedCoverages())
        {
            point.bounds.push_back(
                {1, 1 + 0.1 * coverage - 1e-6, coverage, regime, "inside", "flow"});
        }
        agreement.points.push_back(point);
    }
    return agreement;
}

/** Of 0 to 9 %, 8 are below 8 %, 9 below 9 %, 10 below 9.5 % and 9.9 %. */
TEST(BoundCharts, ReliabilityCountsWhatBoundsHold)
{
    const Chart chart = BoundCharts(TenCases("stream/ring"))[0];
    const auto& collectives = chart.series[1];
    EXPECT_EQ(collectives.x, (std::vector<double>{80, 90, 95, 99}));
    EXPECT_EQ(collectives.y, (std::vector<double>{80, 90, 100, 100}));
    EXPECT_TRUE(chart.series[2].x.empty()); // no steps
}

/** Ten bounds of one width make a distribution that ends at all of them. */
TEST(BoundCharts, WidthsAreADistribution)
{
    const Chart chart = BoundCharts(TenCases("stream/ring"))[1];
    EXPECT_NEAR(chart.series[0].x.front(), 9, 1e-3);
    EXPECT_EQ(chart.series[0].y.back(), 100);
}

/** A regime of stream has its diagram: the ends of its bound, and a point a case. */
TEST(BoundCharts, RegimesHaveTheirErrorsBySize)
{
    const auto charts = BoundCharts(TenCases("stream/ring"));
    ASSERT_EQ(charts.size(), 3U);
    EXPECT_EQ(charts[2].title, "stream/ring");
    ASSERT_EQ(charts[2].series.size(), 3U);
    EXPECT_NEAR(charts[2].series[0].y.front(), 0, 1e-9);
    EXPECT_NEAR(charts[2].series[1].y.front(), 9, 1e-3);
    EXPECT_EQ(charts[2].series[2].x.size(), 10U);
    EXPECT_EQ(BoundCharts(TenCases("analytical/ring")).size(), 2U);
}

} // namespace
} // namespace weir

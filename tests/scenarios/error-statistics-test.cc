// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/error-statistics.h"

#include <gtest/gtest.h>

namespace weir
{
namespace
{

/**
 * Errors -0.4, 0.1, 0.2, 0.3: of the magnitudes 0.1 to 0.4 the median is halfway between 0.2 and
 * 0.3, and the 90th percentile at position 0.9 * 3 = 2.7.
 */
TEST(ErrorStatistics, InterpolatesBetweenNeighbors)
{
    const ErrorStatistics statistics = Summarize({0.2, -0.4, 0.1, 0.3});
    EXPECT_EQ(statistics.count, 4U);
    EXPECT_NEAR(statistics.meanAbsolute, 0.25, 1e-12);
    EXPECT_NEAR(statistics.median, 0.25, 1e-12);
    EXPECT_NEAR(statistics.p90, 0.37, 1e-12);
    EXPECT_NEAR(statistics.bias, 0.05, 1e-12);
}

TEST(ErrorStatistics, OfNothingAreZero)
{
    EXPECT_EQ(Summarize({}).count, 0U);
    EXPECT_EQ(Summarize({}).p90, 0);
}

/** Classes of the first column come first, whatever their order of appearance. */
TEST(ErrorStatistics, GroupsByColumn)
{
    const auto classes = SummarizeByClass({{{"tensor 1", "data 2"}, 0.1},
                                           {{"tensor 2", "data 2"}, -0.3},
                                           {{"tensor 1", "data 4"}, 0.3}});
    ASSERT_EQ(classes.size(), 4U);
    EXPECT_EQ(classes[0].name, "tensor 1");
    EXPECT_NEAR(classes[0].errors.meanAbsolute, 0.2, 1e-12);
    EXPECT_EQ(classes[1].name, "tensor 2");
    EXPECT_EQ(classes[2].name, "data 2");
    EXPECT_NEAR(classes[2].errors.bias, -0.1, 1e-12);
    EXPECT_EQ(classes[3].name, "data 4");
}

} // namespace
} // namespace weir

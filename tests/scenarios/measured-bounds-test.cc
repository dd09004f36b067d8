// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/bound/measured-bounds.h"

#include <gtest/gtest.h>

namespace weir
{
namespace
{

/** Size classes have the boundaries of validation. */
TEST(MeasuredBounds, ClassesFollowSizeAndPlacement)
{
    EXPECT_EQ(MeasuredClassOf(Bytes::MiB(1), true), "collectives, one node, 1 to 64 MiB");
    EXPECT_EQ(MeasuredClassOf(Bytes(8), false), "collectives, several nodes, below 1 MiB");
    EXPECT_EQ(MeasuredClassOf(Bytes::MiB(64), false), "collectives, several nodes, from 64 MiB");
}

/**
 * An interval covers at least its nominal share of held-out sources. Intervals are nested in their
 * coverage, and all contain the unbiased ratio 1.
 */
TEST(MeasuredBounds, ShippedIntervalsCoverAndAreNested)
{
    const MeasuredBounds bounds{Catalog()};
    for (const char* name : {MEASURED_STEPS,
                             "collectives, one node, 1 to 64 MiB",
                             "collectives, one node, from 64 MiB",
                             "collectives, several nodes, below 1 MiB",
                             "collectives, several nodes, 1 to 64 MiB",
                             "collectives, several nodes, from 64 MiB"})
    {
        for (const double coverage : {0.8, 0.9, 0.95})
        {
            const auto bound = bounds.Find(name, coverage);
            ASSERT_TRUE(bound.has_value()) << name;
            EXPECT_GE(bound->nestedCoverage, coverage) << name;
        }
        const auto narrow = bounds.Find(name, 0.8);
        const auto wide = bounds.Find(name, 0.95);
        ASSERT_TRUE(narrow.has_value() && wide.has_value()) << name;
        EXPECT_LE(wide->lower, narrow->lower);
        EXPECT_LE(narrow->lower, 1);
        EXPECT_GE(narrow->upper, 1);
        EXPECT_GE(wide->upper, narrow->upper);
    }
}

/** A few tens of sources do not determine 99 % coverage. */
TEST(MeasuredBounds, UnknownClassesAndCoveragesHaveNone)
{
    const MeasuredBounds bounds{Catalog()};
    EXPECT_FALSE(bounds.Find(MEASURED_STEPS, 0.99).has_value());
    EXPECT_FALSE(bounds.Find("kernels", 0.9).has_value());
}

} // namespace
} // namespace weir

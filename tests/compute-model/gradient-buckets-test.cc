// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/gradient-buckets.h"

#include <gtest/gtest.h>

#include <vector>

namespace weir
{
namespace
{

// Pieces of 3, 4, 10, 1 and 2 bytes with buckets of 5: closed at 3 + 4 and at 10, rest 1 + 2.
TEST(GradientBuckets, CloseOnceFullAndEndWithTheRest)
{
    const std::vector<GradientPiece> pieces = {
        {1, Bytes(3)}, {2, Bytes(4)}, {5, Bytes(10)}, {6, Bytes(1)}, {8, Bytes(2)}};
    const std::vector<GradientBucket> buckets = PackGradients(pieces, Bytes(5));
    ASSERT_EQ(buckets.size(), 3U);
    EXPECT_EQ(buckets[0].bytes, Bytes(7));
    EXPECT_EQ(buckets[0].position, 2U);
    EXPECT_EQ(buckets[1].bytes, Bytes(10));
    EXPECT_EQ(buckets[1].position, 5U);
    EXPECT_EQ(buckets[2].bytes, Bytes(3));
    EXPECT_EQ(buckets[2].position, 8U);
}

TEST(GradientBuckets, NothingGivesNothing)
{
    EXPECT_TRUE(PackGradients({}, Bytes(5)).empty());
}

} // namespace
} // namespace weir

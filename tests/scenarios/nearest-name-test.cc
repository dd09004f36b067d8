// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/yaml/names.h"

#include <gtest/gtest.h>

namespace weir
{
namespace
{

TEST(NearestName, DistanceCountsInsertionsDeletionsReplacementsAndSwaps)
{
    EXPECT_EQ(EditDistance("nodes", "nodes"), 0u);
    EXPECT_EQ(EditDistance("node", "nodes"), 1u);   // insert s
    EXPECT_EQ(EditDistance("nodess", "nodes"), 1u); // delete s
    EXPECT_EQ(EditDistance("modes", "nodes"), 1u);  // substitute m
    EXPECT_EQ(EditDistance("ndoes", "nodes"), 1u);  // transpose do
    EXPECT_EQ(EditDistance("NODES", "nodes"), 0u);  // case is ignored
    EXPECT_EQ(EditDistance("", "nodes"), 5u);
    EXPECT_EQ(EditDistance("kitten", "sitting"), 3u); // the textbook example
}

TEST(NearestName, DistanceIsSymmetric)
{
    for (const char* a : {"tensor", "pipeline", "data", "", "microBatch"})
    {
        for (const char* b : {"sensor", "pipe", "dta", "globalBatch"})
        {
            EXPECT_EQ(EditDistance(a, b), EditDistance(b, a)) << a << " " << b;
        }
    }
}

TEST(NearestName, FindsTheNearestAndTheFirstOfEquals)
{
    EXPECT_EQ(NearestName("tensr", {"data", "tensor", "pipeline"}), "tensor");
    EXPECT_EQ(NearestName("microbatch", {"globalBatch", "microBatch"}), "microBatch");
    EXPECT_EQ(NearestName("nodex", {"nodea", "nodeb"}), "nodea");
}

TEST(NearestName, FindsWhatBeginsAlike)
{
    EXPECT_EQ(NearestName("recompute", {"schedule", "recomputation"}), "recomputation");
    EXPECT_EQ(NearestName("seq", {"source", "sequence"}), "sequence");
}

TEST(NearestName, SuggestsNothingFarAway)
{
    EXPECT_EQ(NearestName("color", {"tensor", "data"}), "");
    EXPECT_EQ(NearestName("x", {"y"}), "");
    EXPECT_EQ(DidYouMean("color", {"data"}), "");
    EXPECT_EQ(DidYouMean("dat", {"data"}), " (did you mean 'data'?)");
}

TEST(JoinNames, SeparatesNamesByCommasOrOtherText)
{
    EXPECT_EQ(JoinNames({}), "");
    EXPECT_EQ(JoinNames({"a"}), "a");
    EXPECT_EQ(JoinNames({"a", "b", "c"}), "a, b, c");
    EXPECT_EQ(JoinNames({"a", "b"}, "; "), "a; b");
}

} // namespace
} // namespace weir

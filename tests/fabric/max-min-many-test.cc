// SPDX-License-Identifier: GPL-2.0-only
#include "random-sharing.h"

#include <gtest/gtest.h>

namespace weir
{
namespace
{

// The comparisons of max-min-test.cc for many more seeds: rounding errors and ties that occur once
// in ten thousand systems.

constexpr uint64_t FIRST = 1501;
constexpr uint64_t LAST = 31500;

TEST(ManySystems, MaxMinEqualsProgressiveFillingAtEveryChange)
{
    for (uint64_t seed = FIRST; seed <= LAST; seed++)
    {
        ASSERT_NO_FATAL_FAILURE(PlayRandomSystem<MaxMin>(seed));
    }
}

TEST(ManySystems, WalkingMaxMinEqualsProgressiveFillingAtEveryChange)
{
    for (uint64_t seed = FIRST; seed <= LAST; seed++)
    {
        ASSERT_NO_FATAL_FAILURE(PlayRandomSystem<WalkingMaxMin>(seed));
    }
}

TEST(ManySystems, MaxMinEqualsProgressiveFillingWhereEveryChangeRipplesEverywhere)
{
    for (uint64_t seed = 101; seed <= 1100; seed++)
    {
        ASSERT_NO_FATAL_FAILURE(PlayDenseSystem<MaxMin>(seed, 3 + uint32_t(seed % 9), 60));
        ASSERT_NO_FATAL_FAILURE(PlayDenseSystem<WalkingMaxMin>(seed, 3 + uint32_t(seed % 9), 60));
    }
}

// Enough endpoints for the solver to switch to walking by itself.
TEST(ManySystems, MaxMinEqualsProgressiveFillingAmongManyEndPoints)
{
    for (uint64_t seed = 1; seed <= 6; seed++)
    {
        ASSERT_NO_FATAL_FAILURE(PlayDenseSystem<MaxMin>(seed, 40, 150));
    }
}

} // namespace
} // namespace weir

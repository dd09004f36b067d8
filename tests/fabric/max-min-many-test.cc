// SPDX-License-Identifier: GPL-2.0-only
#include "random-sharing.h"

#include <gtest/gtest.h>

namespace weir
{
namespace
{

// What max-min-test.cc holds for the first seeds, for many more: rounding and ties that happen once
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

// As many end points as make the solver walk by itself.
TEST(ManySystems, MaxMinEqualsProgressiveFillingAmongManyEndPoints)
{
    for (uint64_t seed = 1; seed <= 6; seed++)
    {
        ASSERT_NO_FATAL_FAILURE(PlayDenseSystem<MaxMin>(seed, 40, 150));
    }
}

} // namespace
} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-plan.h"

#include "refusal.h"

#include <gtest/gtest.h>

#include <string>

namespace weir
{
namespace
{

DataSharding
ShardingOf(const std::string& text)
{
    return ReadPlan(YamlNode::Parse(text, "plan.yaml")).sharding;
}

// A word alone has PyTorch FSDP's defaults; a map says the rest.
TEST(ReadPlan, TakesShardingAsWordOrMap)
{
    EXPECT_EQ(ShardingOf("dataSharding: gradients").state, ShardedState::Gradients);
    const DataSharding plain = ShardingOf("dataSharding: full");
    EXPECT_EQ(plain.state, ShardedState::Full);
    EXPECT_TRUE(plain.reshard);
    EXPECT_EQ(plain.prefetch, 1U);
    EXPECT_EQ(plain.ranks, 0U);
    const DataSharding hybrid =
        ShardingOf("dataSharding: {state: full, ranks: 8, reshard: false, prefetch: 2}");
    EXPECT_EQ(hybrid.ranks, 8U);
    EXPECT_FALSE(hybrid.reshard);
    EXPECT_EQ(hybrid.prefetch, 2U);
}

TEST(ReadPlan, RefusesShardingWithItsPlace)
{
    EXPECT_EQ(RefusalOf([] { ShardingOf("dataSharding: zero3"); }),
              "plan.yaml:1:15: dataSharding: found 'zero3', expected one of: none, optimizer, "
              "gradients, full");
    EXPECT_EQ(RefusalOf([] { ShardingOf("dataSharding: {state: full, prefetch: -1}"); }),
              "plan.yaml:1:39: dataSharding.prefetch: found '-1', expected a whole number from 0 "
              "to 65535");
    EXPECT_EQ(RefusalOf([] { ShardingOf("dataSharding: {ranks: 8}"); }),
              "plan.yaml:1:15: dataSharding.state: found nothing, expected a value for 'state'");
}

// A step may have more samples than 16 bits count: Llama 3's 16 million tokens of 4096 are 4096
// samples, but of 128 they are 131072.
TEST(ReadPlan, TakesLargeBatches)
{
    EXPECT_EQ(ReadPlan(YamlNode::Parse("{data: 1024, globalBatch: 131072}", "p.yaml")).globalBatch,
              131072U);
}

} // namespace
} // namespace weir

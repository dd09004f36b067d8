// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/plan-keys.h"
#include "scenarios/readers/read-plan.h"

#include "refusal.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir
{
namespace
{

DataSharding
ShardingOf(const std::string& text)
{
    return ReadPlan(YamlNode::Parse(text, "plan.yaml")).sharding;
}

// A single word has the defaults of PyTorch FSDP; a map sets the other values.
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

TEST(ReadPlan, RefusesShardingWithItsLocation)
{
    EXPECT_EQ(RefusalOf([] { ShardingOf("dataSharding: zero3"); }),
              "plan.yaml:1:15: dataSharding: found 'zero3', expected one of: none, optimizer, "
              "gradients, full");
    EXPECT_EQ(RefusalOf([] { ShardingOf("dataSharding: {state: full, prefetch: -1}"); }),
              "plan.yaml:1:39: dataSharding.prefetch: found '-1', expected a whole number from 0 "
              "to 65535");
    EXPECT_EQ(RefusalOf([] { ShardingOf("{dataSharding: none, distributedOptimizer: true}"); }),
              "plan.yaml:1:44: distributedOptimizer: found 'true' beside dataSharding: none, "
              "expected one of the two: it is a synonym of dataSharding: optimizer");
    EXPECT_EQ(RefusalOf([] { ShardingOf("dataSharding: {ranks: 8}"); }),
              "plan.yaml:1:15: dataSharding.state: found nothing, expected a value for 'state'");
}

// Step sizes exceed 16 bits: 16 million tokens, as in Llama 3, are 4096 sequences of 4096 tokens,
// but 131072 sequences of 128.
TEST(ReadPlan, TakesLargeBatches)
{
    EXPECT_EQ(ReadPlan(YamlNode::Parse("{data: 1024, globalBatch: 131072}", "p.yaml")).globalBatch,
              131072U);
}

/** Paths of the values that differ between two plans. */
std::vector<std::string>
Differences(ParallelPlan a, ParallelPlan b)
{
    PlanKeys keys(a);
    PlanKeys others(b);
    return ChangedKeys(keys, others);
}

ParallelPlan
PlanOf(const std::string& text)
{
    return ReadPlan(YamlNode::Parse(text, "plan.yaml"));
}

// The default exists twice, in ParallelPlan and, with sources, as a framework. Both are equal
// except for the loss, which the default derives from its fusion.
TEST(ReadPlan, MegatronLmIsTheDefault)
{
    const ParallelPlan plan = PlanOf("framework: megatron-lm");
    EXPECT_EQ(Differences(plan, DefaultPlan()), std::vector<std::string>{"loss"});
    EXPECT_EQ(plan.Loss(), DefaultPlan().Loss());
}

TEST(ReadPlan, FrameworksSayWhatTheJobLeavesOut)
{
    EXPECT_EQ(Differences(PlanOf("framework: zero-bubble"), PlanOf("framework: megatron-lm")),
              std::vector<std::string>{"embeddingsAsLayers"});
    const ParallelPlan plan =
        PlanOf("{framework: torchtitan, host: {syncBatches: true}, dataSharding: {ranks: 8}}");
    EXPECT_EQ(plan.contextExchange, ContextExchange::Pieces);
    EXPECT_EQ(plan.sharding.state, ShardedState::Full); // of its base, fsdp2
    EXPECT_EQ(plan.sharding.ranks, 8U);
    EXPECT_TRUE(plan.host.syncBatches);
    EXPECT_EQ(plan.host.kernel, DefaultPlan().host.kernel);
}

// An optimizer key of a job, or of a framework, overrides that of its framework or base, in either
// spelling; nemo shards the optimizer.
TEST(ReadPlan, TheJobsWordOfTheOptimizerStandsOverItsFrameworks)
{
    const auto stateOf = [](const std::string& words) {
        return PlanOf("{framework: nemo" + words + "}").Sharded();
    };
    EXPECT_EQ(stateOf(""), ShardedState::Optimizer);
    EXPECT_EQ(stateOf(", distributedOptimizer: true"), ShardedState::Optimizer);
    EXPECT_EQ(stateOf(", distributedOptimizer: false"), ShardedState::None);
    EXPECT_EQ(stateOf(", dataSharding: none"), ShardedState::None);
    EXPECT_EQ(PlanOf("{framework: fsdp2, distributedOptimizer: false}").Sharded(),
              ShardedState::Full); // not a distributed optimizer
    EXPECT_EQ(RefusalOf([] { PlanOf("{dataSharding: optimizer, distributedOptimizer: false}"); }),
              "plan.yaml:1:49: distributedOptimizer: found 'false' beside dataSharding: optimizer, "
              "expected one of the two: it is a synonym of dataSharding: none");
    YamlNode plan = YamlNode::Parse("{dataSharding: optimizer}", "base.yaml");
    plan.SetInherited();
    plan.Overlay(YamlNode::Parse("{distributedOptimizer: false}", "plan.yaml"));
    EXPECT_EQ(ReadPlan(plan).Sharded(), ShardedState::None);
    const YamlNode framework = YamlNode::Parse(
        "{base: nemo, parallel: {distributedOptimizer: {value: false, source: a}}}", "f.yaml");
    EXPECT_EQ(ReadFramework(framework, Catalog()).Sharded(), ShardedState::None);
}

TEST(ReadPlan, RefusesFrameworksWithTheirLocation)
{
    const std::string unknown = RefusalOf([] { PlanOf("framework: torchtitn"); });
    EXPECT_EQ(unknown.rfind("plan.yaml:1:12: framework: found the unknown framework 'torchtitn', "
                            "expected a file or one of: alpa, ",
                            0),
              0U)
        << unknown;
    EXPECT_NE(unknown.find("(did you mean 'torchtitan'?)"), std::string::npos) << unknown;
    const auto refusal = [](const std::string& text) {
        return RefusalOf([&] { ReadFramework(YamlNode::Parse(text, "f.yaml"), Catalog()); });
    };
    EXPECT_EQ(refusal("parallel: {fusion: {value: eager}}"),
              "f.yaml:1:20: parallel.fusion.source: found nothing, expected a value for 'source'");
    EXPECT_EQ(refusal("parallel: {bucket: {value: 25, source: a}}"),
              "f.yaml:1:28: parallel.bucket.value: found '25' without a unit, expected a size with "
              "a unit, such as 40MiB");
    EXPECT_NE(refusal("parallel: {fussion: {value: eager, source: a}}").find("mean 'fusion'?"),
              std::string::npos);
}

} // namespace
} // namespace weir

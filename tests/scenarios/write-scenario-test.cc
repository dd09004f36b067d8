// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/writers/write-scenario.h"

#include "fabric/kinds/clos-fabric.h"
#include "fabric/routing/routing-policies.h"
#include "scenarios/readers/read-scenario.h"

#include <gtest/gtest.h>

namespace weir
{
namespace
{

/** Expects the profile read back to equal the one written. */
void
ExpectEqual(const LinkProfile& a, const LinkProfile& b)
{
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.rawRate, b.rawRate);
    EXPECT_EQ(a.encoding, b.encoding);
    EXPECT_EQ(a.framing, b.framing);
    EXPECT_EQ(a.measured, b.measured);
    EXPECT_EQ(a.latency, b.latency);
    EXPECT_EQ(a.source, b.source);
}

Scenario
ReadBack(const Scenario& scenario)
{
    return ReadScenario(YamlNode::Parse(DumpScenario(scenario), "dump.yaml"), Catalog());
}

TEST(WriteScenario, EveryShippedRunReadsBackEqual)
{
    const Catalog catalog;
    const auto listed = catalog.List(CatalogKind::Runs);
    EXPECT_FALSE(listed.empty());
    for (const CatalogEntry& entry : listed)
    {
        const Scenario scenario = LoadScenario(entry.name, {}, catalog);
        const Scenario again = ReadBack(scenario);
        EXPECT_EQ(DumpScenario(again), DumpScenario(scenario)) << entry.name;
        const NodeSpec& node = scenario.cluster.node;
        ExpectEqual(again.cluster.node.nvlink, node.nvlink);
        ExpectEqual(again.cluster.node.pcie, node.pcie);
        ExpectEqual(again.cluster.node.pcieUplink, node.pcieUplink);
        ExpectEqual(again.cluster.node.interSocket, node.interSocket);
        ExpectEqual(again.cluster.node.nic, node.nic);
        ExpectEqual(again.cluster.fabric.link, scenario.cluster.fabric.link);
        EXPECT_EQ(again.cluster.node.computeCapability, node.computeCapability);
        EXPECT_EQ(again.gpu.name, scenario.gpu.name);
    }
}

TEST(WriteScenario, EveryFieldThatIsNotADefaultReadsBack)
{
    Scenario s = LoadScenario("gpt-22b-8-a100-full", {}, Catalog());
    s.title = "odd: 'title' # \"with\" all\nsorts";
    s.seed = 9223372036854775807u;
    s.cluster.nodes = 3;
    s.cluster.node.wiring = NvLinkWiring::Mesh;
    s.cluster.node.meshLinks = {{0, 1, 2}, {1, 7, 1}};
    FatTree tree;
    tree.levels = 3;
    tree.oversubscription = 1.0 / 0.3;
    s.cluster.fabric.kind = tree;
    s.cluster.fabric.routing = StaticRouting();
    s.cluster.fabric.hashSeed = 12345;
    s.cluster.fabric.inNetworkReduction = true;
    ParallelPlan& plan = s.jobs[0].plan;
    plan = ParallelPlan();
    plan.tensor = 4;
    plan.pipeline = 2;
    plan.data = 3;
    plan.sequenceParallel = true;
    plan.schedule = PipelineScheduleKind::Interleaved;
    plan.virtualStages = 4;
    plan.microBatch = 2;
    plan.globalBatch = 24;
    plan.recomputation = Recomputation::Needed;
    plan.precision = Precision::Fp16;
    plan.bucket = Bytes(12345);
    plan.sharding = {ShardedState::Gradients, 3, true, 1, false, true, true, true};
    plan.overlapGradients = true;
    plan.fusion = KernelFusion::Compiled;
    plan.loss = LossKernels::LogSoftmax;
    plan.recomputeEvery = 3;
    plan.attentionSpeed = 0.55;
    plan.overlapTensor = false;
    plan.fp32Gradients = false;
    plan.fusedUpdate = true;
    plan.postValidation = true;
    plan.embeddingsAsLayers = true;
    plan.host = {Time::Microseconds(7), Time::Microseconds(9), false, false};
    plan.host.syncLayers = true;
    std::get<Transformer>(s.jobs[0].network).layers -= 2;
    Transformer& model = std::get<Transformer>(s.jobs[0].network);
    model.norm = NormKind::RmsNorm;
    model.activation = ActivationKind::SwiGlu;
    model.kvHeads = 8;
    model.headDim = 100;
    model.vocabularyMultiple = 64;
    model.tiedEmbeddings = model.biases = model.dropout = model.learnedPositions = false;
    s.jobs[0].steps = 5;
    s.fidelity = Fidelity::Analytical;
    s.nccl.version = "2.27.3";
    s.events = {{EventKind::Degrade,
                 Time::Picoseconds(1234567),
                 Time::Seconds(2),
                 3,
                 "a",
                 "b",
                 0.3,
                 0,
                 Bytes()},
                {EventKind::LossyLink, Time::Seconds(1), Time(), 1, "a", "b", 1, 0.01, Bytes()},
                {EventKind::LinkDown, Time::Seconds(1), Time(), 1, "a", "b", 1, 0, Bytes()},
                {EventKind::SlowGpu, Time(), Time(), 1, "node0/gpu1", "", 1.7, 0, Bytes()},
                {EventKind::Background, Time::Seconds(2), Time(), 1, "a", "b", 1, 0, Bytes(77)}};
    s.output.timeline = true;
    s.output.timelineFile = "elsewhere.json";
    s.output.ranks = {0};

    const Scenario r = ReadBack(s);
    EXPECT_EQ(r.title, s.title);
    EXPECT_EQ(r.seed, s.seed);
    EXPECT_EQ(r.cluster.nodes, 3u);
    EXPECT_EQ(r.cluster.node.meshLinks[1].b, 7u);
    const auto& treeRead = r.cluster.fabric.kind.As<FatTree>();
    EXPECT_EQ(treeRead.levels, 3u);
    EXPECT_EQ(treeRead.oversubscription, s.cluster.fabric.kind.As<FatTree>().oversubscription);
    EXPECT_TRUE(r.cluster.fabric.routing.Is<StaticRouting>());
    EXPECT_EQ(r.cluster.fabric.hashSeed, 12345u);
    EXPECT_TRUE(r.cluster.fabric.inNetworkReduction);
    const ParallelPlan& p = r.jobs[0].plan;
    EXPECT_EQ(p.Ranks(), plan.Ranks());
    EXPECT_EQ(p.tensor, 4u);
    EXPECT_EQ(p.pipeline, 2u);
    EXPECT_TRUE(p.sequenceParallel);
    EXPECT_EQ(p.schedule, plan.schedule);
    EXPECT_EQ(p.virtualStages, 4u);
    EXPECT_EQ(p.microBatch, 2u);
    EXPECT_EQ(p.globalBatch, 24u);
    EXPECT_EQ(p.recomputation, plan.recomputation);
    EXPECT_EQ(p.precision, plan.precision);
    EXPECT_TRUE(p.overlapGradients);
    EXPECT_EQ(p.bucket, plan.bucket);
    EXPECT_EQ(p.sharding.state, ShardedState::Gradients);
    EXPECT_EQ(p.sharding.ranks, 3u);
    EXPECT_FALSE(p.sharding.everyPass);
    EXPECT_TRUE(p.sharding.overlapGather);
    EXPECT_EQ(p.fusion, KernelFusion::Compiled);
    EXPECT_EQ(p.loss, LossKernels::LogSoftmax);
    EXPECT_EQ(p.recomputeEvery, 3u);
    EXPECT_EQ(p.attentionSpeed, 0.55);
    EXPECT_FALSE(p.overlapTensor);
    EXPECT_FALSE(p.fp32Gradients);
    EXPECT_TRUE(p.fusedUpdate);
    EXPECT_TRUE(p.postValidation);
    EXPECT_TRUE(p.embeddingsAsLayers);
    EXPECT_EQ(p.host.kernel, plan.host.kernel);
    EXPECT_EQ(p.host.communication, plan.host.communication);
    EXPECT_FALSE(p.host.syncBatches);
    EXPECT_FALSE(p.host.syncTransfers);
    EXPECT_TRUE(p.host.syncLayers);
    const Transformer& m = std::get<Transformer>(r.jobs[0].network);
    EXPECT_EQ(m.norm, model.norm);
    EXPECT_EQ(m.activation, model.activation);
    EXPECT_EQ(m.kvHeads, 8u);
    EXPECT_EQ(m.vocabularyMultiple, 64u);
    EXPECT_EQ(m.headDim, 100u);
    EXPECT_FALSE(m.tiedEmbeddings || m.biases || m.dropout || m.learnedPositions);
    EXPECT_EQ(m.Parameters(), model.Parameters());
    EXPECT_EQ(r.jobs[0].steps, 5u);
    EXPECT_EQ(r.fidelity, s.fidelity);
    EXPECT_EQ(r.nccl.version, s.nccl.version);
    ASSERT_EQ(r.events.size(), 5u);
    for (std::size_t i = 0; i < 5; ++i)
    {
        EXPECT_EQ(r.events[i].kind, s.events[i].kind);
        EXPECT_EQ(r.events[i].at, s.events[i].at);
        EXPECT_EQ(r.events[i].from, s.events[i].from);
        EXPECT_EQ(r.events[i].to, s.events[i].to);
        EXPECT_EQ(r.events[i].factor, s.events[i].factor);
        EXPECT_EQ(r.events[i].loss, s.events[i].loss);
        EXPECT_EQ(r.events[i].bytes, s.events[i].bytes);
    }
    EXPECT_TRUE(r.output.timeline);
    EXPECT_EQ(r.output.timelineFile, "elsewhere.json");
    EXPECT_EQ(r.output.ranks, std::vector<uint32_t>{0});
    EXPECT_EQ(DumpScenario(r), DumpScenario(s));
}

/** A plan for GPT-22B after a round trip through a file. */
ParallelPlan
ReadBackPlan(const ParallelPlan& plan)
{
    Scenario s = LoadScenario("gpt-22b-8-a100-full", {}, Catalog());
    s.cluster.nodes = 2;
    s.jobs[0].plan = plan;
    return ReadBack(s).jobs[0].plan;
}

// Values that apply to full sharding but not to sharded gradients, and a plan without sequence
// parallelism.
TEST(WriteScenario, OtherPlansReadBack)
{
    ParallelPlan plan;
    plan.tensor = 2;
    plan.pipeline = 2;
    plan.data = 4;
    plan.globalBatch = 8;
    plan.attention = AttentionKind::Unfused;
    plan.scatterGatherPipeline = false;
    plan.sharding = {ShardedState::Full, 2, false, 4, false, true, false, false};
    const ParallelPlan full = ReadBackPlan(plan);
    EXPECT_EQ(full.attention, AttentionKind::Unfused);
    EXPECT_FALSE(full.scatterGatherPipeline);
    EXPECT_EQ(full.sharding.state, ShardedState::Full);
    EXPECT_EQ(full.sharding.ranks, 2u);
    EXPECT_FALSE(full.sharding.reshard);
    EXPECT_EQ(full.sharding.prefetch, 4u);
    EXPECT_FALSE(full.sharding.everyPass);
    EXPECT_FALSE(full.sharding.perParameter);
    plan.sharding = DataSharding();
    plan.sharding.scatter = false;
    plan.distributedOptimizer = true;
    const ParallelPlan shared = ReadBackPlan(plan);
    EXPECT_TRUE(shared.distributedOptimizer);
    EXPECT_EQ(shared.sharding.state, ShardedState::Optimizer);
    EXPECT_FALSE(shared.sharding.scatter);
}

// A written run does not refer to the catalog: the plan contains the values of the framework.
TEST(WriteScenario, WritesAFrameworksValues)
{
    const Scenario written = LoadScenario("gpt-7.5b-16-h100-zb-2p", {}, Catalog());
    const std::string text = DumpScenario(written);
    EXPECT_EQ(text.find("framework"), std::string::npos);
    EXPECT_NE(text.find("embeddingsAsLayers: true"), std::string::npos);
    EXPECT_TRUE(ReadBack(written).jobs[0].plan.embeddingsAsLayers);
}

// Values without effect would be reported on reading, so they are not written, however the plan was
// built.
TEST(WriteScenario, LeavesOutWhatHasNoEffect)
{
    ParallelPlan plan;
    plan.data = 8;
    plan.globalBatch = 8;
    plan.contextExchange = ContextExchange::Pieces;
    plan.recomputeEvery = 2;
    plan.overlapGradients = false;
    plan.bucket = Bytes(1);
    const ParallelPlan read = ReadBackPlan(plan);
    EXPECT_EQ(read.contextExchange, ContextExchange::Ring);
    EXPECT_EQ(read.recomputeEvery, 1u);
    EXPECT_FALSE(read.overlapGradients);
    EXPECT_EQ(read.bucket, ParallelPlan().bucket);
}

} // namespace
} // namespace weir

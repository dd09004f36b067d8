// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-scenario.h"

#include "refusal.h"

#include <gtest/gtest.h>

namespace weir
{
namespace
{

const char* const EXAMPLE =
    "title: an example\n"
    "seed: 7\n"
    "system: {base: hgx-h800, nodes: 2}\n"
    "jobs:\n"
    "  - name: gpt\n"
    "    model: gpt-1.7b\n"
    "    parallel: {tensor: 2, pipeline: 4, data: 2, globalBatch: 16}\n"
    "    precision: fp16\n"
    "network: {fidelity: flow}\n";

/** The example with @p from replaced by @p to. */
YamlNode
Changed(const std::string& from, const std::string& to)
{
    std::string text = EXAMPLE;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return YamlNode::Parse(text.replace(at, from.size(), to), "run.yaml");
}

std::string
Refusal(const std::string& from, const std::string& to)
{
    return RefusalOf([&] { ReadScenario(Changed(from, to), Catalog()); });
}

/** The example with @p line appended. */
std::string
RefusalWith(const std::string& line)
{
    return RefusalOf([&] { ReadScenario(YamlNode::Parse(EXAMPLE + line, "run.yaml"), Catalog()); });
}

TEST(ReadScenario, FillsInDefaults)
{
    const Scenario scenario = ReadScenario(YamlNode::Parse(EXAMPLE, "run.yaml"), Catalog());
    EXPECT_EQ(scenario.title, "an example");
    EXPECT_EQ(scenario.path, "run.yaml");
    EXPECT_EQ(scenario.seed, 7u);
    EXPECT_EQ(scenario.cluster.nodes, 2u);
    EXPECT_EQ(scenario.gpu.name, "h800-sxm");
    EXPECT_EQ(scenario.fidelity, Fidelity::Flow);
    ASSERT_EQ(scenario.jobs.size(), 1u);
    const JobSpec& job = scenario.jobs[0];
    EXPECT_EQ(std::get<Transformer>(job.network).layers, 24u);
    EXPECT_EQ(job.steps, 2u);
    EXPECT_EQ(job.plan.Ranks(), 16u);
    EXPECT_EQ(job.plan.MicroBatches(), 8u);
    EXPECT_EQ(job.plan.precision, Precision::Fp16);
    EXPECT_EQ(job.plan.recomputation, Recomputation::None);
    EXPECT_EQ(job.plan.bucket, Bytes::MiB(40));
    EXPECT_TRUE(scenario.output.file.empty());
}

TEST(ReadScenario, TheMainRunsFillTheirSystems)
{
    const Catalog catalog;
    const Scenario small = LoadScenario("gpt-175b-96-h800", {}, catalog);
    EXPECT_EQ(small.cluster.nodes * small.cluster.node.gpus, 96u);
    EXPECT_EQ(small.jobs[0].plan.Ranks(), 96u);
    EXPECT_EQ(small.jobs[0].plan.MicroBatches(), 96u);
    const Scenario large = LoadScenario("gpt-175b-1024-h800", {}, catalog);
    EXPECT_EQ(large.cluster.nodes * large.cluster.node.gpus, 1024u);
    EXPECT_EQ(large.jobs[0].plan.Ranks(), 1024u);
    EXPECT_EQ(large.jobs[0].plan.MicroBatches(), 96u);
    EXPECT_EQ(large.jobs[0].plan.virtualStages, 6u);
}

TEST(ReadScenario, SettingsChangeAFile)
{
    const Scenario scenario = LoadScenario("gpt-175b-96-h800",
                                           {"network.fidelity=analytical",
                                            "jobs.0.steps=3",
                                            "system.fabric.oversubscription=4",
                                            "system.node.nic.rate=200Gbps",
                                            "jobs.0.model={base: gpt-175b, sequence: 4096}"},
                                           Catalog());
    EXPECT_EQ(scenario.fidelity, Fidelity::Analytical);
    EXPECT_EQ(scenario.jobs[0].steps, 3u);
    EXPECT_EQ(scenario.cluster.fabric.kind.As<ClosFabric>().oversubscription, 4);
    EXPECT_EQ(scenario.cluster.node.nic.rawRate, Rate::Gbps(200));
    EXPECT_EQ(std::get<Transformer>(scenario.jobs[0].network).sequence, 4096u);
    const auto refusal = [](const std::string& setting) {
        return RefusalOf([&] { LoadScenario("gpt-175b-96-h800", {setting}, Catalog()); });
    };
    EXPECT_EQ(refusal("steps"), "--set steps: found no '=', expected key.path=value");
    EXPECT_EQ(
        refusal("jobs.0.stepz=1"),
        "--set jobs.0.stepz=1: jobs.0.stepz: found the unknown key 'stepz', expected one of: "
        "name, model, placement, start, until, parallel, precision, overlapSlowdown, jitter, steps "
        "(did you "
        "mean 'steps'?)");
    EXPECT_EQ(
        refusal("network.fidelity=molecules"),
        "--set network.fidelity=molecules: network.fidelity: found 'molecules', expected one of: "
        "analytical, stream, flow, packet, hybrid, auto");
}

/** Jitter of two jobs on one fabric is independent, so their seeds differ. */
TEST(ReadScenario, LetsEveryJobDrawForItself)
{
    const std::string precision = "    precision: fp16\n";
    const std::string jitter = precision + "    jitter: {coefficientOfVariation: 0.1}\n";
    const Scenario scenario = ReadScenario(
        Changed("    parallel: {tensor: 2, pipeline: 4, data: 2, globalBatch: 16}\n" + precision,
                "    parallel: {tensor: 8, globalBatch: 16}\n" + jitter +
                    "  - name: other\n    model: gpt-1.7b\n"
                    "    parallel: {tensor: 8, globalBatch: 16}\n" +
                    jitter),
        Catalog());
    ASSERT_EQ(scenario.jobs.size(), 2u);
    EXPECT_NE(scenario.jobs[0].jitter.seed, scenario.jobs[1].jitter.seed);
}

TEST(ReadScenario, ReadsJitterAndStepsUntilSteady)
{
    const Scenario plain = ReadScenario(YamlNode::Parse(EXAMPLE, "run.yaml"), Catalog());
    EXPECT_FALSE(plain.jobs[0].jitter.IsOn());
    const Scenario scenario =
        ReadScenario(Changed("    precision: fp16\n",
                             "    precision: fp16\n"
                             "    jitter: {coefficientOfVariation: 0.05, per: operation}\n"
                             "    steps: {untilSteady: 0.01, atMost: 30}\n"),
                     Catalog());
    const JobSpec& job = scenario.jobs[0];
    EXPECT_EQ(job.jitter.coefficientOfVariation, 0.05);
    EXPECT_EQ(job.jitter.scope, JitterScope::Operation);
    EXPECT_EQ(job.jitter.seed, 7u) << "the scenario's, where the jitter has none of its own";
    EXPECT_EQ(job.steady.tolerance, 0.01);
    EXPECT_EQ(job.steps, 30u);
    const auto refusal = [](const std::string& line) {
        return Refusal("    precision: fp16\n", "    precision: fp16\n    " + line + "\n");
    };
    EXPECT_EQ(refusal("jitter: {coefficientOfVariation: 0.1, per: week}"),
              "run.yaml:9:48: jobs.0.jitter.per: found 'week', expected one of: run, step, "
              "operation");
    EXPECT_EQ(refusal("steps: {untilSteady: 0, atMost: 3}"),
              "run.yaml:9:26: jobs.0.steps.untilSteady: found '0', expected a number from "
              "1e-06 to 1");
}

TEST(ReadScenario, ReadsEventsAndOutput)
{
    const std::string text = std::string(EXAMPLE) +
                             "events:\n"
                             "  - {kind: degrade, at: 1ms, from: a, to: b, factor: 0.5}\n"
                             "  - {kind: link-down, at: 2ms, from: a, to: b}\n"
                             "  - {kind: slow-gpu, gpu: node0/gpu3, factor: 1.25}\n"
                             "  - {kind: background, at: 0s, from: x, to: y, bytes: 1GiB}\n"
                             "output: {file: out.h5, timeline: true, linkSeries: 100us, "
                             "ranks: [2, 0]}\n";
    const Scenario scenario = ReadScenario(YamlNode::Parse(text, "run.yaml"), Catalog());
    ASSERT_EQ(scenario.events.size(), 4u);
    EXPECT_EQ(scenario.events[0].kind, EventKind::Degrade);
    EXPECT_EQ(scenario.events[0].at, Time::Milliseconds(1));
    EXPECT_EQ(scenario.events[0].factor, 0.5);
    EXPECT_EQ(scenario.events[1].kind, EventKind::LinkDown);
    EXPECT_EQ(scenario.events[2].from, "node0/gpu3");
    EXPECT_EQ(scenario.events[2].at, Time());
    EXPECT_EQ(scenario.events[3].bytes, Bytes::GiB(1));
    EXPECT_EQ(scenario.output.file, "out.h5");
    EXPECT_TRUE(scenario.output.timeline);
    EXPECT_EQ(scenario.output.linkSeries, Time::Microseconds(100));
    EXPECT_EQ(scenario.output.ranks, (std::vector<uint32_t>{2, 0}));
    EXPECT_FALSE(scenario.output.allRanks);
}

/** `--set output.linkSeries=none` removes a series that the file requests. */
TEST(ReadScenario, NoneIsNoSeries)
{
    const std::string text =
        std::string(EXAMPLE) + "output: {file: out.h5, linkSeries: none, portSeries: none}\n";
    const Scenario scenario = ReadScenario(YamlNode::Parse(text, "run.yaml"), Catalog());
    EXPECT_FALSE(scenario.output.linkSeries);
    EXPECT_FALSE(scenario.output.portSeries);
}

TEST(ReadScenario, JobsShareTheGpus)
{
    const std::string second =
        "  - {name: two, model: gpt-1.7b, parallel: {data: 8, "
        "globalBatch: 8}}\nnetwork:";
    const Scenario scenario =
        ReadScenario(YamlNode::Parse(Changed("data: 2, ", "").Dump(), "run.yaml"), Catalog());
    EXPECT_EQ(scenario.jobs[0].plan.Ranks(), 8u);
    EXPECT_EQ(Refusal("network:", second),
              "run.yaml:9:44: jobs.1.parallel: found tensor 1 x pipeline 1 x data 8 = 8 GPUs after "
              "16 of earlier jobs, expected at most 0 (2 nodes of 8)");
    EXPECT_EQ(Refusal("data: 2, globalBatch: 16}\n    precision: fp16\nnetwork:",
                      "globalBatch: 16}\n  - {name: gpt, model: gpt-1.7b, parallel: {}}\nnetwork:"),
              "run.yaml:8:12: jobs.1.name: found 'gpt' again, expected another name for each job");
}

TEST(ReadScenario, RefusesMoreGpusThanTheSystemHas)
{
    EXPECT_EQ(Refusal("nodes: 2", "nodes: 1"),
              "run.yaml:7:15: jobs.0.parallel: found tensor 2 x pipeline 4 x data 2 = 16 GPUs, "
              "expected at most 8 (1 node of 8)");
}

TEST(ReadScenario, RefusesPlansThatCannotRunAtTheirKeys)
{
    EXPECT_EQ(Refusal("tensor: 2", "tensor: 7"),
              "run.yaml:7:24: jobs.0.parallel.tensor: found 7, expected a divisor of heads = 24");
    EXPECT_EQ(
        Refusal("pipeline: 4", "pipeline: 5"),
        "run.yaml:7:37: jobs.0.parallel.pipeline: found 5, expected a divisor of layers = 24");
    EXPECT_EQ(Refusal("globalBatch: 16", "microBatch: 3, globalBatch: 16"),
              "run.yaml:7:61: jobs.0.parallel.microBatch: found microBatch * data = 6, expected a "
              "divisor of globalBatch = 16");
    EXPECT_EQ(
        Refusal("pipeline: 4", "pipeline: 4, schedule: interleaved"),
        "run.yaml:7:15: jobs.0.parallel: virtualStages: found 1, expected at least 2 with the "
        "interleaved schedule");
}

// A V100 has matrix rates for fp32 and fp16 only, and no bf16, which is the default precision.
TEST(ReadScenario, RefusesPrecisionsThatTheGpuLacks)
{
    const auto onV100 = [](const std::string& from, const std::string& to) {
        YamlNode node = Changed(from, to);
        node.Set("system.base", "dgx1-v100");
        return RefusalOf([&node] { ReadScenario(node, Catalog()); });
    };
    const std::string expected =
        "expected one of: fp32, fp16 (v100-sxm-32g supports no other for GEMMs)";
    EXPECT_EQ(onV100("title: an", "title: an"), "");
    const std::string written = onV100("precision: fp16", "precision: fp8");
    EXPECT_NE(written.find("jobs.0.precision: found fp8, " + expected), std::string::npos);
    const std::string typical = onV100("    precision: fp16\n", "");
    EXPECT_NE(typical.find("the default cannot be used: found bf16, " + expected),
              std::string::npos);
}

TEST(ReadScenario, RefusesWithLocationFoundAndExpected)
{
    EXPECT_EQ(Refusal("seed: 7", "sede: 7"),
              "run.yaml:2:1: sede: found the unknown key 'sede', expected one of: title, seed, "
              "system, jobs, network, events, output (did you mean 'seed'?)");
    EXPECT_EQ(
        Refusal("tensor: 2", "tensr: 2"),
        "run.yaml:7:16: jobs.0.parallel.tensr: found the unknown key 'tensr', expected one "
        "of: framework, tensorShape, expertLoad, tensor, pipeline, data, context, contextExchange, "
        "expert, "
        "expertTensor, sequenceParallel, schedule, virtualStages, microBatch, globalBatch, "
        "recomputation, attention, attentionSpeed, overlapTensor, splitGemms, overlapGradients, "
        "bucket, "
        "distributedOptimizer, dataSharding, embeddings, fusion, loss, recomputeEvery, "
        "fp32Gradients, "
        "postValidation, fusedUpdate, scatterGatherPipeline, embeddingsAsLayers, host (did you "
        "mean 'tensor'?)");
    EXPECT_EQ(Refusal("tensor: 2", "tensor: 0"),
              "run.yaml:7:24: jobs.0.parallel.tensor: found '0', expected a whole number from 1 to "
              "65535");
    EXPECT_EQ(Refusal("tensor: 2", "bucket: 40"),
              "run.yaml:7:24: jobs.0.parallel.bucket: found '40' without a unit, expected a size "
              "with a unit, such as 40MiB");
    EXPECT_EQ(Refusal("tensor: 2", "bucket: -4MiB"),
              "run.yaml:7:24: jobs.0.parallel.bucket: found '-4MiB', expected a size of at least "
              "zero");
    EXPECT_EQ(
        Refusal("gpt-1.7b", "gpt-1.7"),
        "run.yaml:6:12: jobs.0.model: found the unknown model 'gpt-1.7', expected a file or "
        "one of: " +
            [] {
                std::string names;
                for (const auto& entry : Catalog().List(CatalogKind::Models))
                {
                    names += (names.empty() ? "" : ", ") + entry.name;
                }
                return names;
            }() +
            " (did you mean 'gpt-1.7b'?)");
    EXPECT_EQ(Refusal("precision: fp16", "precision: half"),
              "run.yaml:8:16: jobs.0.precision: found 'half', expected one of: fp32, tf32, fp16, "
              "bf16, fp8");
    EXPECT_EQ(Refusal("{fidelity: flow}", "{nccl: new}"),
              "run.yaml:9:17: network.nccl: found 'new', expected a version from 2.4.0 on, such as "
              "2.30.7");
    EXPECT_EQ(RefusalOf([] {
                  ReadScenario(YamlNode::Parse("system: hgx-h100\njobs: []\n", "run.yaml"),
                               Catalog());
              }),
              "run.yaml:2:7: jobs: found an empty list, expected at least one job");
    EXPECT_EQ(RefusalOf([] {
                  ReadScenario(YamlNode::Parse("system: hgx-h100\n", "run.yaml"), Catalog());
              }),
              "run.yaml:1:1: jobs: found nothing, expected a value for 'jobs'");
}

TEST(ReadScenario, RefusesEventsAndOutputsThatCannotBe)
{
    EXPECT_EQ(RefusalWith("events: [{kind: degrade, at: 1, from: a, to: b, factor: 1}]\n"),
              "run.yaml:10:30: events.0.at: found '1' without a unit, expected a time with a unit, "
              "such as 150ns");
    EXPECT_EQ(RefusalWith("events: [{kind: degrade, at: 1s, from: a, to: b, factor: 2}]\n"),
              "run.yaml:10:58: events.0.factor: found '2', expected a number from 0 to 1");
    EXPECT_EQ(RefusalWith("events: [{kind: link-down, at: 1s, from: a, to: a}]\n"),
              "run.yaml:10:49: events.0.to: found 'a' at both ends, expected two devices");
    EXPECT_EQ(RefusalWith("events: [{kind: slow-gpu, at: 1s, gpu: a, factor: 2}]\n"),
              "run.yaml:10:31: events.0.at: found '1s', expected 0s or no time: a slow GPU is slow "
              "for the whole run");
    EXPECT_EQ(RefusalWith("events: [{kind: fire}]\n"),
              "run.yaml:10:17: events.0.kind: found 'fire', expected one of: degrade, lossy-link, "
              "link-down, "
              "link-up, link-flap, random-failures, slow-gpu, background");
    EXPECT_EQ(RefusalWith("output: {timeline: true}\n"),
              "run.yaml:10:20: output.timeline: found it without a file, expected output.file "
              "beside it");
    EXPECT_EQ(RefusalWith("output: {file: a.h5, linkSeries: 0s}\n"),
              "run.yaml:10:34: output.linkSeries: found '0s', expected a time above zero");
    EXPECT_EQ(RefusalWith("output: {file: a.h5, linkSeries: 1ps}\n"),
              "run.yaml:10:34: output.linkSeries: found '1ps', expected at least 1ns");
    EXPECT_EQ(RefusalWith("events: [{kind: random-failures, links: switch-to-switch, "
                          "meanTimeToFailure: 1ns, meanTimeToRepair: 1ms}]\n"),
              "run.yaml:10:78: events.0.meanTimeToFailure: found '1ns', expected at least 1us");
    EXPECT_EQ(RefusalWith("output: {ranks: all}\n"),
              "run.yaml:10:17: output.ranks: found it without a file, expected output.file or "
              "output.timeline beside it");
    EXPECT_EQ(RefusalWith("output: {file: a.h5, ranks: some}\n"),
              "run.yaml:10:29: output.ranks: found 'some', expected all or a list of ranks");
    EXPECT_EQ(RefusalWith("output: {file: a.h5, ranks: [0, 4096]}\n"),
              "run.yaml:10:33: output.ranks.1: found '4096', expected a whole number from 0 to 15");
    const YamlNode queues = YamlNode::Parse(
        EXAMPLE + std::string("output: {file: a.h5, portSeries: 1us}\n"), "run.yaml");
    const std::vector<std::string> note{
        "run.yaml:10:34: output.portSeries: found '1us', which has "
        "no effect here: it needs fidelity packet or hybrid"};
    EXPECT_EQ(ReadScenario(queues, Catalog()).notes, note);
    const char* const flow = "network: {fidelity: flow}\n";
    const std::string packet = "network: {fidelity: packet}\n";
    EXPECT_EQ(Refusal(flow, packet + "output: {file: a.h5, portSeries: 0s}\n"),
              "run.yaml:10:34: output.portSeries: found '0s', expected a time above zero");
    EXPECT_EQ(Refusal(flow, packet + "output: {portSeries: 1us}\n"),
              "run.yaml:10:22: output.portSeries: found it without a file, expected output.file or "
              "output.timeline beside it");
}

} // namespace
} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only

#include "refusal.h"
#include "scenarios/readers/read-scenario.h"
#include "scenarios/writers/write-scenario.h"

#include <gtest/gtest.h>

#include <string>

namespace weir
{
namespace
{

/** Scenario of eight H100 with @p model and @p plan. */
std::string
RunOf(const std::string& model, const std::string& plan)
{
    return "system: {base: hgx-h100, nodes: 1}\n"
           "jobs:\n"
           "  - name: job\n"
           "    model: " +
           model + "\n    parallel: " + plan + "\n";
}

std::string
Refusal(const std::string& text)
{
    return RefusalOf([&] { ReadScenario(YamlNode::Parse(text, "run.yaml"), Catalog()); });
}

// A user error is reported in one line at its key.
TEST(ReadExperts, RefusesAtTheKey)
{
    EXPECT_EQ(Refusal(RunOf("mixtral-8x7b", "{data: 3, globalBatch: 3, expert: 3}")),
              "run.yaml:5:49: jobs.0.parallel.expert: found 3, expected a divisor of experts = 8");
    EXPECT_EQ(Refusal(RunOf("llama-3-8b", "{data: 2, globalBatch: 2, context: 3}")),
              "run.yaml:5:50: jobs.0.parallel.context: found context * 2 = 6, expected a divisor "
              "of sequence = 8192");
    EXPECT_EQ(Refusal(RunOf("resnet-50", "{data: 4, globalBatch: 4, tensor: 2}")),
              "run.yaml:5:49: jobs.0.parallel.tensor: found 2, expected 1 for resnet-50, a table "
              "of layers, which supports only data parallelism");
    EXPECT_EQ(
        Refusal(RunOf("{base: mixtral-8x7b, experts: {topK: 9}}", "{data: 8, globalBatch: 8}")),
        "run.yaml:4:49: jobs.0.model.experts.topK: found '9', expected a whole number from 1 "
        "to 8");
    EXPECT_EQ(Refusal(RunOf("{name: net, source: mine, input: [3, 8, 8], network: [{convolution: "
                            "4, size: 11}, loss]}",
                            "{data: 8, globalBatch: 8}")),
              "run.yaml:4:66: jobs.0.model.network.0: layer convolution 1: found a window of 11 "
              "with stride 1, expected a window that fits into 8");
}

// A choice of expert layers that leaves none is refused at its key in the model.
TEST(ReadExperts, ModelsWithoutExpertLayersAreRefusedAtTheirKeys)
{
    const auto refusal = [](const std::string& experts) {
        return Refusal(RunOf("{base: mixtral-8x7b, layers: 4, experts: {" + experts + "}}",
                             "{data: 8, globalBatch: 8, expert: 8}"));
    };
    EXPECT_NE(refusal("every: 9").find("jobs.0.model.experts.every: found 9"), std::string::npos)
        << refusal("every: 9");
    EXPECT_NE(refusal("firstLayer: 4").find("jobs.0.model.experts.firstLayer: found 4"),
              std::string::npos)
        << refusal("firstLayer: 4");
}

double
ParametersOf(const Scenario& scenario)
{
    return std::visit([](const auto& network) { return network.Parameters(); },
                      scenario.jobs[0].network);
}

// A layer table is written back layer by layer, a mixture of experts with its load and all values.
TEST(ReadExperts, RunsReadBackEqual)
{
    for (const std::string& text :
         {RunOf("resnet-50", "{data: 8, globalBatch: 512, microBatch: 64}"),
          RunOf("vgg-16", "{data: 8, globalBatch: 8}"),
          RunOf("{base: deepseek-moe-16b, experts: {every: 3}}",
                "{data: 4, context: 2, contextExchange: all-gather, globalBatch: 8, expert: 4, "
                "expertTensor: 2, expertLoad: {imbalance: 1.5, seed: 7}}"),
          RunOf("mixtral-8x7b",
                "{data: 8, globalBatch: 8, expert: 8, expertLoad: {shares: [1, 2, 0.1, 1, 1, 1, 1, "
                "1]}}")})
    {
        const Scenario scenario = ReadScenario(YamlNode::Parse(text, "run.yaml"), Catalog());
        const std::string dump = DumpScenario(scenario);
        const Scenario again = ReadScenario(YamlNode::Parse(dump, "dump.yaml"), Catalog());
        EXPECT_EQ(DumpScenario(again), dump);
        EXPECT_EQ(ParametersOf(again), ParametersOf(scenario));
        EXPECT_EQ(again.jobs[0].plan.expertLoad.shares, scenario.jobs[0].plan.expertLoad.shares);
    }
}

} // namespace
} // namespace weir

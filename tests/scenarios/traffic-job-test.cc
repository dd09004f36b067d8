// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/traffic/traffic-job.h"

#include "refusal.h"
#include "scenarios/simulation/run-scenario.h"
#include "scenarios/writers/write-scenario.h"
#include "small-scenario.h"

#include <gtest/gtest.h>
#include <numeric>

namespace weir
{
namespace
{

Scenario
With(const std::string& jobs, const std::string& fidelity = "stream")
{
    return SmallScenario({{"system.nodes", "4"},
                          {"system.fabric", "{kind: leaf-spine, leafRadix: 32}"},
                          {"jobs", jobs},
                          {"network.fidelity", fidelity}});
}

// A flow takes at least its latency plus its bytes over the bottleneck rate, and longer where paths
// collide.
TEST(TrafficJob, FlowsOfAPermutationAreNoFasterThanUncontended)
{
    const RunResult result =
        RunScenario(With("[{name: p, traffic: {pattern: permutation, bytes: 10MB}, gpus: 32}]"));
    ASSERT_EQ(result.traffics.size(), 1U);
    EXPECT_EQ(result.traffics[0].started, 32U);
    EXPECT_EQ(result.traffics[0].times.size(), 32U);
    EXPECT_EQ(result.traffics[0].bytes, Bytes(320'000'000));
    ASSERT_EQ(result.traffics[0].slowdowns.size(), 32U);
    for (const double slowdown : result.traffics[0].slowdowns)
    {
        EXPECT_GE(slowdown, 1 - 1e-9);
    }
}

// k equal flows into one NIC share it equally: the last one ends after k times its bytes over the
// rate.
TEST(TrafficJob, AnIncastTakesAsLongAsItsBytesOverTheReceiversRate)
{
    for (const char* fidelity : {"stream", "flow"})
    {
        const RunResult result = RunScenario(
            With("[{name: i, traffic: {pattern: incast, senders: 12, bytes: 10MB}, gpus: 32}]",
                 fidelity));
        const auto& slowdowns = result.traffics[0].slowdowns;
        ASSERT_EQ(slowdowns.size(), 12U);
        EXPECT_NEAR(slowdowns.back(), 12, 0.2) << fidelity;
    }
}

/** Every fidelity but analytical runs the same traffic to its end. */
TEST(TrafficJob, PlaysInEveryFidelityThatKnowsLoad)
{
    const std::string job =
        "[{name: t, traffic: {pattern: poisson, sizes: fb-hadoop, load: 0.2, duration: 200us}}]";
    const RunResult stream = RunScenario(With(job));
    for (const char* fidelity : {"flow", "packet"})
    {
        const RunResult result = RunScenario(With(job, fidelity));
        EXPECT_EQ(result.traffics[0].started, stream.traffics[0].started);
        EXPECT_EQ(result.traffics[0].bytes, stream.traffics[0].bytes);
        EXPECT_EQ(result.traffics[0].times.size(), stream.traffics[0].times.size());
    }
    Scenario hybrid = With(job);
    hybrid.fidelity = Fidelity::Hybrid;
    hybrid.hybrid.jobs = {"t"};
    EXPECT_EQ(RunScenario(hybrid).traffics[0].times.size(), stream.traffics[0].times.size());
    EXPECT_NE(RefusalOf([&] {
                  RunScenario(With(job, "analytical"));
              }).find("found traffic with fidelity analytical, which ignores load"),
              std::string::npos);
}

// Measurement ends with the job; flows of background traffic in progress are not recorded further.
TEST(TrafficJob, FlowsBeginUntilAJobEnds)
{
    const RunResult uncontended = RunScenario(
        With("[{name: c, collective: {op: all-reduce, bytes: 400MB, calls: 3}, gpus: 32}]"));
    const RunResult result = RunScenario(
        With("[{name: c, collective: {op: all-reduce, bytes: 400MB, calls: 3}, gpus: 32},"
             " {name: t, traffic: {pattern: poisson, bytes: 1MB, load: 0.5}, until: c}]"));
    const auto& calls = result.collectives[0].calls;
    const Time end = std::accumulate(calls.begin(), calls.end(), Time());
    EXPECT_EQ(result.measured, end);
    EXPECT_GT(end, uncontended.measured);
    EXPECT_GT(result.traffics[0].started, 100U);
}

TEST(TrafficJob, IsWrittenAsItIsRead)
{
    const Scenario scenario = With(
        "[{name: a, traffic: {pattern: poisson, sizes: websearch, load: 0.3, duration: 1ms}, "
        "start: 2ms, placement: {nodes: [1, 2]}},"
        " {name: b, traffic: {pattern: incast, senders: 4, bytes: 64kB, every: 1ms, times: 7}},"
        " {name: c, until: a, traffic: {pattern: on-off, on: 1ms, off: 2ms, spans: fixed, "
        "rate: 5GB/s, seed: 9}},"
        " {name: d, until: a, traffic: {pattern: permutation, bytes: 1MB, every: 3ms}}]");
    const std::string text = DumpScenario(scenario);
    const Scenario again = ReadScenario(YamlNode::Parse(text, "dumped.yaml"),
                                        Catalog({std::string(WEIR_SOURCE_DIR) + "/scenarios"}));
    EXPECT_EQ(DumpScenario(again), text);
    EXPECT_EQ(again.traffics.size(), 4U);
}

TEST(TrafficJob, RefusesWithLocationFoundAndExpected)
{
    const auto refusal = [](const std::string& traffic) {
        return RefusalOf([&] { RunScenario(With("[{name: t, traffic: {" + traffic + "}}]")); });
    };
    EXPECT_NE(refusal("pattern: poisson, bytes: 1MB, load: 0.5").find("duration"),
              std::string::npos);
    EXPECT_NE(refusal("pattern: poisson, bytes: 1MB, load: 0.5, senders: 3, duration: 1ms")
                  .find("found it beside pattern 'poisson', expected pattern incast with it"),
              std::string::npos);
    EXPECT_NE(refusal("pattern: permutation, sizes: web, bytes: 1MB").find("found"),
              std::string::npos);
    EXPECT_NE(refusal("pattern: permutation").find("found neither sizes nor bytes"),
              std::string::npos);
    EXPECT_NE(refusal("pattern: permutation, bytes: 1MB, times: 3").find("every"),
              std::string::npos);
    EXPECT_NE(refusal("pattern: incast, bytes: 1MB, senders: 99")
                  .find("expected at most the 24 end points"),
              std::string::npos);
}

} // namespace
} // namespace weir

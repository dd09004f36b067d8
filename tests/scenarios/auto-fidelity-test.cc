// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/bound/calibration.h"
#include "scenarios/bound/samples.h"
#include "scenarios/results/run-json.h"
#include "scenarios/results/summary.h"
#include "scenarios/simulation/run-scenario.h"
#include "scenarios/writers/write-scenario.h"

#include "refusal.h"
#include "small-scenario.h"

#include <cmath>
#include <gtest/gtest.h>

namespace weir
{
namespace
{

RunResult
PlaySmall(std::vector<std::pair<std::string, std::string>> settings)
{
    return RunScenario(SmallScenario(settings));
}

/** Number of calls that ran in @p fidelity. */
uint64_t
CallsIn(const RunResult& result, Fidelity fidelity)
{
    uint64_t calls = 0;
    for (const FidelityUse& use : result.fidelityUses)
    {
        calls += use.choice.fidelity == fidelity ? use.calls : 0;
    }
    return calls;
}

/** No bound meets a tolerance of zero: auto is then flow, to the picosecond. */
TEST(AutoFidelity, IsFlowWithoutTolerance)
{
    const RunResult result = PlaySmall({{"network.fidelity", "auto"}, {"network.tolerance", "0%"}});
    EXPECT_EQ(result.StepTime(), PlaySmall({{"network.fidelity", "flow"}}).StepTime());
    EXPECT_EQ(CallsIn(result, Fidelity::Analytical) + CallsIn(result, Fidelity::Stream), 0);
    EXPECT_GT(CallsIn(result, Fidelity::Flow), 0);
}

/**
 * Tensor groups have the links of their nodes for themselves between sends: shortcuts run them,
 * with the time of flow within the tolerance and in fewer events.
 */
TEST(AutoFidelity, RunsUncontendedCallsByShortcut)
{
    const RunResult result =
        PlaySmall({{"network.fidelity", "auto"}, {"network.tolerance", "10%"}});
    const RunResult flow = PlaySmall({{"network.fidelity", "flow"}});
    EXPECT_GT(CallsIn(result, Fidelity::Analytical) + CallsIn(result, Fidelity::Stream),
              CallsIn(result, Fidelity::Flow));
    EXPECT_NEAR(result.StepTime() / flow.StepTime(), 1, 0.1);
    EXPECT_LT(result.events, flow.events);
}

/**
 * Bounds do not cover links that change: with a background flow all calls run in flow, and the step
 * equals that of flow.
 */
TEST(AutoFidelity, IsFlowWhereLinksChange)
{
    const std::string events =
        "[{kind: background, at: 0s, from: node0/gpu0, to: node1/gpu0, bytes: 1GiB}]";
    const RunResult result =
        PlaySmall({{"network.fidelity", "auto"}, {"network.tolerance", "50%"}, {"events", events}});
    EXPECT_EQ(result.StepTime(),
              PlaySmall({{"network.fidelity", "flow"}, {"events", events}}).StepTime());
    ASSERT_FALSE(result.fidelityUses.empty());
    for (const FidelityUse& use : result.fidelityUses)
    {
        EXPECT_EQ(use.choice.fidelity, Fidelity::Flow);
        EXPECT_EQ(use.choice.reason, FidelityReason::Contention);
    }
}

/** Bounds do not cover random traffic concurrent with calls either. */
TEST(AutoFidelity, IsFlowBesideTraffic)
{
    const auto run = [](const std::string& network) {
        return RunScenario(ReadScenario(
            YamlNode::Parse(
                "system: {base: hgx-h100, nodes: 2}\n"
                "jobs:\n"
                "  - {name: calls, collective: {op: all-reduce, bytes: 64MiB, calls: 3}}\n"
                "  - {name: others, until: calls, traffic: {pattern: permutation, bytes: 4MiB, "
                "every: 1ms, times: 10}}\n"
                "network: " +
                    network + "\n",
                "run.yaml"),
            Catalog()));
    };
    const RunResult result = run("{fidelity: auto, tolerance: 50%}");
    EXPECT_EQ(CallsIn(result, Fidelity::Analytical) + CallsIn(result, Fidelity::Stream), 0);
    EXPECT_EQ(result.collectives.front().calls, run("{fidelity: flow}").collectives.front().calls);
}

/**
 * The calls of a sequence run one after another: uncontended on their nodes, they run analytically.
 */
TEST(AutoFidelity, RunsCallsInTurnByShortcut)
{
    const RunResult result = RunScenario(ReadScenario(
        YamlNode::Parse("system: {base: hgx-h100, nodes: 4}\n"
                        "jobs:\n"
                        "  - name: a\n"
                        "    collective: {calls: 3, sequence: [{op: reduce-scatter, bytes: "
                        "256MiB}, {op: all-gather, bytes: 256MiB}]}\n"
                        "network: {fidelity: auto, tolerance: 50%}\n",
                        "run.yaml"),
        Catalog()));
    EXPECT_EQ(CallsIn(result, Fidelity::Analytical), 6U);
    EXPECT_EQ(CallsIn(result, Fidelity::Flow), 0U);
}

/** Two concurrent collectives over the same ports run in flow; with a node each they need not. */
TEST(AutoFidelity, SeesJobsThatMeet)
{
    const auto run = [](const std::string& one, const std::string& two) {
        const std::string call = "collective: {op: all-reduce, bytes: 256MiB, calls: 3}";
        return RunScenario(ReadScenario(
            YamlNode::Parse(
                "system: {base: hgx-h100, nodes: 4, fabric: {kind: leaf-spine, leafRadix: 24, "
                "oversubscription: 2}}\n"
                "jobs:\n"
                "  - {name: one, " +
                    call + ", placement: " + one + "}\n  - {name: two, " + call +
                    ", placement: " + two + "}\nnetwork: {fidelity: auto, tolerance: 50%}\n",
                "run.yaml"),
            Catalog()));
    };
    const RunResult uncontended = run("{nodes: [0]}", "{nodes: [1]}");
    EXPECT_EQ(CallsIn(uncontended, Fidelity::Flow), 0);
    EXPECT_EQ(CallsIn(uncontended, Fidelity::Analytical), 6);
    const RunResult contended = run("{nodes: [0, 2]}", "{nodes: [1, 3]}");
    EXPECT_EQ(CallsIn(contended, Fidelity::Flow), 6);
}

/**
 * For random steps drawn like those of the calibration, with fresh seeds, the step of auto is
 * within the tolerance of flow's step as often as the coverage requires: the count is within the
 * central 99.9 % of a binomial distribution. The steps include second jobs, oversubscription and
 * routing by load.
 */
TEST(AutoFidelity, KeepsItsToleranceOnRandomSteps)
{
    constexpr uint64_t SEED = 20261124;
    constexpr int CASES = 8;
    constexpr double TOLERANCE = 0.03;
    int inside = 0;
    uint64_t shortcuts = 0;
    for (int i = 0; i < CASES; i++)
    {
        const SampledRun step = SampleStep(SEED, i, Population::Calibrated, Catalog());
        YamlNode node = YamlNode::Parse(step.text, "sample");
        node.Set("network.fidelity", "auto");
        node.Set("network.tolerance", "3%");
        const RunResult result = RunScenario(ReadScenario(node, Catalog()));
        inside += std::abs(result.StepTime() / step.reference - 1) <= TOLERANCE ? 1 : 0;
        shortcuts += CallsIn(result, Fidelity::Analytical) + CallsIn(result, Fidelity::Stream);
    }
    RecordProperty("inside", inside);
    RecordProperty("shortcuts", static_cast<int>(shortcuts));
    // Binomial(8, 0.9): fewer than 4 with probability 4e-4.
    EXPECT_GE(inside, 4);
    EXPECT_GT(shortcuts, 0U);
}

/** The same for random single collectives. */
TEST(AutoFidelity, KeepsItsToleranceOnRandomCalls)
{
    constexpr uint64_t SEED = 20261125;
    constexpr int CASES = 60;
    constexpr double TOLERANCE = 0.05;
    const Calibration calibration = ReadCalibration("collectives", Catalog());
    int inside = 0;
    int shortcuts = 0;
    for (int i = 0; i < CASES; i++)
    {
        SampledCall call = SampleCall(SEED, i, Population::Calibrated, Fidelity::Flow, Catalog());
        call.spec.fidelity = Fidelity::Auto;
        call.spec.automatic = {TOLERANCE, 0.9, calibration};
        const CollectivePoint point = RunCollectiveSweep(call.spec).front();
        inside += std::abs(point.time / call.reference - 1) <= TOLERANCE ? 1 : 0;
        shortcuts += point.fidelity != Fidelity::Flow ? 1 : 0;
    }
    RecordProperty("inside", inside);
    RecordProperty("shortcuts", shortcuts);
    // Binomial(60, 0.9): fewer than 45 with probability 2e-4.
    EXPECT_GE(inside, 45);
    EXPECT_GT(shortcuts, CASES / 4);
}

/** The result reports which calls ran in which fidelity, and by what tolerance. */
TEST(AutoFidelity, IsInTheResult)
{
    const Scenario scenario =
        SmallScenario({{"network.fidelity", "auto"}, {"network.tolerance", "10%"}});
    const RunResult result = RunScenario(scenario);
    EXPECT_NE(Summarize(scenario, result).find("tolerance 10.0 % (90 %)"), std::string::npos);
    EXPECT_NE(Summarize(scenario, result).find("within tolerance"), std::string::npos);
    const std::string json = ToJson(scenario, result);
    EXPECT_NE(json.find("\"tolerance\": 0.1"), std::string::npos);
    EXPECT_NE(json.find("\"reason\": \"within tolerance\""), std::string::npos);
    const std::string text = DumpScenario(scenario);
    EXPECT_NE(text.find("tolerance: 10%"), std::string::npos) << text;
}

/**
 * Jobs whose steps have bounds that meet the tolerance are analytical as a whole. With a tolerance
 * of zero, or with more jobs than the sample has, each call is chosen separately.
 */
TEST(AutoFidelity, RunsAWholeStepByItsBound)
{
    const Calibration steps = ReadCalibration("steps", Catalog());
    const auto run = [&](const Scenario& scenario) { return RunScenario(scenario, {&steps, 0.9}); };
    const Scenario scenario =
        SmallScenario({{"network.fidelity", "auto"}, {"network.tolerance", "10%"}});
    const RunResult whole = run(scenario);
    EXPECT_EQ(whole.StepTime(), PlaySmall({{"network.fidelity", "analytical"}}).StepTime());
    EXPECT_NE(ToJson(scenario, whole).find("\"step\": \"analytical\""), std::string::npos);
    EXPECT_NE(Summarize(scenario, whole).find("bound of the step"), std::string::npos);
    const Scenario exact =
        SmallScenario({{"network.fidelity", "auto"}, {"network.tolerance", "0%"}});
    EXPECT_NE(ToJson(exact, run(exact)).find("\"step\": null"), std::string::npos);
    const auto jobs = [](const std::vector<std::string>& names) {
        std::string all;
        for (const std::string& name : names)
        {
            all += "{name: " + name +
                   ", model: {base: gpt-22b, name: small, layers: 4}, "
                   "parallel: {tensor: 8, globalBatch: 2}, steps: 1}, ";
        }
        return SmallScenario({{"network.fidelity", "auto"},
                              {"network.tolerance", "10%"},
                              {"system.nodes", std::to_string(names.size())},
                              {"jobs", "[" + all + "]"}});
    };
    const Scenario two = jobs({"one", "two"});
    EXPECT_NE(ToJson(two, run(two)).find("\"step\": \"analytical\""), std::string::npos);
    const Scenario three = jobs({"one", "two", "three"});
    EXPECT_NE(ToJson(three, run(three)).find("\"step\": null"), std::string::npos);
}

TEST(AutoFidelity, RefusesOtherTolerances)
{
    const auto refusal = [](const char* tolerance) {
        return RefusalOf([&] {
            SmallScenario({{"network.fidelity", "auto"}, {"network.tolerance", tolerance}});
        });
    };
    EXPECT_NE(refusal("0.03").find("expected a percentage with a unit, such as 3%"),
              std::string::npos)
        << refusal("0.03");
    EXPECT_NE(refusal("200%").find("expected 0% to 100%"), std::string::npos) << refusal("200%");
}

/** Without bounds auto has no basis to choose. */
TEST(AutoFidelity, NeedsBounds)
{
    Scenario scenario = SmallScenario();
    scenario.fidelity = Fidelity::Auto;
    EXPECT_NE(RefusalOf([&] { RunScenario(scenario); }).find("a calibration"), std::string::npos);
}

} // namespace
} // namespace weir

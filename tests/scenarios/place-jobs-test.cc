// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/simulation/wire-scenario.h"

#include "refusal.h"
#include "scenarios/readers/read-nccl.h"
#include "scenarios/simulation/run-scenario.h"
#include "scenarios/writers/write-scenario.h"
#include "small-scenario.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>
#include <vector>

namespace weir
{
namespace
{

/** Six nodes of eight GPUs. */
class PlaceJobs : public testing::Test
{
  protected:
    std::vector<uint32_t> NodesOf(uint32_t ranks, const PlacementSpec& placement)
    {
        std::vector<uint32_t> nodes;
        for (const GpuId gpu : m_placer.Place("job", ranks, placement))
        {
            if (nodes.empty() || nodes.back() != m_cluster.NodeOf(gpu))
            {
                nodes.push_back(m_cluster.NodeOf(gpu));
            }
        }
        return nodes;
    }

    Cluster m_cluster{SmallScenario({{"system.nodes", "6"}}).cluster};
    JobPlacer m_placer{m_cluster};
};

using Nodes = std::vector<uint32_t>;

TEST_F(PlaceJobs, PackedJobsFillNodesInOrder)
{
    EXPECT_EQ(NodesOf(12, {}), (Nodes{0, 1}));
    EXPECT_EQ(NodesOf(12, {}), (Nodes{1, 2}));
}

TEST_F(PlaceJobs, StridedJobsTakeEveryKthNodeFirst)
{
    EXPECT_EQ(NodesOf(0, {Placement::Strided, 2}), (Nodes{0, 2, 4, 1, 3, 5}));
}

// Leaves of two nodes each: one node of every leaf before the second of any.
TEST(PlaceJobsByLeaf, TakeTheLeavesThatTheySay)
{
    const Cluster cluster(
        SmallScenario({{"system.nodes", "6"},
                       {"system.fabric", "{kind: leaf-spine, leafRadix: 32, oversubscription: 1}"}})
            .cluster);
    const auto nodesOf = [&cluster](const PlacementSpec& placement) {
        JobPlacer placer(cluster);
        Nodes nodes;
        for (const GpuId gpu : placer.Place("job", 0, placement))
        {
            if (cluster.LocalIndexOf(gpu) == 0)
            {
                nodes.push_back(cluster.NodeOf(gpu));
            }
        }
        return nodes;
    };
    EXPECT_EQ(nodesOf({Placement::AcrossLeaves}), (Nodes{0, 2, 4, 1, 3, 5}));
    PlacementSpec byName{Placement::Leaves};
    byName.leaves = {"leaf2", "leaf0"};
    EXPECT_EQ(nodesOf(byName), (Nodes{4, 5, 0, 1}));
    byName.leaves = {"leaf3"};
    EXPECT_NE(RefusalOf([&] {
                  nodesOf(byName);
              }).find("found 'leaf3', expected a switch that further nodes are attached to"),
              std::string::npos);
}

TEST_F(PlaceJobs, StridedJobsLeaveWhatLiesBetween)
{
    EXPECT_EQ(NodesOf(16, {Placement::Strided, 3}), (Nodes{0, 3}));
    EXPECT_EQ(NodesOf(24, {}), (Nodes{1, 2, 4}));
}

// Each of the ten seeds gives one of the 720 orders of six nodes, the same whenever it is placed;
// all ten the same would have a probability of 720^-9.
TEST_F(PlaceJobs, RandomJobsHaveEachNodeOnceByTheirSeed)
{
    const auto place = [this](uint64_t seed) {
        JobPlacer placer(m_cluster);
        return placer.Place("job", 0, {Placement::Random, 2, seed});
    };
    std::set<std::vector<GpuId>> orders;
    for (uint64_t seed = 1; seed <= 10; seed++)
    {
        const auto gpus = place(seed);
        EXPECT_EQ(place(seed), gpus);
        orders.insert(gpus);
        Nodes nodes;
        for (std::size_t i = 0; i < gpus.size(); i += 8)
        {
            nodes.push_back(m_cluster.NodeOf(gpus[i]));
        }
        std::sort(nodes.begin(), nodes.end());
        EXPECT_EQ(nodes, (Nodes{0, 1, 2, 3, 4, 5}));
    }
    EXPECT_GT(orders.size(), 1U);
}

TEST_F(PlaceJobs, ListsAreTakenAsTheyStand)
{
    EXPECT_EQ(NodesOf(0, {Placement::Nodes, 2, 0, {4, 2}}), (Nodes{4, 2}));
    EXPECT_EQ(NodesOf(2, {Placement::Gpus, 2, 0, {9, 1}}), (Nodes{1, 0}));
}

TEST_F(PlaceJobs, RefusesWhatIsTakenMissingOrTooLittle)
{
    m_placer.Place("first", 8, {});
    const auto refusal = [this](uint32_t ranks, const PlacementSpec& placement) {
        return RefusalOf([&] { m_placer.Place("second", ranks, placement); });
    };
    EXPECT_NE(refusal(8, {Placement::Nodes, 2, 0, {0}}).find("which job 'first' has"),
              std::string::npos);
    EXPECT_NE(refusal(8, {Placement::Nodes, 2, 0, {6}}).find("node 6, expected one of 0 to 5"),
              std::string::npos);
    EXPECT_NE(refusal(41, {}).find("found 40 free GPUs for job 'second', expected 41"),
              std::string::npos);
}

/** SmallScenario's job, before another one. */
const std::string TRAINING =
    "[{name: gpt, model: {base: gpt-22b, name: gpt-small, layers: 4}, steps: 2, "
    "parallel: {tensor: 8, pipeline: 2, data: 1, microBatch: 1, globalBatch: 4}}, ";

/** One setting of each kind. */
const std::string NCCL =
    "{version: 2.26.2, algorithms: ^nvls, protocols: simple, minChannels: 24, crossNic: 0, "
    "p2pLevel: PXB, bufferSize: 8MiB, queuePairs: 2, mergeNics: false, pxn: false, "
    "dimensionWise: {perDimension: [direct, ring], balanced: true, dispatch: 8/256, "
    "expertGroups: 4/8, endpointDelay: 1us}}";

/** Scenario with @p jobs, in YAML, on @p nodes nodes of an oversubscribed rail-optimized fabric. */
Scenario
Collectives(const std::string& jobs, const std::string& nodes = "4")
{
    return SmallScenario(
        {{"system.nodes", nodes},
         {"system.fabric", "{kind: rail-optimized, leafRadix: 5, oversubscription: 4}"},
         {"jobs", jobs}});
}

// Uncontended all-reduces of 400 MB on a ring of two nodes take the same time, call after call.
TEST(CollectiveJobs, UncontendedCallsTakeTheSameTime)
{
    const RunResult result = RunScenario(Collectives(
        "[{name: noise, collective: {op: all-reduce, bytes: 400MB, calls: 3}, gpus: 16}]"));
    ASSERT_EQ(result.collectives.size(), 1U);
    const auto& calls = result.collectives[0].calls;
    ASSERT_EQ(calls.size(), 3U);
    EXPECT_EQ(calls[0], calls[2]);
    EXPECT_EQ(result.measured, calls[0] * 3.0);
    // nccl-tests: 2 (n - 1) / n of the size over the time, for n = 16 ranks.
    EXPECT_NEAR(result.collectives[0].busBandwidth.ToBytesPerSecond() * calls[0].ToSeconds(),
                400e6 * 2 * 15 / 16,
                1);
    EXPECT_TRUE(result.waiting.empty());
}

// A leaf has four nodes and one uplink per rail: the jobs on nodes 0 and 1 share it, as on 4 and 5.
TEST(CollectiveJobs, JobsOnOneUplinkShareIt)
{
    const std::string one =
        "{name: a, collective: {op: all-reduce, bytes: 400MB, calls: 2}, "
        "placement: {nodes: [0, 4]}}";
    const std::string two =
        "{name: b, collective: {op: all-reduce, bytes: 400MB, calls: 2}, "
        "placement: {nodes: [1, 5]}}";
    const Time uncontended = RunScenario(Collectives("[" + one + "]", "8")).collectives[0].calls[0];
    const RunResult both = RunScenario(Collectives("[" + one + ", " + two + "]", "8"));
    EXPECT_GT(both.collectives[0].calls[0] / uncontended, 1.5);
    EXPECT_EQ(both.collectives[0].calls[0], both.collectives[1].calls[0]);
}

TEST(CollectiveJobs, CallsGoOnUntilAJobEnds)
{
    const RunResult result = RunScenario(SmallScenario(
        {{"system.nodes", "4"},
         {"jobs",
          TRAINING + "{name: noise, collective: {op: all-to-all, bytes: 16MiB}, gpus: 16, until: "
                     "gpt}]"}}));
    const Time training = result.jobs[0].steps[0] + result.jobs[0].steps[1];
    ASSERT_FALSE(result.collectives[0].calls.empty());
    Time calls;
    for (const Time call : result.collectives[0].calls)
    {
        calls += call;
    }
    EXPECT_GE(calls, training);
    EXPECT_LE(calls, training + result.collectives[0].calls.back());
}

TEST(CollectiveJobs, AStartIsATime)
{
    const RunResult result = RunScenario(Collectives(
        "[{name: a, collective: {op: broadcast, bytes: 1MB, calls: 1}, gpus: 8, start: 2s}]"));
    EXPECT_EQ(result.measured, Time::Seconds(2) + result.collectives[0].calls[0]);
}

TEST(CollectiveJobs, RefusesWithLocationFoundAndExpected)
{
    const auto refusal = [](const std::string& job) {
        return RefusalOf([&] { RunScenario(Collectives("[" + job + "]")); });
    };
    EXPECT_NE(refusal("{name: a, collective: {op: all-reduce, bytes: 1MB}}").find("calls"),
              std::string::npos);
    EXPECT_NE(refusal("{name: a, collective: {op: reduce-all, bytes: 1MB, calls: 1}}")
                  .find("expected one of: all-reduce"),
              std::string::npos);
    EXPECT_NE(refusal("{name: a, collective: {op: all-reduce, bytes: 1MB}, until: b}")
                  .find("expected the name of a job without `until`"),
              std::string::npos);
    EXPECT_NE(refusal("{name: a, collective: {op: all-reduce, bytes: 1MB, calls: 1}, gpus: 99}")
                  .find("jobs.0.gpus: found 32 free GPUs for job 'a', expected 99"),
              std::string::npos);
    // A collective of one rank takes no time and would repeat without end.
    EXPECT_NE(refusal("{name: b, collective: {op: all-reduce, bytes: 1MB, calls: 1}, "
                      "placement: {gpus: [3]}}")
                  .find("placement: found 1 free GPU for collective 'b', expected at least 2"),
              std::string::npos);
}

// A call starts when the previous call ends. A round starts one period after the previous round, or
// when that round ends if it is later. Two rounds of two calls that take less than the period of 50
// ms end one period and a round after the start.
TEST(CollectiveJobs, RoundsOfASequenceKeepTheirPeriod)
{
    const RunResult result = RunScenario(
        Collectives("[{name: a, gpus: 16, collective: {calls: 2, every: 50ms, sequence: "
                    "[{op: reduce-scatter, bytes: 400MB}, {op: all-gather, bytes: 100MB}]}}]"));
    const auto& calls = result.collectives[0].calls;
    ASSERT_EQ(calls.size(), 4U);
    EXPECT_LT(calls[0] + calls[1], Time::Milliseconds(50));
    EXPECT_GT(calls[0], calls[1]);
    EXPECT_EQ(calls[0], calls[2]);
    EXPECT_EQ(result.measured, Time::Milliseconds(50) + calls[2] + calls[3]);
    const RunResult backToBack = RunScenario(
        Collectives("[{name: a, gpus: 16, collective: {calls: 2, every: 1us, sequence: "
                    "[{op: reduce-scatter, bytes: 400MB}, {op: all-gather, bytes: 100MB}]}}]"));
    EXPECT_EQ(backToBack.measured, (calls[0] + calls[1]) * 2.0);
}

// The job that `until` names may be a collective.
TEST(CollectiveJobs, CallsGoOnUntilACollectiveEnds)
{
    const RunResult result = RunScenario(
        Collectives("[{name: a, collective: {op: all-reduce, bytes: 100MB, calls: 5}, gpus: 16},"
                    " {name: b, collective: {op: all-reduce, bytes: 10MB}, gpus: 16, until: a}]"));
    Time busy;
    for (const Time call : result.collectives[0].calls)
    {
        busy += call;
    }
    EXPECT_EQ(result.collectives[0].calls.size(), 5U);
    EXPECT_GE(result.measured, busy);
    EXPECT_LE(result.measured, busy + result.collectives[1].calls.back());
}

// NCCL_ALGO has the effect of the call's own algorithm, and NCCL_MAX_CTAS that of its own channel
// count.
TEST(CollectiveJobs, RunAsNcclIsSet)
{
    const auto run = [](const std::string& call, const std::string& nccl) {
        Scenario scenario = Collectives(
            "[{name: a, gpus: 16, collective: {op: all-reduce, bytes: "
            "400MB, calls: 1" +
            call + "}}]");
        scenario.nccl = ReadNccl(YamlNode::Parse(nccl, "nccl.yaml"));
        return RunScenario(scenario).collectives[0].calls.front();
    };
    const Time ring = run("", "{algorithms: 'allreduce:ring'}");
    EXPECT_EQ(ring, run(", algorithm: ring", "2.30.7"));
    EXPECT_EQ(run("", "{algorithms: ^ring}"), run(", algorithm: tree", "2.30.7"));
    EXPECT_NE(run("", "{algorithms: ^ring}"), ring);
    const Time narrow = run("", "{algorithms: ring, maxChannels: 4}");
    EXPECT_EQ(narrow, run(", algorithm: ring, channels: 4", "2.30.7"));
    EXPECT_GT(narrow, ring);
}

// Two nodes of eight with a ring per dimension. Four chunks are pipelined: while one crosses the
// ring of eight GPUs in a node, another crosses the ring of two nodes. A single chunk leaves one of
// the dimensions idle.
TEST(CollectiveJobs, CrossDimensionsAsTheyAreTold)
{
    const auto run = [](const std::string& settings) {
        Scenario scenario = Collectives(
            "[{name: a, gpus: 16, collective: {op: all-reduce, bytes: "
            "400MB, calls: 1, algorithm: dimension-wise}}]");
        scenario.nccl = ReadNccl(
            YamlNode::Parse("{dimensionWise: {perDimension: [ring], " + settings + "}}", "a.yaml"));
        return RunScenario(scenario).collectives[0].calls.front();
    };
    EXPECT_LT(run("chunks: 4"), run("chunks: 1"));
    EXPECT_GT(run("chunks: 4, endpointDelay: 10ms"), Time::Milliseconds(10) * 2 * (7 + 1));
}

TEST(CollectiveJobs, RefuseSettingsOfNccl)
{
    const auto refusal = [](const std::string& nccl) {
        return RefusalOf([&] { ReadNccl(YamlNode::Parse(nccl, "n.yaml")); });
    };
    EXPECT_EQ(
        refusal("{version: 1.3}"),
        "n.yaml:1:11: version: found '1.3', expected a version from 2.4.0 on, such as 2.30.7");
    EXPECT_EQ(refusal("{minChannels: 8, maxChannels: 4}"),
              "n.yaml:1:15: minChannels: found 8, expected at most the maximum, 4");
    EXPECT_EQ(refusal("{bufferSize: 9KiB}"),
              "n.yaml:1:14: bufferSize: found '9KiB', expected a multiple of 8 KiB up to 1 GiB");
    EXPECT_EQ(
        refusal("{dimensionWise: {expertGroups: 4/8}}"),
        "n.yaml:1:32: dimensionWise.expertGroups: found it without a dispatch, expected both");
    EXPECT_EQ(refusal("{dimensionWise: {dispatch: 8/256, expertGroups: 4/8, direct: true}}"),
              "n.yaml:1:62: dimensionWise.direct: found it with expertGroups, which do not change "
              "it, expected one of both");
    EXPECT_EQ(refusal("{dimensionWise: {dispatch: 9/8}}"),
              "n.yaml:1:28: dimensionWise.dispatch: found '9/8', expected a part of all, such as "
              "8/256, up to 1048576");
    EXPECT_NE(refusal("{algorithms: 'rings'}").find("n.yaml:1:14: algorithms: found 'rings'"),
              std::string::npos);
    EXPECT_NE(refusal("{crosNic: 1}").find("crossNic"), std::string::npos);
}

// A written scenario reads back as the same scenario.
TEST(CollectiveJobs, AreWrittenAsTheyAreRead)
{
    Scenario scenario = Collectives(
        "[{name: a, collective: {op: all-to-all, bytes: 64MiB, calls: 7, algorithm: "
        "dimension-wise, channels: 4}, gpus: 8, start: 1ms, "
        "placement: {kind: random, seed: 3}},"
        " {name: b, collective: {op: all-gather, bytes: 1MB, calls: 1}, placement: {nodes: [3]}},"
        " {name: c, placement: {leaves: [leaf0]}, until: b, collective: {every: 1ms, sequence:"
        " [{op: all-reduce, bytes: 1MB}, {op: broadcast, bytes: 2MB}]}},"
        " {name: d, placement: across-leaves, until: b, collective: {op: send, bytes: 1B}}]");
    scenario.nccl = ReadNccl(YamlNode::Parse(NCCL, "nccl.yaml"));
    const std::string text = DumpScenario(scenario);
    for (const char* part : {"algorithms: ^nvls",
                             "crossNic: 0",
                             "p2pLevel: PXB",
                             "dispatch: 8/256",
                             "- direct",
                             "minChannels: 24",
                             "algorithm: dim"})
    {
        EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
    }
    const Scenario again = ReadScenario(YamlNode::Parse(text, "dumped.yaml"),
                                        Catalog({std::string(WEIR_SOURCE_DIR) + "/scenarios"}));
    EXPECT_EQ(DumpScenario(again), text);
    EXPECT_EQ(again.collectives.size(), 4U);
    scenario.nccl =
        ReadNccl(YamlNode::Parse("{dimensionWise: {dispatch: 8/256, direct: true}}", "nccl.yaml"));
    const std::string direct = DumpScenario(scenario);
    EXPECT_NE(direct.find("direct: true"), std::string::npos);
    EXPECT_EQ(DumpScenario(ReadScenario(YamlNode::Parse(direct, "dumped.yaml"),
                                        Catalog({std::string(WEIR_SOURCE_DIR) + "/scenarios"}))),
              direct);
}

// A flow of 100 GB, five times: the link carries 500 GB.
TEST(RecurringEvents, HappenAsOftenAsTheySay)
{
    const auto carried = [](const std::string& events) {
        const RunResult result = RunScenario(SmallScenario(
            {{"system.nodes", "3"},
             {"events", events},
             {"jobs",
              TRAINING + "{name: late, collective: {op: broadcast, bytes: 1MB, calls: 1}, "
                         "start: 10s, placement: {gpus: [16, 17]}}]"}}));
        return result.busiestLinks.front().bytes.ToDouble();
    };
    const std::string flow =
        "{kind: background, from: node2/gpu7, to: node2/gpu6, bytes: 100GB, at: 1s";
    EXPECT_NEAR(carried("[" + flow + ", every: 1s, times: 5}]"), 5e11, 1);
    EXPECT_NEAR(carried("[" + flow + "}]"), 1e11, 1);
}

} // namespace
} // namespace weir

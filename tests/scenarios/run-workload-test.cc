// SPDX-License-Identifier: GPL-2.0-only
#include "refusal.h"
#include "trace-samples.h"
#include "weir-command.h"

#include "scenarios/readers/read-scenario.h"
#include "scenarios/simulation/run-scenario.h"
#include "scenarios/traces/import-traces.h"
#include "scenarios/workload/workload-file.h"
#include "scenarios/writers/write-scenario.h"
#include "scenarios/yaml/yaml-node.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <numeric>
#include <zlib.h>

/**
 * @file
 * Imported workloads as jobs of a scenario in every fidelity, and the command that imports them.
 */
namespace weir
{
namespace
{

/**
 * Folder with a workload made of @p files, and scenarios that run it on two nodes of eight H100.
 */
class PlayedWorkload
{
  public:
    explicit PlayedWorkload(const std::vector<TraceBytes>& files, const TraceOptions& options = {})
    {
        std::vector<TraceFile> traces;
        for (const TraceBytes& file : files)
        {
            traces.push_back(ReadTrace(file, options));
        }
        std::ofstream(m_folder / "w.json") << ToText(MakeWorkload(MatchCalls(traces, options)));
    }

    Scenario Read(const std::string& fidelity = "stream", const std::string& job = "") const
    {
        const YamlNode node = YamlNode::Parse(
            "title: a trace\n"
            "system: {base: hgx-h100, nodes: 2}\n"
            "jobs: [{name: trace, workload: w.json" +
                job + "}]\nnetwork: {fidelity: " + fidelity + "}\n",
            m_folder / "run.yaml");
        return ReadScenario(node, Catalog({std::string(WEIR_SOURCE_DIR) + "/scenarios"}));
    }

    RunResult Run(const std::string& fidelity = "stream", const std::string& job = "") const
    {
        return RunScenario(Read(fidelity, job));
    }

  private:
    ScratchFolder m_folder;
};

double
MicrosecondsOf(const RunResult& result)
{
    return result.jobs.at(0).stepTime.ToMicroseconds();
}

/** Time of an all-reduce of @p bytes over the first four GPUs, in microseconds. */
double
AllReduceTime(const std::string& fidelity, int64_t bytes)
{
    const YamlNode node = YamlNode::Parse(
        "title: a call\nsystem: {base: hgx-h100, nodes: 2}\njobs: [{name: call, gpus: 4, "
        "collective: "
        "{op: all-reduce, bytes: " +
            std::to_string(bytes) + "B, calls: 1}}]\nnetwork: {fidelity: " + fidelity + "}\n",
        "call.yaml");
    const Scenario scenario =
        ReadScenario(node, Catalog({std::string(WEIR_SOURCE_DIR) + "/scenarios"}));
    return RunScenario(scenario).collectives.at(0).calls.at(0).ToMicroseconds();
}

TEST(RunWorkload, AStepIsItsComputeAndTheCollectiveOfTheFidelity)
{
    const PlayedWorkload workload({{"a.0.et", ChakraStep(1 << 20)},
                                   {"a.1.et", ChakraStep(1 << 20)},
                                   {"a.2.et", ChakraStep(1 << 20)},
                                   {"a.3.et", ChakraStep(1 << 20)}});
    for (const std::string fidelity : {"analytical", "stream", "flow", "packet"})
    {
        EXPECT_NEAR(
            MicrosecondsOf(workload.Run(fidelity)), 10 + AllReduceTime(fidelity, 1 << 20), 1e-6)
            << fidelity;
    }
    EXPECT_GT(MicrosecondsOf(workload.Run("auto")), 10);
}

// Kernels of 20 us and 5.5 us with the collective between them. Their launches at 0, 5 and 6 us
// precede their starts and add no time.
TEST(RunWorkload, KernelsTakeTheirRecordedTimes)
{
    const PlayedWorkload workload(
        {{"a.json", KinetoTrace(0, KINETO_CALL)}, {"b.json", KinetoTrace(1, KINETO_CALL)}});
    const RunResult result = workload.Run();
    const double compute = result.jobs[0]
                               .ranks[0]
                               .spent[static_cast<std::size_t>(TimeCategory::Compute)]
                               .ToMicroseconds();
    EXPECT_NEAR(compute, 25.5, 1e-6);
    const double data = result.jobs[0]
                            .ranks[0]
                            .spent[static_cast<std::size_t>(TimeCategory::Data)]
                            .ToMicroseconds();
    EXPECT_NEAR(MicrosecondsOf(result), compute + data, 1e-6);
    EXPECT_TRUE(result.jobs[0].isWorkload);
}

TEST(RunWorkload, StepsRepeatIt)
{
    const PlayedWorkload workload({TraceBytes{"rows.csv", AICB_ROWS}});
    const RunResult result = workload.Run("stream", ", steps: 3");
    ASSERT_EQ(result.jobs[0].steps.size(), 3U);
    EXPECT_EQ(result.jobs[0].steps[0], result.jobs[0].steps[2]);
}

// Rank 0 receives, then computes for 700 ns; each rank's time is accounted in full.
TEST(RunWorkload, SendsAndReceivesRun)
{
    const PlayedWorkload workload({TraceBytes{"a.goal", GOAL_PAIR}});
    const RunResult result = workload.Run("flow");
    EXPECT_GT(MicrosecondsOf(result), 0.7);
    ASSERT_EQ(result.jobs[0].ranks.size(), 2U);
    for (const RankBreakdown& rank : result.jobs[0].ranks)
    {
        EXPECT_EQ(std::accumulate(rank.spent.begin(), rank.spent.end(), Time()),
                  result.jobs[0].stepTime);
    }
}

// 1e9 FLOPs and 1e9 bytes on an H100 SXM: the bytes at 3.35e12 B/s of HBM3 (datasheet) take longer.
TEST(RunWorkload, ARooflineTakesTheLongerOfFlopsAndBytes)
{
    const PlayedWorkload workload(
        {TraceBytes{"a.0.et",
                    ChakraFile({{1,
                                 "gemm",
                                 4,
                                 7,
                                 {},
                                 {ChakraAttributeOf("num_ops", 1'000'000'000),
                                  ChakraAttributeOf("tensor_size", 1'000'000'000)}}})}});
    EXPECT_NEAR(MicrosecondsOf(workload.Run()), 7, 1e-9);
    const Scenario scenario = workload.Read("stream", ", compute: roofline");
    EXPECT_NEAR(MicrosecondsOf(workload.Run("stream", ", compute: roofline")),
                1e9 / scenario.gpu.memoryRate.ToBytesPerSecond() * 1e6,
                1e-3);
}

// 989.4e12 FLOPs in bf16 take an H100 SXM one second: its datasheet rate, at 1830 of 1980 MHz.
TEST(RunWorkload, ARooflineHasTheDatasheetsPeak)
{
    const PlayedWorkload workload(
        {TraceBytes{"a.0.et",
                    ChakraFile({{1,
                                 "gemm",
                                 4,
                                 7,
                                 {},
                                 {ChakraAttributeOf("num_ops", 989'400'000'000),
                                  ChakraAttributeOf("tensor_size", 1)}}})}});
    EXPECT_NEAR(MicrosecondsOf(workload.Run("stream", ", compute: roofline")), 1000, 0.1);
}

TEST(RunWorkload, ItsScenarioIsTheSameWrittenAndRead)
{
    const PlayedWorkload workload({TraceBytes{"rows.csv", AICB_ROWS}});
    const Scenario scenario =
        workload.Read("stream", ", compute: roofline, precision: fp16, steps: 2, start: 1ms");
    const std::string text = DumpScenario(scenario);
    const Scenario again = ReadScenario(YamlNode::Parse(text, "again.yaml"),
                                        Catalog({std::string(WEIR_SOURCE_DIR) + "/scenarios"}));
    EXPECT_EQ(DumpScenario(again), text);
}

TEST(RunWorkload, MoreRanksThanGpusAreRefused)
{
    TraceOptions options;
    options.ranks = 17;
    const PlayedWorkload workload({TraceBytes{"a.0.et", ChakraStep(8)}}, options);
    EXPECT_NE(RefusalOf([&] { workload.Read(); }).find("= 17 GPUs, expected at most 16"),
              std::string::npos);
}

TEST(RunWorkload, KeysOfTrainingAreRefused)
{
    const PlayedWorkload workload({TraceBytes{"rows.csv", AICB_ROWS}});
    EXPECT_NE(
        RefusalOf([&] { workload.Read("stream", ", parallel: {tensor: 2}"); }).find("parallel"),
        std::string::npos);
    EXPECT_NE(RefusalOf([&] { workload.Read("stream", ", precision: fp16"); }).find("precision"),
              std::string::npos);
}

void
WriteFile(const std::string& path, const std::string& bytes)
{
    std::ofstream(path, std::ios::binary) << bytes;
}

/** @p bytes compressed by gzip. */
std::string
Gzip(const std::string& path, const std::string& bytes)
{
    gzFile file = gzopen(path.c_str(), "wb");
    gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(file);
    return ScratchFolder::Read(path);
}

TEST(ImportCommand, MakesAWorkloadThatRunPlays)
{
    const ScratchFolder folder;
    WriteFile(folder / "a.0.et", ChakraStep(4096));
    WriteFile(folder / "a.1.et", ChakraStep(4096));
    const Outcome made = Weir(folder, "import a.0.et a.1.et -o w.json");
    EXPECT_EQ(made.exit, 0) << made.err;
    EXPECT_NE(made.out.find("2 ranks, 1 program of 2 operations, 1 group\n"), std::string::npos)
        << made.out;
    WriteFile(folder / "run.yaml",
              "title: a trace\nsystem: {base: hgx-h100, nodes: 1}\n"
              "jobs: [{name: trace, workload: w.json}]\n");
    const Outcome run = Weir(folder, "run run.yaml -o out.h5 --timeline out.json --json");
    EXPECT_EQ(run.exit, 0) << run.err;
    const auto result = nlohmann::json::parse(run.out);
    EXPECT_GT(result["step_time_s"].get<double>(), 10e-6);
    EXPECT_TRUE(result["tokens_per_s"].is_null());
    EXPECT_NE(ScratchFolder::Read(folder / "out.json").find("\"layer\""), std::string::npos);
    const Outcome shown = Weir(folder, "run run.yaml");
    EXPECT_NE(shown.out.find("2 ranks of an imported workload"), std::string::npos) << shown.out;
    const Outcome graph = Weir(folder, "graph run.yaml");
    EXPECT_EQ(graph.exit, 0) << graph.err;
    EXPECT_NE(graph.out.find("all-reduce"), std::string::npos) << graph.out;
}

// Both ranks send first and receive after it on the same stream: neither send has a matching
// receive.
TEST(ImportCommand, ARunThatCannotFinishSaysWhoWaits)
{
    const ScratchFolder folder;
    WriteFile(folder / "w.json", R"({"format": "weir-workload", "version": 1, "sources": [],
"remarks": [], "labels": ["there", "back"], "slots": ["send", "recv"], "groups": [[0, 1], [1, 0]],
"splits": [], "ranks": [{"program": 0, "groups": [0, 1]}, {"program": 0, "groups": [1, 0]}],
"programs": [{"stage": 0, "ops": [
{"do": "send", "label": 0, "group": 0, "bytes": 8, "stream": "pipeline-send"},
{"do": "recv", "label": 1, "group": 1, "bytes": 8, "stream": "pipeline-send"}]}]})");
    WriteFile(folder / "run.yaml",
              "title: a knot\nsystem: {base: hgx-h100, nodes: 1}\n"
              "jobs: [{name: trace, workload: w.json}]\n");
    const Outcome outcome = Weir(folder, "run run.yaml");
    EXPECT_EQ(outcome.exit, 1);
    const std::string said = outcome.out + outcome.err;
    EXPECT_NE(said.find("rank 0 waits in 'there'"), std::string::npos) << said;
    EXPECT_NE(said.find("rank 1"), std::string::npos) << said;
}

TEST(ImportCommand, CheckListsWhatHoldsNoTrace)
{
    const ScratchFolder folder;
    WriteFile(
        folder / "log.txt",
        "host:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\n"
        "[tag] host:1:2 [0] NCCL INFO Channel 01/0 : 3[0] -> 0[0] [send] via NET/IB/0/GDRDMA\n"
        "NCCL INFO comm 0x5 rank 0 nranks 16 cudaDev 0 busId 7000 - Init COMPLETE\n");
    const Outcome outcome = Weir(folder, "import log.txt --check");
    EXPECT_EQ(outcome.exit, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("1 connections via NET/IB/*/GDRDMA"), std::string::npos)
        << outcome.out;
    EXPECT_NE(outcome.out.find("1 ranks initialized in communicators of 16"), std::string::npos);
    WriteFile(folder / "all_reduce_perf.csv", "size_bytes,time_us\n8,10.5\n16,11\n");
    const Outcome tests = Weir(folder, "import all_reduce_perf.csv --check");
    EXPECT_EQ(tests.exit, 0) << tests.err;
    EXPECT_NE(tests.out.find("all-reduce: 2 sizes, 8 B in 10.50 us to 16 B in 11.00 us"),
              std::string::npos)
        << tests.out;
}

TEST(ImportCommand, CheckCountsWhatAFileHolds)
{
    const ScratchFolder folder;
    WriteFile(folder / "a.0.et.gz", Gzip(folder / "t.gz", ChakraStep(4096)));
    const Outcome outcome = Weir(folder, "import a.0.et.gz --check --json");
    EXPECT_EQ(outcome.exit, 0) << outcome.err;
    const auto counts = nlohmann::json::parse(outcome.out).at(0);
    EXPECT_EQ(counts["nodes"], 2);
    EXPECT_EQ(counts["kernels"], 2);
    EXPECT_EQ(counts["calls"][0]["op"], "all-reduce");
    EXPECT_EQ(counts["calls"][0]["bytes_in"], 4096);
    WriteFile(folder / "a.1.et", ChakraStep(4095));
    const Outcome mismatch = Weir(folder, "import a.0.et.gz a.1.et --check");
    EXPECT_EQ(mismatch.exit, 1);
    EXPECT_NE(mismatch.out.find("a.1.et: node 1: found all-reduce of 4095 B"), std::string::npos)
        << mismatch.out;
}

TEST(ImportCommand, RefusalsAreOneLineAndLeaveNoFile)
{
    const ScratchFolder folder;
    WriteFile(folder / "a.0.et", ChakraStep(4096).substr(0, 40));
    WriteFile(folder / "b.txt", "nothing");
    WriteFile(folder / "c.goal", GOAL_PAIR);
    for (const std::string arguments : {"import a.0.et -o w.json",
                                        "import b.txt --check",
                                        "import missing.et --check",
                                        "import c.goal",
                                        "import c.goal -o c.goal",
                                        "import c.goal -o b.txt",
                                        "import c.goal --ranks 4 -o w.json",
                                        "import a.0.et --to goal-text -o w.goal"})
    {
        const Outcome outcome = Weir(folder, arguments);
        EXPECT_EQ(outcome.exit, 2) << arguments << outcome.err;
        EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
        EXPECT_EQ(folder.Files(), 3U) << arguments;
    }
    EXPECT_EQ(ScratchFolder::Read(folder / "b.txt"), "nothing");
}

TEST(ImportCommand, GoalIsConvertedInBothDirections)
{
    const ScratchFolder folder;
    WriteFile(folder / "a.goal", GOAL_PAIR);
    EXPECT_EQ(Weir(folder, "import a.goal --to goal-binary -o a.bin").exit, 0);
    EXPECT_EQ(Weir(folder, "import a.bin --to goal-text -o b.goal").exit, 0);
    EXPECT_EQ(ScratchFolder::Read(folder / "b.goal"), GOAL_PAIR);
}

} // namespace
} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "refusal.h"
#include "scenarios/machine/machine-runs.h"
#include "scenarios/machine/nccl-tests-file.h"
#include "scratch-folder.h"

#include <fstream>
#include <gtest/gtest.h>

namespace weir
{
namespace
{

/** Writes @p text to a file and reads it. */
std::vector<NcclTestsRun>
Read(const std::string& text, const std::string& name = "log.txt")
{
    const ScratchFolder folder;
    std::ofstream(folder / name) << text;
    return ReadNcclTests(folder / name);
}

const char* const NEW_TEXT = R"([1,0]<stdout>:# Collective test starting: all_gather_perf
[1,0]<stdout>:# nccl-tests version 2.17.6 nccl-headers=22809 nccl-library=22602
[1,0]<stdout>:# nThread 1 nGpus 1 minBytes 8 maxBytes 128 step: 2(factor) warmup iters: 5
[1,0]<stdout>:# Using devices
[1,0]<stdout>:#  Rank  0 Group  0 Pid 11 on   nodeA device  0 [0x18] NVIDIA H100 80GB HBM3
[1,0]<stdout>:#  Rank  1 Group  0 Pid 12 on   nodeA device  1 [0x2a] NVIDIA H100 80GB HBM3
[1,0]<stdout>:#  Rank  2 Group  0 Pid 11 on   nodeB device  0 [0x18] NVIDIA H100 80GB HBM3
[1,0]<stdout>:#  Rank  3 Group  0 Pid 12 on   nodeB device  1 [0x2a] NVIDIA H100 80GB HBM3
[1,0]<stdout>:#
[1,0]<stdout>:#                                                  out-of-place                in-place
[1,0]<stdout>:#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
[1,0]<stdout>:#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
[1,0]<stdout>:            0             0     float    none      -1     0.10    0.00    0.00      0     0.10    0.00    0.00      0
[1,0]<stdout>:           64             4     float    none      -1    13.50    0.00    0.00      0    12.90    0.00    0.00      0
[1,0]<stdout>:          128             8     float    none      -1    14.25    0.01    0.01      0    14.10    0.01    0.01    N/A
[1,0]<stdout>:# Out of bounds values : 0 OK
[1,0]<stdout>:# Avg bus bandwidth    : 0.005
)";

/**
 * MPI tags and empty calls are skipped; the header names the columns; the device lines give the
 * nodes.
 */
TEST(NcclTestsFile, ReadsTextByItsHeader)
{
    const auto runs = Read(NEW_TEXT);
    ASSERT_EQ(runs.size(), 1);
    const NcclTestsRun& run = runs.front();
    EXPECT_EQ(run.op, CollectiveOp::AllGather);
    EXPECT_EQ(run.ncclVersion, "2.26.2");
    EXPECT_EQ(run.nodes, 2U);
    EXPECT_EQ(run.gpusPerNode, 2U);
    EXPECT_EQ(run.launch, LaunchMode::ProcessPerGpu);
    EXPECT_EQ(run.sizes, (std::vector<Bytes>{Bytes(64), Bytes(128)}));
    EXPECT_DOUBLE_EQ(run.seconds[0], 13.5e-6);
    EXPECT_DOUBLE_EQ(run.seconds[1], 14.25e-6);
}

/**
 * Output before 2.11 has no root column and calls the last column error; one process has two GPUs.
 */
TEST(NcclTestsFile, ReadsOldText)
{
    const auto runs = Read(
        "# nThread 1 nGpus 2 minBytes 8 maxBytes 8\n"
        "#   Rank  0 Pid  7 on   box device  0 [0x00] A100\n"
        "#   Rank  1 Pid  7 on   box device  1 [0x01] A100\n"
        "#       size  count   type  redop  time  algbw  busbw  error  time\n"
        "#        (B)  (elements)            (us)\n"
        "          8      2  float    sum   8.61   0.00   0.00  N/A   8.40\n",
        "all_reduce_perf.log");
    ASSERT_EQ(runs.size(), 1);
    EXPECT_EQ(runs[0].op, CollectiveOp::AllReduce); // from the file name
    EXPECT_EQ(runs[0].launch, LaunchMode::OneProcess);
    EXPECT_EQ(runs[0].gpusPerNode, 2U);
    EXPECT_DOUBLE_EQ(runs[0].seconds.front(), 8.61e-6);
}

/** nccl-tests -t 2: one process with a thread per GPU. */
TEST(NcclTestsFile, ReadsThreads)
{
    const auto runs = Read(
        "# nThread 2 nGpus 1 minBytes 8 maxBytes 8\n"
        "#  Rank  0 Group  0 Pid  7 on  box device  0 [0x00] A100\n"
        "#  Rank  1 Group  0 Pid  7 on  box device  1 [0x01] A100\n"
        "#       size  count   type  redop  root  time  algbw  busbw  #wrong\n"
        "          8      2  float    sum    -1   8.61   0.00   0.00       0\n",
        "all_reduce_perf.log");
    ASSERT_EQ(runs.size(), 1);
    EXPECT_EQ(runs[0].launch, LaunchMode::Threads);
    EXPECT_EQ(runs[0].gpusPerNode, 2U);
}

/** Consecutive runs in one file are separate runs. */
TEST(NcclTestsFile, ReadsSeveralRunsOfAFile)
{
    std::string text = NEW_TEXT;
    std::string other = NEW_TEXT;
    other.replace(other.find("all_gather"), 10, "all_reduce");
    const auto runs = Read(text + other);
    ASSERT_EQ(runs.size(), 2);
    EXPECT_EQ(runs[0].op, CollectiveOp::AllGather);
    EXPECT_EQ(runs[1].op, CollectiveOp::AllReduce);
    EXPECT_EQ(runs[1].nodes, 2U);
}

/** A run that breaks off has no footer; the next one begins with its operation or settings. */
TEST(NcclTestsFile, ReadsARunBehindOneThatBrokeOff)
{
    const std::string whole = NEW_TEXT;
    const std::string cut = whole.substr(0, whole.find("[1,0]<stdout>:# Out of"));
    std::string other = whole;
    other.replace(other.find("all_gather"), 10, "all_reduce");
    other.replace(other.find("13.50"), 5, "99.50");
    const auto runs = Read(cut + "all_gather_perf: killed by signal 15\n" + other);
    ASSERT_EQ(runs.size(), 2);
    EXPECT_EQ(runs[0].op, CollectiveOp::AllGather);
    EXPECT_DOUBLE_EQ(runs[0].seconds.front(), 13.5e-6);
    EXPECT_EQ(runs[1].op, CollectiveOp::AllReduce);
    EXPECT_DOUBLE_EQ(runs[1].seconds.front(), 99.5e-6);
    for (const NcclTestsRun& run : runs)
    {
        EXPECT_EQ(run.nodes, 2U);
        EXPECT_EQ(run.gpusPerNode, 2U);
        EXPECT_EQ(run.sizes.size(), 2U);
        EXPECT_EQ(run.ncclVersion, "2.26.2");
    }
    // A name within a run that goes on is not the next run's.
    const auto named = Read(cut + "all_gather_perf: slow\n" + whole.substr(cut.size()) + other);
    ASSERT_EQ(named.size(), 2);
    EXPECT_EQ(named[1].op, CollectiveOp::AllReduce);
    // Without the first line, which older versions lack, the file's name has the operation.
    const auto unnamed = Read(cut + other.substr(other.find('\n') + 1));
    ASSERT_EQ(unnamed.size(), 2);
    EXPECT_EQ(unnamed[0].op, CollectiveOp::AllGather);
    EXPECT_FALSE(unnamed[1].op);
    EXPECT_DOUBLE_EQ(unnamed[1].seconds.front(), 99.5e-6);
}

/** The ranks of a run that broke off before its times are not of the next one. */
TEST(NcclTestsFile, ReadsARunBehindOneWithoutTimes)
{
    const std::string whole = NEW_TEXT;
    const std::string cut = whole.substr(0, whole.find("[1,0]<stdout>:            0 "));
    const auto runs = Read(cut + whole);
    ASSERT_EQ(runs.size(), 1);
    EXPECT_EQ(runs[0].nodes, 2U);
    EXPECT_EQ(runs[0].gpusPerNode, 2U);
}

/** A run that nothing names before its times has the names behind them, with or without a footer.
 */
TEST(NcclTestsFile, TakesNamesBehindTheTimesOfTheLastRun)
{
    const std::string whole = NEW_TEXT;
    const std::size_t settings = whole.find("[1,0]<stdout>:# nThread");
    const std::size_t footer = whole.find("[1,0]<stdout>:# Out of");
    const std::string times = whole.substr(settings, footer - settings);
    const std::string names = "[1,0]<stderr>:NCCL version 2.18.3+cuda12.2\nall_gather_perf: done\n";
    for (const std::string& text : {times + names + whole.substr(footer), times + names})
    {
        const auto runs = Read(text);
        ASSERT_EQ(runs.size(), 1);
        EXPECT_EQ(runs[0].op, CollectiveOp::AllGather);
        EXPECT_EQ(runs[0].ncclVersion, "2.18.3");
    }
}

TEST(NcclTestsFile, ReadsJson)
{
    const auto runs =
        Read(R"({"version": "2.17.6", "args": ["./build/reduce_scatter_perf", "-b", "8"],
        "nccl_version": "22907",
        "devices": [{"rank": 0, "pid": 5, "hostname": "a", "device": 0},
                    {"rank": 1, "pid": 6, "hostname": "b", "device": 0}],
        "results": [{"size": 1024, "out_of_place": {"time": 21.5}, "in_place": {"time": 20}},
                    {"size": 512, "out_of_place": {"time": 20.5}}]})");
    ASSERT_EQ(runs.size(), 1);
    EXPECT_EQ(runs[0].op, CollectiveOp::ReduceScatter);
    EXPECT_EQ(runs[0].ncclVersion, "2.29.7");
    EXPECT_EQ(runs[0].nodes, 2U);
    EXPECT_EQ(runs[0].gpusPerNode, 1U);
    EXPECT_EQ(runs[0].sizes.front(), Bytes(512)); // ascending
    EXPECT_DOUBLE_EQ(runs[0].seconds.front(), 20.5e-6);
}

/** Blank lines, of Windows as well, and an empty last field are as good as elsewhere. */
TEST(NcclTestsFile, ReadsCsvWithBlankLinesAndEmptyFields)
{
    for (const std::string end : {"\n", "\r\n"})
    {
        const auto runs = Read("size_bytes,time_us,in_place" + end + "8,19.5," + end + end +
                                   " # a remark" + end + "16,20.5,0" + end + "16,1,1" + end,
                               "all_reduce_1x8.csv");
        ASSERT_EQ(runs.size(), 1);
        EXPECT_EQ(runs[0].sizes, (std::vector<Bytes>{Bytes(8), Bytes(16)}));
        EXPECT_DOUBLE_EQ(runs[0].seconds[0], 19.5e-6);
        EXPECT_DOUBLE_EQ(runs[0].seconds[1], 20.5e-6);
    }
}

/** A comma at the end of each row, without a column of its own, as awk's printf leaves it. */
TEST(NcclTestsFile, ReadsCsvWithCommasAtEndsOfRows)
{
    for (const std::string header : {"size,time", "size,time,"})
    {
        const auto runs = Read(header + "\n8,19.5,\n16,20.5,\n", "all_reduce_1x8.csv");
        ASSERT_EQ(runs.size(), 1);
        EXPECT_EQ(runs[0].sizes, (std::vector<Bytes>{Bytes(8), Bytes(16)}));
    }
}

/** One run per operation, in-place times skipped; the file name gives nodes and GPUs per node. */
TEST(NcclTestsFile, ReadsCsv)
{
    const auto runs = Read(
        "collective,size_bytes,time_us,algbw_GBps,busbw_GBps,in_place\n"
        "all_reduce,8,19.8,0,0,0\n"
        "all_reduce,8,11.1,0,0,1\n"
        "alltoall,16,30,0,0,0\n",
        "polaris_n002x4.csv");
    ASSERT_EQ(runs.size(), 2);
    EXPECT_EQ(runs[0].op, CollectiveOp::AllReduce);
    EXPECT_DOUBLE_EQ(runs[0].seconds.front(), 19.8e-6);
    EXPECT_EQ(runs[1].op, CollectiveOp::AllToAll);
    EXPECT_EQ(runs[1].nodes, 2U);
    EXPECT_EQ(runs[1].gpusPerNode, 4U);
}

/** Python writes True and False. The first time of a size counts, so a row read wrongly shows. */
TEST(NcclTestsFile, InPlaceRowsOfACsvAreSkippedInWordsToo)
{
    for (const auto& [inPlace, outOfPlace] :
         {std::pair("True", "False"), std::pair("yes", "no"), std::pair("1", "")})
    {
        const auto runs = Read(std::string("size,in_place,time\n") + "8," + inPlace + ",11.1\n8," +
                               outOfPlace + ",19.8\n");
        ASSERT_EQ(runs.size(), 1) << inPlace;
        EXPECT_DOUBLE_EQ(runs[0].seconds.front(), 19.8e-6) << inPlace;
    }
}

/** The longest match counts: reduce_scatter is not reduce. */
TEST(NcclTestsFile, FindsOperations)
{
    EXPECT_EQ(FindCollectiveOp("./build/reduce_scatter_perf"), CollectiveOp::ReduceScatter);
    EXPECT_EQ(FindCollectiveOp("AllReduce"), CollectiveOp::AllReduce);
    EXPECT_EQ(FindCollectiveOp("sendrecv_perf"), CollectiveOp::SendRecv);
    EXPECT_FALSE(FindCollectiveOp("hypercube_perf").has_value());
}

TEST(NcclTestsFile, RefusesWithTheLocation)
{
    const auto refusal = [](const std::string& text) { return RefusalOf([&] { Read(text); }); };
    EXPECT_NE(refusal("hello\n").find("log.txt: found no times, expected output of nccl-tests"),
              std::string::npos);
    EXPECT_NE(refusal("size,time\n8,fast\n").find("log.txt:2: time: found 'fast'"),
              std::string::npos);
    EXPECT_NE(refusal("size,time\n8\n").find("log.txt:2: found 1 fields, expected 2"),
              std::string::npos);
    EXPECT_NE(refusal("size,time,in_place\n8,1,maybe\n").find("log.txt:2: in_place: found 'maybe'"),
              std::string::npos);
    EXPECT_NE(refusal("size,time\n-8,1\n").find("log.txt:2: size: found '-8'"), std::string::npos);
    EXPECT_NE(refusal("size,time,op\n8,1,hello\n").find("found 'hello', expected a collective"),
              std::string::npos);
    EXPECT_NE(refusal("# size time\n 8 1\n 1x6 2\n").find("log.txt:3: size: found '1x6'"),
              std::string::npos);
    // Without its cell, the time would be the next one: a bandwidth.
    EXPECT_NE(refusal("# size type time algbw\n 8 float 1 2\n 16 float 2\n")
                  .find("log.txt:3: found 3 fields, expected 4 as the table's header has"),
              std::string::npos);
    EXPECT_NE(refusal("size,time,size\n8,1,9\n").find("log.txt:1: found the column 'size' twice"),
              std::string::npos);
    EXPECT_NE(refusal("{\"a\": 1}").find("JSON without `results`"), std::string::npos);
    EXPECT_NE(refusal("#  Rank 0 Pid 1 on a device 0\n#  Rank 1 Pid 2 on a device 1\n"
                      "#  Rank 2 Pid 1 on b device 0\n# size time\n 8 1\n")
                  .find("found 2 ranks on a and 1 on b"),
              std::string::npos);
}

TEST(MachineRuns, ArgumentsHaveSettings)
{
    const RunArgument plain = ParseRunArgument("runs/a.csv");
    EXPECT_EQ(plain.file, "runs/a.csv");
    const RunArgument argument = ParseRunArgument("C:runs/a.csv:nodes=2,op=all-gather");
    EXPECT_EQ(argument.file, "C:runs/a.csv");
    EXPECT_EQ(argument.settings, (RunSettings{{"nodes", "2"}, {"op", "all-gather"}}));
    EXPECT_NE(RefusalOf([] { ParseRunArgument("a.csv:node=2"); }).find("did you mean 'nodes'"),
              std::string::npos);
}

/**
 * Settings of the argument override those of the file name, and the file overrides the defaults.
 */
TEST(MachineRuns, TheNearestSays)
{
    const ScratchFolder folder;
    std::ofstream(folder / "8x8.csv") << "size_bytes,time_us,op\n8,10,all_gather\n";
    const auto named = ReadMachineRuns({folder / "8x8.csv", {{"nodes", "4"}}},
                                       "hgx-h100",
                                       {{"gpusPerNode", "2"}, {"nccl", "2.21.5"}},
                                       Catalog());
    EXPECT_EQ(named[0].sweep.cluster.nodes, 4);
    EXPECT_EQ(named[0].sweep.gpusPerNode, 8);
    std::ofstream(folder / "a.txt") << NEW_TEXT;
    const auto runs = ReadMachineRuns({folder / "a.txt", {{"nodes", "2"}}},
                                      "hgx-h100",
                                      {{"nccl", "2.21.5"}, {"gpusPerNode", "8"}},
                                      Catalog());
    ASSERT_EQ(runs.size(), 1);
    EXPECT_EQ(runs[0].sweep.cluster.nodes, 2);
    EXPECT_EQ(runs[0].sweep.gpusPerNode, 2);
    EXPECT_EQ(runs[0].sweep.nccl.version, "2.26.2");
}

TEST(MachineRuns, RefusesWhatNothingSays)
{
    const ScratchFolder folder;
    std::ofstream(folder / "a.csv") << "size_bytes,time_us\n8,10\n";
    const auto read = [&](const RunSettings& defaults) {
        ReadMachineRuns({folder / "a.csv", {}}, "hgx-h100", defaults, Catalog());
    };
    EXPECT_NE(RefusalOf([&] {
                  read({{"nodes", "2"}});
              }).find("found no op in it, expected --op"),
              std::string::npos);
    EXPECT_NE(RefusalOf([&] {
                  read({{"op", "all-reduce"}});
              }).find("found no nodes in it"),
              std::string::npos);
}

TEST(MachineRuns, RefusesWhatTheFileContradicts)
{
    const ScratchFolder folder;
    const std::string file = folder / "a.txt";
    const auto refusal = [&](const std::string& text, const RunSettings& asked) {
        std::ofstream(file) << text;
        return RefusalOf([&] { ReadMachineRuns({file, asked}, "hgx-h100", {}, Catalog()); });
    };
    EXPECT_EQ(refusal(NEW_TEXT, {{"nodes", "4"}}),
              file + ":5: found nodes 2, expected the 4 of --from " + file + ":nodes=4");
    EXPECT_EQ(refusal(NEW_TEXT, {{"gpusPerNode", "8"}}),
              file + ":5: found gpusPerNode 2, expected the 8 of --from " + file +
                  ":gpusPerNode=8");
    EXPECT_EQ(refusal(NEW_TEXT, {{"op", "all-reduce"}}),
              file + ":1: found op all-gather, expected the all-reduce of --from " + file +
                  ":op=all-reduce");
    EXPECT_EQ(refusal(R"({"devices": [{"pid": 1, "hostname": "a"}],
                          "results": [{"size": 8, "out_of_place": {"time": 9}}]})",
                      {{"nodes", "4"}}),
              file + ": devices: found nodes 1, expected the 4 of --from " + file + ":nodes=4");
}

/** Only the GPU model must agree: PCIe or SXM and 40 or 80 GB are given by the system. */
TEST(MachineRuns, RefusesRunsOfAnotherGpu)
{
    const ScratchFolder folder;
    const std::string file = folder / "a.txt";
    const auto refusal = [&](const std::string& gpu, const std::string& system) {
        std::string text = NEW_TEXT;
        const std::string written = "NVIDIA H100 80GB HBM3";
        for (auto at = text.find(written); at != std::string::npos; at = text.find(written))
        {
            text.replace(at, written.size(), gpu);
        }
        std::ofstream(file) << text;
        return RefusalOf([&] { ReadMachineRuns({file, {}}, system, {}, Catalog()); });
    };
    EXPECT_EQ(refusal("NVIDIA A100-SXM4-80GB", "hgx-h100"),
              file +
                  ":5: found 'NVIDIA A100-SXM4-80GB', expected the h100-sxm of --system "
                  "hgx-h100");
    EXPECT_NE(refusal("NVIDIA H200", "hgx-h100").find("found 'NVIDIA H200'"), std::string::npos);
    EXPECT_NE(refusal("NVIDIA H20", "hgx-h200").find("found 'NVIDIA H20'"), std::string::npos);
    EXPECT_NE(refusal("NVIDIA GB200", "hgx-b200").find("found 'NVIDIA GB"), std::string::npos);
    EXPECT_EQ(refusal("NVIDIA A100-SXM4-80GB", "dgx-a100"), "");
    EXPECT_EQ(refusal("NVIDIA A100 80GB PCIe", "dgx-a100"), "");
    EXPECT_EQ(refusal("Tesla V100-SXM3-32GB", "dgx2-v100"), "");
    EXPECT_EQ(refusal("NVIDIA GH200 120GB", "alps-gh200"), "");
    EXPECT_EQ(refusal("Graphics Device", "hgx-h100"), "");
}

} // namespace
} // namespace weir

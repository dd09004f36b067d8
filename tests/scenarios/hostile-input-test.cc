// SPDX-License-Identifier: GPL-2.0-only
#include "weir-command.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

/**
 * @file
 * Inputs, outputs and machines that once crashed the command, made it hang or lost a file.
 */
namespace weir
{
namespace
{

namespace fs = std::filesystem;

const std::string RUN = "run gpt-22b-8-a100-full --fidelity analytical --quiet ";
const std::string COLLECTIVE = "collective --system hgx-h100 --op all-reduce --sizes 1MiB ";

/**
 * Expects the command to refuse @p arguments with one line that contains @p says, "found" and
 * "expected".
 */
void
ExpectRefusal(const ScratchFolder& folder, const std::string& arguments, const std::string& says)
{
    const Outcome outcome = Weir(folder, arguments);
    EXPECT_EQ(outcome.exit, 2) << arguments << outcome.err;
    EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
    EXPECT_NE(outcome.err.find(says), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("found"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("expected"), std::string::npos) << outcome.err;
}

void
Write(const std::string& path, const std::string& text)
{
    std::ofstream(path) << text;
}

// RLIMIT_FSIZE makes a write fail like a full disk. 64 blocks of 512 or 1024 B are less than any
// result.
TEST(HostileInput, AFullDiskIsOneLineAndLeavesNoFile)
{
    const ScratchFolder folder;
    for (const std::string output : {"-o a.h5", "--timeline a.json"})
    {
        const Outcome outcome = Weir(folder, RUN + output, "ulimit -f 64");
        EXPECT_EQ(outcome.exit, 1) << outcome.err;
        EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
        EXPECT_NE(outcome.err.find("File too large"), std::string::npos) << outcome.err;
        EXPECT_EQ(folder.Files(), 0U) << output;
    }
}

TEST(HostileInput, NoOutputReplacesWhatWeirHasNotWritten)
{
    const ScratchFolder folder;
    const std::string text = "base: hgx-h100\n";
    for (const std::string& arguments :
         {RUN + "-o sys.yaml",
          RUN + "--timeline sys.yaml",
          std::string("collective --system ./sys.yaml --op all-reduce --csv sys.yaml"),
          COLLECTIVE + "--csv sys.yaml",
          std::string("topology draw hgx-h100 -o sys.yaml"),
          std::string("topology convert ./sys.yaml -o sys.yaml"),
          std::string("validate korthikanti-2022 -o sys.yaml")})
    {
        Write(folder / "sys.yaml", text);
        ExpectRefusal(folder, arguments, "sys.yaml");
        EXPECT_EQ(ScratchFolder::Read(folder / "sys.yaml"), text) << arguments;
    }
    Write(folder / "a.goal", "num_ranks 1\nrank 0 {\nl1: calc 9\n}\n");
    ExpectRefusal(folder, "import a.goal --to goal-binary -o sys.yaml", "no GOAL schedule");
    EXPECT_EQ(ScratchFolder::Read(folder / "sys.yaml"), text);
    // A schedule of either form may replace one.
    for (const char* form : {"goal-binary", "goal-text", "goal-binary"})
    {
        const std::string import = std::string("import a.goal -o b.goal --to ") + form;
        const Outcome outcome = Weir(folder, import);
        EXPECT_EQ(outcome.exit, 0) << form;
        EXPECT_EQ(outcome.out, "b.goal: 1 rank\n") << form;
    }
}

TEST(HostileInput, NoTopologyReplacesABaseOfItsInput)
{
    const ScratchFolder folder;
    Write(folder / "under.yaml", "base: hgx-h100\n");
    Write(folder / "over.yaml", "base: ./under.yaml\n");
    ExpectRefusal(folder, "topology convert ./over.yaml -o under.yaml", "another file");
    EXPECT_EQ(ScratchFolder::Read(folder / "under.yaml"), "base: hgx-h100\n");
}

TEST(HostileInput, WhatWeirHasWrittenIsReplaced)
{
    const ScratchFolder folder;
    const std::string both[] = {RUN + "-o a.h5 --timeline a.json", COLLECTIVE + "--csv a.csv"};
    for (const std::string& arguments : both)
    {
        EXPECT_EQ(Weir(folder, arguments).exit, 0);
        EXPECT_EQ(Weir(folder, arguments).exit, 0);
    }
    EXPECT_EQ(folder.Files(), 3U);
}

TEST(HostileInput, ALinkStaysALink)
{
    const ScratchFolder folder;
    fs::create_symlink("target.csv", folder / "dangling.csv");
    fs::create_symlink("b.csv", folder / "a.csv");
    fs::create_symlink("a.csv", folder / "b.csv");
    EXPECT_EQ(Weir(folder, COLLECTIVE + "--csv dangling.csv").exit, 0);
    EXPECT_TRUE(fs::is_symlink(folder / "dangling.csv"));
    EXPECT_TRUE(fs::is_regular_file(folder / "target.csv"));
    ExpectRefusal(folder, COLLECTIVE + "--csv a.csv", "a cycle of symbolic links");
    EXPECT_TRUE(fs::is_symlink(folder / "a.csv"));
}

/** Writes hgx-h100 as GraphML, with one text replaced. */
void
WriteGraphMl(const ScratchFolder& folder, const std::string& from, const std::string& to)
{
    EXPECT_EQ(Weir(folder, "topology convert hgx-h100 -o whole.graphml").exit, 0);
    std::string text = ScratchFolder::Read(folder / "whole.graphml");
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos);
    Write(folder / "a.graphml", text.replace(at, from.size(), to));
}

TEST(HostileInput, AGraphMlOfNoSystemIsRefusedWithItsLocation)
{
    const ScratchFolder folder;
    for (const std::string gpus : {"99999999", "-1", "0.5", "1e30"})
    {
        WriteGraphMl(folder, "gpus: 8", "gpus: " + gpus);
        ExpectRefusal(folder, "topology show a.graphml", "a.graphml system:");
    }
    WriteGraphMl(folder, "key=\"system\">", "key=\"other\">");
    ExpectRefusal(folder, "topology show a.graphml", "a.graphml:");
    WriteGraphMl(folder, "target=\"node0/nic0\"", "target=\"nowhere\"");
    ExpectRefusal(folder, "topology show a.graphml", "a.graphml:");
}

TEST(HostileInput, WhatNoMachineCanHoldIsRefusedAtOnce)
{
    const ScratchFolder folder;
    Write(folder / "flows.txt", "1\n0 1 3 100 10 0\n");
    Write(folder / "empty.txt", "16777216 0 0\n");
    Write(folder / "short.txt", "16777216 0 16777216\n0 1 100Gbps 1us 0\n");
    Write(folder / "torus.yaml", "base: hgx-h100\nfabric: {kind: torus, sizes: [32768, 32768]}\n");
    ExpectRefusal(folder, "flows --topology empty.txt --flows flows.txt", "empty.txt:1");
    ExpectRefusal(folder, "flows --topology short.txt --flows flows.txt", "short.txt");
    ExpectRefusal(folder, COLLECTIVE + "--nodes 100000", "at most 262144 GPUs");
    ExpectRefusal(folder,
                  "collective --system torus.yaml --nodes 2 --op all-reduce",
                  "torus.yaml:2:30: fabric.sizes");
}

// 2^55 bytes in slices of 512 KiB are more than 2^32 slices on any ring.
TEST(HostileInput, ACallOfTooManySlicesIsRefusedInFidelityFlow)
{
    const ScratchFolder folder;
    const std::string call = "collective --system hgx-h100 --sizes 36028797018963968 --op ";
    for (const std::string op : {"all-reduce", "all-gather", "all-to-all", "send-recv"})
    {
        ExpectRefusal(folder, call + op + " --fidelity flow", "fidelity stream has no such limit");
        EXPECT_EQ(Weir(folder, call + op).exit, 0) << op;
    }
}

// Chunks of sends and receives are listed individually; 1 GB of address space holds 2^22 of them.
TEST(HostileInput, AnExplanationDoesNotGrowWithTheBytes)
{
    const ScratchFolder folder;
    for (const std::string op : {"all-to-all", "gather", "send-recv", "all-reduce"})
    {
        const Outcome outcome =
            Weir(folder,
                 "collective --system hgx-h100 --nodes 2 --sizes 256TiB --explain --op " + op,
                 "ulimit -v 1000000");
        EXPECT_EQ(outcome.exit, 0) << op << outcome.err;
    }
}

TEST(HostileInput, TooLittleMemoryIsSaidInWords)
{
    const ScratchFolder folder;
    const Outcome outcome = Weir(folder, COLLECTIVE + "--nodes 2000", "ulimit -v 200000");
    EXPECT_EQ(outcome.exit, 1);
    EXPECT_NE(outcome.err.find("found too little memory"), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.err.find("bad_alloc"), std::string::npos) << outcome.err;
}

// Comparing every key with every other would take 2e10 comparisons, that is minutes.
TEST(HostileInput, ManyUnknownKeysAreRefusedAtTheFirst)
{
    const ScratchFolder folder;
    std::string text = "title: many\n";
    for (int i = 0; i < 200000; i++)
    {
        text += "k" + std::to_string(i) + ": 1\n";
    }
    Write(folder / "many.yaml", text);
    const Outcome outcome = Weir(folder, "run many.yaml", "ulimit -t 20");
    EXPECT_EQ(outcome.exit, 2);
    EXPECT_NE(outcome.err.find("many.yaml:2:1: k0: found the unknown key"), std::string::npos);
}

TEST(HostileInput, NoControlCharacterReachesTheTerminal)
{
    const ScratchFolder folder;
    Write(folder / "title.yaml", "title: \"a\\e[31mred\"\n");
    Write(folder / "key.yaml", "\"a\\e[31mred\": 1\n");
    Write(folder / "a.graphml", "<graphml><graph id=\"&#27;[2J\"/></graphml>");
    for (const std::string arguments : {"run title.yaml",
                                        "run key.yaml",
                                        "topology show a.graphml",
                                        "run 'a\x1b[31mred'",
                                        "rnu\x1b[2J"})
    {
        const Outcome outcome = Weir(folder, arguments);
        EXPECT_EQ(outcome.exit, 2) << arguments;
        EXPECT_EQ(outcome.err.find('\x1b'), std::string::npos) << arguments;
    }
}

TEST(HostileInput, OfAWordOfAMegabyteTheBeginningIsSaid)
{
    const ScratchFolder folder;
    Write(folder / "a.yaml", "title: t\nseed: " + std::string(1 << 20, 'k') + "\n");
    const Outcome outcome = Weir(folder, "run a.yaml");
    EXPECT_EQ(outcome.exit, 2);
    EXPECT_EQ(outcome.err.rfind("weir: a.yaml:2:7: seed: found 'kkk", 0), 0U)
        << outcome.err.substr(0, 200);
    EXPECT_NE(outcome.err.find("kkk..."), std::string::npos);
    EXPECT_LT(outcome.err.size(), 2000U);
}

TEST(HostileInput, ShowPrintsOnlyWhatItIsAskedFor)
{
    const ScratchFolder folder;
    Write(folder / "text.yaml", "only text\n");
    Write(folder / "map.yaml", "{a: 1}\n");
    Write(folder / "mine.yaml", "base: h100-sxm\nname: mine\n");
    ExpectRefusal(folder, "show gpu ./text.yaml", "text.yaml:1:1");
    ExpectRefusal(folder, "show gpu ./map.yaml", "map.yaml:1:");
    ExpectRefusal(folder, "show suite ./map.yaml", "map.yaml");
    EXPECT_EQ(Weir(folder, "show gpu ./mine.yaml").exit, 0);
}

TEST(HostileInput, AYmlInTheCurrentFolderIsAFile)
{
    const ScratchFolder folder;
    const Outcome shown = Weir(folder, "show run gpt-22b-8-a100-full");
    Write(folder / "foo.yml", shown.out);
    EXPECT_EQ(Weir(folder, "run foo.yml --fidelity analytical --quiet").exit, 0);
}

TEST(HostileInput, GpusWithoutANicTalkInsideTheirNodeAndNotBeyond)
{
    const ScratchFolder folder;
    Write(folder / "a.yaml", "base: hgx-h100\nnode: {nic: {count: 0}}\nfabric: {kind: none}\n");
    for (const std::string op : {"gather", "scatter", "all-to-all", "send-recv", "all-reduce"})
    {
        const std::string call = "collective --system ./a.yaml --sizes 1MiB --op " + op;
        EXPECT_EQ(Weir(folder, call).exit, 0) << op;
        ExpectRefusal(folder, call + " --nodes 2", "network port");
    }
}

// Each pattern has more than 1e11 flows: hundreds of gigabytes.
TEST(HostileInput, TrafficOfMoreFlowsThanMemoryHoldsIsRefusedAtOnce)
{
    const ScratchFolder folder;
    Write(folder / "network.yaml", "base: hgx-h100\nnodes: 4\n");
    for (const std::string pattern : {"poisson, bytes: 1B, load: 1, duration: 1s",
                                      "poisson, bytes: 1kB, load: 1e-6, duration: 9000000s",
                                      "permutation, bytes: 1B, every: 1ps, duration: 1s",
                                      "incast, senders: 8, bytes: 1B, every: 1ps, duration: 1s",
                                      "all-to-all, bytes: 1B, every: 1ns, duration: 1s",
                                      "on-off, on: 1ps, off: 1ps, duration: 1s"})
    {
        const std::string traffic = "{pattern: " + pattern + "}";
        Write(folder / "run.yaml",
              "system: {base: hgx-h100, nodes: 4}\njobs:\n  - name: a\n    traffic: " + traffic);
        Write(folder / "flows.yaml", "traffic:\n  - " + traffic);
        const std::string limit = "ulimit -v 1000000 && ulimit -t 20";
        for (const auto& [arguments, location] : std::vector<std::pair<std::string, std::string>>{
                 {"run run.yaml", "run.yaml:4:14: jobs.0.traffic"},
                 {"flows --topology network.yaml --flows flows.yaml", "flows.yaml:2:5: traffic.0"}})
        {
            const Outcome outcome = Weir(folder, arguments, limit);
            EXPECT_EQ(outcome.exit, 2) << pattern;
            EXPECT_EQ(outcome.err.rfind("weir: " + location + ": found ", 0), 0U) << outcome.err;
            EXPECT_NE(outcome.err.find("flows, expected at most 1e+08: "), std::string::npos)
                << outcome.err;
        }
    }
}

TEST(HostileInput, AnOutputThatCannotBeWrittenIsRefusedWhereItWasNamed)
{
    const ScratchFolder folder;
    const auto refused = [&](const std::string& output, const std::string& arguments) {
        Write(folder / "run.yaml",
              "system: {base: hgx-h100}\njobs:\n  - name: a\n    collective: {op: all-reduce, "
              "bytes: 1MiB, calls: 1}\noutput: {" +
                  output + "}\n");
        const Outcome outcome = Weir(folder, "run run.yaml --quiet " + arguments);
        EXPECT_EQ(outcome.exit, 2);
        return outcome.err.substr(0, outcome.err.find(": found"));
    };
    EXPECT_EQ(refused("file: no/such.h5", ""), "weir: run.yaml:5:16: output.file");
    EXPECT_EQ(refused("file: ./run.yaml", ""), "weir: run.yaml:5:16: output.file");
    EXPECT_EQ(refused("timeline: no/such.json", ""), "weir: run.yaml:5:20: output.timeline");
    EXPECT_EQ(refused("file: a.h5", "-o no/such.h5"), "weir: --output");
    EXPECT_EQ(refused("file: a.h5", "--set output.file=no/such.h5"),
              "weir: --set output.file=no/such.h5: output.file");
    EXPECT_EQ(refused("timeline: a.json", "--timeline no/such.json"), "weir: --timeline");
}

// At the limit of CPU time, soft and hard, the system kills the process, which cannot clean up.
// Where files have names before they are complete, both outputs remain under temporary names.
TEST(HostileInput, AKilledProcessLeavesNoFile)
{
    const ScratchFolder folder;
    const std::size_t left = folder.HasNamelessFiles() ? 0 : 2;
    const std::string run =
        "run gpt-175b-1024-h800 --fidelity flow --quiet -o a.h5 --timeline b.json";
    const Outcome outcome = Weir(folder, run, "ulimit -t 2");
    EXPECT_GE(outcome.exit, 128) << outcome.err;
    EXPECT_EQ(folder.Files(), left);
    EXPECT_FALSE(fs::exists(folder / "a.h5"));
    EXPECT_FALSE(fs::exists(folder / "b.json"));
}

} // namespace
} // namespace weir

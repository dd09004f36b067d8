// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/sweep/sweep.h"

#include "refusal.h"
#include "scenarios/sweep/case-store.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/text-file.h"
#include "scratch-folder.h"
#include "weir-command.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

namespace weir
{
namespace
{

using Json = nlohmann::json;
using Words = std::vector<std::string>;

Sweep
Read(const ScratchFolder& folder, const std::string& text)
{
    std::ofstream(folder / "sweep.yaml") << text;
    return LoadSweep(folder / "sweep.yaml");
}

/** Refusal of @p text without the file name. */
std::string
Refused(const std::string& text)
{
    const ScratchFolder folder;
    try
    {
        Read(folder, text);
    }
    catch (const InputError& error)
    {
        return std::string(error.what()).substr((folder / "sweep.yaml:").size());
    }
    return "";
}

/** The object without wall-clock time and memory. */
Json
WithoutCosts(Json result)
{
    for (const char* cost : {"wall_s", "peak_rss_bytes"})
    {
        result.erase(cost);
    }
    return result;
}

/**
 * A key set by the command or --set cannot vary: the fixed value would be lost, or be in labels.
 */
TEST(Sweep, RefusesWhatIsFixedAndVaries)
{
    const auto refused = [](const std::string& command, const std::string& vary) {
        return Refused("command: " + command + "\nvary: {" + vary + "}\n");
    };
    EXPECT_EQ(refused("run a --fidelity flow", "network.fidelity: [analytical, flow]"),
              "2:26: vary.network.fidelity: found network.fidelity, which varies, and --fidelity "
              "for every case, expected one of them");
    EXPECT_NE(refused("run a --set=system.nodes=2", "system: [dgx-a100]"), "");
    EXPECT_NE(refused("run a --set network.fidelity=flow", "--fidelity: [stream]"), "");
    EXPECT_NE(refused("collective --nodes=2", "--nodes: [1, 2]"), "");
    EXPECT_EQ(refused("run a --set system.node.gpus=4", "system.nodes: [1, 2]"), "");
    const ScratchFolder folder;
    Read(folder, "command: run a\nvary: {b: [1, 2]}\n");
    EXPECT_THROW(LoadSweep(folder / "sweep.yaml", {"b=1"}), InputError);
}

// Two node counts by two algorithms.
constexpr char COLLECTIVES[] =
    "command: collective --system hgx-h100 --op all-reduce --sizes 1MiB\n"
    "vary: {--nodes: [1, 2], --algorithm: [ring, tree]}\n";

TEST(Sweep, HasEveryCombinationTheLastKeyFastest)
{
    const ScratchFolder folder;
    const Sweep sweep = Read(folder,
                             "command: run some-run\n"
                             "vary:\n"
                             "  system.fabric.oversubscription: [1, 2]\n"
                             "  events:\n"
                             "    healthy: []\n"
                             "    broken: [{kind: link-down, at: 5ms}]\n");
    EXPECT_EQ(sweep.title, "sweep");
    EXPECT_EQ(LoadSweep(folder / "sweep.yaml", {"a=1"}).cases[3].words[3], "a=1");
    EXPECT_EQ(sweep.columns, (Words{"oversubscription", "events"}));
    ASSERT_EQ(sweep.cases.size(), 4u);
    EXPECT_EQ(sweep.cases[0].values, (Words{"1", "healthy"}));
    EXPECT_EQ(sweep.cases[1].values, (Words{"1", "broken"}));
    EXPECT_EQ(sweep.cases[2].values, (Words{"2", "healthy"}));
    EXPECT_EQ(sweep.cases[3].words,
              (Words{"run",
                     "some-run",
                     "--set",
                     "system.fabric.oversubscription=2",
                     "--set",
                     "events=[{kind: link-down, at: 5ms}]"}));
}

TEST(Sweep, KeysOfOneLineChangeJointlyAndOptionsMayBeFlags)
{
    const ScratchFolder folder;
    const Sweep sweep = Read(folder,
                             "command: [collective, --system, my system.yaml]\n"
                             "vary:\n"
                             "  --nodes, fabric.nodes: [[1, 4], [2, 8]]\n"
                             "  --balanced: [true, false]\n");
    EXPECT_EQ(sweep.columns, (Words{"--nodes", "fabric.nodes", "balanced"})); // nodes would clash
    ASSERT_EQ(sweep.cases.size(), 4u);
    EXPECT_EQ(sweep.cases[1].values, (Words{"1", "4", "false"}));
    EXPECT_EQ(sweep.cases[2].words,
              (Words{"collective",
                     "--system",
                     "my system.yaml",
                     "--nodes",
                     "2",
                     "--set",
                     "fabric.nodes=8",
                     "--balanced"}));
    EXPECT_EQ(sweep.cases[3].words.back(), "fabric.nodes=8");
}

TEST(Sweep, NamesOfChoicesOfSeveralKeysStandForTheFirst)
{
    const ScratchFolder folder;
    const Sweep sweep = Read(folder,
                             "command: run x\n"
                             "vary:\n"
                             "  fabric.kind, fabric.oversubscription:\n"
                             "    rails: [rail-optimized, 1]\n"
                             "    leaves 4: [leaf-spine, 4]\n");
    EXPECT_EQ(sweep.columns, (Words{"kind", "oversubscription"}));
    ASSERT_EQ(sweep.cases.size(), 2u);
    EXPECT_EQ(sweep.cases[1].values, (Words{"leaves 4", "4"}));
    EXPECT_EQ(
        sweep.cases[1].words,
        (Words{
            "run", "x", "--set", "fabric.kind=leaf-spine", "--set", "fabric.oversubscription=4"}));
}

TEST(Sweep, RefusesInvalidSweepsWithTheirLocation)
{
    EXPECT_EQ(Refused("command: runn x\nvary: {a: [1]}\n"),
              "1:10: command: found the verb 'runn', expected one of: run, collective, flows "
              "(did you mean 'run'?)");
    EXPECT_EQ(Refused("command: run x --json\nvary: {a: [1]}\n"),
              "1:10: command: found --json, expected it as an option of weir sweep");
    EXPECT_EQ(Refused("command: run x --output=y.h5\nvary: {a: [1]}\n"),
              "1:10: command: found --output=y.h5, expected it as an option of weir sweep");
    EXPECT_EQ(Refused("command: run 'x y'\nvary: {a: [1]}\n"),
              "1:10: command: found 'run 'x y'', expected a list of words where one has blanks");
    EXPECT_EQ(Refused("command: run x\nvary: {a: []}\n"),
              "2:11: vary.a: found no values, expected one or more");
    EXPECT_EQ(Refused("command: run x\nvary:\n  a, b: [[1, 2], [3]]\n"),
              "3:18: vary.a, b.1: found 1 values, expected 2, one for each key");
    EXPECT_EQ(Refused("command: run x\nvary:\n  a: [1]\n  a, b: [[1, 2]]\n"),
              "4:9: vary.a, b: found a again, expected each key once");
    EXPECT_EQ(Refused("command: run x\nvary: {--nodes: [[1]]}\n"),
              "2:18: vary.--nodes.0: found [1], expected a value of the option --nodes");
    EXPECT_NE(Refused("command: run x\nvary: {a: 1}\n").find("2:11: vary.a: found '1', expected"),
              std::string::npos);
    EXPECT_EQ(Refused("command: run x\nvary: {}\n"),
              "2:7: vary: found no keys, expected one or more with their values");
    EXPECT_EQ(
        Refused("command: run x\nvary: {--csv: [a]}\n"),
        "2:15: vary.--csv: found the key '--csv', expected a key, or an option of what is run");
    EXPECT_EQ(Refused("command: run x -oy.h5\nvary: {a: [1]}\n"),
              "1:10: command: found -oy.h5, expected it as an option of weir sweep");
    EXPECT_NE(Refused("command: run x\nvery: {a: [1]}\n").find("very"), std::string::npos);
    EXPECT_EQ(Refused("command: run x\nvary: {a: [1, 2, 1]}\n"),
              "2:11: vary.a: found 1 again, expected each value once");
    for (const char* keys : {"\"\"", "\"a,\"", "\",a\"", "\"a,,b\""})
    {
        EXPECT_NE(Refused("command: run x\nvary: {" + std::string(keys) + ": [[1, 2, 3]]}\n")
                      .find("expected a key, or an option of what is run"),
                  std::string::npos)
            << keys;
    }
    std::string many = "command: run x\nvary:\n";
    for (int key = 0; key < 17; key++)
    {
        many += "  k" + std::to_string(key) + ": [1, 2]\n";
    }
    EXPECT_NE(Refused(many).find("more than 100000 cases"), std::string::npos); // 2^17
}

/** A key may be part of one that varies before it; after it, the latter would have no effect. */
TEST(Sweep, RefusesAVariedKeyThatReplacesAnother)
{
    EXPECT_EQ(Refused("command: run x\nvary:\n  network.fidelity: [flow]\n"
                      "  network: [{fidelity: stream}]\n"),
              "4:12: vary.network: found network after network.fidelity, which it replaces, "
              "expected one of them, or the other order");
    EXPECT_EQ(Refused("command: run x\nvary:\n  network: [{seed: 1}]\n"
                      "  network.fidelity: [flow]\n"),
              "");
}

/** A shell splits the line into the words that it was made from. */
TEST(Sweep, LinesAreWhatAShellTakes)
{
    const ScratchFolder folder;
    const Words words{"a", "it's", "b c", "", "$HOME", "x=[{a: \"b\"}]", "*", "back\\slash"};
    const std::string line = "printf '%s\\n' " + ShellLine(words) + " >'" + (folder / "out") + "'";
    ASSERT_EQ(std::system(line.c_str()), 0);
    std::string expected;
    for (const auto& word : words)
    {
        expected += word + "\n";
    }
    EXPECT_EQ(ScratchFolder::Read(folder / "out"), expected);
}

TEST(Sweep, ACaseIsWhatItsCommandPrints)
{
    const ScratchFolder folder;
    std::ofstream(folder / "sweep.yaml") << COLLECTIVES;
    const Outcome outcome = Weir(folder, "sweep sweep.yaml --json");
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    const Json sweep = Json::parse(outcome.out);
    ASSERT_EQ(sweep["cases"].size(), 4u);
    for (const Json& swept : sweep["cases"])
    {
        const std::string command = swept["command"];
        const Outcome single = Weir(folder, command);
        EXPECT_EQ(WithoutCosts(swept["result"]), WithoutCosts(Json::parse(single.out))) << command;
        EXPECT_EQ(swept["result"]["nodes"], swept["values"]["nodes"]);
        EXPECT_EQ(swept["result"]["points"][0]["algorithm"], swept["values"]["algorithm"]);
    }
}

/** The algorithm that a command selected is reported beside the requested one. */
TEST(Sweep, ResultsOfANameThatVariesStay)
{
    const ScratchFolder folder;
    std::ofstream(folder / "sweep.yaml")
        << "command: collective --system hgx-h100 --op all-reduce --sizes 1GiB\n"
           "vary: {--algorithm: [auto, ring]}\n";
    for (int run = 0; run < 2; run++) // the second replaces the first's output
    {
        const Outcome outcome = Weir(folder, "sweep sweep.yaml --csv a.csv");
        ASSERT_EQ(outcome.exit, 0) << outcome.err;
    }
    const std::string table = ScratchFolder::Read(folder / "a.csv");
    EXPECT_EQ(table.find("case,algorithm,size_bytes,"), 0u) << table;
    EXPECT_NE(table.find(",result_algorithm,"), std::string::npos) << table;
    EXPECT_NE(table.find("\n0,auto,1073741824,"), std::string::npos) << table;
    EXPECT_NE(table.find("nvls"), std::string::npos) << table;
}

TEST(Sweep, OutputsThatCannotBeWrittenAreRefusedBeforeAnyCaseRuns)
{
    const ScratchFolder folder;
    std::ofstream(folder / "sweep.yaml") << COLLECTIVES;
    std::ofstream(folder / "text.h5") << "some text";
    for (const char* outputs : {"-o text.h5", "-o missing/x.h5", "--csv missing/x.csv"})
    {
        const Outcome outcome = Weir(folder, std::string("sweep sweep.yaml ") + outputs);
        EXPECT_EQ(outcome.exit, 2) << outputs;
        EXPECT_EQ(outcome.out, "") << outputs;
        EXPECT_EQ(folder.Files(), 2u) << outputs;
    }
    std::ofstream(folder / "wrong.yaml") << "command: collective --system hgx-h100\n"
                                            "vary: {--nodes: [none]}\n";
    EXPECT_EQ(Weir(folder, "sweep wrong.yaml -o out.h5").exit, 2);
    EXPECT_EQ(folder.Files(), 3u);
    const std::string rest =
        ": found it without result files, expected --results of weir sweep "
        "with it\n";
    for (const auto& [run, key] :
         {std::pair("command: run x.yaml\nvary: {output.linkSeries: [1ms]}\n", "output.linkSeries"),
          std::pair("command: run x.yaml\nvary: {output: [{linkSeries: 1ms}]}\n", "output"),
          std::pair("command: run x.yaml --set=output.file=a.h5\nvary: {seed: [1]}\n",
                    "output.file"),
          std::pair("command: [run, x.yaml, --set, 'output={file: a.h5}']\nvary: {seed: [1]}\n",
                    "output")})
    {
        std::ofstream(folder / "run.yaml") << run;
        EXPECT_EQ(Weir(folder, "sweep run.yaml").err, std::string("weir: --set ") + key + rest);
    }
    EXPECT_EQ(folder.Files(), 4u);
    // The folder of the result files goes with a refusal that leaves it empty.
    EXPECT_EQ(Weir(folder, "sweep wrong.yaml --results cases").exit, 2);
    EXPECT_FALSE(std::filesystem::exists(folder / "cases"));
}

/**
 * Sequential, three processes at once, and two shares of two processes each give identical files.
 */
TEST(Sweep, GivesTheSameFileHoweverItIsShared)
{
    const ScratchFolder folder;
    std::ofstream(folder / "sweep.yaml") << COLLECTIVES;
    ASSERT_EQ(Weir(folder, "sweep sweep.yaml -j 1 -o one.h5 --csv one.csv").exit, 0);
    ASSERT_EQ(Weir(folder, "sweep sweep.yaml -j 3 -o three.h5 --csv three.csv").exit, 0);
    const Outcome first = Weir(folder, "sweep sweep.yaml -j 2 --share 1/2 -o shared.h5");
    EXPECT_EQ(first.exit, 0) << first.err;
    EXPECT_EQ(first.out.find("2 of 4 cases are in shared.h5.cases"), 0u) << first.out;
    EXPECT_FALSE(std::filesystem::exists(folder / "shared.h5"));
    // The second share is started as by srun.
    ASSERT_EQ(Weir(folder,
                   "sweep sweep.yaml -o shared.h5",
                   "export SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2")
                  .exit,
              0);
    const std::string file = ScratchFolder::Read(folder / "one.h5");
    EXPECT_GT(file.size(), 1000u);
    EXPECT_TRUE(file == ScratchFolder::Read(folder / "three.h5"));
    EXPECT_TRUE(file == ScratchFolder::Read(folder / "shared.h5"));
    EXPECT_FALSE(std::filesystem::exists(folder / "shared.h5.cases"));
    const std::string table = ScratchFolder::Read(folder / "one.csv");
    EXPECT_EQ(table.find("case,nodes,algorithm,size_bytes,time_us,algbw_GBps,busbw_GBps,"), 0u)
        << table;
    EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 5);
    EXPECT_EQ(table, ScratchFolder::Read(folder / "three.csv"));
}

TEST(Sweep, SharesAreThoseOfTheStarter)
{
    const auto shareOf = [](const std::map<std::string, const char*>& variables) {
        const ProcessShare share = ShareFromEnvironment([&variables](const char* name) {
            const auto found = variables.find(name);
            return found == variables.end() ? nullptr : found->second;
        });
        return std::make_pair(share.index, share.count);
    };
    using Share = std::pair<std::size_t, std::size_t>;
    EXPECT_EQ(shareOf({}), (Share{0, 1}));
    EXPECT_EQ(shareOf({{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "8"}}),
              (Share{3, 8}));
    EXPECT_EQ(shareOf({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}), (Share{0, 2}));
    EXPECT_EQ(shareOf({{"SLURM_PROCID", "5"}, {"SLURM_STEP_NUM_TASKS", "6"}}), (Share{5, 6}));
    // The batch script of sbatch is not a task, whatever the number of tasks.
    EXPECT_EQ(shareOf({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "6"}}), (Share{0, 1}));
    EXPECT_EQ(shareOf({{"PMI_RANK", "2"}}), (Share{0, 1}));
    // A process that would run all cases beside others is refused.
    EXPECT_EQ(RefusalOf([&] {
                  shareOf({{"PMI_RANK", "2"}, {"PMI_SIZE", "2"}});
              }),
              "PMI_RANK: found '2' with PMI_SIZE '2', expected a rank from 0 to below that size, "
              "or --share");
    EXPECT_EQ(RefusalOf([&] {
                  shareOf({{"SLURM_PROCID", "a"}, {"SLURM_STEP_NUM_TASKS", "2"}});
              }),
              "SLURM_PROCID: found 'a' with SLURM_STEP_NUM_TASKS '2', expected a rank from 0 to "
              "below that size, or --share");
    EXPECT_EQ(ParseShare("2/8").index, 1u);
    for (const char* wrong : {"", "2", "0/8", "9/8", "a/8", "2/", "2/8/1", "-1/8"})
    {
        EXPECT_THROW(ParseShare(wrong), InputError) << wrong;
    }
}

TEST(Sweep, KeptCasesCountWhileAllTheyComeFromIsAsItWas)
{
    const ScratchFolder folder;
    const std::string input = folder / "input";
    std::ofstream(input) << "a";
    const auto written = std::filesystem::last_write_time(input);
    std::optional<CaseStore> claimed(folder / "cases");
    const CaseStore& store = *claimed;
    const Words words{"run", "x"};
    EXPECT_FALSE(store.Find(words, "/here"));
    claimed->Claim({});
    store.Keep(words,
               "/here",
               {1,
                "{}",
                "message",
                {"note"},
                {{input, FileState(input)}, {folder / "absent", FileState(folder / "absent")}}});
    const auto kept = store.Find(words, "/here");
    ASSERT_TRUE(kept);
    EXPECT_EQ(kept->exit, 1);
    EXPECT_EQ(kept->output, "{}");
    EXPECT_EQ(kept->message, "message");
    EXPECT_EQ(kept->notes, (Words{"note"}));
    EXPECT_FALSE(store.Find(words, "/there"));
    EXPECT_FALSE(store.Find({"run", "y"}, "/here"));
    std::ofstream(input) << "bb";
    std::filesystem::last_write_time(input, written);
    EXPECT_FALSE(store.Find(words, "/here")); // other size
    std::ofstream(input) << "b";
    std::filesystem::last_write_time(input, written + std::chrono::milliseconds(1));
    EXPECT_FALSE(store.Find(words, "/here")); // written later
    std::filesystem::last_write_time(input, written);
    EXPECT_TRUE(store.Find(words, "/here"));
    std::ofstream(folder / "absent") << "";
    EXPECT_FALSE(store.Find(words, "/here"));
    std::filesystem::remove(folder / "absent");
    for (const auto& file : std::filesystem::directory_iterator(folder / "cases"))
    {
        std::ofstream(file.path()) << "{\"weir_version\": 1";
    }
    EXPECT_FALSE(store.Find(words, "/here"));
    store.Remove(words, "/here");
    claimed.reset();
    EXPECT_FALSE(std::filesystem::exists(folder / "cases"));
}

/** Whether a process that runs @p share may write to the folder beside those that do. */
bool
IsFree(const std::string& folder, const ProcessShare& share)
{
    try
    {
        CaseStore(folder).Claim(share);
    }
    catch (const InputError& error)
    {
        EXPECT_EQ(std::string(error.what()),
                  "--output: found another weir process that writes cases to '" + folder +
                      "', expected its end first, or another file");
        return false;
    }
    return true;
}

/** Every case has one writer: a whole sweep, or one process per share. */
TEST(Sweep, CasesHaveOneWriter)
{
    const ScratchFolder folder;
    const std::string cases = folder / "cases";
    {
        CaseStore whole(cases);
        whole.Claim({});
        EXPECT_FALSE(IsFree(cases, {}));
        EXPECT_FALSE(IsFree(cases, {0, 2}));
    }
    EXPECT_FALSE(std::filesystem::exists(cases)); // it was empty
    {
        CaseStore first(cases);
        first.Claim({0, 2});
        EXPECT_FALSE(IsFree(cases, {}));
        EXPECT_FALSE(IsFree(cases, {0, 2}));
        EXPECT_TRUE(IsFree(cases, {1, 2}));
        EXPECT_TRUE(std::filesystem::exists(cases));
        std::ofstream(cases + "/kept") << "";
    }
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(cases), {}), 1); // no lock
    std::ofstream(cases + "/.lock-1-of-2") << ""; // of a process that was killed
    std::ofstream(cases + "/.lock") << "";
    EXPECT_TRUE(IsFree(cases, {}));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(cases), {}), 1);
}

/** A second sweep beside the first is refused, and the first one ends as if it were alone. */
TEST(Sweep, ASecondOneOnTheSameFileIsRefused)
{
    const ScratchFolder folder;
    std::ofstream(folder / "sweep.yaml") << "command: run gpt-22b-8-h100-split\n"
                                            "vary: {jobs.0.parallel.globalBatch: [4, 8, 12, 16],\n"
                                            "       network.fidelity: [stream, flow]}\n";
    // The second one begins when the first has kept a case.
    const std::string sweep = "'" WEIR_COMMAND "' sweep sweep.yaml -j 1 -o out.h5 ";
    const std::string command = sweep +
                                ">first 2>&1 & "
                                "while kill -0 $! && "
                                "[ -z \"$(ls out.h5.cases 2>/dev/null)\" ]; "
                                "do sleep 0.01; done; " +
                                sweep + "2>second; echo $? >code; wait $!";
    const int status = std::system(("cd '" + (folder / "") + "'; " + command).c_str());
    EXPECT_EQ(WEXITSTATUS(status), 0) << ScratchFolder::Read(folder / "first");
    EXPECT_EQ(ScratchFolder::Read(folder / "code"), "2\n");
    const std::string refusal = ScratchFolder::Read(folder / "second");
    EXPECT_EQ(refusal.rfind("weir: --output: found another weir process that writes", 0), 0U)
        << refusal;
    EXPECT_EQ(std::count(refusal.begin(), refusal.end(), '\n'), 1);
    EXPECT_FALSE(std::filesystem::exists(folder / "out.h5.cases"));
    EXPECT_TRUE(std::filesystem::exists(folder / "out.h5"));
}

/** Files that a process reads are recorded in their state at the first read. */
TEST(Sweep, FilesAreNotedAsTheyWereWhenTheyWereRead)
{
    const ScratchFolder folder;
    std::ofstream(folder / "input") << "a";
    ForgetFilesRead();
    ReadTextFile(folder / "input", "a text");
    const std::string state = FileState(folder / "input");
    std::ofstream(folder / "input") << "longer";
    ReadTextFile(folder / "input", "a text");
    const auto files = FilesRead();
    ASSERT_EQ(files.size(), 1u);
    EXPECT_EQ(files.front().path, folder / "input");
    EXPECT_EQ(files.front().state, state);
    EXPECT_NE(FileState(folder / "input"), state);
    EXPECT_EQ(FileState(folder / "absent"), "none");
}

/**
 * An invalid value in the last case: after it is corrected, the cases that had ended are not run
 * again.
 */
TEST(Sweep, WrongInputStopsItAndTheSameCommandGoesOn)
{
    const ScratchFolder folder;
    const std::string command =
        "command: collective --system hgx-h100 --op all-reduce --sizes 1MiB\n";
    std::ofstream(folder / "sweep.yaml") << command << "vary: {--nodes: [1, 2, none]}\n";
    const Outcome refused = Weir(folder, "sweep sweep.yaml -j 1 -o out.h5");
    EXPECT_EQ(refused.exit, 2);
    EXPECT_EQ(refused.err.find("weir: case 2, weir collective --system hgx-h100 --op all-reduce "
                               "--sizes 1MiB --nodes none --json: --nodes: found 'none', expected"),
              0u)
        << refused.err;
    EXPECT_EQ(std::count(refused.err.begin(), refused.err.end(), '\n'), 1);
    EXPECT_FALSE(std::filesystem::exists(folder / "out.h5"));
    std::size_t kept = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder / "out.h5.cases"))
    {
        Json text = Json::parse(ScratchFolder::Read(file.path()));
        text["output"] = "{\"points\": [{\"time_us\": 123456}]}"; // a value that no run produces
        std::ofstream(file.path()) << text;
        kept++;
    }
    EXPECT_EQ(kept, 2u);
    std::ofstream(folder / "sweep.yaml") << command << "vary: {--nodes: [1, 2, 4]}\n";
    const Outcome mended = Weir(folder, "sweep sweep.yaml -j 1 -o out.h5 --json");
    ASSERT_EQ(mended.exit, 0) << mended.err;
    const Json cases = Json::parse(mended.out)["cases"];
    EXPECT_EQ(cases[0]["result"]["points"][0]["time_us"], 123456);
    EXPECT_EQ(cases[1]["result"]["points"][0]["time_us"], 123456);
    EXPECT_NE(cases[2]["result"]["points"][0]["time_us"], 123456);
    EXPECT_TRUE(std::filesystem::exists(folder / "out.h5"));
    EXPECT_FALSE(std::filesystem::exists(folder / "out.h5.cases"));
}

/** A refused case stops the sweep. With --skip-refused it is listed and the others run. */
TEST(Sweep, ARefusedCaseIsListedWhereAsked)
{
    const ScratchFolder folder;
    std::ofstream(folder / "sweep.yaml")
        << "command: collective --system hgx-h100 --op all-gather --sizes 1MiB\n"
           "vary: {--algorithm: [ring, tree]}\n"; // all-gathers have no tree
    EXPECT_EQ(Weir(folder, "sweep sweep.yaml").exit, 2);
    const Outcome outcome = Weir(folder, "sweep sweep.yaml --skip-refused --json");
    EXPECT_EQ(outcome.exit, 0) << outcome.err;
    EXPECT_EQ(outcome.err.rfind("weir: note: case 1, weir collective ", 0), 0U) << outcome.err;
    const Json cases = Json::parse(outcome.out)["cases"];
    EXPECT_EQ(cases[0]["ended"], "done");
    EXPECT_EQ(cases[1]["ended"], "refused");
}

TEST(Sweep, AFailedCaseLeavesTheOthers)
{
    const ScratchFolder folder;
    std::ofstream sweep(folder / "sweep.yaml");
    sweep << "command: run llama-3-8b-16-h100 --fidelity stream\n"
             "vary:\n"
             "  events:\n"
             "    healthy: []\n"
             "    cut:\n";
    for (const char* nic : {"0", "1", "2", "3", "4", "5", "6", "7"}) // all NICs of a node
    {
        sweep << "      - {kind: link-down, at: 1ms, from: node0/nic" << nic << ", to: leaf" << nic
              << "}\n";
    }
    sweep.close();
    const Outcome outcome = Weir(folder, "sweep sweep.yaml -o out.h5");
    EXPECT_EQ(outcome.exit, 1);
    EXPECT_NE(outcome.err.find("case 1, weir run"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("the run stalled"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.out.find("cut"), std::string::npos);
    EXPECT_NE(outcome.out.find("failed"), std::string::npos);
    EXPECT_TRUE(std::filesystem::exists(folder / "out.h5"));
    // Both cases are stored, so the completed one is not run again.
    const std::filesystem::path kept = folder / "out.h5.cases";
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(kept), {}), 2);
    EXPECT_EQ(Weir(folder, "sweep sweep.yaml -o out.h5").exit, 1);
}

/** A failed case of another share with result files, of which it has none, is known, too. */
TEST(Sweep, AFailedCaseOfAnotherShareIsKnown)
{
    const ScratchFolder folder;
    std::ofstream sweep(folder / "sweep.yaml");
    sweep << "command: run llama-3-8b-16-h100 --fidelity stream\nvary:\n  events:\n    cut:\n";
    for (const char* nic : {"0", "1", "2", "3", "4", "5", "6", "7"})
    {
        sweep << "      - {kind: link-down, at: 1ms, from: node0/nic" << nic << ", to: leaf" << nic
              << "}\n";
    }
    sweep << "    healthy: []\n";
    sweep.close();
    const std::string command = "sweep sweep.yaml -o out.h5 --results results --share ";
    const Outcome first = Weir(folder, command + "1/2");
    EXPECT_EQ(first.exit, 1);
    EXPECT_NE(first.err.find("the run stalled"), std::string::npos) << first.err;
    EXPECT_FALSE(std::filesystem::exists(folder / "out.h5"));
    EXPECT_EQ(Weir(folder, command + "2/2").exit, 1);
    EXPECT_TRUE(std::filesystem::exists(folder / "out.h5"));
    EXPECT_TRUE(std::filesystem::exists(folder / "results/healthy.h5"));
}

/**
 * Runs `weir sweep sweep.yaml` into out.h5 and stops it when a case is stored. @return the exit
 * status
 */
int
InterruptSweep(const ScratchFolder& folder, const std::string& options)
{
    const std::string command = "'" WEIR_COMMAND "' sweep sweep.yaml " + options +
                                " -o out.h5 2>err & "
                                "while kill -0 $! && [ -z \"$(ls out.h5.cases 2>/dev/null)\" ]; "
                                "do sleep 0.1; done; kill -TERM $!; wait $!";
    return WEXITSTATUS(std::system(("cd '" + (folder / "") + "'; " + command).c_str()));
}

/** A sweep stopped after its first case keeps that case and leaves no process and no other file. */
TEST(Sweep, AnInterruptedOneKeepsWhatHasEnded)
{
    const ScratchFolder folder;
    std::ofstream(folder / "sweep.yaml") << "command: run gpt-175b-1024-h800\n"
                                            "vary: {--fidelity: [analytical, packet]}\n";
    EXPECT_EQ(InterruptSweep(folder, "-j 2"), 128 + SIGTERM);
    EXPECT_EQ(ScratchFolder::Read(folder / "err"),
              "weir: interrupted; kept 1 of 2 cases in out.h5.cases, from which the same command "
              "resumes\n");
    EXPECT_FALSE(std::filesystem::exists(folder / "out.h5"));
    EXPECT_EQ(folder.Files(), 3u); // the sweep, errors, cases
}

/** Refused cases are counted, too; no all-gather uses trees. */
TEST(Sweep, AnInterruptedOneKeepsWhatWasRefused)
{
    const ScratchFolder folder;
    std::ofstream(folder / "sweep.yaml")
        << "command: collective --system hgx-h100 --nodes 64 --op all-gather --sizes 8GiB "
           "--fidelity packet\n"
           "vary: {--algorithm: [tree, ring]}\n";
    EXPECT_EQ(InterruptSweep(folder, "-j 1 --skip-refused"), 128 + SIGTERM);
    EXPECT_EQ(ScratchFolder::Read(folder / "err"),
              "weir: interrupted; kept 1 of 2 cases (1 refused or failed, to be tried again) in "
              "out.h5.cases, from which the same command resumes\n");
}

} // namespace
} // namespace weir

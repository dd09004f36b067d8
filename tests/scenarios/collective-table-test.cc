// SPDX-License-Identifier: GPL-2.0-only
#include "refusal.h"
#include "scratch-folder.h"
#include "written-outcomes.h"

#include <gtest/gtest.h>

namespace weir
{
namespace
{

const std::string SOURCES = WEIR_SOURCE_DIR;

const std::string RUN =
    "{name: r, system: hgx-h100, nodes: 1, gpusPerNode: 8, op: all-reduce, "
    "nccl: 2.26.2, algorithm: ring, protocol: simple, channels: 8}";

/** A suite with the run @p run and the measured rows @p rows. */
ValidationSuite
ReadCollectives(const std::string& run, const std::string& rows)
{
    const ScratchFolder folder;
    const std::string path = folder / "suite.yaml";
    std::ofstream(path) << "title: t\ncitation: c\nurl: u\nmeasured: m.csv\ncollectives:\n  - "
                        << run << "\n";
    std::ofstream(folder / "m.csv") << "run,size_bytes,time_us\n" << rows;
    return LoadSuite(path, Catalog({SOURCES + "/scenarios"}));
}

TEST(CollectiveTable, ReadsRunsAndWhatTheyMeasured)
{
    const auto suite = ReadCollectives(RUN, "r,1024,20.5\nr,1048576,50\n");
    ASSERT_EQ(suite.collectives.size(), 1U);
    const auto& run = suite.collectives.front();
    EXPECT_EQ(run.sweep.sizes, (std::vector<Bytes>{Bytes::KiB(1), Bytes::MiB(1)}));
    EXPECT_DOUBLE_EQ(run.measured[0], 20.5e-6);
    EXPECT_EQ(run.sweep.overrides.algorithm, Algorithm::Ring);
    EXPECT_EQ(run.sweep.overrides.channels, 8U);
    EXPECT_EQ(run.sweep.nccl.version, "2.26.2");
}

TEST(CollectiveTable, RefusesWithFileAndLine)
{
    const auto refusal = [](const std::string& run, const std::string& rows) {
        return RefusalOf([&] { ReadCollectives(run, rows); });
    };
    EXPECT_NE(refusal(RUN, "other,1024,20\n").find("m.csv:2: run: found 'other'"),
              std::string::npos);
    EXPECT_NE(refusal(RUN, "r,1024,0\n").find("m.csv:2: time_us: found '0'"), std::string::npos);
    EXPECT_NE(refusal(RUN, "r,1024,1\nr,512,1\n").find("m.csv:3: size_bytes"), std::string::npos);
    EXPECT_NE(refusal(RUN, "r,1024\n").find("m.csv:2: found 2 fields"), std::string::npos);
    EXPECT_NE(refusal(RUN, "").find("run 'r' has no rows"), std::string::npos);
    EXPECT_NE(refusal("{name: r, system: hgx-h100, nodes: 1, gpusPerNode: 9, op: all-reduce, "
                      "nccl: 2.26.2}",
                      "r,1,1\n")
                  .find("gpusPerNode"),
              std::string::npos);
}

/** Every size of a suite's runs is a case, counted in the class of its size. */
TEST(CollectiveTable, RunsEverySizeAsACase)
{
    const auto suite = ReadCollectives(RUN, "r,1024,20\nr,1048576,50\nr,67108864,400\n");
    std::size_t told = 0;
    const auto outcome = RunSuite(
        suite, Catalog(), nullptr, [&](const SuiteProgress&) { ++told; }, Fidelity::Analytical);
    EXPECT_EQ(told, 1U);
    ASSERT_EQ(outcome.cases.size(), 3U);
    EXPECT_EQ(outcome.cases[0].classes.front(), "size below 1 MiB");
    EXPECT_EQ(outcome.cases[1].classes.front(), "size 1 to 64 MiB");
    EXPECT_EQ(outcome.cases[2].classes.front(), "size from 64 MiB");
    // Measured bus bandwidth of 64 MiB in 400 us on 8 GPUs: 7/4 x 64 MiB / 400 us.
    const WrittenOutcomes file({outcome});
    const std::string table = "/validation/" + outcome.name;
    EXPECT_EQ(file.Column(table + "/size_bytes"), (std::vector<double>{1024, 1048576, 67108864}));
    EXPECT_NEAR(
        file.Column(table + "/measured_busbw_GBps")[2], 7.0 / 4 * 67108864 / 400e-6 * 1e-9, 1e-9);
    EXPECT_EQ(file.Column(table + "/predicted_busbw_GBps")[1],
              outcome.collectives.front().points[1].busBandwidth.ToGBps());
    EXPECT_EQ(file.Attribute(table, "fidelity"), "analytical");
    ValidationSuite group;
    group.kind = SuiteKind::Group;
    group.members = SuiteKind::Collectives;
    const auto all = Gather(group, {outcome, outcome});
    ASSERT_EQ(all.cases.size(), 6U);
    EXPECT_EQ(all.cases[5].classes.front(), "size from 64 MiB");
    EXPECT_EQ(all.cases[5].classes.back(), "suite " + outcome.name);
}

/** The suite of a file with the entry @p leftOut. */
ValidationSuite
ReadLeftOut(const std::string& leftOut)
{
    const ScratchFolder folder;
    const std::string path = folder / "suite.yaml";
    std::ofstream(path) << "title: t\nleftOut:\n  - " << leftOut << "\n";
    return LoadSuite(path, Catalog({SOURCES + "/scenarios"}));
}

/** Only the runs of the left-out suite get other systems, each with its own number of nodes. */
TEST(LeftOutClusters, ReplaceOnlyTheSystemsOfTheirOwnRuns)
{
    const auto suite = ReadLeftOut(
        "{suite: nccl-alps-2025, systems: [{base: alps-gh200, name: "
        "unfitted, node: {costs: {llCall: {value: 9us, source: s}}}}]}");
    EXPECT_EQ(suite.kind, SuiteKind::LeftOut);
    const auto own = LoadSuite("nccl-alps-2025", Catalog({SOURCES + "/scenarios"})).collectives;
    std::size_t found = 0;
    for (const auto& run : suite.collectives)
    {
        EXPECT_EQ(run.sweep.cluster.name == "unfitted", run.suite == "nccl-alps-2025") << run.name;
        if (run.suite == "nccl-alps-2025")
        {
            ASSERT_LT(found, own.size());
            EXPECT_EQ(run.name, own[found].name);
            EXPECT_EQ(run.sweep.cluster.nodes, own[found].sweep.cluster.nodes);
            EXPECT_EQ(run.measured, own[found++].measured);
        }
    }
    EXPECT_EQ(found, own.size());
    EXPECT_GT(suite.collectives.size(), own.size());
}

TEST(LeftOutClusters, RefuseWhatLeavesNothingOut)
{
    const auto refusal = [](const std::string& text) {
        return RefusalOf([&] { ReadLeftOut(text); });
    };
    EXPECT_NE(refusal("{suite: korthikanti-2022, systems: []}").find("a suite of collectives"),
              std::string::npos);
    EXPECT_NE(refusal("{suite: nccl-alps-2025, systems: [{base: polaris, name: p}]}")
                  .find("found 'polaris', expected a system of the suite's runs"),
              std::string::npos);
    EXPECT_NE(refusal("{suite: nccl-alps-2025, system: []}").find("'system'"), std::string::npos);
}

} // namespace
} // namespace weir

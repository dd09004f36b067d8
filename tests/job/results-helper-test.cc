// SPDX-License-Identifier: GPL-2.0-only

// An ns-3 program and a scenario that say the same write the same files.

#include "ns3/abort.h"
#include "ns3/cluster-helper.h"
#include "ns3/nstime.h"
#include "ns3/results-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/training-job-helper.h"
#include "ns3/uinteger.h"
#include "scenarios/catalog.h"
#include "scenarios/readers/read-scenario.h"
#include "scenarios/simulation/run-scenario.h"

#include "../scenarios/scratch-folder.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <hdf5_hl.h>
#include <sstream>

namespace
{

const char* const SCENARIO = R"(
title: same
system: {base: hgx-h100, nodes: 2}
jobs:
  - name: gpt
    model: {base: gpt-1.7b, layers: 4}
    parallel: {tensor: 2, pipeline: 2, data: 4, globalBatch: 16}
    steps: 2
)";

std::string
TextOf(const std::string& path)
{
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::vector<double>
Column(const std::string& path, const char* name)
{
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    hsize_t rows = 0;
    H5LTget_dataset_info(file, name, &rows, nullptr, nullptr);
    std::vector<double> values(rows);
    H5LTread_dataset_double(file, name, values.data());
    H5Fclose(file);
    return values;
}

TEST(ResultsHelper, WritesWhatTheCommandWrites)
{
    const weir::ScratchFolder folder;
    {
        std::ofstream(folder / "same.yaml") << SCENARIO;
    }
    weir::Scenario scenario = weir::LoadScenario(folder / "same.yaml", {}, weir::Catalog());
    scenario.output.file = folder / "command.h5";
    scenario.output.timeline = true;
    scenario.output.timelineFile = folder / "command.json";
    scenario.output.linkSeries = weir::Time::Milliseconds(1);
    scenario.output.ranks = {3, 14};
    weir::PlainLoop loop;
    weir::RunScenario(scenario, loop, [](weir::Time) {});

    ns3::TrainingJobHelper job(scenario.jobs[0].network, scenario.gpu);
    job.SetAttribute("Name", ns3::StringValue("gpt"));
    job.SetAttribute("Tensor", ns3::UintegerValue(2));
    job.SetAttribute("Pipeline", ns3::UintegerValue(2));
    job.SetAttribute("Data", ns3::UintegerValue(4));
    job.SetAttribute("GlobalBatch", ns3::UintegerValue(16));
    ns3::ResultsHelper results(folder / "program.h5");
    results.SetAttribute("Title", ns3::StringValue("same"));
    results.SetAttribute("TimelineFile", ns3::StringValue(folder / "program.json"));
    results.SetAttribute("LinkSeries", ns3::TimeValue(ns3::MilliSeconds(1)));
    results.SetAttribute("Ranks", ns3::StringValue("3 14"));
    {
        const auto cluster = ns3::ClusterHelper(scenario.cluster).Install();
        job.Install(cluster);
        results.Install(cluster);
    }
    ns3::Simulator::Run();
    EXPECT_FALSE(std::ifstream(folder / "program.h5")) << "before the run has ended";
    ns3::Simulator::Destroy();

    EXPECT_EQ(TextOf(folder / "program.json"), TextOf(folder / "command.json"));
    for (const char* column : {"/steps/duration",
                               "/ops/rank",
                               "/ops/finish",
                               "/collectives/finish",
                               "/flows/finish",
                               "/flows/bytes",
                               "/links/bytes",
                               "/link_series/bytes",
                               "/ranks/compute"})
    {
        const auto values = Column(folder / "command.h5", column);
        ASSERT_FALSE(values.empty()) << column;
        EXPECT_EQ(Column(folder / "program.h5", column), values) << column;
    }
}

TEST(ResultsHelper, RefusesRanksThatNoJobHas)
{
    for (const auto& [ranks, expected] :
         {std::pair("0 16", "found rank 16 in Ranks, expected one of a training job"),
          std::pair("0, 5", "found Ranks '0, 5', expected all or ranks with spaces")})
    {
        EXPECT_DEATH(
            {
                const weir::ScratchFolder folder;
                std::ofstream(folder / "ranks.yaml") << SCENARIO;
                const auto scenario =
                    weir::LoadScenario(folder / "ranks.yaml", {}, weir::Catalog());
                ns3::TrainingJobHelper job(scenario.jobs[0].network, scenario.gpu);
                job.SetAttribute("Data", ns3::UintegerValue(16));
                job.SetAttribute("GlobalBatch", ns3::UintegerValue(16));
                const auto cluster = ns3::ClusterHelper(scenario.cluster).Install();
                job.Install(cluster);
                ns3::ResultsHelper results(folder / "ranks.h5");
                results.SetAttribute("Ranks", ns3::StringValue(ranks));
                results.Install(cluster);
            },
            expected);
    }
}

TEST(ResultsHelper, SaysWhenAJobCameTooLate)
{
    EXPECT_DEATH(
        {
            const weir::ScratchFolder folder;
            const weir::Catalog catalog;
            std::ofstream(folder / "late.yaml") << SCENARIO;
            const auto scenario = weir::LoadScenario(folder / "late.yaml", {}, catalog);
            ns3::TrainingJobHelper job(scenario.jobs[0].network, scenario.gpu);
            job.SetAttribute("Data", ns3::UintegerValue(8));
            job.SetAttribute("GlobalBatch", ns3::UintegerValue(8));
            const auto cluster = ns3::ClusterHelper(scenario.cluster).Install();
            const auto recorder = ns3::ResultsHelper(folder / "late.h5").Install(cluster);
            job.Install(cluster, {0, 1, 2, 3, 4, 5, 6, 7});
            recorder->Write();
        },
        "installed after it");
}

// Where files have names before they are complete, both outputs stay under their temporary ones.
TEST(ResultsHelper, AProgramThatAbortsLeavesNoFile)
{
    const weir::ScratchFolder folder;
    const std::size_t left = folder.HasNamelessFiles() ? 0 : 2;
    std::ofstream(folder / "aborted.yaml") << SCENARIO;
    EXPECT_DEATH(
        {
            const auto scenario = weir::LoadScenario(folder / "aborted.yaml", {}, weir::Catalog());
            ns3::TrainingJobHelper job(scenario.jobs[0].network, scenario.gpu);
            job.SetAttribute("Data", ns3::UintegerValue(8));
            job.SetAttribute("GlobalBatch", ns3::UintegerValue(8));
            const auto cluster = ns3::ClusterHelper(scenario.cluster).Install();
            job.Install(cluster);
            ns3::ResultsHelper results(folder / "aborted.h5");
            results.SetAttribute("TimelineFile", ns3::StringValue(folder / "aborted.json"));
            results.Install(cluster);
            ns3::Simulator::Schedule(ns3::MilliSeconds(1), [] { NS_ABORT_MSG("enough"); });
            ns3::Simulator::Run();
        },
        "enough");
    EXPECT_EQ(folder.Files(), 1 + left);
    EXPECT_FALSE(std::filesystem::exists(folder / "aborted.h5"));
    EXPECT_FALSE(std::filesystem::exists(folder / "aborted.json"));
}

} // namespace

// SPDX-License-Identifier: GPL-2.0-only

// An ns-3 program and a scenario with the same content write the same files.

#include "ns3/abort.h"
#include "ns3/cluster-helper.h"
#include "ns3/collective-helper.h"
#include "ns3/double.h"
#include "ns3/flow-source-helper.h"
#include "ns3/nstime.h"
#include "ns3/results-helper.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/training-job-helper.h"
#include "ns3/uinteger.h"
#include "scenarios/catalog.h"
#include "scenarios/readers/read-scenario.h"
#include "scenarios/simulation/run-scenario.h"

#include "../scenarios/scratch-folder.h"
#include "plain-servers.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <hdf5_hl.h>
#include <numeric>
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

TEST(ResultsHelper, RefusesJobsThatComeTooLate)
{
    const weir::ScratchFolder folder;
    const weir::Catalog catalog;
    std::ofstream(folder / "late.yaml") << SCENARIO;
    const auto scenario = weir::LoadScenario(folder / "late.yaml", {}, catalog);
    ns3::TrainingJobHelper job(scenario.jobs[0].network, scenario.gpu);
    job.SetAttribute("Data", ns3::UintegerValue(8));
    job.SetAttribute("GlobalBatch", ns3::UintegerValue(8));
    const ns3::CollectiveHelper collective("all-reduce", 1 << 20);
    const auto cluster = ns3::ClusterHelper(scenario.cluster).Install();
    const auto recorder = ns3::ResultsHelper(folder / "late.h5").Install(cluster);
    EXPECT_DEATH(job.Install(cluster, {0, 1, 2, 3, 4, 5, 6, 7}),
                 "TrainingJob: found a RunRecorder that was installed before it");
    EXPECT_DEATH(collective.Install(cluster), "CollectiveJob: found a RunRecorder");
    recorder->Write();
    collective.Install(cluster); // no record was requested
    ns3::Simulator::Destroy();
}

// The simulator sees the first 10 ms of a flow of 100 ms: 125 MB except for the latency.
TEST(ResultsHelper, HoldsWhatFlowsHaveMovedWhenTheSimulatorStops)
{
    for (const char* transport : {"fluid", "hybrid", "packet"})
    {
        const weir::ScratchFolder folder;
        {
            const auto cluster = PlainServers(transport).Install(4);
            cluster.GetFabric()->StartFlow(0, 1, 1250000000);
            ns3::ResultsHelper results(folder / "long.h5");
            results.SetAttribute("LinkSeries", ns3::TimeValue(ns3::MilliSeconds(1)));
            results.Install(cluster);
        }
        ns3::Simulator::Stop(ns3::MilliSeconds(10));
        ns3::Simulator::Run();
        ns3::Simulator::Destroy();
        const auto bytes = Column(folder / "long.h5", "/links/bytes");
        const double max = *std::max_element(bytes.begin(), bytes.end());
        EXPECT_NEAR(max, 125e6, 1e5) << transport;
        const auto bins = Column(folder / "long.h5", "/link_series/bytes");
        const double sum = std::accumulate(bins.begin(), bins.end(), 0.0);
        const double links = std::accumulate(bytes.begin(), bytes.end(), 0.0);
        EXPECT_NEAR(sum, links, 2e-2 * links) << transport;
    }
}

/** Text of /provenance/scenario of a file. */
std::string
ProvenanceOf(const std::string& path)
{
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t text = H5Dopen(file, "/provenance/scenario", H5P_DEFAULT);
    const hid_t type = H5Dget_type(text);
    std::string provenance;
    if (H5Tis_variable_str(type) > 0)
    {
        char* words = nullptr;
        H5Dread(text, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &words);
        provenance = words;
        H5free_memory(words);
    }
    else
    {
        provenance.resize(H5Tget_size(type));
        H5Dread(text, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, provenance.data());
    }
    H5Tclose(type);
    H5Dclose(text);
    H5Fclose(file);
    return provenance;
}

// The provenance of a file is a scenario equivalent to the program.
TEST(ResultsHelper, TellsHowFlowsMoved)
{
    for (const auto& [transport, fidelity] : {std::pair("packet", weir::Fidelity::Packet),
                                              std::pair("hybrid", weir::Fidelity::Hybrid),
                                              std::pair("fluid", weir::Fidelity::Flow)})
    {
        const weir::ScratchFolder folder;
        ns3::RngSeedManager::SetRun(7);
        {
            ns3::ClusterHelper helper = PlainServers(transport);
            helper.SetPacketAttribute("Buffer", ns3::UintegerValue(7 << 20));
            helper.SetCongestionControl("dcqcn");
            helper.SetCouplingAttribute("Window", ns3::TimeValue(ns3::MicroSeconds(3)));
            if (fidelity == weir::Fidelity::Flow)
            {
                helper.SetCorrectionAttribute("OfLink", ns3::DoubleValue(0.9));
            }
            const auto cluster = helper.Install(4);
            ns3::CollectiveHelper collective("all-reduce", 1 << 20);
            collective.SetAttribute(
                "Fidelity", ns3::StringValue(fidelity == weir::Fidelity::Flow ? "flow" : "packet"));
            collective.SetAttribute("Calls", ns3::UintegerValue(2));
            collective.Install(cluster, {1, 3, 2});
            ns3::FlowSourceHelper source({1});
            source.SetAttribute("MaxFlows", ns3::UintegerValue(1));
            source.Install(cluster, {0});
            ns3::ResultsHelper(folder / "told.h5").Install(cluster);
        }
        ns3::Simulator::Run();
        ns3::Simulator::Destroy();
        ns3::RngSeedManager::SetRun(1);

        const std::string text = ProvenanceOf(folder / "told.h5");
        EXPECT_NE(text.find("RngSeed=1, RngRun=7"), std::string::npos) << text;
        EXPECT_NE(text.find("ns3::FlowSource on server 0"), std::string::npos) << text;
        std::ofstream(folder / "told.yaml") << text;
        const auto told = weir::LoadScenario(folder / "told.yaml", {}, weir::Catalog());
        EXPECT_EQ(told.fidelity, fidelity);
        ASSERT_EQ(told.collectives.size(), 1U);
        EXPECT_EQ(told.collectives[0].calls, 2U);
        EXPECT_EQ(told.collectives[0].placement.list, (std::vector<uint32_t>{1, 3, 2}));
        EXPECT_EQ(told.corrections.IsOn(), fidelity == weir::Fidelity::Flow);
        if (fidelity == weir::Fidelity::Flow)
        {
            continue;
        }
        EXPECT_EQ(told.packets.switches.buffer.Count(), 7 << 20);
        EXPECT_STREQ(told.packets.congestionControl->Name(), "dcqcn");
        if (fidelity == weir::Fidelity::Hybrid)
        {
            EXPECT_EQ(told.hybrid.jobs, std::vector<std::string>{"collective"});
            EXPECT_EQ(told.hybrid.coupling.window.ToPicoseconds(), 3000000);
        }
    }
}

// The jobs of a scenario have different names and different GPUs; those of a program may not.
TEST(ResultsHelper, TellsJobsOfTheSameNameOrGpusApart)
{
    const weir::ScratchFolder folder;
    const weir::Catalog catalog;
    std::ofstream(folder / "same.yaml") << SCENARIO;
    const auto scenario = weir::LoadScenario(folder / "same.yaml", {}, catalog);
    for (const bool isShared : {false, true})
    {
        ns3::TrainingJobHelper job(scenario.jobs[0].network, scenario.gpu);
        job.SetAttribute("Data", ns3::UintegerValue(4));
        job.SetAttribute("GlobalBatch", ns3::UintegerValue(4));
        job.SetAttribute("Name", ns3::StringValue("collective"));
        const ns3::CollectiveHelper collective("all-reduce", 1 << 20);
        {
            const auto cluster = ns3::ClusterHelper(scenario.cluster).Install();
            job.Install(cluster, {0, 1, 2, 3});
            job.Install(cluster, {4, 5, 6, 7});
            collective.Install(cluster, {8, 9});
            collective.Install(cluster, {isShared ? 9U : 11U, 10});
            ns3::ResultsHelper(folder / "apart.h5").Install(cluster);
        }
        ns3::Simulator::Run();
        ns3::Simulator::Destroy();
        const std::string text = ProvenanceOf(folder / "apart.h5");
        EXPECT_EQ(text.find("collective-4 has GPUs that collective-3 has, too") !=
                      std::string::npos,
                  isShared)
            << text;
        if (!isShared)
        {
            std::ofstream(folder / "apart.yaml") << text;
            const auto told = weir::LoadScenario(folder / "apart.yaml", {}, catalog);
            ASSERT_EQ(told.jobs.size(), 2U);
            EXPECT_NE(told.jobs[0].name, told.jobs[1].name);
            ASSERT_EQ(told.collectives.size(), 2U);
            EXPECT_EQ(told.collectives[1].placement.list, (std::vector<uint32_t>{11, 10}));
        }
    }
}

// On file systems without unnamed files both outputs keep their temporary names.
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

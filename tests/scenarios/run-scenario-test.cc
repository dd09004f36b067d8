// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/simulation/run-scenario.h"

#include "refusal.h"
#include "scenarios/results/hdf5-file.h"
#include "scenarios/yaml/input-error.h"
#include "scratch-folder.h"
#include "small-scenario.h"

#include <gtest/gtest.h>
#include <hdf5_hl.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace weir
{
namespace
{

double
Total(const RankBreakdown& breakdown)
{
    double total = 0;
    for (const Time spent : breakdown.spent)
    {
        total += spent.ToSeconds();
    }
    return total;
}

/** The categories partition the step of every rank, and therefore of every mean. */
TEST(RunScenario, BreakdownSumsToTheStep)
{
    const RunResult result = RunScenario(SmallScenario());
    const double step = result.StepTime().ToSeconds();
    ASSERT_EQ(result.jobs.front().ranks.size(), 16U);
    for (const auto& rank : result.jobs.front().ranks)
    {
        EXPECT_NEAR(Total(rank), step, step * 1e-9);
    }
    ASSERT_EQ(result.jobs.front().stages.size(), 2U);
    EXPECT_NEAR(Total(result.jobs.front().stages[1]), step, step * 1e-9);
    EXPECT_NEAR(Total(result.jobs.front().mean), step, step * 1e-9);
    EXPECT_TRUE(result.waiting.empty());
}

/** The step time with jitter is the mean over steps, and the breakdown sums to it. */
TEST(RunScenario, BreakdownSumsToTheMeanOfJitteredSteps)
{
    const RunResult result = RunScenario(SmallScenario(
        {{"jobs.0.jitter", "{coefficientOfVariation: 0.2, per: step}"}, {"jobs.0.steps", "5"}}));
    const double step = result.StepTime().ToSeconds();
    ASSERT_GT(std::abs(result.jobs.front().steps.back().ToSeconds() / step - 1), 1e-4);
    for (const auto& rank : result.jobs.front().ranks)
    {
        EXPECT_NEAR(Total(rank), step, step * 1e-9);
    }
}

/** Steps after the first, which starts idle, are equal. */
TEST(RunScenario, StepsAreSteady)
{
    const RunResult result = RunScenario(SmallScenario({{"jobs.0.steps", "4"}}));
    const auto& steps = result.jobs.front().steps;
    ASSERT_EQ(steps.size(), 4U);
    EXPECT_NEAR(steps[2] / steps[3], 1, 1e-9);
}

/** A link is busy for at least its bytes over its rate. */
TEST(RunScenario, BusiestLinksAreSortedAndWithinTheirRate)
{
    const RunResult result = RunScenario(SmallScenario());
    ASSERT_EQ(result.busiestLinks.size(), 5U);
    double before = 1;
    for (const auto& link : result.busiestLinks)
    {
        EXPECT_LE(link.meanUtilization, before + 1e-9);
        EXPECT_LE(link.meanUtilization, link.busyFraction + 1e-9);
        EXPECT_GT(link.bytes.Count(), 0);
        before = link.meanUtilization;
    }
}

/** NVLinks are busier than NICs here, and four of five places are the network's. */
TEST(RunScenario, BusiestLinksAreNotOnlyThoseInsideNodes)
{
    const RunResult result = RunScenario(SmallScenario());
    const auto ofNetwork =
        std::count_if(result.busiestLinks.begin(), result.busiestLinks.end(), [](const auto& link) {
            return link.kind == ToString(LinkKind::Network);
        });
    EXPECT_GE(ofNetwork, 4);
}

TEST(RunScenario, PackedJobsShareTheSystem)
{
    Scenario scenario = SmallScenario({{"jobs.0.parallel.pipeline", "1"}});
    scenario.jobs.push_back(scenario.jobs.front());
    scenario.jobs.back().name = "second";
    const RunResult result = RunScenario(scenario);
    ASSERT_EQ(result.jobs.size(), 2U);
    // Each has a node of its own, so they are independent.
    EXPECT_EQ(result.jobs[0].stepTime, result.jobs[1].stepTime);
}

/**
 * Replicas of two jobs contend on the uplinks of a leaf with nodes of both. Simulated and
 * analytical times agree, since equal jobs start and end their calls at the same times.
 */
TEST(RunScenario, ContentionOfJobsOnALeafIsSimulated)
{
    Scenario scenario = SmallScenario(
        {{"system.nodes", "12"},
         {"system.fabric", "{kind: rail-optimized, leafRadix: 5, oversubscription: 4}"},
         {"jobs.0.parallel", "{tensor: 8, data: 6, microBatch: 1, globalBatch: 6}"}});
    const double uncontended = RunScenario(scenario).StepTime().ToSeconds();
    scenario.jobs.push_back(scenario.jobs.front());
    scenario.jobs.back().name = "second";
    const double played = RunScenario(scenario).StepTime().ToSeconds();
    EXPECT_GT(played, 1.2 * uncontended);
    scenario.fidelity = Fidelity::Analytical;
    EXPECT_NEAR(RunScenario(scenario).StepTime().ToSeconds() / played, 1, 1e-9);
}

/** Two jobs whose replicas contend on oversubscribed uplinks; the first has more steps. */
Scenario
MeetingJobs(const std::string& until)
{
    Scenario scenario = SmallScenario(
        {{"system.nodes", "12"},
         {"system.fabric", "{kind: rail-optimized, leafRadix: 5, oversubscription: 4}"},
         {"jobs.0.parallel", "{tensor: 8, data: 6, microBatch: 1, globalBatch: 6}"},
         {"jobs.0.steps", "5"}});
    scenario.jobs.push_back(scenario.jobs.front());
    scenario.jobs.back().name = "second";
    scenario.jobs.back().steps = 2;
    scenario.jobs.back().until = until;
    return scenario;
}

/**
 * The step time under contention is that of the last step that ended while the other job was
 * running.
 */
TEST(RunScenario, TheSteadyStepIsOneWithAllJobsActive)
{
    const RunResult result = RunScenario(MeetingJobs(""));
    const JobResult& longer = result.jobs[0];
    const JobResult& shorter = result.jobs[1];
    EXPECT_EQ(longer.stepKind, SteadyKind::LastHeld);
    EXPECT_EQ(shorter.stepKind, SteadyKind::Last);
    EXPECT_GT(longer.stepTime.ToSeconds(), 1.2 * longer.steps.back().ToSeconds());
    EXPECT_EQ(shorter.stepTime, shorter.steps.back());
    for (const RankBreakdown& rank : longer.ranks)
    {
        const double step = longer.stepTime.ToSeconds();
        EXPECT_NEAR(Total(rank), step, step * 1e-9);
    }
}

TEST(RunScenario, AJobIsKeptBusyUntilAnotherEnds)
{
    const RunResult result = RunScenario(MeetingJobs("gpt"));
    ASSERT_EQ(result.jobs[0].steps.size(), 5U);
    EXPECT_GE(result.jobs[1].steps.size(), 5U);
    EXPECT_NEAR(result.jobs[0].steps.back() / result.jobs[0].steps[1], 1, 1e-2);
}

TEST(RunScenario, RefusesAJobThatWaitsForNoOther)
{
    for (const char* until : {"gpt", "nobody"})
    {
        EXPECT_NE(RefusalOf([&] {
                      SmallScenario({{"jobs.0.until", until}});
                  }).find("expected the name of a job without `until`"),
                  std::string::npos);
    }
}

/**
 * A background flow that outlasts training does not change the measured bytes: links are measured
 * until the end of the last step.
 */
TEST(RunScenario, LinksAreMeasuredUntilTheLastJobEnds)
{
    const RunResult quiet = RunScenario(SmallScenario());
    const RunResult loaded =
        RunScenario(SmallScenario({{"events",
                                    "[{kind: background, from: node0/gpu7, to: node0/gpu6, "
                                    "bytes: 100TB, at: 0s}]"}}));
    EXPECT_EQ(quiet.measured, loaded.measured);
    EXPECT_EQ(quiet.measured, quiet.jobs[0].steps[0] + quiet.jobs[0].steps[1]);
    ASSERT_FALSE(loaded.busiestLinks.empty());
    EXPECT_GT(loaded.busiestLinks.front().meanUtilization, 0.9); // the flow saturates its link
    EXPECT_LE(loaded.busiestLinks.front().meanUtilization, 1 + 1e-9);
}

TEST(RunScenario, RefusesMoreGpusThanThereAre)
{
    Scenario scenario = SmallScenario();
    scenario.jobs.push_back(scenario.jobs.front());
    EXPECT_THROW(RunScenario(scenario), InputError);
}

/** Two nodes without a network are a valid system, but not for a job that spans both. */
TEST(RunScenario, RefusesAJobOverNodesThatAreNotJoined)
{
    const Scenario scenario = SmallScenario({{"system.fabric", "{kind: none}"}});
    const std::string refusal = RefusalOf([&] { RunScenario(scenario); });
    EXPECT_NE(refusal.find("no path from node0/nic"), std::string::npos) << refusal;
}

/**
 * The result file holds the values of the result, and two runs of one scenario give identical
 * files.
 */
TEST(RunScenario, ResultFileHoldsTheResult)
{
    const ScratchFolder folder;
    Scenario scenario = SmallScenario();
    scenario.output.linkSeries = Time::Microseconds(100);
    scenario.output.file = folder / "a.h5";
    const RunResult result = RunScenario(scenario);
    const std::string first = ScratchFolder::Read(folder / "a.h5");
    RunScenario(scenario);
    EXPECT_EQ(ScratchFolder::Read(folder / "a.h5"), first);
    EXPECT_EQ(folder.Files(), 1U);

    Hdf5Handle file(
        H5Fopen((folder / "a.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, "open");
    double steps[2] = {};
    ASSERT_GE(H5LTread_dataset_double(file.Get(), "/steps/duration", steps), 0);
    EXPECT_EQ(steps[0], result.jobs.front().steps[0].ToSeconds());
    EXPECT_EQ(steps[1], result.jobs.front().steps[1].ToSeconds());
    double compute[16] = {};
    ASSERT_GE(H5LTread_dataset_double(file.Get(), "/ranks/compute", compute), 0);
    EXPECT_EQ(compute[15], result.jobs.front().ranks[15].spent[0].ToSeconds());
    for (const char* name : {"/summary/step_time",
                             "/ops/start",
                             "/collectives/finish",
                             "/flows/bytes",
                             "/flow_paths/link",
                             "/links/name",
                             "/link_series/bytes",
                             "/provenance/scenario"})
    {
        EXPECT_GT(H5LTpath_valid(file.Get(), name, true), 0) << name;
    }
}

/** /links/bytes of a run, and the sum of the link series of each link. */
struct LinkBytes
{
    std::vector<double> total;
    std::vector<double> sum;
};

LinkBytes
LinkBytesOf(const std::string& network)
{
    const ScratchFolder folder;
    // The flow outlasts the job, and the window ends with the job.
    Scenario scenario = SmallScenario(
        {{"jobs", "[{name: a, collective: {op: all-to-all, bytes: 4MiB, calls: 2}}]"},
         {"events", "[{kind: background, at: 0s, from: node0/gpu0, to: node1/gpu0, bytes: 16MiB}]"},
         {"network", network}});
    scenario.output.linkSeries = Time::Microseconds(7);
    scenario.output.file = folder / "a.h5";
    RunScenario(scenario);
    Hdf5Handle file(
        H5Fopen((folder / "a.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, "open");
    const auto rows = [&](const char* name) {
        hsize_t count = 0;
        H5LTget_dataset_info(file.Get(), name, &count, nullptr, nullptr);
        return static_cast<std::size_t>(count);
    };
    LinkBytes links;
    links.total.resize(rows("/links/bytes"));
    H5LTread_dataset_double(file.Get(), "/links/bytes", links.total.data());
    std::vector<float> bytes(rows("/link_series/bytes"));
    std::vector<uint32_t> link(bytes.size());
    H5LTread_dataset_float(file.Get(), "/link_series/bytes", bytes.data());
    H5LTread_dataset(file.Get(), "/link_series/link", H5T_NATIVE_UINT32, link.data());
    std::vector<double> finish(rows("/collectives/finish"));
    H5LTread_dataset_double(file.Get(), "/collectives/finish", finish.data());
    double end = 0;
    H5LTget_attribute_double(file.Get(), "/links", "window_end_s", &end);
    EXPECT_EQ(end, finish.back()) << network;
    links.sum.resize(links.total.size());
    for (std::size_t i = 0; i < bytes.size(); i++)
    {
        links.sum[link[i]] += bytes[i];
    }
    return links;
}

/**
 * Conservation: the link series sums to the total of each link, up to the 24-bit significand of a
 * bin's bytes, for fluid flows, packets and both on one link.
 */
TEST(RunScenario, LinkSeriesSumsToTheLinksBytes)
{
    for (const char* network : {"{fidelity: stream}",
                                "{fidelity: flow}",
                                "{fidelity: packet}",
                                "{fidelity: hybrid, packets: {flows: true}}",
                                "{fidelity: hybrid, packets: {jobs: [a]}}"})
    {
        const LinkBytes links = LinkBytesOf(network);
        // Every rank sends 15 parts of 256 KiB to others in each of two calls, over one link or
        // more.
        EXPECT_GE(std::accumulate(links.total.begin(), links.total.end(), 0.0),
                  2 * 16 * 15 * 256.0 * 1024)
            << network;
        for (std::size_t i = 0; i < links.total.size(); i++)
        {
            EXPECT_NEAR(links.sum[i], links.total[i], 1e-7 * links.total[i] + 1)
                << network << ", link " << i;
        }
    }
}

// A collective job has a row per call, with the duration in the result.
TEST(RunScenario, CallsOfCollectiveJobsAreCollectives)
{
    const ScratchFolder folder;
    Scenario scenario = SmallScenario(
        {{"jobs",
          "[{name: a, collective: {calls: 2, sequence: [{op: all-gather, bytes: 1MB}, "
          "{op: all-reduce, bytes: 2MB}]}}]"}});
    scenario.output.file = folder / "a.h5";
    const RunResult result = RunScenario(scenario);
    Hdf5Handle file(
        H5Fopen((folder / "a.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, "open");
    hsize_t rows = 0;
    ASSERT_GE(H5LTget_dataset_info(file.Get(), "/collectives/start", &rows, nullptr, nullptr), 0);
    ASSERT_EQ(rows, 4U);
    double start[4] = {};
    double finish[4] = {};
    long long bytes[4] = {};
    H5LTread_dataset_double(file.Get(), "/collectives/start", start);
    H5LTread_dataset_double(file.Get(), "/collectives/finish", finish);
    H5LTread_dataset(file.Get(), "/collectives/bytes", H5T_NATIVE_LLONG, bytes);
    for (std::size_t i = 0; i < rows; i++)
    {
        EXPECT_EQ(bytes[i], i % 2 == 0 ? 1000000 : 2000000);
        EXPECT_NEAR(finish[i] - start[i], result.collectives[0].calls[i].ToSeconds(), 1e-12);
    }
}

TEST(RunScenario, RefusesAnUnwritableOutputBeforeTheRun)
{
    const ScratchFolder folder;
    Scenario scenario = SmallScenario();
    scenario.output.file = folder / "a.h5";
    scenario.output.timeline = true;
    scenario.output.timelineFile = folder / "no/such.json";
    bool ran = false;

    struct Watch : EngineLoop
    {
        explicit Watch(bool& ran)
            : m_ran(ran)
        {
        }

        void Run(EngineSet& engines, const std::function<void(Time)>& progress) override
        {
            m_ran = true;
        }

        bool& m_ran;
    } loop(ran);

    EXPECT_THROW(RunScenario(scenario, loop, [](Time) {}), InputError);
    EXPECT_FALSE(ran);
    EXPECT_EQ(folder.Files(), 0U);
}

} // namespace
} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only

// Callers need not hold what a helper installs: the simulation holds it until Simulator::Destroy.

#include "ns3/cluster-helper.h"
#include "ns3/collective-helper.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"
#include "ns3/training-job-helper.h"
#include "ns3/uinteger.h"
#include "ns3/weir-units.h"
#include "scenarios/catalog.h"
#include "scenarios/readers/read-model.h"
#include "scenarios/readers/read-system.h"
#include "scenarios/yaml/yaml-node.h"

#include <gtest/gtest.h>

namespace
{

constexpr uint64_t BYTES = 1 << 22;

/** Allocates memory where a freed job would have been. */
void
OverwriteFreedMemory()
{
    std::vector<std::vector<uint64_t>> blocks;
    for (std::size_t words = 1; words < 512; words++)
    {
        blocks.emplace_back(words, ~uint64_t{0});
    }
}

/** Number of ended calls and the end of the last. */
struct Ends
{
    uint32_t calls{0};
    weir::Time last;
};

Ends
RunCollective(bool isKept)
{
    Ends ends;
    const auto cluster = ns3::ClusterHelper().Install(2);
    ns3::CollectiveHelper helper("all-reduce", BYTES);
    helper.SetAttribute("Calls", ns3::UintegerValue(3));
    ns3::Ptr<ns3::CollectiveJob> kept = helper.Install(cluster);
    kept->TraceConnectWithoutContext(
        "CollectiveFinished",
        ns3::Callback<void, uint32_t, const weir::CollectivePlan&, weir::Time, weir::Time>(
            [&ends](uint32_t, const weir::CollectivePlan&, weir::Time, weir::Time now) {
                ends.calls++;
                ends.last = now;
            }));
    if (!isKept)
    {
        kept = nullptr;
        OverwriteFreedMemory();
    }
    ns3::Simulator::Run();
    ns3::Simulator::Destroy();
    return ends;
}

TEST(JobLifetime, ADroppedCollectiveJobRunsAsOneThatIsKept)
{
    const Ends kept = RunCollective(true);
    const Ends dropped = RunCollective(false);
    EXPECT_EQ(kept.calls, 3U);
    EXPECT_EQ(dropped.calls, 3U);
    EXPECT_EQ(dropped.last, kept.last);
}

/** A job of two steps on the 8 GPUs of a node. */
ns3::Ptr<ns3::TrainingJob>
InstallTraining()
{
    const weir::Catalog catalog;
    const auto system = weir::ReadSystem(weir::YamlNode::Parse("hgx-h100", "system"), catalog);
    auto model = weir::ReadModel(weir::YamlNode::Parse("gpt-1.7b", "model"), catalog);
    model.layers = 2;
    const auto cluster = ns3::ClusterHelper(system.cluster).Install(1);
    ns3::TrainingJobHelper helper(model, system.gpu);
    helper.SetAttribute("Data", ns3::UintegerValue(8));
    helper.SetAttribute("GlobalBatch", ns3::UintegerValue(8));
    helper.SetAttribute("StartTime", ns3::TimeValue(ns3::MicroSeconds(5)));
    return helper.Install(cluster);
}

weir::Time
RunTraining(bool isKept)
{
    weir::Time last;
    ns3::Ptr<ns3::TrainingJob> kept = InstallTraining();
    kept->TraceConnectWithoutContext(
        "StepFinished",
        ns3::Callback<void, uint32_t, weir::Time, weir::Time>(
            [&last](uint32_t, weir::Time, weir::Time now) { last = now; }));
    if (!isKept)
    {
        kept = nullptr;
        OverwriteFreedMemory();
    }
    ns3::Simulator::Run();
    ns3::Simulator::Destroy();
    return last;
}

TEST(JobLifetime, ADroppedTrainingJobRunsAsOneThatIsKept)
{
    const weir::Time kept = RunTraining(true);
    EXPECT_GT(kept, weir::Time());
    EXPECT_EQ(RunTraining(false), kept);
}

TEST(JobLifetime, AJobThatIsDisposedOfMakesNoMoreCalls)
{
    const auto cluster = ns3::ClusterHelper().Install(2);
    ns3::CollectiveHelper helper("all-reduce", BYTES);
    helper.SetAttribute("Calls", ns3::UintegerValue(3));
    helper.SetAttribute("StartTime", ns3::TimeValue(ns3::MicroSeconds(5)));
    const auto before = helper.Install(cluster);
    before->Dispose();
    ns3::Simulator::Run();
    EXPECT_TRUE(before->GetDurations().empty());
    ns3::Simulator::Destroy();
}

TEST(JobLifetime, AJobThatIsDisposedOfBeginsNoFurtherStep)
{
    const auto job = InstallTraining();
    job->Dispose(); // before the start
    ns3::Simulator::Run();
    EXPECT_TRUE(job->IsFinished());
    EXPECT_TRUE(job->GetStepTimes().empty());
    EXPECT_EQ(job->DescribeWaiting(), "");
    EXPECT_EQ(job->GetRun().GetExecutor().OpCount(), 0U);
    EXPECT_DEATH(job->GetStepTime(), "TrainingJob: .* has finished no step");
    ns3::Simulator::Destroy();

    const auto running = InstallTraining();
    ns3::Simulator::Schedule(ns3::MicroSeconds(6), &ns3::TrainingJob::Dispose, running);
    ns3::Simulator::Run();
    EXPECT_TRUE(running->IsFinished());
    EXPECT_EQ(running->GetStepTimes().size(), 1U); // of two
    ns3::Simulator::Destroy();
}

// The step time is that of the last step, whether or not another job has ended before it. The
// steady step time is that of the last step under contention.
TEST(JobLifetime, StepTimeIsTheLastStepsWhoeverEndsBefore)
{
    const weir::Catalog catalog;
    const auto system = weir::ReadSystem(weir::YamlNode::Parse("hgx-h100", "system"), catalog);
    const auto network = weir::ReadModel(weir::YamlNode::Parse("gpt-1.7b", "model"), catalog);
    for (const bool hasOther : {false, true})
    {
        const auto cluster = ns3::ClusterHelper(system.cluster).Install(2);
        ns3::TrainingJobHelper helper(network, system.gpu);
        helper.SetAttribute("Tensor", ns3::UintegerValue(8));
        helper.SetAttribute("Data", ns3::UintegerValue(2));
        helper.SetAttribute("GlobalBatch", ns3::UintegerValue(4));
        helper.SetAttribute("Steps", ns3::UintegerValue(3));
        const auto job = helper.Install(cluster);
        if (hasOther)
        {
            ns3::CollectiveHelper("all-reduce", BYTES).Install(cluster);
        }
        const auto fabric = cluster.GetFabric();
        bool isSlow = false;
        job->TraceConnectWithoutContext("StepFinished",
                                        ns3::Callback<void, uint32_t, weir::Time, weir::Time>(
                                            [&](uint32_t step, weir::Time, weir::Time) {
                                                isSlow = step == 0; // the second one
                                                fabric->ScaleLinkRate(
                                                    "node0/nic0", "leaf0", isSlow ? 0.05 : 1);
                                            }));
        ns3::Simulator::Run();
        const auto& steps = job->GetStepTimes();
        ASSERT_EQ(steps.size(), 3U);
        EXPECT_GT(steps[1], steps[2]);
        EXPECT_EQ(job->GetStepTime().ToPicoseconds(), steps[2].ToPicoseconds()) << hasOther;
        EXPECT_EQ(job->GetSteadyStepTime().ToPicoseconds(), steps[hasOther ? 0 : 2].ToPicoseconds())
            << "of those that ended before the other job, or the first, which it met";
        ns3::Simulator::Destroy();
    }
}

} // namespace

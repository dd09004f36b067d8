// SPDX-License-Identifier: GPL-2.0-only

// TrainingJob's attribute Framework equals `framework:` of a plan in YAML: it gives the same
// values, and attributes that are set override them.

#include "ns3/boolean.h"
#include "ns3/cluster-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/training-job-helper.h"
#include "ns3/uinteger.h"
#include "scenarios/readers/plan-keys.h"
#include "scenarios/readers/read-model.h"
#include "scenarios/readers/read-plan.h"
#include "scenarios/readers/read-system.h"

#include <gtest/gtest.h>

#include <functional>

namespace
{

using Helper = ns3::TrainingJobHelper;

/** Plan of a job on 8 GPUs whose helper was configured by @p set. */
weir::ParallelPlan
PlanOfJob(const std::function<void(Helper&)>& set)
{
    const weir::Catalog catalog;
    const auto system = weir::ReadSystem(weir::YamlNode::Parse("hgx-h100", "system"), catalog);
    auto model = weir::ReadModel(weir::YamlNode::Parse("gpt-1.7b", "model"), catalog);
    model.layers = 2;
    Helper helper(model, system.gpu);
    helper.SetAttribute("Data", ns3::UintegerValue(8));
    helper.SetAttribute("GlobalBatch", ns3::UintegerValue(8));
    set(helper);
    const auto job = helper.Install(ns3::ClusterHelper(system.cluster).Install(1));
    const weir::ParallelPlan plan = job->GetRun().GetSpec().plan;
    ns3::Simulator::Destroy();
    return plan;
}

void
ExpectSame(weir::ParallelPlan plan, const std::string& text)
{
    weir::ParallelPlan expected =
        weir::ReadPlan(weir::YamlNode::Parse("{data: 8, globalBatch: 8, " + text + "}", "plan"));
    weir::PlanKeys keys(plan);
    weir::PlanKeys expectedKeys(expected);
    EXPECT_EQ(weir::ChangedKeys(keys, expectedKeys), std::vector<std::string>()) << text;
}

TEST(FrameworkAttribute, IsWhatYamlsFrameworkIs)
{
    for (const std::string name : {"torchtitan", "deepspeed", "zero-bubble"})
    {
        ExpectSame(PlanOfJob([&](Helper& helper) {
                       helper.SetAttribute("Framework", ns3::StringValue(name));
                   }),
                   "framework: " + name);
    }
}

// Both are true by default and false under torchtitan: the attributes are set to the default value.
TEST(FrameworkAttribute, AttributesOverrideItInAnyOrder)
{
    for (const bool isFirst : {true, false})
    {
        const auto plan = PlanOfJob([&](Helper& helper) {
            if (isFirst)
            {
                helper.SetAttribute("Framework", ns3::StringValue("torchtitan"));
            }
            helper.SetAttribute("OverlapTensor", ns3::BooleanValue(true));
            helper.SetAttribute("HostSyncBatches", ns3::BooleanValue(true));
            if (!isFirst)
            {
                helper.SetAttribute("Framework", ns3::StringValue("torchtitan"));
            }
        });
        ExpectSame(plan, "framework: torchtitan, overlapTensor: true, host: {syncBatches: true}");
    }
}

TEST(FrameworkAttribute, AnUnknownOneEndsTheProgram)
{
    EXPECT_DEATH(PlanOfJob([](Helper& helper) {
                     helper.SetAttribute("Framework", ns3::StringValue("torchtitn"));
                 }),
                 "did you mean 'torchtitan'");
}

} // namespace

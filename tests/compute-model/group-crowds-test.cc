// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/group-crowds.h"

#include "compute-model/graph/step-builder.h"

#include "sample-machine.h"
#include "transformer-samples.h"

#include <gtest/gtest.h>

namespace weir
{
namespace
{

/** Two nodes of eight GPUs with so many NICs each, under leaves that hold both nodes. */
struct Machine : SampleMachine
{
    explicit Machine(uint32_t nics)
        : SampleMachine(SpecOf(nics), RoutingKind::Static)
    {
    }

    static ClusterSpec SpecOf(uint32_t nics)
    {
        ClusterSpec spec = SampleMachineSpec(2, 8);
        spec.node.nics = nics;
        return spec;
    }

    /** The calls of GPT on 16 GPUs, tensor ranks in a node, a replica on each. */
    std::vector<CrowdedCall> Crowded(uint32_t tensor)
    {
        const Transformer model = SampleGpt(4, 1024, 16);
        ParallelPlan plan;
        plan.tensor = tensor;
        plan.data = 16 / tensor;
        plan.globalBatch = plan.data;
        plan.overlapGradients = false;
        const StepGraph graph = BuildTransformerStep(model, plan, SampleGpu());
        std::vector<CommunicatorId> communicators;
        for (const auto& group : graph.groups)
        {
            std::vector<GpuId> gpus;
            for (const Rank rank : group)
            {
                gpus.emplace_back(rank.Index());
            }
            communicators.push_back(planner.AddCommunicator(gpus));
        }
        return CrowdedCalls(graph, communicators, planner);
    }
};

// Eight data-parallel groups, one for each tensor rank, reduce across the two nodes at once. With a
// NIC to each GPU none meets another; with four NICs two groups share each.
TEST(GroupCrowds, AreThoseThatShareANic)
{
    EXPECT_TRUE(Machine(8).Crowded(8).empty());

    Machine machine(4);
    const auto crowded = machine.Crowded(8);
    ASSERT_EQ(crowded.size(), 8U);
    for (const CrowdedCall& entry : crowded)
    {
        const CollectivePlan& plan = machine.planner.Plan(entry.call);
        EXPECT_EQ(entry.call.op, CollectiveOp::AllReduce);
        const Time bytes = plan.duration - plan.latency;
        EXPECT_NEAR((entry.duration - plan.latency).ToSeconds() / bytes.ToSeconds(), 2, 1e-6);
    }
}

// A replica to each GPU is one group: nobody else is there.
TEST(GroupCrowds, AreNoneOfOneGroup)
{
    EXPECT_TRUE(Machine(4).Crowded(1).empty());
}

} // namespace
} // namespace weir

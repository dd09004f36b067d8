// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/group-crowds.h"

#include "compute-model/graph/step-builder.h"

#include "transformer-samples.h"

#include "fabric/cluster.h"
#include "fabric/path-table.h"
#include "fabric/router.h"

#include <gtest/gtest.h>

namespace weir
{
namespace
{

/** Two nodes of eight GPUs with so many NICs each, under leaves that hold both nodes. */
struct Machine
{
    explicit Machine(uint32_t nics)
        : cluster(SpecOf(nics)),
          router(cluster.GetTopology(), RoutingKind::Static, 1),
          planner(cluster, paths, router)
    {
    }

    static LinkProfile Profile(double gigabytes)
    {
        LinkProfile profile;
        profile.rawRate = Rate::GBps(gigabytes);
        profile.latency = Time::Microseconds(1);
        return profile;
    }

    static ClusterSpec SpecOf(uint32_t nics)
    {
        ClusterSpec spec;
        spec.name = "machine";
        spec.nodes = 2;
        spec.fabric.kind = FabricKind::RailOptimized;
        spec.fabric.leafRadix = 8;
        spec.node.nics = nics;
        spec.node.nvlinksPerGpu = 12;
        spec.node.nvlink = Profile(25);
        spec.node.pcie = Profile(25);
        spec.node.pcieUplink = Profile(25);
        spec.node.interSocket = Profile(25);
        spec.node.nic = Profile(20);
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

    Cluster cluster;
    PathTable paths{cluster.GetTopology()};
    Router router;
    Planner planner;
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

// SPDX-License-Identifier: GPL-2.0-only
#include "collective-bench.h"
#include "reference-machines.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace weir
{
namespace
{

const Communicator&
GroupOf(CollectiveBench& bench)
{
    auto& planner = bench.GetPlanner();
    const uint32_t gpus = bench.GetFabric().GetCluster().GpuCount();
    return planner.GetCommunicator(planner.AddCommunicator(FirstGpus(gpus)));
}

/** Whether @p route passes a device of the given kind. */
bool
Passes(CollectiveBench& bench, RouteId route, DeviceKind kind)
{
    const auto& topology = bench.GetFabric().GetCluster().GetTopology();
    const auto& links = bench.GetPlanner().GetRouting().Links(route);
    return std::any_of(links.begin(), links.end(), [&](const auto& each) {
        return topology.GetDevice(topology.GetLink(each.link).to).kind == kind;
    });
}

/** Indices of the source and destination NICs of each channel's first network hop. */
std::vector<std::pair<uint32_t, uint32_t>>
NicsOfHops(CollectiveBench& bench)
{
    std::vector<std::pair<uint32_t, uint32_t>> nics;
    const auto& topology = bench.GetFabric().GetCluster().GetTopology();
    for (const auto& channel : GroupOf(bench).channels)
    {
        const auto hop = std::find_if(channel.hops.begin(), channel.hops.end(), [](const auto& h) {
            return h.kind == ConnectionKind::Network;
        });
        std::pair<uint32_t, uint32_t> ends;
        for (const auto& each : bench.GetPlanner().GetRouting().Links(hop->route))
        {
            const Link& link = topology.GetLink(each.link);
            const Device& from = topology.GetDevice(link.from);
            const Device& to = topology.GetDevice(link.to);
            if (link.kind == LinkKind::Network && from.kind == DeviceKind::Nic)
            {
                ends.first = from.index;
            }
            if (link.kind == LinkKind::Network && to.kind == DeviceKind::Nic)
            {
                ends.second = to.index;
            }
        }
        nics.push_back(ends);
    }
    return nics;
}

// NCCL_CROSS_NIC=0: a hop stays on its rail. 1: a ring that enters a node by NIC a leaves it by the
// NIC of another GPU, so that the hop crosses rails. The bandwidth is the same.
TEST(NcclSwitches, CrossNicDecidesWhetherHopsStayOnTheirRail)
{
    NcclSettings never;
    never.crossNic = CrossNic::Never;
    NcclSettings always;
    always.crossNic = CrossNic::Always;
    CollectiveBench onRail(H100Boxes(3), never);
    CollectiveBench across(H100Boxes(3), always);
    ASSERT_FALSE(GroupOf(onRail).channels.empty());
    ASSERT_FALSE(GroupOf(across).channels.empty());
    for (const auto& [out, in] : NicsOfHops(onRail))
    {
        EXPECT_EQ(out, in);
    }
    for (const auto& [out, in] : NicsOfHops(across))
    {
        EXPECT_NE(out, in);
    }
    EXPECT_NEAR(GroupOf(onRail).searchBandwidth, GroupOf(across).searchBandwidth, 1e-9);
}

/** Two GPUs under one PCIe switch of a node without NVLink. */
ClusterSpec
PciePair()
{
    ClusterSpec spec = A100Boxes(1);
    spec.node.gpus = 2;
    spec.node.nics = 2;
    spec.node.pcieSwitches = 1;
    spec.node.wiring = NvLinkWiring::None;
    spec.node.nvlinksPerGpu = 0;
    return spec;
}

// NCCL_P2P_LEVEL: GPUs of one PCIe switch copy through it from PIX on; below that they copy through
// their socket, whose uplink both directions share.
TEST(NcclSwitches, P2pLevelDecidesWhetherTheHostIsInTheWay)
{
    for (const P2pLevel level :
         {P2pLevel::Local, P2pLevel::NvLink, P2pLevel::Switch, P2pLevel::System})
    {
        NcclSettings settings;
        settings.p2pLevel = level;
        CollectiveBench bench(PciePair(), settings);
        const Communicator& group = GroupOf(bench);
        EXPECT_EQ(Passes(bench, group.channels.front().hops.front().route, DeviceKind::RootComplex),
                  level < P2pLevel::Switch);
    }
}

// Without NVLink between GPUs (LOC) all hops use PCIe, where LL128 is off.
TEST(NcclSwitches, LocalP2pTakesNvLinkFromTheRings)
{
    NcclSettings settings;
    settings.p2pLevel = P2pLevel::Local;
    CollectiveBench bench(H100Boxes(1), settings);
    const Communicator& group = GroupOf(bench);
    ASSERT_EQ(group.channels.front().hops.size(), 8U);
    for (const Connection& hop : group.channels.front().hops)
    {
        EXPECT_EQ(hop.kind, ConnectionKind::Pcie);
    }
    EXPECT_FALSE(group.ll128);
}

// NCCL_BUFFSIZE: a ring's chunk is 4 of 8 slots.
TEST(NcclSwitches, BufferSizeDecidesTheChunks)
{
    for (const Bytes buffer : {Bytes::KiB(512), Bytes::MiB(4), Bytes::MiB(16)})
    {
        NcclSettings settings;
        settings.simpleBuffer = buffer;
        CollectiveBench bench(H100Boxes(2), settings);
        GroupOf(bench);
        auto call = MakeCall(bench.GetPlanner().AddCommunicator(FirstGpus(16)),
                             CollectiveOp::AllReduce,
                             Bytes::GiB(4));
        call = WithProtocol(WithAlgorithm(call, Algorithm::Ring), Protocol::Simple);
        const Schedule& schedule = bench.GetPlanner().GetSchedule(call);
        EXPECT_EQ(schedule.channels.front().schedule.loops.front().chunks.front() * 2, buffer);
    }
}

// NCCL_MIN_CTAS: channels are copied up to MAXCHANNELS, 64 from 2.25 on and 32 before.
TEST(NcclSwitches, ChannelsAreCopiedUpToNcclsLimit)
{
    for (const auto& [version, max] : {std::pair{"2.30.7", 64U}, std::pair{"2.24.3", 32U}})
    {
        NcclSettings settings(version);
        settings.channelLimits.min = 64;
        CollectiveBench bench(H100Boxes(2), settings);
        EXPECT_EQ(GroupOf(bench).channels.size(), max);
    }
}

// NCCL has trees from 2.4 on and LL128 from 2.5 on; older versions are refused.
TEST(NcclSwitches, VersionsBeginWithTrees)
{
    CollectiveBench trees(A100Boxes(1), NcclSettings("2.4.8"));
    CollectiveBench ll128(A100Boxes(1), NcclSettings("2.5"));
    EXPECT_FALSE(GroupOf(trees).ll128);
    EXPECT_TRUE(GroupOf(ll128).ll128);
    EXPECT_THROW(NcclVersion::Parse("2.3.7"), std::invalid_argument);
}

// The GPU launches the kernels of a CUDA graph, so the host costs are zero.
TEST(NcclSwitches, AGraphWaitsForNoHost)
{
    const NodeCosts costs(A100Boxes(1).node);
    EXPECT_GT(LaunchTime(costs, LaunchMode::ProcessPerGpu, 8), Time());
    EXPECT_EQ(LaunchTime(costs, LaunchMode::Graph, 8), Time());
    EXPECT_EQ(BlockLaunchTime(costs, LaunchMode::Graph, NcclVersion(), 8), Time());
    EXPECT_EQ(IdleLaunchTime(costs, LaunchMode::Graph), Time());
}

} // namespace
} // namespace weir

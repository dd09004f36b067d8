// SPDX-License-Identifier: GPL-2.0-only
#include "collective-bench.h"
#include "reference-machines.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace weir
{
namespace
{

const Communicator&
Search(CollectiveBench& bench, uint32_t gpus)
{
    auto& planner = bench.GetPlanner();
    return planner.GetCommunicator(planner.AddCommunicator(FirstGpus(gpus)));
}

/** A DGX-1: eight V100 whose six NVLinks form a hybrid cube mesh. */
ClusterSpec
HybridCubeMesh()
{
    ClusterSpec spec = ReferenceBoxes(1, 70, 0, 20, 16, 12.5);
    spec.node.wiring = NvLinkWiring::Mesh;
    spec.node.nics = 4;
    spec.node.meshLinks = {{0, 1, 1},
                           {0, 2, 1},
                           {0, 3, 2},
                           {0, 4, 2},
                           {1, 2, 2},
                           {1, 3, 1},
                           {1, 5, 2},
                           {2, 3, 2},
                           {2, 6, 1},
                           {3, 7, 1},
                           {4, 5, 1},
                           {4, 6, 1},
                           {4, 7, 2},
                           {5, 6, 2},
                           {5, 7, 1},
                           {6, 7, 2}};
    return spec;
}

TEST(NodeWirings, HybridCubeMeshUsesEveryNvLink)
{
    // The double links form a ring of all GPUs (0 3 2 1 5 6 7 4), and so do the single ones (0 1 3
    // 7 5 4 6 2): in each direction 2 + 1 channels of 20 GB/s, in total all 6 x 20 = 120 GB/s of a
    // GPU. Below 25 GB/s no channel is halved; the count is doubled once.
    CollectiveBench bench(HybridCubeMesh());
    const Communicator& found = Search(bench, 8);
    EXPECT_EQ(found.searchChannels, 6u);
    EXPECT_DOUBLE_EQ(found.searchBandwidth, 120);
    EXPECT_EQ(found.channels.size(), 12u);
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> channelsOver;
    for (std::size_t c = 0; c < found.searchChannels; c++)
    {
        const auto& channel = found.channels[c];
        for (std::size_t i = 0; i < 8; i++)
        {
            EXPECT_EQ(channel.hops[i].kind, ConnectionKind::NvLink);
            channelsOver[{channel.order[i], channel.order[(i + 1) % 8]}]++;
        }
    }
    for (const MeshLink& link : HybridCubeMesh().node.meshLinks)
    {
        EXPECT_EQ((channelsOver[{link.a, link.b}]), link.links) << link.a << " to " << link.b;
        EXPECT_EQ((channelsOver[{link.b, link.a}]), link.links) << link.b << " to " << link.a;
    }
}

// Of GPUs 0 to 4 of the cube mesh, GPU 4 has NVLinks only to GPU 0, two of them. A ring through all
// five must reach it through GPU 0, so it uses one link in each direction. Two rings with one link
// each fit, without PCIe; before 2.9 every ring uses PCIe. vTrain's table of all-reduces on V100
// has 37 GB/s for five GPUs: more than PCIe, less than both rings.
TEST(NodeWirings, RingsPassAThirdGpuWhereOneHasASingleNeighbor)
{
    CollectiveBench bench(HybridCubeMesh(), NcclSettings("2.10.3"));
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(5));
    const Communicator& found = bench.GetPlanner().GetCommunicator(id);
    EXPECT_EQ(found.searchChannels, 2u);
    EXPECT_DOUBLE_EQ(found.searchBandwidth, 44); // NCCL counts 22 GB/s per link until 2.14
    ASSERT_GE(found.channels.size(), found.searchChannels);
    for (const auto& channel : found.channels)
    {
        ASSERT_EQ(channel.hops.size(), 5u);
        for (const Connection& hop : channel.hops)
        {
            EXPECT_EQ(hop.kind, ConnectionKind::NvLink);
        }
    }
    const Bytes bytes = Bytes::MiB(256);
    const auto call = WithAlgorithm(MakeCall(id, CollectiveOp::AllReduce, bytes), Algorithm::Ring);
    const Time wire = bytes * 8 / 5 / Rate::GBps(40);
    // In addition to the wire time, blocks copy at the ends of rounds.
    EXPECT_NEAR(bench.GetPlanner().Plan(call).duration / wire, 1.03, 0.03);
    EXPECT_NEAR(bench.Run(Fidelity::Flow, call) / wire, 1.03, 0.03);

    CollectiveBench before(HybridCubeMesh(), NcclSettings("2.8.4"));
    const Communicator& slow = Search(before, 5);
    std::size_t overPcie = 0;
    for (const Connection& hop : slow.channels[0].hops)
    {
        overPcie += hop.kind == ConnectionKind::Pcie;
    }
    EXPECT_GE(overPcie, 1u);
}

// GPUs 0 and 7 of the cube mesh have no common link; GPU 4 is joined to both by two NVLinks each,
// GPU 3 by two and one. A message is relayed by GPU 4 if it is in the group, by GPU 3 if only that
// one is, and uses PCIe if neither is, or before 2.11.
TEST(NodeWirings, SendGoesByAThirdGpuOverNvLink)
{
    const auto middles = [](const char* version, const std::vector<GpuId>& group) {
        CollectiveBench bench(HybridCubeMesh(), NcclSettings(version));
        auto& planner = bench.GetPlanner();
        const auto id = planner.AddCommunicator(group);
        const auto& plan = planner.Plan(MakeCall(id, CollectiveOp::Send, Bytes::MiB(64)));
        const Cluster& cluster = bench.GetFabric().GetCluster();
        std::map<std::string, uint32_t> through;
        for (const auto& leg : plan.legs)
        {
            for (const auto& each : planner.GetRouting().Links(leg.route))
            {
                const Link& link = cluster.GetTopology().GetLink(each.link);
                if (link.kind != LinkKind::NvLink)
                {
                    through["pcie"] = 1;
                }
                else if (!(link.to == cluster.GpuDevice(GpuId(7))))
                {
                    through["gpu" +
                            std::to_string(cluster.GetTopology().GetDevice(link.to).index)] = 1;
                }
            }
        }
        return through;
    };
    using Through = std::map<std::string, uint32_t>;
    EXPECT_EQ(middles("2.30.7", {GpuId(0), GpuId(7), GpuId(3), GpuId(4)}), (Through{{"gpu4", 1}}));
    EXPECT_EQ(middles("2.30.7", {GpuId(0), GpuId(7), GpuId(3)}), (Through{{"gpu3", 1}}));
    EXPECT_EQ(middles("2.30.7", {GpuId(0), GpuId(7), GpuId(1)}), (Through{{"pcie", 1}}));
    EXPECT_EQ(middles("2.10.3", {GpuId(0), GpuId(7), GpuId(3), GpuId(4)}), (Through{{"pcie", 1}}));
}

// A relayed message takes equally long in the closed form and in flow.
TEST(NodeWirings, FlowByThirdGpusIsNearTheClosedForm)
{
    CollectiveBench bench(HybridCubeMesh());
    const auto id = bench.GetPlanner().AddCommunicator({GpuId(0), GpuId(7), GpuId(4)});
    const auto call = MakeCall(id, CollectiveOp::Send, Bytes::MiB(64));
    const Time planned = bench.GetPlanner().Plan(call).duration;
    EXPECT_NEAR(bench.Run(Fidelity::Flow, call) / planned, 1, 1e-6);
    EXPECT_LT(planned, Bytes::MiB(64) / Rate::GBps(16)); // the maximum of a PCIe slot
}

TEST(NodeWirings, FourGpusInAFullMeshUseEveryNvLinkBothWays)
{
    // Four links of 20 GB/s per pair: the six directed rings of K4 use each direction of a pair
    // twice, so six channels of 40 GB/s fill its 80 GB/s; halved to 12 x 20, doubled to 24.
    ClusterSpec spec = Gh200Nodes(1);
    spec.node.computeCapability = 80;
    spec.node.cpu = HostCpu::Amd;
    for (MeshLink& link : spec.node.meshLinks)
    {
        link.links = 4;
    }
    spec.node.nvlink.rawRate = Rate::GBps(20);
    CollectiveBench bench(spec);
    const Communicator& found = Search(bench, 4);
    EXPECT_DOUBLE_EQ(found.searchBandwidth, 240);
    EXPECT_EQ(found.channels.size(), 24u);
}

TEST(NodeWirings, TwoPortsAGpuCarryHalfTheChannelsEach)
{
    // Sixteen ports of 100 Gb/s give 16 channels of 12 GB/s, where eight of 200 Gb/s give 8 of 24.
    ClusterSpec spec = ReferenceBoxes(2, 80, 12, 20, 32, 12.5);
    spec.node.nics = 16;
    spec.node.portsPerNic = 2;
    NcclSettings apart;
    apart.mergeNics = false;
    CollectiveBench bench(spec, apart);
    const Communicator& found = Search(bench, 16);
    EXPECT_EQ(found.searchChannels, 16u);
    EXPECT_DOUBLE_EQ(found.searchBandwidth, 192);
}

TEST(NodeWirings, AHostBridgeIsNothingThatNcclKnows)
{
    // One GPU and one 200 Gb/s port on a root complex: NCCL counts 24 GB/s for PCIe 4, whatever the
    // rate of the bridge.
    ClusterSpec spec = ReferenceBoxes(2, 80, 0, 20, 32, 25);
    spec.node.gpus = 1;
    spec.node.nics = 1;
    spec.node.pcieSwitches = 0;
    spec.node.wiring = NvLinkWiring::None;
    spec.node.cpu = HostCpu::Amd;
    spec.node.nicHostBridge = ReferenceLink("bridge", 29, 0);
    CollectiveBench bench(spec);
    EXPECT_DOUBLE_EQ(Search(bench, 2).searchBandwidth, 24);
}

TEST(NodeWirings, IntelRootComplexesCostSixFifths)
{
    // Two GPUs on one root complex, PCIe 4: on AMD 24 GB/s carry two channels of 12. On Intel a
    // channel of 12 takes 14.4: a channel of 20 GB/s takes 24 of 24 and fits, so 1 x 20.
    ClusterSpec spec = ReferenceBoxes(1, 80, 0, 20, 32, 25);
    spec.node.gpus = 2;
    spec.node.pcieSwitches = 0;
    spec.node.sockets = 1;
    spec.node.wiring = NvLinkWiring::None;
    spec.node.cpu = HostCpu::Amd;
    CollectiveBench amd(spec);
    EXPECT_DOUBLE_EQ(Search(amd, 2).searchBandwidth, 24);
    spec.node.cpu = HostCpu::Intel;
    CollectiveBench intel(spec);
    EXPECT_DOUBLE_EQ(Search(intel, 2).searchBandwidth, 20);
}

TEST(NodeWirings, WhatNcclReckonsWithMayDifferFromWhatALinkCarries)
{
    // Two GPUs on two sockets: the rate that NCCL assumes between sockets limits the search (16: 1
    // x 15), not the link's own rate.
    ClusterSpec spec = ReferenceBoxes(1, 80, 0, 20, 32, 25);
    spec.node.gpus = 2;
    spec.node.pcieSwitches = 0;
    spec.node.wiring = NvLinkWiring::None;
    spec.node.cpu = HostCpu::Amd;
    spec.node.interSocket.rawRate = Rate::GBps(100);
    spec.node.interSocket.ncclRate = Rate::GBps(16);
    CollectiveBench bench(spec);
    EXPECT_DOUBLE_EQ(Search(bench, 2).searchBandwidth, 15);
}

TEST(NodeWirings, ARackOfBoardsWithoutPcieBetweenThemHasRings)
{
    // Three boards of two sockets and four GPUs in one NVSwitch domain, with a port per GPU.
    ClusterSpec spec = ReferenceBoxes(2, 100, 18, 40.1, 64, 50);
    spec.node.gpus = 12;
    spec.node.nics = 12;
    spec.node.sockets = 6;
    spec.node.socketsPerBoard = 2;
    spec.node.pcieSwitches = 0;
    spec.node.cpu = HostCpu::Arm;
    CollectiveBench bench(spec);
    const Communicator& inside = Search(bench, 12);
    EXPECT_DOUBLE_EQ(inside.searchBandwidth, 720);
    const Communicator& across = Search(bench, 24);
    EXPECT_DOUBLE_EQ(across.searchBandwidth, 12 * 48);
}

} // namespace
} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "collective-bench.h"
#include "fabric/kinds/clos-fabric.h"
#include "fabric/kinds/no-fabric.h"
#include "reference-machines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace weir
{
namespace
{

/** Result of NCCL's search on a machine, and the final number of channels. */
struct ChannelRow
{
    const char* name;
    ClusterSpec spec;
    uint32_t gpus;
    uint32_t searchChannels;
    double speed;
    std::size_t finalChannels;
};

// Derived by hand from search.cc, connect.cc and topo.h of 2.30.7:
// 8 A100: 12 links x 20 = 240 GB/s = 6 x 40; fast channels halved to 12 x 20, doubled to 24.
// 8 H100: 370.8 GB/s, 6 x 60 = 360.
// 8 B200: 721.8 GB/s, 8 x 90 = 720.
// 8 ports of 200 Gb/s: 8 x 24; of 400 Gb/s behind PCIe 5 x16 (48): 8 x 48; more than 4 channels
// below 50 GB/s are not halved.
// 4 ports of 200 Gb/s: 4 x 24.
// 4 GH200: 123.6 per pair, 370.8 per GPU: the six directed rings x 60.
// 2 H100 on two nodes: 1 x 48, halved to 2 x 24, doubled to 4.
TEST(RingSearch, FindsTheChannelsOfTheReferenceMachines)
{
    const ChannelRow rows[] = {
        {"8 A100", A100Boxes(1), 8, 12, 20, 24},
        {"8 H100", H100Boxes(1), 8, 12, 30, 24},
        {"8 B200", B200Boxes(1), 8, 16, 45, 32},
        {"2 x 8 A100", A100Boxes(2), 16, 8, 24, 16},
        {"2 x 8 H100", H100Boxes(2), 16, 8, 48, 16},
        {"2 x 8 B200", B200Boxes(2), 16, 8, 48, 16},
        {"2 x 4 GH200", Gh200Nodes(2), 8, 4, 24, 8},
        {"4 GH200", Gh200Nodes(1), 4, 12, 30, 24},
        {"16 x 8 H100", H100Boxes(16), 128, 8, 48, 16},
    };
    for (const auto& row : rows)
    {
        CollectiveBench bench(row.spec);
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(row.gpus));
        const auto& communicator = bench.GetPlanner().GetCommunicator(id);
        EXPECT_EQ(communicator.searchChannels, row.searchChannels) << row.name;
        EXPECT_NEAR(communicator.searchBandwidth, row.searchChannels * row.speed, 1e-9) << row.name;
        EXPECT_EQ(communicator.channels.size(), row.finalChannels) << row.name;
    }
}

TEST(RingSearch, AFastLinkCountsAsSeveral)
{
    ClusterSpec spec = H100Boxes(1);
    spec.node.nvlinksPerGpu = 1;
    spec.node.nvlink = ReferenceLink("fat", 18 * 20.6, 150);
    CollectiveBench fat(spec);
    CollectiveBench many(H100Boxes(1));
    const auto found = [](CollectiveBench& bench) {
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(8));
        const auto& communicator = bench.GetPlanner().GetCommunicator(id);
        const GraphSpeed& nvls = communicator.nvlsGraph;
        return std::vector<double>{communicator.searchBandwidth, nvls.channels * nvls.intra};
    };
    EXPECT_EQ(found(fat), found(many));
}

TEST(RingSearch, OneGpuPerNodeHasFourChannels)
{
    CollectiveBench bench(H100Boxes(4));
    const auto id = bench.GetPlanner().AddCommunicator({GpuId(3), GpuId(11), GpuId(19), GpuId(27)});
    const auto& communicator = bench.GetPlanner().GetCommunicator(id);
    EXPECT_EQ(communicator.nodes, 4U);
    EXPECT_EQ(communicator.gpusPerNode, 1U);
    EXPECT_NEAR(communicator.searchBandwidth, 48, 1e-9);
    EXPECT_EQ(communicator.channels.size(), 4U);
}

/** GPUs with PCIe only: 4 under two switches of one socket. */
ClusterSpec
PcieBox()
{
    ClusterSpec spec = A100Boxes(1);
    spec.node.gpus = 4;
    spec.node.nics = 2;
    spec.node.pcieSwitches = 2;
    spec.node.sockets = 1;
    spec.node.wiring = NvLinkWiring::None;
    spec.node.cpu = HostCpu::Amd; // an Intel root complex would cost 6/5
    return spec;
}

// PCIe 4 x16 counts as 24 GB/s: one channel of 20 is worth less than two of 12.
TEST(RingSearch, PcieBoxesRunTwoSlowChannels)
{
    CollectiveBench bench(PcieBox());
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(4));
    const auto& communicator = bench.GetPlanner().GetCommunicator(id);
    EXPECT_EQ(communicator.searchChannels, 2U);
    EXPECT_NEAR(communicator.searchBandwidth, 24, 1e-9);
    EXPECT_EQ(communicator.channels.size(), 4U);
    EXPECT_EQ(communicator.channels[0].hops[0].kind, ConnectionKind::Pcie);
}

// 8 lanes of PCIe 1 count as 1.5 GB/s, below the slowest speed of NCCL's list for one node (3). No
// ring is found, and NCCL uses one channel in rank order at 0.1 GB/s, copied to two. The links
// still carry 3/2 of an all-reduce's bytes at 2 GB/s.
TEST(RingSearch, SlowPcieFallsBackToTheSimpleOrder)
{
    ClusterSpec spec = PcieBox();
    const Rate pcie = PcieRawRate(1, 8);
    spec.node.pcie = spec.node.pcieUplink = ReferenceLink("pcie1-x8", pcie.ToGBps(), 150);
    CollectiveBench bench(spec);
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(4));
    const auto& communicator = bench.GetPlanner().GetCommunicator(id);
    EXPECT_EQ(communicator.searchChannels, 1U);
    EXPECT_NEAR(communicator.searchBandwidth, 0.1, 1e-9);
    ASSERT_EQ(communicator.channels.size(), 2U);
    EXPECT_EQ(communicator.channels[1].order, (std::vector<uint32_t>{0, 1, 2, 3}));

    const Bytes bytes = Bytes::MiB(64);
    const auto call =
        WithProtocol(WithAlgorithm(MakeCall(id, CollectiveOp::AllReduce, bytes), Algorithm::Ring),
                     Protocol::Simple);
    const Time onTheWire = bytes / 2 * 3 / pcie;
    EXPECT_NEAR(bench.GetPlanner().Plan(call).duration / onTheWire, 1, 0.01);
    EXPECT_NEAR(bench.Run(Fidelity::Flow, call) / onTheWire, 1, 0.01);
    const auto send = MakeCall(id, CollectiveOp::Send, bytes);
    EXPECT_GE(bench.Run(Fidelity::Stream, send) / (bytes / pcie), 1);
}

void
ExpectRings(const CollectiveBench&, const Cluster& cluster, const Communicator& communicator)
{
    for (const auto& channel : communicator.channels)
    {
        std::set<uint32_t> seen(channel.order.begin(), channel.order.end());
        EXPECT_EQ(seen.size(), communicator.Size());
        EXPECT_EQ(channel.order.size(), communicator.Size());
        ASSERT_EQ(channel.hops.size(), communicator.Size());
        uint32_t networkHops = 0;
        for (std::size_t i = 0; i < channel.hops.size(); ++i)
        {
            const GpuId from = communicator.gpus[channel.order[i]];
            const GpuId to = communicator.gpus[channel.order[(i + 1) % channel.order.size()]];
            const bool crosses = cluster.NodeOf(from) != cluster.NodeOf(to);
            EXPECT_EQ(channel.hops[i].kind == ConnectionKind::Network, crosses);
            networkHops += crosses;
        }
        // Each node is entered once.
        EXPECT_EQ(networkHops, communicator.nodes > 1 ? communicator.nodes : 0);
    }
}

TEST(RingSearch, EveryRingVisitsEveryRankOnceAndEveryNodeOnce)
{
    CollectiveBench bench(H100Boxes(4));
    const Cluster& cluster = bench.GetFabric().GetCluster();
    std::mt19937 random(7);
    for (int trial = 0; trial < 60; ++trial)
    {
        auto gpus = FirstGpus(cluster.GpuCount());
        std::shuffle(gpus.begin(), gpus.end(), random);
        gpus.resize(2 + random() % 31);
        const auto id = bench.GetPlanner().AddCommunicator(gpus);
        ExpectRings(bench, cluster, bench.GetPlanner().GetCommunicator(id));
    }
}

/** Index within its node of the port by which a hop leaves or enters. */
uint32_t
PortOf(const Routing& routing, RouteId route, bool out)
{
    const auto& topology = routing.GetTopology();
    for (const auto& each : routing.Links(route))
    {
        const Link& link = topology.GetLink(each.link);
        const Device& device = topology.GetDevice(out ? link.from : link.to);
        if (link.kind == LinkKind::Network && device.kind == DeviceKind::Nic)
        {
            return device.index;
        }
    }
    return 99;
}

// With an even number of nodes the rings leave a node by the port of the same index by which they
// enter the next node.
TEST(RingSearch, HopsBetweenNodesStayOnTheirRail)
{
    for (uint32_t nodes : {2U, 4U})
    {
        CollectiveBench bench(H100Boxes(nodes));
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(8 * nodes));
        const auto& routing = bench.GetPlanner().GetRouting();
        std::set<uint32_t> rails;
        for (const auto& channel : bench.GetPlanner().GetCommunicator(id).channels)
        {
            for (const auto& hop : channel.hops)
            {
                if (hop.kind == ConnectionKind::Network)
                {
                    const uint32_t rail = PortOf(routing, hop.route, true);
                    EXPECT_EQ(rail, PortOf(routing, hop.route, false));
                    rails.insert(rail);
                }
            }
        }
        EXPECT_EQ(rails.size(), 8U);
    }
}

// Every GPU has its own port, and NVLink suffices only for crossNic 2: channels come in pairs that
// go from a to b and from b to a, swapped on odd nodes. So every hop still stays on one rail.
TEST(RingSearch, AlternatingPairsOfPortsKeepTheirRails)
{
    ClusterSpec spec = H100Boxes(4);
    spec.node.pcieSwitches = 8;
    CollectiveBench bench(spec);
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(32));
    const auto& communicator = bench.GetPlanner().GetCommunicator(id);
    EXPECT_EQ(communicator.searchChannels, 8U); // crossNic 0 would need 8 x 48 > 370.8 on NVLink
    EXPECT_NEAR(communicator.searchBandwidth, 384, 1e-9);
    std::size_t networkHops = 0;
    for (const auto& channel : communicator.channels)
    {
        for (const auto& hop : channel.hops)
        {
            if (hop.kind == ConnectionKind::Network)
            {
                networkHops++;
                const auto& routing = bench.GetPlanner().GetRouting();
                EXPECT_EQ(PortOf(routing, hop.route, true), PortOf(routing, hop.route, false));
            }
        }
    }
    EXPECT_EQ(networkHops, 4 * communicator.channels.size()) << "one out of every node";
    EXPECT_EQ(std::vector<uint32_t>(communicator.channels[0].order.begin(),
                                    communicator.channels[0].order.begin() + 8),
              (std::vector<uint32_t>{0, 7, 6, 5, 4, 3, 2, 1}));
}

/** Largest number of links of one kind in the network hops of the first channel. */
uint32_t
NetworkHopLinks(CollectiveBench& bench, const Communicator& communicator, LinkKind kind)
{
    uint32_t max = 0;
    for (const auto& hop : communicator.channels[0].hops)
    {
        uint32_t count = 0;
        for (const auto& each : bench.GetPlanner().GetRouting().Links(hop.route))
        {
            const auto& topology = bench.GetFabric().GetCluster().GetTopology();
            count += topology.GetLink(each.link).kind == kind;
        }
        max = hop.kind == ConnectionKind::Network ? std::max(max, count) : max;
    }
    return max;
}

/** As above, of the hops between the nodes of trees. */
uint32_t
TreeHopLinks(CollectiveBench& bench, const Communicator& communicator, LinkKind kind)
{
    uint32_t max = 0;
    const auto& topology = bench.GetFabric().GetCluster().GetTopology();
    for (const TreeChannel& tree : communicator.trees)
    {
        for (const TreeNeighbors& each : tree.neighbors)
        {
            if (each.parent == TreeNeighbors::NO_RANK ||
                each.toParent.kind != ConnectionKind::Network)
            {
                continue;
            }
            for (const Connection& hop : {each.toParent, each.fromParent})
            {
                uint32_t count = 0;
                for (const auto& link : bench.GetFabric().GetRouting().Links(hop.route))
                {
                    count += topology.GetLink(link.link).kind == kind;
                }
                max = std::max(max, count);
            }
        }
    }
    return max;
}

// One port near one GPU: the ring enters there and returns to it over NVLink (PXN). Without NVLink,
// or without PXN, it leaves from another GPU through the CPU, and so do trees.
TEST(RingSearch, ASinglePortIsLeftByProxyOrThroughTheCpu)
{
    ClusterSpec spec = A100Boxes(4);
    spec.node.nics = 1;
    spec.node.pcieSwitches = 8;
    CollectiveBench withNvLink(spec);
    auto id = withNvLink.GetPlanner().AddCommunicator(FirstGpus(32));
    const auto& proxied = withNvLink.GetPlanner().GetCommunicator(id);
    EXPECT_EQ(NetworkHopLinks(withNvLink, proxied, LinkKind::NvLink), 2U);
    EXPECT_EQ(NetworkHopLinks(withNvLink, proxied, LinkKind::Pcie), 4U);
    EXPECT_NEAR(proxied.searchBandwidth, 24, 1e-9);
    EXPECT_GT(TreeHopLinks(withNvLink, proxied, LinkKind::NvLink), 0U);
    EXPECT_FALSE(proxied.ll128); // tuning.cc allows it over PXN from compute capability 90 on

    NcclSettings off;
    off.pxn = false;
    NcclSettings anyNic = off;
    anyNic.crossNic = CrossNic::Always;
    for (const NcclSettings& settings : {off, anyNic, NcclSettings("2.11.4")})
    {
        CollectiveBench bench(spec, settings);
        id = bench.GetPlanner().AddCommunicator(FirstGpus(32));
        const auto& found = bench.GetPlanner().GetCommunicator(id);
        EXPECT_EQ(NetworkHopLinks(bench, found, LinkKind::NvLink), 0U);
        EXPECT_EQ(TreeHopLinks(bench, found, LinkKind::NvLink), 0U);
        EXPECT_GT(found.searchBandwidth, 1);
    }

    spec.node.wiring = NvLinkWiring::None;
    CollectiveBench onlyPcie(spec);
    id = onlyPcie.GetPlanner().AddCommunicator(FirstGpus(32));
    const auto& through = onlyPcie.GetPlanner().GetCommunicator(id);
    EXPECT_EQ(NetworkHopLinks(onlyPcie, through, LinkKind::NvLink), 0U);
    EXPECT_GT(NetworkHopLinks(onlyPcie, through, LinkKind::Pcie), 4U);
}

// NCCL extends its search of paths to NICs (typeInter) beyond PXB only if it has found nothing: a
// NIC on a CPU carries no channels next to one on a PCIe switch, and all channels otherwise. LL128
// is used only for paths below the CPU.
TEST(RingSearch, FarNicsServeOnlyWhereThereAreNoNear)
{
    const auto find = [](std::vector<PcieAttachment> attachments) {
        ClusterSpec spec = A100Boxes(2);
        spec.node.nics = static_cast<uint32_t>(attachments.size());
        spec.node.nicAttachments = std::move(attachments);
        CollectiveBench bench(spec);
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(16));
        const auto& communicator = bench.GetPlanner().GetCommunicator(id);
        return std::pair(communicator.searchBandwidth, communicator.ll128);
    };
    const PcieAttachment near{PcieParent::Switch, 0, std::nullopt};
    const PcieAttachment far{PcieParent::Socket, 1, std::nullopt};
    EXPECT_EQ(find({near, far}), find({near}));
    EXPECT_EQ(find({near}), (std::pair{24.0, true}));
    const auto [speed, ll128] = find({far, far});
    EXPECT_GT(speed, 24);
    EXPECT_FALSE(ll128);
}

// A V100 cube mesh with one port on the second Intel socket: GPU to port through its root complex
// costs 6/5 of 12 GB/s, so 12 does not fit, but 10 does. At 10 GB/s there is a path through all
// eight GPUs over NVLink from GPU 4 to GPU 5 (4 7 6 2 3 0 1 5), and NCCL searches for those first
// (typeIntra NVL).
TEST(RingSearch, RingsKeepToNvLinkWhereAllHopsCan)
{
    ClusterSpec spec = A100Boxes(2);
    spec.fabric.kind = LeafSpine();
    spec.node.computeCapability = 70;
    spec.node.cpu = HostCpu::Intel;
    spec.node.wiring = NvLinkWiring::Mesh;
    spec.node.nvlinksPerGpu = 0;
    spec.node.meshLinks = {{0, 1},
                           {0, 2},
                           {0, 3, 2},
                           {0, 4, 2},
                           {1, 2, 2},
                           {1, 3},
                           {1, 5, 2},
                           {2, 3, 2},
                           {2, 6},
                           {3, 7},
                           {4, 5},
                           {4, 6},
                           {4, 7, 2},
                           {5, 6, 2},
                           {5, 7},
                           {6, 7, 2}};
    spec.node.pcie = spec.node.pcieUplink =
        ReferenceLink("pcie3-x16", PcieRawRate(3, 16).ToGBps(), 150);
    spec.node.interSocket = ReferenceLink("socket", 10, 200);
    spec.node.nics = 1;
    spec.node.nicAttachments = {{PcieParent::Socket, 1, std::nullopt}};
    CollectiveBench bench(spec);
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(16));
    const auto& communicator = bench.GetPlanner().GetCommunicator(id);
    EXPECT_NEAR(communicator.searchBandwidth, 10, 1e-9);
    for (const RingChannel& ring : communicator.channels)
    {
        for (const Connection& hop : ring.hops)
        {
            EXPECT_NE(hop.kind, ConnectionKind::Pcie);
        }
    }
}

TEST(RingSearch, NodesWithoutPortsAreRefused)
{
    ClusterSpec spec = H100Boxes(2);
    spec.node.nics = 0;
    spec.fabric.kind = NoFabric();
    CollectiveBench bench(spec);
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(16));
    EXPECT_THROW(bench.GetPlanner().GetCommunicator(id), std::runtime_error);
}

} // namespace
} // namespace weir

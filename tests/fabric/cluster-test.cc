// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/topology/cluster.h"

#include "box-spec.h"
#include "fabric/kinds/clos-fabric.h"
#include "fabric/kinds/no-fabric.h"
#include "network-figures.h"

#include <gtest/gtest.h>

#include <functional>

namespace weir
{

namespace
{

/** Names of the neighbors of a device over links of one kind. */
std::vector<std::string>
Neighbors(const Cluster& cluster, const std::string& name, LinkKind kind)
{
    const Topology& topology = cluster.GetTopology();
    std::vector<std::string> names;
    for (const LinkId id : topology.LinksFrom(topology.FindDevice(name)))
    {
        if (topology.GetLink(id).kind == kind)
        {
            names.push_back(topology.GetDevice(topology.GetLink(id).to).name);
        }
    }
    return names;
}

using Names = std::vector<std::string>;
using Nics = std::vector<uint32_t>;

} // namespace

TEST(ClusterTest, ABoxSpreadsGpusAndNicsOverItsPcieSwitches)
{
    const Cluster cluster(BoxSpec(2, NoFabric()));
    EXPECT_EQ(Neighbors(cluster, "node1/pcie0", LinkKind::Pcie),
              (Names{"node1/gpu0", "node1/gpu1", "node1/nic0", "node1/nic1", "node1/cpu0"}));
    EXPECT_EQ(Neighbors(cluster, "node1/pcie3", LinkKind::Pcie),
              (Names{"node1/gpu6", "node1/gpu7", "node1/nic6", "node1/nic7", "node1/cpu1"}));
    EXPECT_EQ(Neighbors(cluster, "node0/cpu0", LinkKind::Pcie),
              (Names{"node0/pcie0", "node0/pcie1"}));
    EXPECT_EQ(Neighbors(cluster, "node0/cpu0", LinkKind::InterSocket), (Names{"node0/cpu1"}));
    EXPECT_EQ(Neighbors(cluster, "node1/gpu5", LinkKind::NvLink), (Names{"node1/nvswitch0"}));
}

TEST(ClusterTest, GpusAndNicsAreCountedNodeByNode)
{
    const Cluster cluster(BoxSpec(3, NoFabric()));
    const Topology& topology = cluster.GetTopology();
    EXPECT_EQ(cluster.GpuCount(), 24u);
    EXPECT_EQ(topology.GetDevice(cluster.GpuDevice(GpuId(21))).name, "node2/gpu5");
    EXPECT_EQ(topology.GetDevice(cluster.GpuDevice(GpuId(21))).node, 2u);
    EXPECT_EQ(topology.GetDevice(cluster.NicDevice(1, 2)).name, "node1/nic2");
    EXPECT_EQ(cluster.NodeOf(GpuId(21)), 2u);
    EXPECT_EQ(cluster.LocalIndexOf(GpuId(21)), 5u);
    for (uint32_t gpu = 0; gpu < cluster.GpuCount(); gpu++)
    {
        const Device& device = topology.GetDevice(cluster.GpuDevice(GpuId(gpu)));
        EXPECT_EQ(device.node * 8 + device.index, gpu);
    }
}

TEST(ClusterTest, AnNvSwitchPortHasTheRateOfAllNvLinksOfItsGpu)
{
    const Cluster cluster(BoxSpec(1, NoFabric()));
    const Topology& topology = cluster.GetTopology();
    const auto& links = topology.LinksFrom(topology.FindDevice("node0/nvswitch0"));
    ASSERT_EQ(links.size(), 8u);
    for (const LinkId id : links)
    {
        // 18 links of 20 GB/s in each direction.
        EXPECT_DOUBLE_EQ(topology.GetLink(id).rate.ToGBps(), 360);
        EXPECT_EQ(topology.GetLink(topology.GetLink(id).opposite).rate, topology.GetLink(id).rate);
    }
}

TEST(ClusterTest, AMeshJoinsTheListedPairsOnly)
{
    ClusterSpec spec = BoxSpec(1, NoFabric());
    spec.node.gpus = 4;
    spec.node.wiring = NvLinkWiring::Mesh;
    spec.node.meshLinks = {{0, 1, 2}, {1, 2, 1}};
    const Cluster cluster(spec);
    EXPECT_EQ(Neighbors(cluster, "node0/gpu1", LinkKind::NvLink),
              (Names{"node0/gpu0", "node0/gpu2"}));
    EXPECT_EQ(Neighbors(cluster, "node0/gpu3", LinkKind::NvLink), Names{});
    const Topology& topology = cluster.GetTopology();
    const LinkId first = topology.LinksFrom(cluster.GpuDevice(GpuId(0))).front();
    EXPECT_DOUBLE_EQ(topology.GetLink(first).rate.ToGBps(), 40);
}

TEST(ClusterTest, WithoutPcieSwitchesDevicesHangOnTheRootComplexes)
{
    ClusterSpec spec = BoxSpec(1, NoFabric());
    spec.node.pcieSwitches = 0;
    spec.node.gpus = 4;
    spec.node.nics = 2;
    const Cluster cluster(spec);
    EXPECT_EQ(Neighbors(cluster, "node0/cpu1", LinkKind::Pcie),
              (Names{"node0/gpu2", "node0/gpu3", "node0/nic1"}));
    EXPECT_FALSE(cluster.GetTopology().FindDevice("node0/pcie0").IsValid());
}

TEST(ClusterTest, WithOneNicPerGpuEachGpusNearestNicIsItsOwn)
{
    for (const uint32_t switches : {0u, 1u, 2u, 4u, 8u})
    {
        ClusterSpec spec = BoxSpec(1, NoFabric());
        spec.node.pcieSwitches = switches;
        const Cluster cluster(spec);
        for (uint32_t gpu = 0; gpu < 8; gpu++)
        {
            EXPECT_EQ(cluster.NearestNics(gpu).front(), gpu) << switches << " switches";
            EXPECT_EQ(cluster.NearestNics(gpu).size(), 8u);
        }
    }
}

TEST(ClusterTest, NicsAreOrderedByPcieHops)
{
    // Distances: own switch 2 hops, same socket 4, other socket 5. NIC n is on switch n / 2.
    const Cluster cluster(BoxSpec(1, NoFabric()));
    EXPECT_EQ(cluster.NearestNics(0), (Nics{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(cluster.NearestNics(3), (Nics{3, 2, 0, 1, 4, 5, 6, 7}));
    EXPECT_EQ(cluster.NearestNics(6), (Nics{6, 7, 4, 5, 0, 1, 2, 3}));
}

TEST(ClusterTest, GpusThatShareNearestNicsTakeTurns)
{
    ClusterSpec spec = BoxSpec(1, NoFabric());
    spec.node.nics = 4; // one per PCIe switch, shared by two GPUs
    EXPECT_EQ(Cluster(spec).NearestNics(5), (Nics{2, 3, 0, 1}));
    spec.node.nics = 2; // on switches 0 and 2: one per socket, shared by four GPUs
    EXPECT_EQ(Cluster(spec).NearestNics(3), (Nics{0, 1}));
    EXPECT_EQ(Cluster(spec).NearestNics(4), (Nics{1, 0}));
    spec.node.sockets = 1; // switches 1 and 3 have no NIC, and both NICs are equally far
    EXPECT_EQ(Cluster(spec).NearestNics(2), (Nics{0, 1}));
    EXPECT_EQ(Cluster(spec).NearestNics(3), (Nics{1, 0}));
    spec.node.nics = 0;
    EXPECT_EQ(Cluster(spec).NearestNics(3), Nics{});
}

TEST(ClusterTest, WiringIsTheSameEveryTime)
{
    const ClusterSpec spec = BoxSpec(12, RailOptimized());
    const Cluster first(spec);
    const Cluster second(spec);
    ASSERT_EQ(first.GetTopology().LinkCount(), second.GetTopology().LinkCount());
    for (std::size_t i = 0; i < first.GetTopology().LinkCount(); i++)
    {
        EXPECT_EQ(first.GetTopology().LinkName(LinkId(i)),
                  second.GetTopology().LinkName(LinkId(i)));
    }
}

TEST(ClusterTest, WiresSixteenThousandGpus)
{
    FatTree tree;
    tree.levels = 3;
    for (const Polymorphic<FabricKind>& kind :
         std::vector<Polymorphic<FabricKind>>{RailOptimized(), LeafSpine(), tree})
    {
        const ClusterSpec spec = BoxSpec(2048, kind);
        const Cluster cluster(spec);
        EXPECT_EQ(cluster.GpuCount(), 16384u);
    }
}

TEST(ClusterTest, WhatCannotBeWiredIsRefusedByField)
{
    const auto refused = [](const std::function<void(ClusterSpec&)>& change) {
        ClusterSpec spec = BoxSpec(4, LeafSpine());
        change(spec);
        const std::string message = RefusalOf(spec);
        return message.substr(0, message.find(':'));
    };
    EXPECT_EQ(refused([](ClusterSpec&) {}), "");
    EXPECT_EQ(refused([](ClusterSpec& s) { s.nodes = 0; }), "nodes");
    EXPECT_EQ(refused([](ClusterSpec& s) { s.node.gpus = 0; }), "node.gpus");
    EXPECT_EQ(refused([](ClusterSpec& s) { s.node.sockets = 0; }), "node.sockets");
    EXPECT_EQ(refused([](ClusterSpec& s) { s.node.nvlinksPerGpu = 0; }), "node.nvlinksPerGpu");
    EXPECT_EQ(refused([](ClusterSpec& s) { s.node.nics = 0; }), "node.nics");
    EXPECT_EQ(refused([](ClusterSpec& s) { s.node.pcie = {}; }), "node.pcie.rawRate");
    EXPECT_EQ(refused([](ClusterSpec& s) { s.node.nic.framing = 2; }), "node.nic.framing");
    EXPECT_EQ(
        refused([](ClusterSpec& s) { s.fabric.kind.As<ClosFabric>().oversubscription = 0.5; }),
        "fabric.oversubscription");
    EXPECT_EQ(refused([](ClusterSpec& s) { s.fabric.kind.As<ClosFabric>().leafRadix = 1; }),
              "fabric.leafRadix");
    EXPECT_EQ(refused([](ClusterSpec& s) {
                  s.node.wiring = NvLinkWiring::Mesh;
                  s.node.meshLinks = {{0, 1, 1}, {3, 8, 1}};
              }),
              "node.meshLinks[1]");
    EXPECT_EQ(refused([](ClusterSpec& s) {
                  s.fabric.kind = FatTree();
                  s.fabric.kind.As<FatTree>().levels = 9;
              }),
              "fabric.levels");
}

TEST(ClusterTest, RefusalsSayWhatWouldFit)
{
    ClusterSpec spec = BoxSpec(4, LeafSpine());
    spec.fabric.kind.As<ClosFabric>().leafRadix = 8; // four ports down, four up
    EXPECT_EQ(RefusalOf(spec),
              "fabric.leafRadix: 8 ports, which leave room for 4 NICs in addition to the uplinks, "
              "expected room for the 8 of a node (node.nics)");
    FatTree tree; // k^2 / 2 = 32 NICs on two levels
    tree.leafRadix = 8;
    spec.fabric.kind = tree;
    EXPECT_EQ(RefusalOf(spec), "");
    spec.nodes = 5;
    EXPECT_EQ(RefusalOf(spec),
              "fabric.leafRadix: 8 ports, which in 2 levels (fabric.levels) connect at most 32 "
              "NICs, expected enough for nodes x node.nics = 40");
    spec.fabric.kind.As<FatTree>().levels = 3;
    EXPECT_EQ(RefusalOf(spec), "");
}

TEST(ClusterTest, OneNodeNeedsNoNetwork)
{
    ClusterSpec spec = BoxSpec(1, NoFabric());
    spec.node.nics = 0;
    spec.node.nic = {};
    const Cluster cluster(spec);
    EXPECT_EQ(cluster.GpuCount(), 8u);
    // 8 GPUs, one NVSwitch, 4 PCIe switches, 2 root complexes.
    EXPECT_EQ(cluster.GetTopology().DeviceCount(), 15u);
}

} // namespace weir

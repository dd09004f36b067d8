// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/topology/cluster.h"

#include "box-spec.h"
#include "fabric/kinds/clos-fabric.h"

#include <gtest/gtest.h>

#include <array>
#include <ostream>

/**
 * @file
 * Clos networks between nodes: the numbers of switches and links follow their closed forms, ports
 * stay within the radix, and uplink capacity matches downlink capacity.
 */
namespace weir
{

namespace
{

/** Number and total rate of the ports of one switch, by direction. */
struct Ports
{
    uint32_t down{0};
    uint32_t up{0};
    double downRate{0}; //!< GB/s
    double upRate{0};   //!< GB/s
};

/**
 * Counts the ports of a switch. A link leads up where the device kind grows: NICs, leaves, spines,
 * cores is the order of the enumerators.
 */
Ports
PortsOf(const Topology& topology, DeviceId device)
{
    Ports ports;
    for (const LinkId id : topology.LinksFrom(device))
    {
        const Link& link = topology.GetLink(id);
        const bool up = topology.GetDevice(link.to).kind > topology.GetDevice(device).kind;
        (up ? ports.up : ports.down)++;
        (up ? ports.upRate : ports.downRate) += link.rate.ToGBps();
    }
    return ports;
}

std::vector<DeviceId>
DevicesOf(const Topology& topology, DeviceKind kind)
{
    std::vector<DeviceId> devices;
    for (std::size_t i = 0; i < topology.DeviceCount(); i++)
    {
        if (topology.GetDevice(DeviceId(i)).kind == kind)
        {
            devices.emplace_back(i);
        }
    }
    return devices;
}

/** Numbers of leaves, spines and cores. */
std::array<std::size_t, 3>
CountSwitches(const Topology& topology)
{
    return {DevicesOf(topology, DeviceKind::LeafSwitch).size(),
            DevicesOf(topology, DeviceKind::SpineSwitch).size(),
            DevicesOf(topology, DeviceKind::CoreSwitch).size()};
}

using Counts = std::array<std::size_t, 3>;

std::size_t
CountNetworkLinks(const Topology& topology)
{
    std::size_t count = 0;
    for (std::size_t i = 0; i < topology.LinkCount(); i++)
    {
        count += topology.GetLink(LinkId(i)).kind == LinkKind::Network;
    }
    return count;
}

DeviceId
LeafOf(const Cluster& cluster, uint32_t node, uint32_t nic)
{
    const Topology& topology = cluster.GetTopology();
    for (const LinkId id : topology.LinksFrom(cluster.NicDevice(node, nic)))
    {
        if (topology.GetLink(id).kind == LinkKind::Network)
        {
            return topology.GetLink(id).to;
        }
    }
    return DeviceId();
}

} // namespace

TEST(RailOptimizedTest, LeafROfAGroupTakesNicROfEveryNodeInIt)
{
    // 64 ports without oversubscription give 32 nodes a group, so 70 nodes make groups of 32, 32
    // and 6.
    const Cluster cluster(BoxSpec(70, RailOptimized()));
    for (uint32_t node = 0; node < 70; node++)
    {
        for (uint32_t nic = 0; nic < 8; nic++)
        {
            const Device& leaf = cluster.GetTopology().GetDevice(LeafOf(cluster, node, nic));
            EXPECT_EQ(leaf.kind, DeviceKind::LeafSwitch);
            EXPECT_EQ(leaf.index, node / 32 * 8 + nic);
        }
    }
}

TEST(RailOptimizedTest, SwitchCountsFollowFromPorts)
{
    // 12 nodes: 8 leaves of 12 down and 12 up: 96 uplinks on 2 spines of 48. 128 nodes: 4 groups x
    // 8 rails of 32 up: 1024 uplinks on 16 spines of 64. 2048 nodes: 512 leaves, more than a spine
    // of 64 ports reaches, so 32 spines of 512 ports.
    const struct
    {
        uint32_t nodes;
        Counts switches;
    } cases[] = {{12, {8, 2, 0}}, {128, {32, 16, 0}}, {2048, {512, 32, 0}}};

    for (const auto& c : cases)
    {
        const Cluster cluster(BoxSpec(c.nodes, RailOptimized()));
        EXPECT_EQ(CountSwitches(cluster.GetTopology()), c.switches) << c.nodes << " nodes";
    }
}

TEST(RailOptimizedTest, OneRailInOneGroupNeedsNoSpine)
{
    const Cluster cluster(PointSpec(32, RailOptimized(), 64));
    EXPECT_EQ(CountSwitches(cluster.GetTopology()), (Counts{1, 0, 0}));
    EXPECT_EQ(CountNetworkLinks(cluster.GetTopology()), 64u);
}

TEST(RailOnlyTest, RailsHaveTheirOwnLeavesAndSpines)
{
    // 64 ports give 32 nodes a group. 32 nodes: 8 leaves and no spine. 70 nodes: 3 leaves per rail,
    // whose 3 x 32 uplinks take 2 spines of 48: 24 leaves and 16 spines.
    EXPECT_EQ(CountSwitches(Cluster(BoxSpec(32, RailOnly())).GetTopology()), (Counts{8, 0, 0}));
    const Cluster cluster(BoxSpec(70, RailOnly()));
    const Topology& topology = cluster.GetTopology();
    EXPECT_EQ(CountSwitches(topology), (Counts{24, 16, 0}));
    for (const DeviceId spine : DevicesOf(topology, DeviceKind::SpineSwitch))
    {
        for (const LinkId id : topology.LinksFrom(spine))
        {
            // Leaves are numbered by group, then by rail; spines by rail.
            const Device& leaf = topology.GetDevice(topology.GetLink(id).to);
            EXPECT_EQ(leaf.index % 8, topology.GetDevice(spine).index / 2);
        }
    }
}

TEST(LeafSpineTest, ALeafTakesWholeNodes)
{
    // 64 ports: 32 down, that is 4 nodes of 8 NICs.
    const Cluster cluster(BoxSpec(10, LeafSpine()));
    for (uint32_t node = 0; node < 10; node++)
    {
        for (uint32_t nic = 0; nic < 8; nic++)
        {
            const DeviceId leaf = LeafOf(cluster, node, nic);
            EXPECT_EQ(cluster.GetTopology().GetDevice(leaf).index, node / 4);
        }
    }
    // 3 leaves of 32 up: 96 uplinks on 2 spines of 48.
    EXPECT_EQ(CountSwitches(cluster.GetTopology()), (Counts{3, 2, 0}));
}

TEST(FatTreeTest, FullTreesHaveTheCountsOfAlFares)
{
    // k pods of k / 2 leaves and k / 2 spines, (k / 2)^2 cores, k^3 / 4 hosts; each of the three
    // layers of links has k^3 / 4 wires.
    for (const uint32_t k : {4u, 6u, 8u})
    {
        const uint32_t hosts = k * k * k / 4;
        const Cluster cluster(PointSpec(hosts, FatTree(), k, 3));
        const Topology& topology = cluster.GetTopology();
        EXPECT_EQ(CountSwitches(topology), (Counts{k * k / 2, k * k / 2, k * k / 4}));
        EXPECT_EQ(CountNetworkLinks(topology), 2u * 3 * hosts);
        for (const DeviceKind kind :
             {DeviceKind::LeafSwitch, DeviceKind::SpineSwitch, DeviceKind::CoreSwitch})
        {
            for (const DeviceId device : DevicesOf(topology, kind))
            {
                const Ports ports = PortsOf(topology, device);
                EXPECT_EQ(ports.down, kind == DeviceKind::CoreSwitch ? k : k / 2);
                EXPECT_EQ(ports.down + ports.up, k);
            }
        }
    }
}

TEST(FatTreeTest, TwoLevelsHaveHalfAsManySpinesAsLeaves)
{
    // k leaves of k / 2 hosts, k / 2 spines.
    for (const uint32_t k : {4u, 8u, 16u})
    {
        const Cluster cluster(PointSpec(k * k / 2, FatTree(), k, 2));
        EXPECT_EQ(CountSwitches(cluster.GetTopology()), (Counts{k, k / 2, 0}));
        EXPECT_EQ(CountNetworkLinks(cluster.GetTopology()), 2u * k * k);
    }
}

TEST(FatTreeTest, OneMoreHostThanTheTreeHoldsIsRefused)
{
    EXPECT_NO_THROW(Cluster(PointSpec(128, FatTree(), 8, 3)));
    EXPECT_THROW(Cluster(PointSpec(129, FatTree(), 8, 3)), std::invalid_argument);
    EXPECT_NO_THROW(Cluster(PointSpec(32, FatTree(), 8, 2)));
    EXPECT_THROW(Cluster(PointSpec(33, FatTree(), 8, 2)), std::invalid_argument);
}

namespace
{

struct ClosCase
{
    Polymorphic<FabricKind> kind;
    uint32_t nodes;
    uint32_t radix;
    double oversubscription;
    double trunkGBps; //!< zero: the rate of the NIC

    friend std::ostream& operator<<(std::ostream& os, const ClosCase& c)
    {
        return os << c.kind->Name() << ", " << c.nodes << " nodes, radix " << c.radix
                  << ", oversubscription " << c.oversubscription << ", trunk " << c.trunkGBps
                  << " GB/s";
    }
};

class ClosFabricTest : public testing::TestWithParam<ClosCase>
{
  protected:
    static ClusterSpec MakeSpec(const ClosCase& c)
    {
        ClusterSpec spec = BoxSpec(c.nodes, c.kind);
        if (spec.fabric.kind.Is<FatTree>())
        {
            spec.fabric.kind.As<FatTree>().levels = 3;
        }
        spec.fabric.kind.As<ClosFabric>().leafRadix = c.radix;
        spec.fabric.kind.As<ClosFabric>().oversubscription = c.oversubscription;
        spec.fabric.link = PlainProfile("trunk", Rate::GBps(c.trunkGBps), Time::Nanoseconds(300));
        return spec;
    }
};

} // namespace

// A leaf uses as many of its ports as give the requested ratio exactly: 8 ports divide as 4 : 2 for
// a ratio of 2 and as 4 : 1 for 4, not as 5 : 3 and 6 : 2, which use more ports. Otherwise the
// nearest ratio counts: of 32 ports 20 : 10 is nearer to 2 than 21 : 11, and 7 : 1 is the nearest
// that 8 ports come to 8.
TEST(ClosFabric, LeavesHaveTheRatioAskedForWhereTheirPortsDivideSo)
{
    struct Split
    {
        uint32_t radix;
        double oversubscription;
        uint32_t down;
        uint32_t up;
    };

    const Split splits[] = {{8, 1, 4, 4},
                            {9, 1, 4, 4},
                            {8, 2, 4, 2},
                            {8, 3, 6, 2},
                            {8, 4, 4, 1},
                            {8, 8, 7, 1},
                            {32, 2, 20, 10},
                            {64, 2, 42, 21},
                            {64, 1.7, 39, 23}}; // 1.696; 34 : 20 would give 1.7
    for (const Polymorphic<FabricKind>& kind :
         std::vector<Polymorphic<FabricKind>>{RailOptimized(), LeafSpine(), FatTree()})
    {
        for (const Split& split : splits)
        {
            ClusterSpec spec = PointSpec(3 * split.down, kind, split.radix);
            spec.fabric.kind.As<ClosFabric>().oversubscription = split.oversubscription;
            const Cluster cluster(spec);
            const auto leaves = DevicesOf(cluster.GetTopology(), DeviceKind::LeafSwitch);
            ASSERT_FALSE(leaves.empty());
            for (const DeviceId leaf : leaves)
            {
                const Ports ports = PortsOf(cluster.GetTopology(), leaf);
                EXPECT_EQ(ports.down, split.down) << split.radix << " " << split.oversubscription;
                EXPECT_EQ(ports.up, split.up) << split.radix << " " << split.oversubscription;
            }
        }
    }
}

TEST_P(ClosFabricTest, ALeafsUplinksAreTheFewestThatKeepTheOversubscription)
{
    const ClosCase& c = GetParam();
    const Cluster cluster(MakeSpec(c));
    const Topology& topology = cluster.GetTopology();
    const auto leaves = DevicesOf(topology, DeviceKind::LeafSwitch);
    Ports fullest;
    for (const DeviceId leaf : leaves)
    {
        const Ports ports = PortsOf(topology, leaf);
        EXPECT_LE(ports.down + ports.up, c.radix);
        EXPECT_LE(ports.downRate, ports.upRate * c.oversubscription * (1 + 1e-9));
        fullest = ports.down > fullest.down ? ports : fullest;
    }
    // One uplink fewer would exceed the oversubscription of the fullest leaf; all leaves have
    // equally many uplinks.
    const double lessUp = fullest.upRate * (fullest.up - 1) / fullest.up;
    EXPECT_GT(fullest.downRate, lessUp * c.oversubscription);
    for (const DeviceId leaf : leaves)
    {
        EXPECT_EQ(PortsOf(topology, leaf).up, fullest.up);
    }
}

// With 16 given ports down, every leaf holds two nodes of eight NICs, whatever the
// oversubscription; the number of uplinks is 16 over the oversubscription.
TEST(ClosFabric, LeavesKeepTheirNodesWhereTheirPortsDownAreGiven)
{
    for (const Polymorphic<FabricKind>& prototype :
         {Polymorphic<FabricKind>(LeafSpine()), Polymorphic<FabricKind>(FatTree())})
    {
        for (const uint32_t oversubscription : {1U, 2U, 4U, 8U})
        {
            ClusterSpec spec = BoxSpec(8, prototype);
            auto& kind = spec.fabric.kind.As<ClosFabric>();
            kind.leafRadix = 64;
            kind.leafDown = 16;
            kind.oversubscription = oversubscription;
            const Cluster cluster(spec);
            const auto leaves = DevicesOf(cluster.GetTopology(), DeviceKind::LeafSwitch);
            ASSERT_EQ(leaves.size(), 4U);
            for (const DeviceId leaf : leaves)
            {
                EXPECT_EQ(PortsOf(cluster.GetTopology(), leaf).down, 16U);
                EXPECT_EQ(PortsOf(cluster.GetTopology(), leaf).up, 16 / oversubscription);
            }
        }
    }
    ClusterSpec spec = BoxSpec(8, LeafSpine());
    auto& kind = spec.fabric.kind.As<ClosFabric>();
    kind.leafRadix = 20;
    kind.leafDown = 16;
    kind.leafUp = 4;
    EXPECT_EQ(DevicesOf(Cluster(spec).GetTopology(), DeviceKind::SpineSwitch).size(), 1U);
    kind.leafUp = 5;
    EXPECT_THROW(Cluster{spec}, std::invalid_argument);
}

TEST_P(ClosFabricTest, EveryNicHasOnePortAndAboveTheLeavesNothingIsOversubscribed)
{
    const ClosCase& c = GetParam();
    const Cluster cluster(MakeSpec(c));
    const Topology& topology = cluster.GetTopology();
    for (uint32_t node = 0; node < c.nodes; node++)
    {
        for (uint32_t nic = 0; nic < 8; nic++)
        {
            EXPECT_TRUE(LeafOf(cluster, node, nic).IsValid());
        }
    }
    const bool hasCores = !DevicesOf(topology, DeviceKind::CoreSwitch).empty();
    for (const DeviceId spine : DevicesOf(topology, DeviceKind::SpineSwitch))
    {
        const Ports ports = PortsOf(topology, spine);
        EXPECT_EQ(hasCores, ports.up > 0);
        EXPECT_TRUE(!hasCores || ports.down <= ports.up);
        if (c.kind.Is<FatTree>())
        {
            EXPECT_LE(ports.down + ports.up, c.radix);
        }
    }
    for (const DeviceId core : DevicesOf(topology, DeviceKind::CoreSwitch))
    {
        EXPECT_LE(PortsOf(topology, core).down, c.radix);
    }
}

TEST_P(ClosFabricTest, LinksBetweenSwitchesHaveTheTrunksRate)
{
    const ClosCase& c = GetParam();
    const Cluster cluster(MakeSpec(c));
    const Topology& topology = cluster.GetTopology();
    for (std::size_t i = 0; i < topology.LinkCount(); i++)
    {
        const Link& link = topology.GetLink(LinkId(i));
        if (topology.GetDevice(link.from).node == Device::NO_NODE &&
            topology.GetDevice(link.to).node == Device::NO_NODE)
        {
            EXPECT_DOUBLE_EQ(link.rate.ToGBps(), c.trunkGBps > 0 ? c.trunkGBps : 50);
            EXPECT_EQ(link.latency, Time::Nanoseconds(300));
            EXPECT_EQ(topology.GetProfileName(link.profile), "trunk");
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Shapes,
                         ClosFabricTest,
                         testing::Values(ClosCase{RailOptimized(), 12, 64, 1, 0},
                                         ClosCase{RailOptimized(), 128, 64, 1, 0},
                                         ClosCase{RailOptimized(), 70, 64, 2, 0},
                                         ClosCase{RailOptimized(), 100, 40, 1.5, 0},
                                         ClosCase{RailOptimized(), 64, 64, 1, 100},
                                         ClosCase{LeafSpine(), 12, 64, 1, 0},
                                         ClosCase{LeafSpine(), 33, 64, 3, 0},
                                         ClosCase{LeafSpine(), 40, 24, 2, 0},
                                         ClosCase{LeafSpine(), 64, 64, 1, 200},
                                         ClosCase{FatTree(), 12, 64, 1, 0},
                                         ClosCase{FatTree(), 12, 8, 1, 0},
                                         ClosCase{FatTree(), 30, 10, 2, 0},
                                         ClosCase{FatTree(), 29, 16, 3, 0},
                                         ClosCase{FatTree(), 50, 16, 1, 100}));

} // namespace weir

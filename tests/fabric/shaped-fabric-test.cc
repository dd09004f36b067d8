// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/kinds/clos-fabric.h"
#include "fabric/kinds/dimensions.h"
#include "fabric/kinds/dragonfly.h"
#include "fabric/routing/router.h"
#include "fabric/topology/cluster.h"

#include "box-spec.h"
#include "network-figures.h"

#include "fabric/routing/routing-policies.h"
#include "plain-routing.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>

/**
 * @file
 * Dragonflies, tori, products of dimensions and fat trees: counts, diameter and bisection against
 * their closed forms, routes against breadth-first search, and refusals.
 */
namespace weir
{

namespace
{

/** NICs on a dragonfly with @p a routers per group, @p p NICs and @p h global links per router. */
template <typename Kind = Dragonfly>
ClusterSpec
DragonflySpec(uint32_t groups, uint32_t a, uint32_t p, uint32_t h)
{
    Kind kind;
    kind.groups = groups;
    kind.routersPerGroup = a;
    kind.nicsPerRouter = p;
    kind.globalLinks = h;
    return PointSpec(groups * a * p, kind);
}

FabricDimension
Dimension(DimensionKind kind, uint32_t size, uint32_t links = 1)
{
    FabricDimension dimension;
    dimension.kind = kind;
    dimension.size = size;
    dimension.links = links;
    return dimension;
}

/** A torus of these sizes with one NIC per router. */
ClusterSpec
TorusSpec(const std::vector<uint32_t>& sizes)
{
    ClusterSpec spec = PointSpec(1, Torus());
    spec.fabric.kind.As<Torus>().sizes = sizes;
    spec.nodes = *spec.fabric.kind->NodesThatFill(spec.node);
    return spec;
}

/** Expects every route between NICs to have the length found by breadth-first search. */
void
ExpectShortestRoutes(const ClusterSpec& spec, const Polymorphic<RoutingPolicy>& kind)
{
    const Cluster cluster(spec);
    const Topology& topology = cluster.GetTopology();
    PlainRouter plain(topology, kind, 7);
    Router& router = plain;
    for (uint32_t from = 0; from < cluster.NodeCount(); from++)
    {
        const auto distances = NetworkDistances(topology, cluster.NicDevice(from, 0));
        for (uint32_t to = 0; to < cluster.NodeCount(); to++)
        {
            const DeviceId a = cluster.NicDevice(from, 0);
            const DeviceId b = cluster.NicDevice(to, 0);
            const auto route = router.RouteOver(a, b, {from, to, 1, 1}, KindBit(LinkKind::Network));
            ASSERT_EQ(route.size(), distances[b.Index()]) << from << " to " << to;
            DeviceId at = a;
            for (const LinkId link : route)
            {
                ASSERT_EQ(topology.GetLink(link).from, at);
                at = topology.GetLink(link).to;
            }
            ASSERT_EQ(at, b);
        }
    }
}

} // namespace

// Petrini and Vanneschi 1997: L levels of k-port switches connect 2 (k / 2)^L hosts by (2 L - 1) (k
// / 2)^(L - 1) switches. Each level has one link per host, and leaves are at most 2 (L - 1) links
// apart.
TEST(FatTreeTest, HasTheCountsOfItsFormulasAtAnyLevel)
{
    for (const auto& [radix, levels] : {std::array{4U, 2U},
                                        std::array{4U, 3U},
                                        std::array{4U, 4U},
                                        std::array{4U, 5U},
                                        std::array{6U, 4U}})
    {
        uint32_t points = 2;
        for (uint32_t level = 0; level < levels; level++)
        {
            points *= radix / 2;
        }
        const Cluster cluster(PointSpec(points, FatTree(), radix, levels));
        const Topology& topology = cluster.GetTopology();
        EXPECT_EQ(CountKind(topology, DeviceKind::LeafSwitch) +
                      CountKind(topology, DeviceKind::SpineSwitch) +
                      CountKind(topology, DeviceKind::CoreSwitch),
                  (2 * levels - 1) * points / radix);
        EXPECT_EQ(CountTrunks(topology), (levels - 1) * points);
        const auto distances = NetworkDistances(topology, cluster.NicDevice(0, 0));
        EXPECT_EQ(distances[cluster.NicDevice(points - 1, 0).Index()], 2 * (levels - 1) + 2);
    }
    EXPECT_NE(RefusalOf(PointSpec(33, FatTree(), 4, 4)), "");
}

// Kim et al. 2008: a dragonfly has at most g = a h + 1 groups; with a = 2p = 2h it is balanced. At
// the maximum every two groups share one link.
TEST(DragonflyTest, HasTheCountsOfItsFormulas)
{
    for (const auto& [groups, a, p, h] : {std::array{9U, 4U, 2U, 2U},
                                          std::array{3U, 4U, 2U, 2U},
                                          std::array{2U, 6U, 1U, 3U},
                                          std::array{1U, 5U, 3U, 0U}})
    {
        const Cluster cluster(DragonflySpec(groups, a, p, h));
        const uint32_t lanes = groups > 1 ? a * h / (groups - 1) : 0;
        EXPECT_EQ(CountKind(cluster.GetTopology(), DeviceKind::LeafSwitch), groups * a);
        EXPECT_EQ(CountTrunks(cluster.GetTopology()),
                  groups * a * (a - 1) / 2 + lanes * groups * (groups - 1) / 2);
        EXPECT_LE(SwitchDiameter(cluster), 3U); // local, global, local
    }
}

// No router has more global links than ports for them, and all have equally many when the ports
// divide evenly among the other groups.
TEST(DragonflyTest, SpreadsGlobalLinksOverRouters)
{
    const Cluster cluster(DragonflySpec(5, 4, 2, 2)); // 8 ports for 4 groups: 2 links each
    const Topology& topology = cluster.GetTopology();
    const auto routers = SwitchesOf(topology, DeviceKind::LeafSwitch);
    ASSERT_EQ(routers.size(), 20U);
    for (const DeviceId router : routers)
    {
        uint32_t global = 0;
        for (const LinkId id : topology.LinksFrom(router))
        {
            const Device& there = topology.GetDevice(topology.GetLink(id).to);
            global += IsNetworkSwitch(there) && there.group != topology.GetDevice(router).group;
        }
        EXPECT_EQ(global, 2U) << topology.GetDevice(router).name;
    }
}

// One half of the groups against the other: g/2 x g/2 pairs with m links of 50 GB/s each.
TEST(DragonflyTest, BisectsAtTheGlobalLinks)
{
    const Cluster cluster(DragonflySpec(4, 6, 1, 1)); // m = 6 / 3 = 2
    EXPECT_NEAR(BisectionRate(cluster.GetTopology(),
                              SwitchesOf(cluster.GetTopology(), DeviceKind::LeafSwitch)),
                2 * 2 * 2 * 50.0,
                1e-6);
}

// Shpiner et al. 2017: leaves and spines of a group form a complete bipartite graph, so a path from
// leaf to leaf goes at most up, across and down.
TEST(DragonflyPlusTest, HasTheCountsOfItsFormulas)
{
    ClusterSpec spec = DragonflySpec<DragonflyPlus>(5, 4, 2, 2);
    spec.fabric.kind.As<DragonflyPlus>().spinesPerGroup = 4;
    const Cluster cluster(spec);
    EXPECT_EQ(CountKind(cluster.GetTopology(), DeviceKind::LeafSwitch), 20U);
    EXPECT_EQ(CountKind(cluster.GetTopology(), DeviceKind::SpineSwitch), 20U);
    EXPECT_EQ(CountTrunks(cluster.GetTopology()), 5 * 4 * 4 + 2 * 5 * 4 / 2U);
    EXPECT_EQ(SwitchDiameter(cluster), 3U);
}

TEST(DragonflyTest, RoutesAreShortest)
{
    ExpectShortestRoutes(DragonflySpec(5, 4, 1, 1), EcmpRouting());
    ClusterSpec plus = DragonflySpec<DragonflyPlus>(3, 3, 1, 2);
    plus.fabric.kind.As<DragonflyPlus>().spinesPerGroup = 2;
    ExpectShortestRoutes(plus, StaticRouting());
}

// By rails, NIC k of every node of a block is attached to router k of the block, so NICs of the
// same index in a block share a router.
TEST(DragonflyTest, PlacesNicsByRails)
{
    Dragonfly rails;
    rails.routersPerGroup = 16;
    rails.nicsPerRouter = 4;
    rails.globalLinks = 1;
    rails.nicPlacement = NicPlacement::Rails;
    const Cluster cluster(BoxSpec(8, rails));
    const Topology& topology = cluster.GetTopology();
    for (uint32_t nic = 0; nic < 8; nic++)
    {
        const auto distances = NetworkDistances(topology, cluster.NicDevice(0, nic));
        EXPECT_EQ(distances[cluster.NicDevice(3, nic).Index()], 2U);
        EXPECT_EQ(distances[cluster.NicDevice(3, (nic + 1) % 8).Index()], 3U);
        EXPECT_EQ(distances[cluster.NicDevice(4, nic).Index()], 3U); // the next block
    }
}

TEST(DragonflyTest, RefusesNumbersThatDoNotMultiplyOut)
{
    ClusterSpec spec = DragonflySpec(2, 4, 2, 2);
    spec.nodes = 17;
    EXPECT_NE(RefusalOf(spec).find("fabric.groups: 2"), std::string::npos) << RefusalOf(spec);
    spec = DragonflySpec(10, 4, 2, 2); // 8 global links, 9 other groups
    EXPECT_NE(RefusalOf(spec).find("fabric.globalLinks"), std::string::npos) << RefusalOf(spec);
    spec = DragonflySpec(2, 4, 2, 2);
    spec.fabric.kind.As<Dragonfly>().leafRadix = 6; // 2 + 3 + 2 ports
    EXPECT_NE(RefusalOf(spec).find("fabric.leafRadix: 6"), std::string::npos) << RefusalOf(spec);
    spec = DragonflySpec(2, 4, 0, 2);
    spec.nodes = 8;
    EXPECT_NE(RefusalOf(spec).find("fabric.nicsPerRouter"), std::string::npos) << RefusalOf(spec);
}

// A k-ary n-cube has N routers, n N wires (N / 2 per dimension with k = 2), a diameter of sum
// floor(k_i / 2), and 2 N / k wires across the cut of its longest even dimension.
TEST(TorusTest, HasTheCountsOfItsFormulas)
{
    const Cluster cube(TorusSpec({4, 4, 4}));
    EXPECT_EQ(CountKind(cube.GetTopology(), DeviceKind::LeafSwitch), 64U);
    EXPECT_EQ(CountTrunks(cube.GetTopology()), 3 * 64U);
    EXPECT_EQ(SwitchDiameter(cube), 6U);
    const Cluster uneven(TorusSpec({5, 3, 2}));
    EXPECT_EQ(CountTrunks(uneven.GetTopology()), 30 + 30 + 15U);
    EXPECT_EQ(SwitchDiameter(uneven), 2 + 1 + 1U);
    EXPECT_NEAR(
        BisectionRate(cube.GetTopology(), SwitchesOf(cube.GetTopology(), DeviceKind::LeafSwitch)),
        2 * 64 / 4 * 50.0,
        1e-6);
}

TEST(TorusTest, RoutesAreShortest)
{
    for (const Polymorphic<RoutingPolicy>& kind : std::vector<Polymorphic<RoutingPolicy>>{
             StaticRouting(), EcmpRouting(), DimensionOrderRouting()})
    {
        ExpectShortestRoutes(TorusSpec({5, 4, 2}), kind);
    }
}

// Dimension order: the dimensions along a route never decrease. The routes from one router to all
// others cross links of all three dimensions.
TEST(TorusTest, DimensionOrderTakesTheFirstDimensionFirst)
{
    const Cluster cluster(TorusSpec({4, 3, 4}));
    const Topology& topology = cluster.GetTopology();
    PlainRouter plain(topology, DimensionOrderRouting(), 3);
    Router& router = plain;
    std::set<uint8_t> crossed;
    for (uint32_t to = 1; to < cluster.NodeCount(); to++)
    {
        const auto route = router.RouteOver(cluster.NicDevice(0, 0),
                                            cluster.NicDevice(to, 0),
                                            {0, to, 5, 5},
                                            KindBit(LinkKind::Network));
        uint8_t last = 0;
        for (std::size_t i = 1; i + 1 < route.size(); i++)
        {
            EXPECT_GE(topology.GetLink(route[i]).dimension, last);
            last = topology.GetLink(route[i]).dimension;
            crossed.insert(last);
        }
    }
    EXPECT_EQ(crossed, (std::set<uint8_t>{0, 1, 2}));
}

TEST(TorusTest, RefusesTooFewRouters)
{
    ClusterSpec spec = TorusSpec({3, 3});
    spec.nodes = 10;
    EXPECT_NE(RefusalOf(spec).find("3 x 3 routers"), std::string::npos) << RefusalOf(spec);
    spec.fabric.kind.As<Torus>().nicsPerRouter = 2;
    EXPECT_EQ(RefusalOf(spec), "");
}

// Ring(4) x FullyConnected(3) x Switch(2): 24 routers; 24 wires, 24 (3 - 1) / 2 wires, and 24 wires
// to the 24 / 2 switches; the diameter is 2 + 1 + 2 links.
TEST(DimensionsTest, HasTheCountsOfItsFormulas)
{
    ClusterSpec spec = PointSpec(24, Dimensions());
    spec.fabric.kind.As<Dimensions>().dimensions = {Dimension(DimensionKind::Ring, 4),
                                                    Dimension(DimensionKind::FullyConnected, 3),
                                                    Dimension(DimensionKind::Switch, 2)};
    const Cluster cluster(spec);
    EXPECT_EQ(CountKind(cluster.GetTopology(), DeviceKind::LeafSwitch), 24U);
    EXPECT_EQ(CountKind(cluster.GetTopology(), DeviceKind::SpineSwitch), 12U);
    EXPECT_EQ(CountTrunks(cluster.GetTopology()), 24 + 24 + 24U);
    EXPECT_EQ(SwitchDiameter(cluster), 5U);
    ExpectShortestRoutes(spec, EcmpRouting());
}

// The output of Shape() can be parsed again; only the first dimension may be inside the nodes.
TEST(DimensionsTest, ReadsItsOwnNotation)
{
    for (const char* text : {"Ring(8) inside", "Switch(8) inside x Ring(4) x FullyConnected(2)"})
    {
        Dimensions dimensions;
        dimensions.dimensions = ParseDimensions(text);
        EXPECT_EQ(dimensions.Shape(), text);
    }
    EXPECT_TRUE(ParseDimensions("Ring(8), inside").front().isInside);
    EXPECT_THROW(ParseDimensions("Ring(8) x Ring(4) inside"), DimensionTextError);
}

TEST(DimensionsTest, EachHasItsOwnRateAndParallelWires)
{
    ClusterSpec spec = PointSpec(4, Dimensions());
    spec.fabric.kind.As<Dimensions>().dimensions = {Dimension(DimensionKind::FullyConnected, 2, 3),
                                                    Dimension(DimensionKind::FullyConnected, 2)};
    spec.fabric.kind.As<Dimensions>().dimensions[1].link =
        PlainProfile("slow", Rate::GBps(5), Time::Microseconds(2));
    const Cluster cluster(spec);
    const Topology& topology = cluster.GetTopology();
    const auto routers = SwitchesOf(topology, DeviceKind::LeafSwitch);
    double fast = 0;
    double slow = 0;
    for (const LinkId id : topology.LinksFrom(routers.front()))
    {
        const Link& link = topology.GetLink(id);
        fast += link.to == routers[1] ? link.rate.ToGBps() : 0;
        slow += link.to == routers[2] ? link.rate.ToGBps() : 0;
    }
    EXPECT_NEAR(fast, 3 * 50, 1e-9);
    EXPECT_NEAR(slow, 5, 1e-9);
}

// With the first dimension inside nodes of eight GPUs, the network joins only NICs of the same
// index.
TEST(DimensionsTest, TheFirstMayBeInsideTheNodes)
{
    ClusterSpec spec = BoxSpec(4, Dimensions());
    spec.fabric.kind.As<Dimensions>().dimensions = {Dimension(DimensionKind::Switch, 8),
                                                    Dimension(DimensionKind::Ring, 4)};
    spec.fabric.kind.As<Dimensions>().dimensions.front().isInside = true;
    const Cluster cluster(spec);
    EXPECT_EQ(CountTrunks(cluster.GetTopology()), 8 * 4U);
    const auto distances = NetworkDistances(cluster.GetTopology(), cluster.NicDevice(0, 2));
    EXPECT_EQ(distances[cluster.NicDevice(2, 2).Index()], 4U);
    EXPECT_EQ(distances[cluster.NicDevice(2, 3).Index()], std::numeric_limits<uint32_t>::max());

    spec.fabric.kind.As<Dimensions>().dimensions.front().kind =
        DimensionKind::Ring; // the GPUs are attached to a switch
    EXPECT_NE(RefusalOf(spec).find("expected Switch(8), or node.nvlink"), std::string::npos)
        << RefusalOf(spec);
    spec.fabric.kind.As<Dimensions>().dimensions.front() = Dimension(DimensionKind::Switch, 4);
    spec.fabric.kind.As<Dimensions>().dimensions.front().isInside = true;
    EXPECT_NE(RefusalOf(spec).find("expected the 8 GPUs"), std::string::npos) << RefusalOf(spec);
}

TEST(DimensionsTest, RefusesSizesThatDoNotMultiplyOut)
{
    ClusterSpec spec = PointSpec(23, Dimensions());
    spec.fabric.kind.As<Dimensions>().dimensions = {Dimension(DimensionKind::Ring, 4),
                                                    Dimension(DimensionKind::Ring, 6)};
    EXPECT_NE(RefusalOf(spec).find("4 x 6 is 24 NICs"), std::string::npos) << RefusalOf(spec);
}

} // namespace weir

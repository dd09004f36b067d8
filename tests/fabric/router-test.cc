// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/router.h"

#include "fabric/kinds/clos-fabric.h"
#include "fabric/kinds/no-fabric.h"
#include "fabric/topology/cluster.h"

#include "box-spec.h"
#include "path-oracle.h"

#include "fabric/routing/routing-policies.h"
#include "plain-routing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <random>
#include <set>

namespace weir
{

namespace
{

struct RoutingCase
{
    const char* name;
    ClusterSpec spec;

    friend std::ostream& operator<<(std::ostream& os, const RoutingCase& c)
    {
        return os << c.name;
    }
};

class RouterPairsTest : public testing::TestWithParam<RoutingCase>
{
};

ClusterSpec
Oversubscribed(ClusterSpec spec, double ratio)
{
    spec.fabric.kind.As<ClosFabric>().oversubscription = ratio;
    return spec;
}

} // namespace

TEST_P(RouterPairsTest, EveryPairOfNicsIsJoinedByAShortestPath)
{
    const Cluster cluster(GetParam().spec);
    const Topology& topology = cluster.GetTopology();
    PlainRouter plain(topology, EcmpRouting(), 1);
    Router& router = plain;
    const uint32_t nics = cluster.NodeCount() * cluster.NicsPerNode();
    const auto nicDevice = [&](uint32_t i) {
        return cluster.NicDevice(i / cluster.NicsPerNode(), i % cluster.NicsPerNode());
    };
    for (uint32_t a = 0; a < nics; a++)
    {
        const Oracle oracle(topology, nicDevice(a), NETWORK);
        for (uint32_t b = 0; b < nics; b++)
        {
            const auto route = router.RouteOver(nicDevice(a), nicDevice(b), {a, b, 7, 0}, NETWORK);
            EXPECT_EQ(route.size(), oracle.distance[nicDevice(b).Index()]);
            EXPECT_TRUE(Joins(topology, route, nicDevice(a), nicDevice(b)));
        }
    }
}

TEST_P(RouterPairsTest, EveryShortestPathIsTakenBySomeFlow)
{
    const Cluster cluster(GetParam().spec);
    const Topology& topology = cluster.GetTopology();
    PlainRouter plain(topology, EcmpRouting(), 1);
    Router& router = plain;
    const DeviceId from = cluster.NicDevice(0, 0);
    const DeviceId to = cluster.NicDevice(cluster.NodeCount() - 1, cluster.NicsPerNode() - 1);
    const uint64_t paths = Oracle(topology, from, NETWORK).paths[to.Index()];
    std::set<std::vector<uint32_t>> seen;
    // Each path is missed by all of 30 n uniform draws with probability e^-30.
    for (uint32_t flow = 0; flow < 30 * paths; flow++)
    {
        std::vector<uint32_t> path;
        for (const LinkId id : router.RouteOver(from, to, TupleOf(flow), NETWORK))
        {
            path.push_back(id.Index());
        }
        seen.insert(path);
    }
    EXPECT_EQ(seen.size(), paths);
}

INSTANTIATE_TEST_SUITE_P(
    Fabrics,
    RouterPairsTest,
    testing::Values(RoutingCase{"rails", BoxSpec(5, RailOptimized())},
                    RoutingCase{"railGroups",
                                [] {
                                    ClusterSpec spec = BoxSpec(11, RailOptimized());
                                    spec.fabric.kind.As<ClosFabric>().leafRadix = 8;
                                    return spec;
                                }()},
                    RoutingCase{"leafSpine", BoxSpec(10, LeafSpine())},
                    RoutingCase{"fatTree2", PointSpec(30, FatTree(), 8, 2)},
                    RoutingCase{"fatTree3", PointSpec(50, FatTree(), 6, 3)},
                    RoutingCase{"fatTree3o3", Oversubscribed(PointSpec(150, FatTree(), 8, 3), 3)}),
    [](const testing::TestParamInfo<RoutingCase>& one) { return one.param.name; });

TEST(RouterTest, LengthsInAFatTreeAreThoseOfTheNearestCommonSwitch)
{
    // k = 4: leaves of 2 hosts, pods of 4. Paths have 2 links under one leaf, 4 within a pod, 6
    // between pods; their numbers are 1, k / 2 = 2 and (k / 2)^2 = 4.
    const Cluster cluster(PointSpec(16, FatTree(), 4, 3));
    PlainRouter plain(cluster.GetTopology(), EcmpRouting(), 1);
    Router& router = plain;
    for (uint32_t a = 0; a < 16; a++)
    {
        const Oracle oracle(cluster.GetTopology(), cluster.NicDevice(a, 0), NETWORK);
        for (uint32_t b = 0; b < 16; b++)
        {
            const std::size_t links = a == b ? 0 : a / 2 == b / 2 ? 2 : a / 4 == b / 4 ? 4 : 6;
            const uint64_t paths = links <= 2 ? 1 : links == 4 ? 2 : 4;
            const DeviceId to = cluster.NicDevice(b, 0);
            EXPECT_EQ(router.RouteOver(cluster.NicDevice(a, 0), to, {a, b, 0, 0}, NETWORK).size(),
                      links);
            EXPECT_EQ(oracle.paths[to.Index()], paths);
        }
    }
}

TEST(RouterTest, ARailIsTwoLinksAndAnotherRailFour)
{
    const Cluster cluster(BoxSpec(12, RailOptimized()));
    PlainRouter plain(cluster.GetTopology(), EcmpRouting(), 1);
    Router& router = plain;
    const DeviceId from = cluster.NicDevice(0, 3);
    EXPECT_EQ(router.RouteOver(from, cluster.NicDevice(7, 3), {}, NETWORK).size(), 2u);
    EXPECT_EQ(router.RouteOver(from, cluster.NicDevice(7, 4), {}, NETWORK).size(), 4u);
}

TEST(RouterTest, StaticRoutingTakesTheFirstLinkOfEachSwitch)
{
    const Cluster cluster(BoxSpec(12, LeafSpine()));
    const Topology& topology = cluster.GetTopology();
    PlainRouter plain(topology, StaticRouting(), 1);
    Router& router = plain;
    for (uint32_t i = 0; i < 100; i++)
    {
        const auto route = router.RouteOver(
            cluster.NicDevice(0, 0), cluster.NicDevice(11, 0), TupleOf(i), NETWORK);
        ASSERT_EQ(route.size(), 4u);
        EXPECT_EQ(topology.LinkName(route[1]), "leaf0->spine0");
        EXPECT_EQ(topology.LinkName(route[2]), "spine0->leaf2");
    }
}

TEST(RouterTest, LinkKindsDecideBetweenNvLinkAndPcie)
{
    const Cluster cluster(BoxSpec(1, NoFabric()));
    const Topology& topology = cluster.GetTopology();
    PlainRouter plain(topology, EcmpRouting(), 1);
    Router& router = plain;
    const auto names = [&](const std::vector<LinkId>& route) {
        std::string text = topology.GetDevice(topology.GetLink(route.front()).from).name;
        for (const LinkId id : route)
        {
            text += " " + topology.GetDevice(topology.GetLink(id).to).name;
        }
        return text;
    };
    const DeviceId gpu0 = cluster.GpuDevice(GpuId(0));
    const DeviceId gpu1 = cluster.GpuDevice(GpuId(1));
    const DeviceId gpu7 = cluster.GpuDevice(GpuId(7));
    // GPUs 0 and 1 are two links apart over NVLink and over PCIe.
    EXPECT_EQ(names(router.RouteOver(gpu0, gpu1, {}, NVLINK)),
              "node0/gpu0 node0/nvswitch0 node0/gpu1");
    EXPECT_EQ(names(router.RouteOver(gpu0, gpu1, {}, PCIE)), "node0/gpu0 node0/pcie0 node0/gpu1");
    EXPECT_EQ(names(router.RouteOver(gpu0, gpu7, {}, PCIE)),
              "node0/gpu0 node0/pcie0 node0/cpu0 node0/cpu1 node0/pcie3 node0/gpu7");
    EXPECT_EQ(names(router.RouteOver(gpu0, cluster.NicDevice(0, 1), {}, ALL)),
              "node0/gpu0 node0/pcie0 node0/nic1");
    EXPECT_TRUE(router.RouteOver(gpu0, gpu0, {}, ALL).empty());
}

TEST(RouterTest, GpusAndNicsForwardNothing)
{
    ClusterSpec spec = BoxSpec(2, RailOptimized());
    spec.node.wiring = NvLinkWiring::Mesh;
    spec.node.meshLinks = {{0, 1, 1}, {1, 2, 1}};
    const Cluster cluster(spec);
    const Topology& topology = cluster.GetTopology();
    PlainRouter plain(topology, EcmpRouting(), 1);
    Router& router = plain;
    const DeviceId gpu0 = cluster.GpuDevice(GpuId(0));
    const DeviceId gpu2 = cluster.GpuDevice(GpuId(2));
    // A mesh neighbor is one NVLink away; beyond it the path uses PCIe and does not pass through
    // the neighbor.
    EXPECT_EQ(router.RouteOver(gpu0, cluster.GpuDevice(GpuId(1)), {}, NVLINK).size(), 1u);
    EXPECT_FALSE(router.IsReachable(gpu0, gpu2, NVLINK));
    const auto overPcie = router.RouteOver(gpu0, gpu2, {}, ALL);
    ASSERT_FALSE(overPcie.empty());
    for (const LinkId id : overPcie)
    {
        EXPECT_NE(topology.GetLink(id).kind, LinkKind::NvLink);
    }
    // Across nodes a path would pass through two NICs.
    const DeviceId far = cluster.GpuDevice(GpuId(8));
    EXPECT_FALSE(router.IsReachable(gpu0, far, ALL));
    EXPECT_TRUE(router.IsReachable(cluster.NicDevice(0, 0), cluster.NicDevice(1, 0), ALL));
    EXPECT_TRUE(router.IsReachable(cluster.NicDevice(1, 0), far, ALL));
}

TEST(RouterTest, RoutesAmongAThousandNicsHaveFourLinksUnlessUnderOneLeaf)
{
    const Cluster cluster(BoxSpec(128, RailOptimized()));
    PlainRouter plain(cluster.GetTopology(), EcmpRouting(), 1);
    Router& router = plain;
    std::mt19937 random(1);
    std::size_t links = 0;
    for (uint32_t i = 0; i < 100000; i++)
    {
        const uint32_t a = random() % 1024;
        const uint32_t b = random() % 1024;
        const DeviceId from = cluster.NicDevice(a / 8, a % 8);
        const DeviceId to = cluster.NicDevice(b / 8, b % 8);
        links += router.RouteOver(from, to, {a, b, 0, 0}, NETWORK).size();
    }
    // Paths have two links under one leaf (1 pair in 32), none for the same NIC, else four. The
    // standard deviation of the mean is 0.35 / sqrt(100000); the tolerance is four of them.
    EXPECT_NEAR(static_cast<double>(links) / 100000, 4 - 2.0 / 32 - 2.0 / 1024, 0.0044);
}

TEST(RouterTest, OnAnyGraphRoutesAreAsShortAsTheOracles)
{
    // Random switches and hosts with several ports each and one-way links, possibly in disconnected
    // components.
    std::mt19937 random(7);
    for (uint32_t trial = 0; trial < 30; trial++)
    {
        Topology topology;
        for (uint32_t i = 0; i < 24; i++)
        {
            const bool host = i % 3 == 0;
            topology.AddDevice(host ? DeviceKind::Host : DeviceKind::LeafSwitch,
                               "device" + std::to_string(i));
        }
        for (uint32_t i = 0; i < 45; i++)
        {
            const uint32_t from = random() % 24;
            const uint32_t to = (from + 1 + random() % 23) % 24;
            const LinkKind kind = random() % 4 == 0 ? LinkKind::Pcie : LinkKind::Network;
            topology.AddLink(DeviceId(from), DeviceId(to), kind, Rate::GBps(1), Time());
        }
        PlainRouter plain(topology, EcmpRouting(), trial);
        Router& router = plain;
        std::set<uint32_t> failed;
        for (uint32_t i = 0; i < trial % 8; i++)
        {
            failed.insert(random() % 45);
        }
        for (const uint32_t link : failed)
        {
            router.SetUsable(LinkId(link), false);
        }
        for (uint32_t a = 0; a < 24; a++)
        {
            for (const uint8_t kinds : {NETWORK, ALL})
            {
                const Oracle oracle(topology, DeviceId(a), kinds, failed);
                for (uint32_t b = 0; b < 24; b++)
                {
                    const bool reached = oracle.distance[b] != Oracle::NONE;
                    ASSERT_EQ(router.IsReachable(DeviceId(a), DeviceId(b), kinds), reached);
                    if (reached)
                    {
                        const auto route =
                            router.RouteOver(DeviceId(a), DeviceId(b), {a, b, 3, 4}, kinds);
                        EXPECT_EQ(route.size(), oracle.distance[b]);
                        EXPECT_TRUE(Joins(topology, route, DeviceId(a), DeviceId(b)));
                        EXPECT_TRUE(std::none_of(route.begin(), route.end(), [&](LinkId id) {
                            return failed.count(id.Index()) > 0;
                        }));
                    }
                }
            }
        }
    }
}

/** A routing policy defined by a program. */
class LastRouting : public RoutingPolicy
{
  public:
    LastRouting()
        : RoutingPolicy("last", "The last shortest path, by link id.")
    {
    }

    LinkId SelectHop(const Router& router,
                     DeviceId at,
                     const std::vector<LinkId>& candidates,
                     const FlowTuple& tuple) const override
    {
        return candidates.back();
    }
};

TEST(RouterTest, APolicyOfAProgramSelectsEveryHop)
{
    // Between two leaves the first hop is the NIC's only link; the second leads up. Of the leaf's
    // links to spines, in ascending order of ids, static routing takes the first and this policy
    // the last.
    const Cluster cluster(BoxSpec(10, LeafSpine()));
    const Topology& topology = cluster.GetTopology();
    PlainRouter first(topology, StaticRouting(), 1);
    PlainRouter last(topology, LastRouting(), 1);
    const DeviceId from = cluster.NicDevice(0, 0);
    const DeviceId to = cluster.NicDevice(9, 0);
    const auto lowest = first->RouteOver(from, to, TupleOf(0), NETWORK);
    const auto highest = last->RouteOver(from, to, TupleOf(0), NETWORK);
    ASSERT_EQ(lowest.size(), 4);
    ASSERT_EQ(highest.size(), 4);
    EXPECT_EQ(lowest.front(), highest.front());
    EXPECT_LT(lowest[1], highest[1]);
    for (uint32_t flow = 0; flow < 100; flow++)
    {
        EXPECT_EQ(last->RouteOver(from, to, TupleOf(flow), NETWORK), highest);
    }
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/kinds/clos-fabric.h"
#include "fabric/kinds/no-fabric.h"
#include "fabric/routing/router.h"
#include "fabric/topology/cluster.h"

#include "box-spec.h"
#include "path-oracle.h"

#include "plain-routing.h"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <vector>

namespace weir
{

TEST(RouterFailures, APathThatIsNotThereIsRefusedByBothNames)
{
    const Cluster cluster(BoxSpec(2, NoFabric()));
    PlainRouter plain(cluster.GetTopology(), EcmpRouting(), 1);
    Router& router = plain;
    try
    {
        router.RouteOver(cluster.NicDevice(0, 1), cluster.NicDevice(1, 2), {}, NETWORK);
        FAIL() << "a path was found";
    }
    catch (const std::runtime_error& error)
    {
        EXPECT_STREQ(error.what(), "no path from node0/nic1 to node1/nic2 over network links");
    }
    EXPECT_THROW(router.RouteOver(DeviceId(), cluster.NicDevice(0, 0), {}, NETWORK),
                 std::invalid_argument);
    EXPECT_THROW(router.SetUsable(LinkId(), false), std::invalid_argument);
}

// Rails without links between them are networks of their own, whichever policy selects the paths
// and with spines (leaves of 4 ports) as without.
TEST(RouterFailures, NicsOfTwoRailsOnlyHaveNoPath)
{
    for (const uint32_t radix : {4u, 64u})
    {
        RailOnly kind;
        kind.leafRadix = radix;
        const Cluster cluster(BoxSpec(6, kind));
        for (const Polymorphic<RoutingPolicy>& policy :
             std::vector<Polymorphic<RoutingPolicy>>{StaticRouting(),
                                                     EcmpRouting(),
                                                     AdaptiveRouting(),
                                                     FlowletRouting(),
                                                     SprayRouting()})
        {
            Routing routing(cluster.GetTopology(), RoutedBy(policy));
            RouteRequest request;
            request.source = request.outNic = cluster.NicDevice(0, 1);
            request.destination = request.inNic = cluster.NicDevice(5, 2);
            EXPECT_THROW(routing.Add(request), std::runtime_error) << policy->Name() << radix;
            request.destination = request.inNic = cluster.NicDevice(5, 1);
            EXPECT_NO_THROW(routing.Add(request)) << policy->Name() << radix;
            EXPECT_EQ(
                routing.GetRouter().NetworkPaths(cluster.NicDevice(0, 1), cluster.NicDevice(5, 2)),
                nullptr);
        }
    }
}

// A failed search leaves nothing behind that a second request would take for a path.
TEST(RouterFailures, APathWithinANodeThatIsNotThereIsRefusedEachTime)
{
    const Cluster cluster(BoxSpec(2, NoFabric()));
    Routing routing(cluster.GetTopology(), RoutedBy(EcmpRouting()));
    const DeviceId gpu = cluster.GpuDevice(GpuId(0));
    const DeviceId nicOfOther = cluster.NicDevice(1, 0);
    for (int i = 0; i < 2; i++)
    {
        EXPECT_THROW(routing.InsidePath(gpu, nicOfOther, PCIE_KINDS), std::runtime_error);
    }
}

TEST(RouterFailures, FailedLinksAreAvoidedAndRestoredOnesTakenAgain)
{
    const Cluster cluster(BoxSpec(12, LeafSpine()));
    const Topology& topology = cluster.GetTopology();
    PlainRouter plain(topology, EcmpRouting(), 1);
    Router& router = plain;
    const DeviceId from = cluster.NicDevice(0, 0);
    const DeviceId to = cluster.NicDevice(11, 0);
    const auto routeOf = [&](uint32_t flow) {
        return router.RouteOver(from, to, TupleOf(flow), NETWORK);
    };
    const auto before = routeOf(5);
    const LinkId failed = before[1];
    router.SetUsable(failed, false);
    std::set<uint32_t> uplinks;
    for (uint32_t flow = 0; flow < 2000; flow++)
    {
        uplinks.insert(routeOf(flow)[1].Index());
    }
    EXPECT_EQ(uplinks.size(), 31u); // of 32
    EXPECT_EQ(uplinks.count(failed.Index()), 0u);
    router.SetUsable(failed, true);
    EXPECT_EQ(routeOf(5), before);
}

TEST(RouterFailures, AroundASpineThatIsCutOffFromTheDestinationNothingIsSent)
{
    // Spine 0 loses every link to leaf 2, so flows to leaf 2 use only the other spine.
    const Cluster cluster(BoxSpec(12, LeafSpine()));
    const Topology& topology = cluster.GetTopology();
    PlainRouter plain(topology, EcmpRouting(), 1);
    Router& router = plain;
    const DeviceId spine = topology.FindDevice("spine0");
    const DeviceId leaf = topology.FindDevice("leaf2");
    for (const LinkId id : topology.LinksFrom(spine))
    {
        if (topology.GetLink(id).to == leaf)
        {
            router.SetUsable(id, false);
        }
    }
    const DeviceId from = cluster.NicDevice(0, 0);
    for (uint32_t flow = 0; flow < 500; flow++)
    {
        const auto route = router.RouteOver(from, cluster.NicDevice(11, 0), TupleOf(flow), NETWORK);
        EXPECT_EQ(topology.GetDevice(topology.GetLink(route[1]).to).name, "spine1");
    }
    // A NIC whose only port fails is unreachable.
    const DeviceId nic = cluster.NicDevice(11, 0);
    const DeviceId itsLeaf = leaf;
    for (const LinkId id : topology.LinksFrom(itsLeaf))
    {
        if (topology.GetLink(id).to == nic)
        {
            router.SetUsable(id, false);
        }
    }
    EXPECT_FALSE(router.IsReachable(from, nic, NETWORK));
    EXPECT_TRUE(router.IsReachable(nic, from, NETWORK));
}

} // namespace weir

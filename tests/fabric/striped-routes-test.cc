// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/link-spread.h"
#include "fabric/routing/routing.h"
#include "fabric/topology/cluster-spec.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

/**
 * @file
 * Routes whose bytes are divided over several others.
 */
namespace weir
{

namespace
{

/** A host link of 15 GB/s and two of 10 GB/s behind it; both stripes cross the first. */
class StripedRoutes : public testing::Test
{
  protected:
    StripedRoutes()
    {
        const DeviceId gpu = m_topology.AddDevice(DeviceKind::Gpu, "gpu", 0, 0);
        const DeviceId card = m_topology.AddDevice(DeviceKind::PcieSwitch, "card", 0, 0);
        const DeviceId far = m_topology.AddDevice(DeviceKind::Gpu, "far", 0, 1);
        m_host = m_topology.AddLink(gpu, card, LinkKind::Pcie, Rate::GBps(15), Time());
        for (int i = 0; i < 2; i++)
        {
            m_ports.push_back(m_topology.AddLink(
                card, far, LinkKind::Pcie, Rate::GBps(10), Time::Nanoseconds(100 + 200 * i)));
        }
    }

    RouteId Over(Routing& routing, std::size_t port) const
    {
        return routing.AddPinned({m_host, m_ports[port]});
    }

    Topology m_topology;
    LinkId m_host;
    std::vector<LinkId> m_ports;
};

} // namespace

TEST_F(StripedRoutes, EqualListsShareOneRouteAndOneRouteIsItself)
{
    Routing routing(m_topology, FabricSpec());
    const RouteId a = Over(routing, 0);
    const RouteId b = Over(routing, 1);
    const RouteId striped = routing.AddStriped({a, b});
    EXPECT_EQ(routing.AddStriped({a, b}), striped);
    EXPECT_NE(striped, a);
    EXPECT_EQ(routing.AddStriped({a, a}), a);
    EXPECT_EQ(routing.StripeCount(striped), 2U);
    EXPECT_EQ(routing.Stripe(striped, 1), b);
    EXPECT_EQ(routing.StripeCount(a), 1U);
    EXPECT_EQ(routing.Stripe(a, 1), a);
    EXPECT_FALSE(routing.HaveSameLinks(striped, a));
}

// Each port carries half of the bytes at 10 GB/s, the host link all of them at 15.
TEST_F(StripedRoutes, ItsRateIsThatOfAllStripesTogether)
{
    Routing routing(m_topology, FabricSpec());
    const RouteId striped = routing.AddStriped({Over(routing, 0), Over(routing, 1)});
    EXPECT_DOUBLE_EQ(routing.BottleneckRate(striped).ToGBps(), 15);
    std::map<LinkId, double> shares;
    const ConcurrentShares all(routing, [] { return std::vector<RouteLoad>(); });
    all.ForEach(striped, [&](LinkId link, double share) {
        EXPECT_TRUE(shares.emplace(link, share).second);
    });
    EXPECT_EQ(shares,
              (std::map<LinkId, double>{{m_host, 1}, {m_ports[0], 0.5}, {m_ports[1], 0.5}}));
}

// A message has arrived when its last stripe has.
TEST_F(StripedRoutes, ItsLatencyIsThatOfTheSlowestStripe)
{
    Routing routing(m_topology, FabricSpec());
    const RouteId a = Over(routing, 0);
    const RouteId b = Over(routing, 1);
    EXPECT_EQ(routing.Latency(routing.AddStriped({a, b})), Time::Nanoseconds(300));
    EXPECT_EQ(routing.Latency(routing.AddStriped({b, a})), Time::Nanoseconds(300));
}

// Stripe i of a sum has stripe i of every term that is striped, and the whole of the others. Sums
// that differ in their second stripe only are two.
TEST_F(StripedRoutes, ASumOfStripedRoutesIsStriped)
{
    Routing routing(m_topology, FabricSpec());
    const RouteId a = Over(routing, 0);
    const RouteId b = Over(routing, 1);
    RouteSum sum;
    sum.Add(routing.AddStriped({a, b}));
    sum.Add(a);
    const RouteId striped = routing.AddSum(sum);
    ASSERT_EQ(routing.StripeCount(striped), 2U);
    RouteSum second;
    second.Add(b);
    second.Add(a);
    EXPECT_EQ(routing.Stripe(striped, 1), routing.AddSum(second));
    RouteSum plain;
    plain.Add(a, 2);
    EXPECT_EQ(routing.Stripe(striped, 0), routing.AddSum(plain));
    EXPECT_NE(routing.AddSum(plain), striped);
}

} // namespace weir

// SPDX-License-Identifier: GPL-2.0-only

#include "fabric/kinds/dimensions.h"
#include "fabric/kinds/dragonfly.h"
#include "fabric/routing/routing-policies.h"
#include "flow-play.h"

#include <gtest/gtest.h>

#include <set>

/**
 * @file
 * Throughput of whole networks: uniform traffic against closed forms, and the worst case of a
 * dragonfly with and without detours.
 */
namespace weir
{

namespace
{

const Bytes MEGABYTE(1000000);

} // namespace

// The worst case of minimal routing (Kim et al. 2008, figure 8): every group sends only to the next
// group, so their one global link carries a p flows. Valiant's detours distribute them over other
// groups.
TEST(ValiantTest, SpreadsTheWorstCaseOfADragonfly)
{
    double ends[2];
    for (const bool detours : {false, true})
    {
        ClusterSpec spec =
            ThinSpec(72,
                     Dragonfly(),
                     detours ? Polymorphic<RoutingPolicy>(ValiantRouting()) : EcmpRouting());
        auto& dragonfly = spec.fabric.kind.As<Dragonfly>();
        dragonfly.groups = 9;
        dragonfly.routersPerGroup = 4;
        dragonfly.nicsPerRouter = 2;
        dragonfly.globalLinks = 2;
        Play play(spec);
        for (uint32_t i = 0; i < 72; i++)
        {
            play.Start(i, (i + 8) % 72, MEGABYTE, Time(), i);
        }
        ends[detours] = play.Run().ToMicroseconds();
    }
    EXPECT_NEAR(ends[0], 800, 1e-6); // eight flows on one global link
    EXPECT_LE(ends[1], 600);         // some hashes collide
}

// A Valiant route between two groups passes through a third one.
TEST(ValiantTest, GoesByAThirdGroup)
{
    ClusterSpec spec = ThinSpec(72, Dragonfly(), ValiantRouting());
    auto& dragonfly = spec.fabric.kind.As<Dragonfly>();
    dragonfly.groups = 9;
    dragonfly.routersPerGroup = 4;
    dragonfly.nicsPerRouter = 2;
    dragonfly.globalLinks = 2;
    Play play(spec);
    const Topology& topology = play.GetTopology();
    for (uint16_t port = 0; port < 50; port++)
    {
        std::set<uint32_t> groups;
        for (const PathLink& each : play.GetFabric().GetRouting().Links(play.RouteOf(3, 40, port)))
        {
            groups.insert(topology.GetDevice(topology.GetLink(each.link).to).group);
        }
        groups.erase(Device::NO_NODE);
        EXPECT_EQ(groups.size(), 3U);
    }
}

// Uniform all-to-all on a k-ary n-cube: N^2 pairs cross k / 4 links of a dimension on average; by
// symmetry each of its 2 N links carries N k / 8 flows.
TEST(ThroughputTest, AllToAllOnATorus)
{
    ClusterSpec spec = ThinSpec(1, Torus(), SprayRouting());
    spec.fabric.kind.As<Torus>().sizes = {4, 4};
    spec.nodes = *spec.fabric.kind->NodesThatFill(spec.node);
    ASSERT_EQ(spec.nodes, 16U);
    Play play(spec);
    uint64_t flow = 0;
    for (uint32_t from = 0; from < 16; from++)
    {
        for (uint32_t to = 0; to < 16; to++)
        {
            if (from != to)
            {
                play.Start(from, to, MEGABYTE, Time(), flow++);
            }
        }
    }
    EXPECT_NEAR(play.Run().ToMicroseconds(), 16 * 4 / 8 * 100.0, 0.01);
}

// Uniform all-to-all on a dragonfly with one global link between any two groups: a local link
// carries p^2 flows between its own routers, and a p^2 h flows each for the traffic that leaves and
// that enters the group.
TEST(ThroughputTest, AllToAllOnADragonfly)
{
    ClusterSpec spec = ThinSpec(36, Dragonfly(), EcmpRouting());
    auto& dragonfly = spec.fabric.kind.As<Dragonfly>();
    dragonfly.groups = 9;
    dragonfly.routersPerGroup = 4;
    dragonfly.nicsPerRouter = 1;
    dragonfly.globalLinks = 2;
    Play play(spec);
    uint64_t flow = 0;
    for (uint32_t from = 0; from < 36; from++)
    {
        for (uint32_t to = 0; to < 36; to++)
        {
            if (from != to)
            {
                play.Start(from, to, MEGABYTE, Time(), flow++);
            }
        }
    }
    EXPECT_NEAR(play.Run().ToMicroseconds(), (1 + 2 * 4 * 2) * 100.0, 0.01);
}

} // namespace weir

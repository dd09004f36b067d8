// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/kinds/dragonfly.h"
#include "fabric/routing/routing-policies.h"
#include "flow-play.h"

#include <gtest/gtest.h>

/**
 * @file
 * Sums of routes: what they are made of, and how switches that route by load divide them.
 */
namespace weir
{

namespace
{

/** One group of four routers of two points each, every two joined by one link of 10 GB/s. */
ClusterSpec
OneGroup(const Polymorphic<RoutingPolicy>& routing)
{
    ClusterSpec spec = ThinSpec(8, Dragonfly(), routing);
    auto& dragonfly = spec.fabric.kind.As<Dragonfly>();
    dragonfly.routersPerGroup = 4;
    dragonfly.nicsPerRouter = 2;
    return spec;
}

} // namespace

// Both points of router 0 to both of router 1: crosswise or not, the links are the same, the
// segments are not. Where nothing is spread, only links count.
TEST(RouteSumTest, TellsSegmentsOverTheSameLinksApart)
{
    for (const bool spreads : {false, true})
    {
        Play play(
            OneGroup(spreads ? Polymorphic<RoutingPolicy>(AdaptiveRouting()) : EcmpRouting()));
        const RouteId straight = play.SumOf({{0, 2}, {1, 3}});
        const RouteId crosswise = play.SumOf({{0, 3}, {1, 2}});
        EXPECT_EQ(straight, play.SumOf({{1, 3}, {0, 2}}));
        EXPECT_EQ(straight == crosswise, !spreads);
        const Routing& routing = play.GetFabric().GetRouting();
        EXPECT_EQ(routing.Latency(straight), routing.Latency(crosswise));
        EXPECT_EQ(routing.Links(straight).size(), 5U);
        EXPECT_EQ(routing.DecompositionOf(straight).segments.size(), 2U);
        EXPECT_TRUE(routing.DecompositionOf(straight).rest.empty());
    }
}

// Two flows of 1 MB from router 0 to router 1 have the direct link and two detours of two links:
// three paths of 10 GB/s, 2/3 MB on each, 66.7 us. On every one of the five links as much.
TEST(BalancedSpreadTest, DividesAmongTheDirectLinkAndDetours)
{
    Play play(OneGroup(AdaptiveRouting()));
    play.Start(play.SumOf({{0, 2}, {1, 3}}), Bytes(1000000), Time(), 0);
    EXPECT_NEAR(play.Run().ToMicroseconds(), 100 * 2.0 / 3, 1.5);
    const auto bytes = play.TrunkBytes();
    ASSERT_EQ(bytes.size(), 5U);
    for (const double each : bytes)
    {
        EXPECT_NEAR(each, 2e6 / 3, 2e4);
    }
}

// Paths that start at one time are divided together: as above, one path each.
TEST(BalancedSpreadTest, DividesWhatStartsTogether)
{
    Play play(OneGroup(AdaptiveRouting()));
    // Each with something inside router 2 besides, so that it is a sum.
    play.Start(play.SumOf({{0, 2}, {4, 5}}), Bytes(1000000), Time(), 0);
    play.Start(play.SumOf({{1, 3}, {5, 4}}), Bytes(1000000), Time(), 1);
    EXPECT_NEAR(play.Run().ToMicroseconds(), 100 * 2.0 / 3, 1.5);
    EXPECT_NEAR(play.EndOf(0).ToMicroseconds(), play.EndOf(1).ToMicroseconds(), 1e-3);
}

// Nothing that goes on in another group matters: two flows of 1 MB of 10 GB/s beside 10 MB, k
// times, from every router of the other group to every other, divide as they do alone.
TEST(BalancedSpreadTest, DividesTheLittleAsIfTheMuchWereNotThere)
{
    ClusterSpec spec = OneGroup(AdaptiveRouting());
    spec.nodes = 16;
    spec.fabric.kind.As<Dragonfly>().groups = 2;
    for (const uint32_t k : {1U, 5U, 20U})
    {
        Play play(spec);
        RouteSum much;
        for (uint32_t a = 0; a < 4; a++)
        {
            for (uint32_t b = 0; b < 4; b++)
            {
                if (a != b)
                {
                    much.Add(play.RouteOf(8 + 2 * a, 8 + 2 * b), k);
                }
            }
        }
        play.Start(play.GetFabric().GetRouting().AddSum(much), Bytes(10000000), Time(), 1);
        play.Start(play.SumOf({{0, 2}, {1, 3}}), Bytes(1000000), Time(), 0);
        play.Run();
        EXPECT_NEAR(play.EndOf(0).ToMicroseconds(), 100 * 2.0 / 3, 1.5) << k;
    }
}

// What is under way already counts: beside a flow on the direct link, with x of two more there and
// the others on two detours, loads are 1 + x and (2 - x) / 2: even at x = 0, 1 MB at 10 GB/s.
TEST(BalancedSpreadTest, AvoidsWhatIsUnderWay)
{
    Play play(OneGroup(AdaptiveRouting()));
    play.Start(0, 2, Bytes(10000000), Time(), 0);
    play.Engines().RunUntil(Time::Nanoseconds(1));
    play.Start(play.SumOf({{0, 3}, {1, 2}}), Bytes(1000000), Time::Nanoseconds(1), 1);
    play.Run();
    EXPECT_NEAR(play.EndOf(1).ToMicroseconds(), 100, 6);
}

} // namespace weir

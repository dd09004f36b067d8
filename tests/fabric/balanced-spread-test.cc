// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/kinds/dragonfly.h"
#include "fabric/routing/routing-policies.h"
#include "flow-play.h"

#include <gtest/gtest.h>

/**
 * @file
 * Sums of routes: their path segments, and how load-aware switches split their traffic over paths.
 */
namespace weir
{

namespace
{

/** One group of four routers with two NICs each; every pair of routers has one 10 GB/s link. */
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

// Flows from both NICs of router 0 to both of router 1: straight or crosswise, the links are the
// same but the path segments differ. Only a policy that splits traffic over several paths tells the
// two sums apart; under ECMP only the links count.
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
// three paths of 10 GB/s with 2/3 MB on each, so 66.7 us. Each of the five links carries 2/3 MB.
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

// Sums that start at one instant are split jointly: as above, with one path per sum.
TEST(BalancedSpreadTest, DividesWhatStartsTogether)
{
    Play play(OneGroup(AdaptiveRouting()));
    // A second path inside router 2 makes each of them a sum.
    play.Start(play.SumOf({{0, 2}, {4, 5}}), Bytes(1000000), Time(), 0);
    play.Start(play.SumOf({{1, 3}, {5, 4}}), Bytes(1000000), Time(), 1);
    EXPECT_NEAR(play.Run().ToMicroseconds(), 100 * 2.0 / 3, 1.5);
    EXPECT_NEAR(play.EndOf(0).ToMicroseconds(), play.EndOf(1).ToMicroseconds(), 1e-3);
}

// Traffic inside another group does not change the split: two flows of 1 MB divide as they do
// uncontended, although every router of the other group sends 10 MB to every other one, with
// multiplicity k.
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

// Flows in progress count. One flow occupies the direct link; of two new flows, let x be the amount
// on the direct link and 2 - x that on the two detours. The loads are 1 + x on the direct link and
// (2 - x) / 2 on each detour; they are equal at x = 0, so each new flow moves 1 MB at 10 GB/s: 100
// us.
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

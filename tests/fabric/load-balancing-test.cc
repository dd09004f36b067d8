// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/kinds/dimensions.h"
#include "fabric/kinds/dragonfly.h"
#include "fabric/routing/link-spread.h"
#include "fabric/routing/path-dag.h"

#include "fabric/routing/routing-policies.h"
#include "flow-play.h"

#include <gtest/gtest.h>

/**
 * @file
 * Adaptive routing, spraying and detours: completion times of flows on whole fabrics against closed
 * forms.
 */
namespace weir
{

namespace
{

const Bytes MEGABYTE(1000000);

/** A dragonfly of one group: four routers with two hosts each. */
ClusterSpec
FourRouters(bool adapts)
{
    ClusterSpec spec = ThinSpec(
        8, Dragonfly(), adapts ? Polymorphic<RoutingPolicy>(AdaptiveRouting()) : EcmpRouting());
    auto& dragonfly = spec.fabric.kind.As<Dragonfly>();
    dragonfly.routersPerGroup = 4;
    dragonfly.nicsPerRouter = 2;
    return spec;
}

} // namespace

// One flow over eight spines of 10 GB/s each moves at 80 GB/s, and every path carries an eighth.
TEST(SprayTest, SplitsEquallyOverAllShortestPaths)
{
    ClusterSpec spec = TwoLeaves(8, SprayRouting());
    spec.node.nic.rawRate = Rate::GBps(80);
    spec.nodes = 2;
    spec.fabric.kind.As<ClosFabric>().leafRadix = 9; // one NIC and the eight uplinks that it needs
    Play apart(spec);
    apart.Start(0, 1, Bytes(8000000), Time(), 0);
    EXPECT_NEAR(apart.Run().ToMicroseconds(), 100, 1e-6);
    const auto bytes = apart.TrunkBytes();
    ASSERT_EQ(bytes.size(), 16U); // up and down
    for (const double each : bytes)
    {
        EXPECT_NEAR(each, 1000000, 1);
    }
}

// A sprayed flow and a flow on a single path get equal shares of a common link: weights scale with
// the share of the link that a flow uses.
TEST(SprayTest, SharesItsEndsFairly)
{
    ClusterSpec spec = TwoLeaves(4, SprayRouting());
    Play play(spec);
    // Two flows into one NIC of 10 GB/s, one from the other leaf and one from the same: 5 GB/s
    // each.
    const auto far = play.Start(4, 0, MEGABYTE, Time(), 0);
    const auto near = play.Start(1, 0, MEGABYTE, Time(), 1);
    play.Engines().RunUntil(Time::Nanoseconds(1));
    Transport& transport = play.GetFabric().GetTransport();
    EXPECT_NEAR(transport.CurrentRate(far).ToGBps(), 5, 1e-6);
    EXPECT_NEAR(transport.CurrentRate(near).ToGBps(), 5, 1e-6);
    EXPECT_NEAR(play.Run().ToMicroseconds(), 200, 1e-3);
}

// Eight flows from leaf to leaf over eight paths. By load each flow has a path of its own, whatever
// the hashes are. By hash all eight differ only in one of 8^8 / 8! = 416 cases, so some collide.
// ECMP is never faster.
TEST(AdaptiveTest, AvoidsCollisionsOfHashes)
{
    bool collided = false;
    for (uint64_t seed = 1; seed <= 5; seed++)
    {
        double ends[2];
        for (const bool adapts : {false, true})
        {
            ClusterSpec spec = TwoLeaves(
                8, adapts ? Polymorphic<RoutingPolicy>(AdaptiveRouting()) : EcmpRouting());
            spec.fabric.hashSeed = seed;
            Play play(spec);
            for (uint32_t i = 0; i < 8; i++)
            {
                play.Start(i, 8 + i, MEGABYTE, Time(), i);
            }
            ends[adapts] = play.Run().ToMicroseconds();
        }
        EXPECT_NEAR(ends[1], 100, 1e-6) << seed;
        EXPECT_GE(ends[0], ends[1] - 1e-6) << seed;
        collided = collided || ends[0] > 150;
    }
    EXPECT_TRUE(collided);
}

// A flow held at one rate over several paths stands for many transfers: the loads are even.
TEST(AdaptiveTest, SpreadsFlowsOfSeveralPathsEvenly)
{
    Play play(TwoLeaves(8, AdaptiveRouting()));
    play.Start(play.SumOf({{0, 8}, {1, 9}}), MEGABYTE, Time(), 0);
    EXPECT_NEAR(play.Run().ToMicroseconds(), 100, 1e-3); // the NICs are the bottleneck
    const auto bytes = play.TrunkBytes();
    ASSERT_EQ(bytes.size(), 16U);
    for (const double each : bytes)
    {
        EXPECT_NEAR(each, 2 * 1e6 / 8, 1);
    }
}

// Two flows from the NICs of router 0 to those of router 1 share one local link on shortest paths.
// UGAL sends the second over a third router: both run at the full rate of the NICs.
TEST(AdaptiveTest, TakesDetoursInADragonfly)
{
    for (const bool adapts : {false, true})
    {
        Play play(FourRouters(adapts));
        play.Start(0, 2, MEGABYTE, Time(), 0);
        play.Start(1, 3, MEGABYTE, Time(), 1);
        EXPECT_NEAR(play.Run().ToMicroseconds(), adapts ? 100 : 200, 1e-6);
    }
}

// Ended flows leave no load, not even a rounding error: in isolation every flow takes its shortest
// path, whatever has crossed the links before.
TEST(AdaptiveTest, ForgetsWhatHasEnded)
{
    ClusterSpec spec = ThinSpec(8, Dragonfly(), AdaptiveRouting());
    spec.fabric.link = PlainProfile("trunk", Rate::GBps(7), Time::Microseconds(1));
    auto& dragonfly = spec.fabric.kind.As<Dragonfly>();
    dragonfly.routersPerGroup = 4;
    dragonfly.nicsPerRouter = 2;
    Play play(spec);
    uint64_t flow = 0;
    for (uint32_t i = 0; i < 200; i++)
    {
        const uint32_t from = i % 8;
        const uint32_t to = (from + 1 + i * 5 % 7) % 8;
        const Time now = Time::Microseconds(i);
        play.Engines().RunUntil(now);
        play.Start(from, to, Bytes(1000 + 700 * i), now, flow++);
    }
    play.Run();
    for (uint32_t from = 0; from < 8; from++)
    {
        for (uint32_t to = 0; to < 8; to++)
        {
            if (from / 2 == to / 2)
            {
                continue; // on one router
            }
            const Time now = Time::Seconds(10) + Time::Milliseconds(static_cast<double>(flow));
            play.Start(from, to, Bytes(), now, flow);
            play.Run();
            EXPECT_EQ(play.EndOf(flow) - now, Time::Microseconds(1)) << from << " to " << to;
            flow++;
        }
    }
}

// Flows avoid a link at a tenth of its rate while others are free.
TEST(AdaptiveTest, AvoidsADegradedLink)
{
    Play play(TwoLeaves(4, AdaptiveRouting()));
    const Topology& topology = play.GetTopology();
    LinkId degraded;
    for (std::size_t i = 0; i < topology.LinkCount() && !degraded.IsValid(); i++)
    {
        degraded = JoinsSwitches(topology, LinkId(i)) ? LinkId(i) : LinkId();
    }
    ASSERT_TRUE(degraded.IsValid());
    play.GetFabric().GetTransport().SetLinkRate(degraded, Rate::GBps(1), Time());
    for (uint32_t i = 0; i < 3; i++)
    {
        play.Start(i, 4 + i, MEGABYTE, Time(), i);
    }
    EXPECT_NEAR(play.Run().ToMicroseconds(), 100, 1e-6);
}

// A sum stands for many transfers, and puts less on a link that degrades while the sum is in
// progress: four ports of 10 GB/s over four uplinks, one of which has 5 GB/s from @p late on, so 35
// of 40 GB/s. Without a new split all transfers would run at half rate.
TEST(AdaptiveTest, SumsLeaveALinkThatDegradesUnderWay)
{
    for (const Time late : {Time(), Time::Microseconds(50)})
    {
        Play play(TwoLeaves(4, AdaptiveRouting()));
        const Topology& topology = play.GetTopology();
        LinkId degraded;
        for (std::size_t i = 0; i < topology.LinkCount() && !degraded.IsValid(); i++)
        {
            degraded = JoinsSwitches(topology, LinkId(i)) ? LinkId(i) : LinkId();
        }
        const RouteId sum = play.SumOf({{0, 4}, {1, 5}, {2, 6}, {3, 7}});
        play.Start(sum, MEGABYTE, Time(), 0);
        play.Engines().RunUntil(late);
        play.GetFabric().GetTransport().SetLinkRate(degraded, Rate::GBps(5), late);
        const double before = late.ToMicroseconds();
        EXPECT_NEAR(play.Run().ToMicroseconds(), before + (100 - before) * 40 / 35, 0.5);
    }
}

// A flow that continues within the gap keeps its path even if that path is loaded by now; after a
// longer pause it moves to a free path.
TEST(FlowletTest, KeepsItsPathUntilItPauses)
{
    FlowletRouting routing;
    routing.gap = Time::Microseconds(50);
    Play play(TwoLeaves(2, routing));
    play.Start(0, 2, MEGABYTE, Time(), 0); // 100 us, on the first spine
    play.Engines().RunUntil(Time::Microseconds(100));
    play.Start(1, 3, Bytes(10000000), Time::Microseconds(100), 1); // 1 ms: the first spine is free
    play.Start(0, 2, MEGABYTE, Time::Microseconds(100), 0);        // continues: shares that spine
    play.Engines().RunUntil(Time::Microseconds(300));
    EXPECT_NEAR(play.EndOf(0).ToMicroseconds(), 300, 1e-6);
    play.Start(0, 2, MEGABYTE, Time::Microseconds(360), 0); // after a pause: takes the other spine
    play.Engines().RunUntil(Time::Microseconds(470));
    EXPECT_NEAR(play.EndOf(0).ToMicroseconds(), 460, 1e-6);
}

// In a packet simulation, too, eight simultaneous flows from leaf to leaf get a spine each, and end
// like one flow in isolation.
TEST(PacketRoutingTest, FlowsOfOneInstantChooseApart)
{
    for (const bool areFlowlets : {false, true})
    {
        const Polymorphic<RoutingPolicy> routing =
            areFlowlets ? Polymorphic<RoutingPolicy>(FlowletRouting()) : AdaptiveRouting();
        Play uncontended(TwoLeaves(8, routing), PacketSpec());
        uncontended.Start(0, 8, MEGABYTE, Time(), 0);
        const Time expected = uncontended.Run();
        Play play(TwoLeaves(8, routing), PacketSpec());
        for (uint32_t i = 0; i < 8; i++)
        {
            play.Start(i, 8 + i, MEGABYTE, Time(), i);
        }
        play.Run();
        for (uint32_t i = 0; i < 8; i++)
        {
            EXPECT_EQ(play.EndOf(i), expected) << i;
        }
    }
}

// A flowlet chooses its path at the first packet of its queue pair, at any time, and again after a
// pause: one flow has the first spine until 1 ms, so one that starts at 10 us takes the other.
TEST(PacketRoutingTest, FlowletsChooseAtFirstAndAfterPauses)
{
    FlowletRouting routing;
    routing.gap = Time::Microseconds(50);
    Play play(TwoLeaves(2, routing), PacketSpec());
    play.Start(0, 2, Bytes(10000000), Time(), 0);
    play.Engines().RunUntil(Time::Microseconds(10));
    play.Start(1, 3, MEGABYTE, Time::Microseconds(10), 1);
    play.Engines().RunUntil(Time::Microseconds(200));
    EXPECT_LT(play.EndOf(1).ToMicroseconds(), 115);
    // Within the gap the route keeps its spine, although another flow has joined it since.
    play.Start(1, 2, Bytes(10000000), Time::Microseconds(200), 2);
    play.Engines().RunUntil(Time::Microseconds(1200));
    const Time again = Time::Microseconds(3000);
    play.Run();
    play.Start(1, 3, MEGABYTE, again, 1);
    EXPECT_LT((play.Run() - again).ToMicroseconds(), 105);
}

// The second flow between two routers of a dragonfly takes a detour, as in a fluid simulation: both
// end as in isolation, except for the extra hop.
TEST(PacketRoutingTest, PacketsTakeDetoursInADragonfly)
{
    for (const bool adapts : {false, true})
    {
        Play play(FourRouters(adapts), PacketSpec());
        play.Start(0, 2, MEGABYTE, Time(), 0);
        play.Start(1, 3, MEGABYTE, Time(), 1);
        const double last = play.Run().ToMicroseconds();
        EXPECT_NEAR(last, adapts ? 100 : 200, adapts ? 4 : 8);
    }
}

// Of two spines, a flow leaves the one whose link fails, and returns after the link is restored.
TEST(PacketRoutingTest, PacketsLeaveAFailedLinkAndComeBack)
{
    Play play(TwoLeaves(2, AdaptiveRouting()), PacketSpec());
    Transport& transport = play.GetFabric().GetTransport();
    const RouteId route = play.RouteOf(0, 2, 0);
    const FlowId first = play.Start(route, Bytes(10000000), Time(), 0);
    const auto uplink = [&] {
        return play.GetFabric()
            .GetRouting()
            .Paths()
            .Links(transport.CurrentPath(first).path)[1]
            .link;
    };
    const LinkId before = uplink();
    play.Engines().RunUntil(Time::Microseconds(100));
    transport.SetLinksUp({before}, false, Time::Microseconds(100));
    EXPECT_NE(uplink(), before);
    transport.SetLinksUp({uplink()}, false, Time::Microseconds(100));
    EXPECT_EQ(transport.StalledFlows().size(), 1U);
    play.Engines().RunUntil(Time::Microseconds(200));
    transport.SetLinksUp({before}, true, Time::Microseconds(200));
    EXPECT_EQ(uplink(), before);
    EXPECT_EQ(transport.StalledFlows().size(), 0U);
    EXPECT_LT(play.Run().ToMicroseconds(), 10000);
}

// The expected link shares of the closed forms equal the shares that spraying puts on the links.
TEST(SprayTest, ExpectedSharesAreWhatLinksCarry)
{
    ClusterSpec spec = ThinSpec(27, Torus(), SprayRouting());
    spec.fabric.kind.As<Torus>().sizes = {3, 3, 3};
    Play play(spec);
    play.Start(0, 13, MEGABYTE, Time(), 0);
    play.Run();
    double sum = 0;
    Routing& routing = play.GetFabric().GetRouting();
    for (const LinkShare& each : routing.Spread()->SharesOf(play.RouteOf(0, 13)))
    {
        EXPECT_NEAR(play.GetFabric().GetTransport().GetLinkUsage(each.link).bytes,
                    each.share * 1e6,
                    30 * each.share + 1);
        sum += each.share;
    }
    EXPECT_NEAR(sum, 2 + 3, 1e-9); // (1, 1, 1) is three links away; the NICs add two
}

// Two NICs of one switch send to each other concurrently as one sum: neither segment returns to its
// start, and each NIC's two links are loaded once.
TEST(SprayTest, ExchangesUnderOneSwitchDoNotTurnBack)
{
    Play play(TwoLeaves(4, SprayRouting()));
    Routing& routing = play.GetFabric().GetRouting();
    const RouteId both = play.SumOf({{0, 1}, {1, 0}});
    const RouteDecomposition decomposition = routing.DecompositionOf(both);
    ASSERT_EQ(decomposition.segments.size(), 2U);
    EXPECT_TRUE(decomposition.rest.empty());
    for (const SegmentCount& segment : decomposition.segments)
    {
        EXPECT_NE(segment.from, segment.to);
        EXPECT_EQ(segment.times, 1U);
    }
    const auto& shares = routing.Spread()->SharesOf(both);
    ASSERT_EQ(shares.size(), 4U);
    for (const LinkShare& each : shares)
    {
        EXPECT_NEAR(each.share, 1, 1e-12);
    }
}

// 2 x 3 paths with unequal branching: a sixth each; where paths merge, their shares add up.
TEST(PathDagTest, SharesAreExactFractions)
{
    PathDag dag;
    dag.vertices = 5;
    dag.arcs = {{LinkId(0), 0, 1},
                {LinkId(1), 0, 2},
                {LinkId(2), 1, 3},
                {LinkId(3), 2, 3},
                {LinkId(4), 2, 3},
                {LinkId(5), 2, 3},
                {LinkId(6), 3, 4}};
    const EvenShares shares = SharesOf(dag);
    EXPECT_EQ(shares.unit, 6U);
    EXPECT_EQ(shares.parts, (std::vector<uint32_t>{3, 3, 3, 1, 1, 1, 6}));
    std::vector<double> loads(7, 0);
    loads[0] = 2;
    loads[3] = 1;
    std::vector<double> rates(7, 1);
    const auto leastLoaded = [&] { return LeastLoadedPath(dag, LoadsWithFlow{loads, rates, 1}); };
    EXPECT_EQ(leastLoaded(), (std::vector<LinkId>{LinkId(1), LinkId(4), LinkId(6)}));
    // At a quarter of its rate an idle link with one more flow is as loaded as a full-rate link
    // with four.
    rates[4] = 0.25;
    EXPECT_EQ(leastLoaded(), (std::vector<LinkId>{LinkId(1), LinkId(5), LinkId(6)}));
    loads[0] = 9;
    loads[3] = loads[5] = 4;
    EXPECT_EQ(leastLoaded(), (std::vector<LinkId>{LinkId(1), LinkId(4), LinkId(6)}));
}

} // namespace weir

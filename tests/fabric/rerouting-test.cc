// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/routing-policies.h"
#include "fabric/transport/fluid/fluid-transport.h"
#include "flow-play.h"
#include "packet-bench.h"
#include "random-stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

/**
 * @file
 * Link failures: how routes and the flows on them are rerouted, and which flows stall.
 */
namespace weir
{

namespace
{

const Bytes MEGABYTE(1000000);

std::vector<LinkId>
HopsOf(const Routing& routing, PathTable::Span links)
{
    std::vector<LinkId> hops;
    for (const PathLink& each : links)
    {
        EXPECT_EQ(each.multiplicity, 1U);
        hops.push_back(each.link);
    }
    for (std::size_t i = 1; i < hops.size(); i++)
    {
        EXPECT_EQ(routing.GetTopology().GetLink(hops[i - 1]).to,
                  routing.GetTopology().GetLink(hops[i]).from);
    }
    return hops;
}

/** A link and its opposite direction. */
std::vector<LinkId>
WireOf(const Topology& topology, LinkId link)
{
    return {link, topology.GetLink(link).opposite};
}

/** Records stalls and resumptions. */
class StallLog : public TransportObserver
{
  public:
    void OnFlowStalled(FlowId id, const FlowRequest& request, bool isStalled, Time now) override
    {
        (isStalled ? stalled : resumed).emplace_back(request.token, now);
    }

    std::vector<std::pair<uint64_t, Time>> stalled;
    std::vector<std::pair<uint64_t, Time>> resumed;
};

} // namespace

// A path has four links: NIC, leaf, spine, leaf, NIC. When its leaf-spine link fails, the route
// takes another path between the same ends, and returns to its own path when the link is restored.
// Routes that do not cross the link stay.
TEST(ReroutingTest, ARouteAvoidsALinkThatIsDownAndReturns)
{
    Play play(TwoLeaves(8, EcmpRouting()));
    Routing& routing = play.GetFabric().GetRouting();
    const RouteId route = play.RouteOf(0, 8);
    const auto planned = HopsOf(routing, routing.Links(route));
    ASSERT_EQ(planned.size(), 4U);
    std::vector<RouteId> others;
    for (uint16_t port = 1; port < 64; port++)
    {
        const RouteId other = play.RouteOf(1, 9, port);
        if (HopsOf(routing, routing.Links(other))[1] != planned[1])
        {
            others.push_back(other);
        }
    }
    ASSERT_FALSE(others.empty());

    const auto wire = WireOf(routing.GetTopology(), planned[1]);
    routing.SetUsable(wire, false);
    const auto detour = HopsOf(routing, routing.Paths().Links(routing.CurrentPath(route)));
    ASSERT_EQ(detour.size(), 4U);
    EXPECT_EQ(detour.front(), planned.front());
    EXPECT_EQ(detour.back(), planned.back());
    EXPECT_NE(detour[1], planned[1]);
    for (const RouteId other : others)
    {
        EXPECT_EQ(routing.CurrentPath(other), routing.PlannedPath(other));
    }
    routing.SetUsable(wire, true);
    EXPECT_EQ(routing.CurrentPath(route), routing.PlannedPath(route));
}

// A route requested while links are down is planned over all links, like earlier ones.
TEST(ReroutingTest, RoutesArePlannedAsIfAllLinksWereUp)
{
    Play before(TwoLeaves(8, EcmpRouting()));
    Play after(TwoLeaves(8, EcmpRouting()));
    const auto planned = HopsOf(before.GetFabric().GetRouting(),
                                before.GetFabric().GetRouting().Links(before.RouteOf(0, 8)));
    Routing& routing = after.GetFabric().GetRouting();
    routing.SetUsable(WireOf(routing.GetTopology(), planned[1]), false);
    const RouteId route = after.RouteOf(0, 8);
    EXPECT_EQ(HopsOf(routing, routing.Links(route)), planned);
    EXPECT_NE(routing.CurrentPath(route), routing.PlannedPath(route));
}

// A sum of routes is rerouted like its routes: the stream of a ring and the flows of its hops use
// the same links.
TEST(ReroutingTest, ASumIsReroutedAsItsRoutes)
{
    Play play(TwoLeaves(4, EcmpRouting()));
    Routing& routing = play.GetFabric().GetRouting();
    std::vector<RouteId> routes;
    RouteSum sum;
    for (uint32_t i = 0; i < 8; i++)
    {
        routes.push_back(play.RouteOf(i, (i + 3) % 8, 5));
        sum.Add(routes.back(), 1 + i % 2);
    }
    const RouteId ring = routing.AddSum(sum);
    const LinkId dead = HopsOf(routing, routing.Links(routes[1]))[1]; // 1 to 4: to a spine
    routing.SetUsable(WireOf(routing.GetTopology(), dead), false);
    std::vector<uint32_t> expected(routing.GetTopology().LinkCount(), 0);
    for (uint32_t i = 0; i < routes.size(); i++)
    {
        for (const PathLink& each : routing.Paths().Links(routing.CurrentPath(routes[i])))
        {
            expected[each.link.Index()] += 1 + i % 2;
        }
    }
    EXPECT_EQ(expected[dead.Index()], 0U);
    std::vector<uint32_t> found(expected.size(), 0);
    for (const PathLink& each : routing.Paths().Links(routing.CurrentPath(ring)))
    {
        found[each.link.Index()] += each.multiplicity;
    }
    EXPECT_EQ(found, expected);
}

// Segments that a sum contains without a route are rerouted by the same tuple as routes.
TEST(ReroutingTest, SegmentsOfASumAreReroutedAsRoutesOfTheirTuple)
{
    Play play(TwoLeaves(8, EcmpRouting()));
    Routing& routing = play.GetFabric().GetRouting();
    const RouteId route = play.RouteOf(0, 8, 7);
    const DeviceId from = routing.SourceOf(route);
    const DeviceId to = routing.DestinationOf(route);
    RouteSum sum;
    sum.segments.push_back({from, to, {from.Index(), to.Index(), 7, 7}, 3});
    for (const PathLink& each : routing.Links(route))
    {
        sum.segmentLinks.push_back({each.link, 3});
    }
    const RouteId bundle = routing.AddSum(sum);
    const LinkId dead = HopsOf(routing, routing.Links(route))[2];
    routing.SetUsable(WireOf(routing.GetTopology(), dead), false);
    const auto detour = HopsOf(routing, routing.Paths().Links(routing.CurrentPath(route)));
    std::size_t links = 0;
    for (const PathLink& each : routing.Paths().Links(routing.CurrentPath(bundle)))
    {
        EXPECT_EQ(each.multiplicity, 3U);
        EXPECT_NE(std::find(detour.begin(), detour.end(), each.link), detour.end());
        links++;
    }
    EXPECT_EQ(links, detour.size());
}

// The only link of a NIC fails: a flow over it keeps its path and stalls, while a concurrent sum
// over other NICs continues. The transport reports which flow waits for which link, and the flow
// resumes when the link is restored.
TEST(ReroutingTest, AFlowWithoutAnotherPathStallsUntilItsLinkComesUp)
{
    for (const Polymorphic<RoutingPolicy>& routing :
         std::vector<Polymorphic<RoutingPolicy>>{EcmpRouting(), AdaptiveRouting(), SprayRouting()})
    {
        Play play(TwoLeaves(4, routing));
        StallLog log;
        Transport& transport = play.GetFabric().GetTransport();
        transport.AddObserver(log, false);
        play.Start(0, 4, MEGABYTE, Time(), 0); // 100 us
        play.Start(play.SumOf({{1, 5}, {5, 1}}), MEGABYTE, Time(), 1);
        const LinkId nicLink = play.GetFabric().GetRouting().Links(play.RouteOf(0, 4)).front().link;
        const auto wire = WireOf(play.GetTopology(), nicLink);
        play.Engines().RunUntil(Time::Microseconds(40));
        transport.SetLinksUp(wire, false, Time::Microseconds(40));
        ASSERT_EQ(log.stalled.size(), 1U);
        EXPECT_EQ(log.stalled.front(), std::make_pair(uint64_t{0}, Time::Microseconds(40)));
        ASSERT_EQ(transport.StalledFlows().size(), 1U);
        EXPECT_EQ(transport.StalledFlows().front().link, nicLink);
        EXPECT_FALSE(transport.IsLinkUp(nicLink));
        play.Engines().RunUntil(Time::Microseconds(500));
        EXPECT_TRUE(play.EndOf(0).IsInfinite());
        EXPECT_NEAR(play.EndOf(1).ToMicroseconds(), 100, 1e-3);
        transport.SetLinksUp(wire, true, Time::Microseconds(500));
        ASSERT_EQ(log.resumed.size(), 1U);
        EXPECT_TRUE(transport.StalledFlows().empty());
        play.Run();
        EXPECT_NEAR(play.EndOf(0).ToMicroseconds(), 560, 1e-3); // 60 of its 100 us were left
        transport.RemoveObserver(log);
    }
}

// A flow is sprayed over four uplinks, one of which fails. The rest of the flow is sprayed over the
// other three: its NIC still limits it, and each of the three carries a third of the rest.
TEST(ReroutingTest, ASprayedFlowIsSprayedOverTheLinksThatAreLeft)
{
    Play play(TwoLeaves(4, SprayRouting()));
    Transport& transport = play.GetFabric().GetTransport();
    const Topology& topology = play.GetTopology();
    play.Start(0, 4, MEGABYTE, Time(), 0); // 100 us
    const RouteId route = play.RouteOf(0, 4);
    const LinkId uplink =
        HopsOf(play.GetFabric().GetRouting(), play.GetFabric().GetRouting().Links(route))[1];
    play.Engines().RunUntil(Time::Microseconds(40));
    transport.SetLinksUp(WireOf(topology, uplink), false, Time::Microseconds(40));
    EXPECT_TRUE(transport.StalledFlows().empty());
    play.Run();
    EXPECT_NEAR(play.EndOf(0).ToMicroseconds(), 100, 0.01);
    unsigned uplinks = 0;
    for (const LinkId link : topology.LinksFrom(topology.GetLink(uplink).from))
    {
        if (topology.GetDevice(topology.GetLink(link).to).kind == DeviceKind::SpineSwitch)
        {
            const double expected = link == uplink ? 100000 : 100000 + 200000;
            EXPECT_NEAR(transport.GetLinkUsage(link).bytes, expected, 100);
            uplinks++;
        }
    }
    EXPECT_EQ(uplinks, 4u);
}

// Two switches with a link of 1 us and a detour over a third one of 10 us a link: when the link
// fails, sprayed flows and those that choose a path take the detour and its latency.
TEST(ReroutingTest, AFlowTakesTheLatencyOfTheOnlyPathThatIsLeft)
{
    for (const Polymorphic<RoutingPolicy>& routing : {Polymorphic<RoutingPolicy>(SprayRouting()),
                                                      Polymorphic<RoutingPolicy>(AdaptiveRouting()),
                                                      Polymorphic<RoutingPolicy>(EcmpRouting())})
    {
        PacketBench bench;
        const uint32_t from = bench.AddHost();
        const uint32_t to = bench.AddHost();
        const uint32_t first = bench.AddSwitch();
        const uint32_t last = bench.AddSwitch();
        const uint32_t detour = bench.AddSwitch();
        bench.Join(from, first, Rate::GBps(10), Time::Microseconds(1));
        bench.Join(last, to, Rate::GBps(10), Time::Microseconds(1));
        const LinkId direct = bench.Join(first, last, Rate::GBps(10), Time::Microseconds(1));
        bench.Join(first, detour, Rate::GBps(10), Time::Microseconds(10));
        bench.Join(detour, last, Rate::GBps(10), Time::Microseconds(10));
        bench.OpenFluid(routing);
        const std::size_t before = bench.AddFlow(from, to, Bytes(10'000));
        const std::size_t after = bench.AddFlow(from, to, Bytes(10'000), Time::Milliseconds(1));
        bench.RunUntil(Time::Microseconds(500));
        bench.Any().SetLinksUp({direct}, false, Time::Microseconds(500));
        bench.Run();
        EXPECT_EQ(bench.Duration(before), Time::Microseconds(3 + 1));
        EXPECT_EQ(bench.Duration(after), Time::Microseconds(22 + 1));
    }
}

/** The bytes that the reported rates of links add up to. */
class ReportedBytes : public TransportObserver
{
  public:
    explicit ReportedBytes(const Topology& topology)
        : m_links(topology.LinkCount())
    {
    }

    void OnLinkRate(LinkId link, Rate rate, Time now) override
    {
        State& its = m_links[link.Index()];
        its.bytes += its.rate.ToBytesPerSecond() * (now - its.since).ToSeconds();
        its.rate = rate;
        its.since = now;
    }

    double Of(LinkId link) const
    {
        return m_links[link.Index()].bytes;
    }

    Rate RateOn(LinkId link) const
    {
        return m_links[link.Index()].rate;
    }

  private:
    struct State
    {
        double bytes{0};
        Rate rate;
        Time since;
    };

    std::vector<State> m_links;
};

// Whatever fails, a link that is down carries nothing, and the reported rates of a link add up to
// its bytes, up to the rounding of a sprayed flow to units.
TEST(ReroutingTest, ReportedRatesAddUpToTheBytesOfEveryLink)
{
    for (uint64_t seed = 1; seed <= 40; seed++)
    {
        RandomStream random(seed);
        ClusterSpec spec = TwoLeaves(
            3, seed % 2 == 0 ? Polymorphic<RoutingPolicy>(SprayRouting()) : AdaptiveRouting());
        spec.fabric.hashSeed = seed;
        Play play(spec);
        Transport& transport = play.GetFabric().GetTransport();
        const Topology& topology = play.GetTopology();
        ReportedBytes reported(topology);
        transport.AddObserver(reported, true);
        Time now;
        for (uint64_t flow = 0; flow < 6; flow++)
        {
            now += Time::Microseconds(random.Below(20));
            play.Engines().RunUntil(now);
            const auto from = static_cast<uint32_t>(random.Below(6));
            play.Start(from, (from + 1 + random.Below(5)) % 6, MEGABYTE, now, flow);
        }
        for (int i = 0; i < 12; i++)
        {
            now += Time::Microseconds(random.Below(30));
            play.Engines().RunUntil(now);
            const LinkId link(random.Below(topology.LinkCount()));
            const bool isUp = transport.IsLinkUp(link);
            transport.SetLinksUp(WireOf(topology, link), !isUp, now);
            play.Engines().RunUntil(now + Time::Picoseconds(1));
            now += Time::Picoseconds(1);
            EXPECT_TRUE(!isUp || reported.RateOn(link) == Rate()) << seed;
        }
        for (std::size_t i = 0; i < topology.LinkCount(); i++)
        {
            transport.SetLinksUp({LinkId(i)}, true, now);
        }
        play.Run();
        for (std::size_t i = 0; i < topology.LinkCount(); i++)
        {
            const double bytes = transport.GetLinkUsage(LinkId(i)).bytes;
            EXPECT_NEAR(reported.Of(LinkId(i)), bytes, 1e-2 * bytes + 10) << seed;
        }
        transport.RemoveObserver(reported);
    }
}

// A failing switch takes down all its ports at once: flows are rerouted over other spines, and the
// bytes that it had carried stay counted.
TEST(ReroutingTest, ASwitchThatFailsIsAvoidedByAllFlows)
{
    ClusterSpec spec = TwoLeaves(2, EcmpRouting());
    spec.nodes = 8; // four leaves with one link to each of two spines
    Play play(spec);
    Routing& routing = play.GetFabric().GetRouting();
    Transport& transport = play.GetFabric().GetTransport();
    const Topology& topology = play.GetTopology();
    const DeviceId spine =
        topology.GetLink(HopsOf(routing, routing.Links(play.RouteOf(0, 4)))[1]).to;
    for (uint32_t i = 0; i < 8; i++)
    {
        play.Start(play.RouteOf(i, (i + 4) % 8), MEGABYTE, Time(), i);
    }
    play.Engines().RunUntil(Time::Microseconds(50));
    std::vector<LinkId> ports;
    for (const LinkId link : topology.LinksFrom(spine))
    {
        ports.push_back(link);
        ports.push_back(topology.GetLink(link).opposite);
    }
    transport.SetLinksUp(ports, false, Time::Microseconds(50));
    std::vector<double> carried;
    double sum = 0;
    for (const LinkId port : ports)
    {
        carried.push_back(transport.GetLinkUsage(port).bytes);
        sum += carried.back();
    }
    EXPECT_GT(sum, 0);
    EXPECT_FALSE(std::isinf(play.Run().ToSeconds()));
    for (std::size_t i = 0; i < ports.size(); i++)
    {
        EXPECT_NEAR(transport.GetLinkUsage(ports[i]).bytes, carried[i], 1); // whole bytes only
    }
}

// 10 GB over 10 GB/s; between 100 and 200 ms the path is down and a detour of 1 GB/s carries 0.1
// GB. The other 9.9 GB take 990 ms on the direct path: 1090 ms in total.
TEST(ReroutingTest, FlowsReturnWhenTheirLinkComesUp)
{
    Topology topology;
    const DeviceId from = topology.AddDevice(DeviceKind::Host, "from");
    const DeviceId to = topology.AddDevice(DeviceKind::Host, "to");
    const DeviceId left = topology.AddDevice(DeviceKind::LeafSwitch, "left");
    const DeviceId right = topology.AddDevice(DeviceKind::LeafSwitch, "right");
    const DeviceId middle = topology.AddDevice(DeviceKind::LeafSwitch, "middle");
    const auto join = [&](DeviceId a, DeviceId b, double rate) {
        return topology.AddDuplexLink(a, b, LinkKind::Network, Rate::GBps(rate), Time());
    };
    join(from, left, 10);
    const LinkId direct = join(left, right, 10);
    join(right, to, 10);
    join(left, middle, 1);
    join(middle, right, 1);
    Routing routing(topology, FabricSpec());
    FluidTransport transport(routing);
    RouteRequest request;
    request.source = request.outNic = from;
    request.destination = request.inNic = to;
    FlowRequest flow;
    flow.route = routing.Add(request);
    flow.bytes = Bytes(10'000'000'000);
    const FlowId id = transport.Start(flow, Time());
    EXPECT_EQ(HopsOf(routing, routing.Links(flow.route)).size(), 3U);
    transport.AdvanceTo(Time());
    transport.SetLinksUp(WireOf(topology, direct), false, Time::Milliseconds(100));
    EXPECT_NEAR(transport.CurrentRate(id).ToGBps(), 1, 1e-9);
    EXPECT_EQ(routing.Paths().Links(transport.CurrentPath(id).path).size(), 4U);
    transport.SetLinkRate(direct, Rate::GBps(10), Time::Milliseconds(150)); // applies later
    EXPECT_NEAR(transport.CurrentRate(id).ToGBps(), 1, 1e-9);
    transport.SetLinksUp(WireOf(topology, direct), true, Time::Milliseconds(200));
    EXPECT_EQ(transport.NextEventTime(), Time::Milliseconds(1090));
}

// Equal requests share one route; a different tuple or direction makes another route.
TEST(RoutingTest, EqualRequestsHaveOneRoute)
{
    Play play(TwoLeaves(4, EcmpRouting()));
    Routing& routing = play.GetFabric().GetRouting();
    const RouteId route = play.RouteOf(0, 5, 3);
    EXPECT_EQ(play.RouteOf(0, 5, 3), route);
    EXPECT_NE(play.RouteOf(0, 5, 4), route);
    EXPECT_NE(play.RouteOf(5, 0, 3), route);
    EXPECT_EQ(routing.SourceOf(route), play.GetFabric().GetCluster().NicDevice(0, 0));
    EXPECT_EQ(routing.DestinationOf(route), play.GetFabric().GetCluster().NicDevice(5, 0));
    EXPECT_TRUE(routing.HasEnds(route));
    EXPECT_FALSE(routing.IsSum(route));
    const RouteId sum = play.SumOf({{0, 5}, {5, 0}});
    EXPECT_TRUE(routing.IsSum(sum));
    EXPECT_FALSE(routing.SourceOf(sum).IsValid());
    EXPECT_EQ(routing.Links(routing.Nowhere()).size(), 0U);
}

} // namespace weir

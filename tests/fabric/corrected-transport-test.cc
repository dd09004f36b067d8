// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/fabric.h"
#include "fabric/kinds/graph-fabric.h"
#include "fabric/routing/routing.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/transport/corrected/ingress-sharing.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace weir
{

namespace
{

/** Records when flows finish. */
struct Ends : FlowClient
{
    void OnFlowDone(uint64_t token, Time now) override
    {
        at.resize(std::max<std::size_t>(at.size(), token + 1));
        at[token] = now;
    }

    std::vector<Time> at;
};

/** Hosts 0 to 3 on one switch, links of 100 Gb/s and 1 us. */
Topology
Star()
{
    Topology topology;
    for (int i = 0; i < 4; i++)
    {
        topology.AddDevice(DeviceKind::Host, "host" + std::to_string(i));
    }
    const DeviceId leaf = topology.AddDevice(DeviceKind::LeafSwitch, "leaf");
    for (uint32_t i = 0; i < 4; i++)
    {
        topology.AddDuplexLink(
            DeviceId(i), leaf, LinkKind::Network, Rate::Gbps(100), Time::Microseconds(1));
    }
    return topology;
}

struct Message
{
    uint32_t from;
    int64_t bytes;
};

/** Completion times, us, of messages to host 0 that start at one instant. */
std::vector<double>
TimesOf(const std::vector<Message>& messages, const CorrectionSpec& corrections)
{
    const Topology topology = Star();
    FabricSpec fabric;
    fabric.kind = GraphFabric();
    Routing routing(topology, fabric);
    const auto transport = MakeTransport(routing, {{}, {}, {}, corrections});
    Ends ends;
    for (std::size_t i = 0; i < messages.size(); i++)
    {
        RouteRequest route;
        route.source = route.outNic = DeviceId(messages[i].from);
        route.destination = route.inNic = DeviceId(0);
        FlowRequest request;
        request.route = routing.Add(route);
        request.bytes = Bytes(messages[i].bytes);
        request.client = &ends;
        request.token = i;
        transport->Start(request, Time());
    }
    EngineSet engines;
    engines.Add(*transport);
    engines.RunToEnd();
    std::vector<double> times;
    for (const Time& end : ends.at)
    {
        times.push_back(end.ToSeconds() * 1e6);
    }
    return times;
}

/** Changes that are not solved yet are not reported when the transport is destroyed. */
TEST(CorrectedTransport, ReportsNothingWhenItIsDestroyed)
{
    struct Count : TransportObserver
    {
        void OnLinkRate(LinkId, Rate, Time) override
        {
            reports++;
        }

        int reports{0};
    } count;

    const Topology topology = Star();
    FabricSpec fabric;
    fabric.kind = GraphFabric();
    Routing routing(topology, fabric);
    CorrectionSpec corrections;
    corrections.utilization.ofLink = 0.9;
    auto transport = MakeTransport(routing, {{}, {}, {}, corrections});
    transport->AddObserver(count, true);
    RouteRequest route;
    route.source = route.outNic = DeviceId(1);
    route.destination = route.inNic = DeviceId(0);
    FlowRequest request;
    request.route = routing.Add(route);
    request.bytes = Bytes(125000);
    request.addsLatency = false;
    transport->Start(request, Time());
    transport.reset();
    EXPECT_EQ(count.reports, 0);
}

/** 12500 bytes take 1 us at 100 Gb/s; two links add 2 us of latency. */
TEST(CorrectedTransport, ForwardingAddsTheLastPacketOfEveryLinkButOne)
{
    CorrectionSpec spec;
    spec.forwarding.packet = Bytes(4096);
    EXPECT_NEAR(TimesOf({{1, 125000}}, spec)[0], 2 + 10 + 4096 / 12500.0, 1e-6);
    // A message shorter than a packet is transmitted on each of the two links in full.
    EXPECT_NEAR(TimesOf({{1, 1250}}, spec)[0], 2 + 2 * 0.1, 1e-6);
    EXPECT_NEAR(TimesOf({{1, 125000}}, {})[0], 2 + 10, 1e-6);
}

TEST(CorrectedTransport, ForwardingAddsWhatPacketsDo)
{
    // One message in isolation. A partial last packet waits for the full packet before it.
    CorrectionSpec spec;
    PacketSpec packets;
    packets.format.header = 0;
    spec.forwarding.packet = packets.format.mtu;
    const Topology topology = Star();
    FabricSpec fabric;
    fabric.kind = GraphFabric();
    Routing routing(topology, fabric);
    RouteRequest route;
    route.source = route.outNic = DeviceId(1);
    route.destination = route.inNic = DeviceId(0);
    const RouteId id = routing.Add(route);
    for (const int64_t bytes : {1, 4096, 40960, 1000000})
    {
        const auto transport = MakeTransport(routing, {packets});
        Ends ends;
        FlowRequest request;
        request.route = id;
        request.bytes = Bytes(bytes);
        request.client = &ends;
        transport->Start(request, Time());
        EngineSet engines;
        engines.Add(*transport);
        engines.RunToEnd();
        EXPECT_NEAR(TimesOf({{1, bytes}}, spec)[0], ends.at[0].ToSeconds() * 1e6, 1e-3) << bytes;
    }
}

TEST(CorrectedTransport, UtilizationIsAPartOfNetworkLinks)
{
    CorrectionSpec spec;
    spec.utilization.ofLink = 0.8;
    EXPECT_NEAR(TimesOf({{1, 125000}}, spec)[0], 2 + 10 / 0.8, 1e-6);
    EXPECT_NEAR(TimesOf({{1, 125000}, {2, 125000}}, spec)[1], 2 + 20 / 0.8, 1e-6);
}

TEST(CorrectedTransport, CutFlowsWaitAPeriodAndGoOnAtHalfTheirRate)
{
    // Two messages of 1.25 MB (100 us each at line rate) to one port. Their queue grows at 12500
    // B/us and reaches the threshold of 125000 B after 10 us. The 125000 B that each has sent by
    // then are through after another 10 us, at 2 + 20 us. The floor then gives each flow 1250 B/us
    // for 300 us: 375000 B. After recovery each has half the sum of the line rate and that rate,
    // 6875 B/us, more than the port in total: the port serves 6250 B/us each, 750000 B in 120 us.
    // The queue reaches 125000 B again after 100 us (at 1250 B/us); that cut lowers the flows to
    // the port's rate once the queue has drained, 10 us later, so the port stays busy.
    CorrectionSpec spec;
    spec.recovery.period = Time::Microseconds(300);
    spec.recovery.markFrom = Bytes(125000);
    spec.recovery.floor = 0.1;
    const auto times = TimesOf({{1, 1250000}, {2, 1250000}}, spec);
    EXPECT_NEAR(times[0], 2 + 20 + 300 + 120, 1e-3);
    EXPECT_NEAR(times[1], times[0], 1e-3);
    // Without the correction they share the port.
    EXPECT_NEAR(TimesOf({{1, 1250000}, {2, 1250000}}, {})[0], 2 + 200, 1e-6);
}

TEST(CorrectedTransport, FlowsThatHaveSentAllAreNotCut)
{
    // Two messages of 100000 B are sent after 8 us, when the queue holds 100000 B.
    CorrectionSpec spec;
    spec.recovery.period = Time::Microseconds(300);
    spec.recovery.markFrom = Bytes(125000);
    spec.recovery.floor = 0.1;
    EXPECT_NEAR(TimesOf({{1, 100000}, {2, 100000}}, spec)[1], 2 + 16, 1e-6);
    // An uncontended message of any length meets no queue.
    EXPECT_NEAR(TimesOf({{1, 12500000}}, spec)[0], 2 + 1000, 1e-6);
}

TEST(CorrectedTransport, ARefusedCancelChangesNothing)
{
    // The two flows of CutFlowsWaitAPeriodAndGoOnAtHalfTheirRate. A cancel that would skip their
    // ends is refused, and recovery still knows both.
    const Topology topology = Star();
    FabricSpec fabric;
    fabric.kind = GraphFabric();
    Routing routing(topology, fabric);
    CorrectionSpec spec;
    spec.recovery.period = Time::Microseconds(300);
    spec.recovery.markFrom = Bytes(125000);
    spec.recovery.floor = 0.1;
    const auto transport = MakeTransport(routing, {{}, {}, {}, spec});
    Ends ends;
    FlowId id;
    for (const uint32_t from : {1, 2})
    {
        RouteRequest route;
        route.source = route.outNic = DeviceId(from);
        route.destination = route.inNic = DeviceId(0);
        FlowRequest request;
        request.route = routing.Add(route);
        request.bytes = Bytes(1250000);
        request.client = &ends;
        request.token = from;
        id = transport->Start(request, Time());
    }
    EngineSet engines;
    engines.Add(*transport);
    engines.RunUntil(Time::Microseconds(5));
    EXPECT_THROW(transport->Cancel(id, Time::Milliseconds(1)), std::invalid_argument);
    engines.RunToEnd();
    EXPECT_NEAR(ends.at[1].ToMicroseconds(), 2 + 20 + 300 + 120, 1e-3);
    EXPECT_NEAR(ends.at[2].ToMicroseconds(), 2 + 20 + 300 + 120, 1e-3);
}

constexpr double LINK_RATE = 12.5; // bytes/us

/** Rates, bytes/us, of flows over paths of links whose capacity is LINK_RATE. */
std::vector<double>
IngressRatesOf(const std::vector<std::vector<uint32_t>>& paths, double blocking)
{
    std::vector<IngressFlow> flows;
    for (const auto& path : paths)
    {
        flows.push_back({LINK_RATE, {}});
        for (const uint32_t link : path)
        {
            flows.back().path.emplace_back(link);
        }
    }
    std::vector<const IngressFlow*> pointers;
    for (const IngressFlow& flow : flows)
    {
        pointers.push_back(&flow);
    }
    return RatesByIngress(pointers, std::vector<double>(16, LINK_RATE), blocking);
}

TEST(RatesByIngress, APortSharesAmongLinksNotFlows)
{
    // Link 9 receives two flows over link 4 and one from link 3, which thus gets half.
    for (const double blocking : {0.0, 1.0})
    {
        const auto rates = IngressRatesOf({{0, 4, 9}, {1, 4, 9}, {3, 9}}, blocking);
        EXPECT_NEAR(rates[0], LINK_RATE / 4, 0.01 * LINK_RATE);
        EXPECT_NEAR(rates[1], LINK_RATE / 4, 0.01 * LINK_RATE);
        EXPECT_NEAR(rates[2], LINK_RATE / 2, 0.01 * LINK_RATE);
    }
}

TEST(RatesByIngress, ALinkThatIsHeldBackHoldsBackItsOtherFlows)
{
    // Links 0 to 3 lead to link 9 and get a quarter each. The victim shares link 0 with the first
    // flow and leads to link 8, which no other flow uses. Without blocking the victim gets the rest
    // of link 0; with blocking, as much as the first flow.
    const std::vector<std::vector<uint32_t>> paths{{0, 9}, {1, 9}, {2, 9}, {3, 9}, {0, 8}};
    const auto free = IngressRatesOf(paths, 0);
    const auto blocked = IngressRatesOf(paths, 1);
    for (const std::size_t f : {0, 1, 2, 3})
    {
        EXPECT_NEAR(free[f], LINK_RATE / 4, 0.01 * LINK_RATE) << f;
        EXPECT_NEAR(blocked[f], LINK_RATE / 4, 0.01 * LINK_RATE) << f;
    }
    EXPECT_NEAR(free[4], LINK_RATE * 3 / 4, 0.01 * LINK_RATE);
    EXPECT_NEAR(blocked[4], LINK_RATE / 4, 0.01 * LINK_RATE);
}

TEST(RatesByIngress, BlockingSpreadsOverSwitches)
{
    // Link 5 (three flows, from links 0 to 2) and link 6 share link 9: a sixth for each of the
    // three flows. The victim enters by link 3 and shares only link 5 with them. Another flow
    // continues from link 3 over link 7; the blocked victim holds back link 3, so this flow is
    // limited, too.
    const auto rates =
        IngressRatesOf({{0, 5, 9}, {1, 5, 9}, {2, 5, 9}, {6, 9}, {3, 5, 8}, {3, 7}}, 1);
    for (const std::size_t f : {0, 1, 2, 4, 5})
    {
        EXPECT_NEAR(rates[f], LINK_RATE / 6, 0.02 * LINK_RATE) << f;
    }
    EXPECT_NEAR(rates[3], LINK_RATE / 2, 0.02 * LINK_RATE);
}

/**
 * Property on random paths over two levels of switches: no link exceeds its rate, and every flow
 * crosses a saturated link.
 */
TEST(RatesByIngress, RatesFitTheLinksAndAreNotLessThanTheyMustBe)
{
    uint64_t state = 1;
    const auto draw = [&state](uint64_t below) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return static_cast<uint32_t>((state >> 33) % below);
    };
    for (int round = 0; round < 50; round++)
    {
        std::vector<std::vector<uint32_t>> paths;
        for (int f = 0; f < 12; f++)
        {
            paths.push_back({draw(4), 4 + draw(3), 8 + draw(4)});
        }
        const auto rates = IngressRatesOf(paths, 0);
        std::vector<double> used(16, 0);
        for (std::size_t f = 0; f < paths.size(); f++)
        {
            for (const uint32_t link : paths[f])
            {
                used[link] += rates[f];
            }
        }
        for (const double rate : used)
        {
            EXPECT_LE(rate, LINK_RATE * 1.001);
        }
        for (std::size_t f = 0; f < paths.size(); f++)
        {
            double max = 0; // highest load of its links
            for (const uint32_t link : paths[f])
            {
                max = std::max(max, used[link]);
            }
            EXPECT_GT(max, LINK_RATE * 0.98) << "round " << round << ", flow " << f;
        }
    }
}

TEST(CorrectedTransport, RefusesTwoModelsThatCapFlows)
{
    CorrectionSpec spec;
    spec.recovery.period = Time::Microseconds(300);
    spec.ingress.shares = true;
    EXPECT_THROW(TimesOf({{1, 1000}}, spec), std::invalid_argument);
}

/**
 * The victim of PFC pauses in a packet simulation with small buffers finishes as late as in the
 * fluid with ingress sharing and blocking.
 */
TEST(CorrectedTransport, AVictimOfPausesIsAsSlowAsInPackets)
{
    // Hosts 1, 2 and 3 send to host 0, and host 3 also to host 1.
    const Topology topology = Star();
    FabricSpec fabric;
    fabric.kind = GraphFabric();
    Routing routing(topology, fabric);
    std::vector<RouteId> routes;
    for (const auto& [from, to] : {std::pair(1, 0), {2, 0}, {3, 0}, {3, 1}})
    {
        RouteRequest route;
        route.source = route.outNic = DeviceId(static_cast<uint32_t>(from));
        route.destination = route.inNic = DeviceId(static_cast<uint32_t>(to));
        routes.push_back(routing.Add(route));
    }
    const auto victim = [&](Transport& transport) {
        Ends ends;
        for (std::size_t i = 0; i < routes.size(); i++)
        {
            FlowRequest request;
            request.route = routes[i];
            request.bytes = Bytes(12500000);
            request.client = &ends;
            request.token = i;
            transport.Start(request, Time());
        }
        EngineSet engines;
        engines.Add(transport);
        engines.RunToEnd();
        return ends.at[3].ToSeconds();
    };
    PacketSpec packets;
    packets.format.header = 0;
    packets.switches.buffer = Bytes::MiB(1);
    packets.switches.alpha = 0.125;
    CorrectionSpec spec;
    spec.ingress.shares = true;
    spec.ingress.blocking = 1;
    const double inPackets = victim(*MakeTransport(routing, {packets}));
    EXPECT_NEAR(victim(*MakeTransport(routing, {{}, {}, {}, spec})) / inPackets, 1, 0.05);
    // Without the correction the victim gets the rest of its link and takes half the time.
    EXPECT_LT(victim(*MakeTransport(routing, {})) / inPackets, 0.55);
}

} // namespace

} // namespace weir

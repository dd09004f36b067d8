// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/packet/congestion/dcqcn.h"
#include "fabric/transport/packet/congestion/static-window.h"
#include "packet-bench.h"
#include "random-stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace weir
{
namespace
{

/** Packets without headers, on switches that neither drop nor mark. */
TransportSpec
PlainSpec()
{
    TransportSpec spec{PacketSpec(), CouplingSpec()};
    spec.packets->format.mtu = Bytes(1000);
    spec.packets->format.header = 0;
    spec.packets->format.controlSize = Bytes(1);
    spec.packets->switches.marks = false;
    return spec;
}

/** Two hosts on each side of one 100 Gb/s link. */
struct Dumbbell
{
    explicit Dumbbell(PacketBench& bench, Rate edge = Rate::Gbps(100))
    {
        const uint32_t left = bench.AddSwitch();
        const uint32_t right = bench.AddSwitch();
        trunk = bench.Join(left, right, Rate::Gbps(100), Time::Microseconds(1));
        for (int i = 0; i < 2; i++)
        {
            from[i] = bench.AddHost();
            to[i] = bench.AddHost();
            bench.Join(from[i], left, edge, Time::Microseconds(1));
            bench.Join(right, to[i], edge, Time::Microseconds(1));
        }
    }

    LinkId trunk;
    uint32_t from[2];
    uint32_t to[2];
};

/** A leaf-spine network of 12 hosts with random link rates, and random flows on it. */
struct RandomPlay
{
    RandomPlay(PacketBench& bench, uint64_t seed)
        : random(seed)
    {
        std::vector<uint32_t> leaves;
        for (int i = 0; i < 3; i++)
        {
            leaves.push_back(bench.AddSwitch());
            for (int h = 0; h < 4; h++)
            {
                hosts.push_back(bench.AddHost());
                bench.Join(hosts.back(), leaves.back(), RandomRate(), Time::Microseconds(1));
            }
        }
        for (int i = 0; i < 2; i++)
        {
            const uint32_t spine = bench.AddSwitch();
            for (const uint32_t leaf : leaves)
            {
                bench.Join(leaf, spine, RandomRate(), Time::Microseconds(1));
            }
        }
    }

    Rate RandomRate()
    {
        return Rate::Gbps(10.0 * static_cast<double>(1 + random.Below(20)));
    }

    /**
     * Adds flows in the order of their starts. Every @p part-th one is simulated as packets; none
     * where @p part is 0.
     */
    void AddFlows(PacketBench& bench, uint64_t part)
    {
        std::vector<int64_t> starts;
        for (int i = 0; i < 60; i++)
        {
            starts.push_back(static_cast<int64_t>(random.Below(400000000)));
        }
        std::sort(starts.begin(), starts.end());
        for (std::size_t i = 0; i < starts.size(); i++)
        {
            const uint32_t from = hosts[random.Below(hosts.size())];
            uint32_t to = from;
            while (to == from)
            {
                to = hosts[random.Below(hosts.size())];
            }
            const Bytes bytes(static_cast<int64_t>(1 + random.Below(1000000)));
            const bool isPackets = part > 0 && i % part == 0;
            bench.AddFlowAs(isPackets ? FlowForm::Packets : FlowForm::Fluid,
                            from,
                            to,
                            bytes,
                            Time::Picoseconds(starts[i]));
            sizes.push_back(bytes.Count());
        }
    }

    RandomStream random;
    std::vector<uint32_t> hosts;
    std::vector<int64_t> sizes;
};

/** Without packet flows, flows end at the same picosecond as in a fluid simulation. */
void
ExpectAFluid(const TransportSpec& spec)
{
    for (uint64_t seed = 1; seed <= 10; seed++)
    {
        PacketBench fluid;
        RandomPlay ofFluid(fluid, seed);
        if (spec.corrections.IsOn())
        {
            fluid.OpenCorrected(spec.corrections);
        }
        else
        {
            fluid.OpenFluid();
        }
        ofFluid.AddFlows(fluid, 0);
        fluid.Run();
        PacketBench both;
        RandomPlay ofBoth(both, seed);
        both.OpenHybrid(spec);
        ofBoth.AddFlows(both, 0);
        both.Run();
        for (std::size_t i = 0; i < ofBoth.sizes.size(); i++)
        {
            ASSERT_EQ(both.End(i), fluid.End(i)) << "seed " << seed << ", flow " << i;
        }
    }
}

TEST(HybridTransport, WithoutPacketsIsAFluid)
{
    ExpectAFluid(PlainSpec());
}

TEST(HybridTransport, WithoutPacketsIsACorrectedFluid)
{
    TransportSpec spec = PlainSpec();
    spec.corrections.forwarding.packet = Bytes(1000);
    spec.corrections.utilization.ofLink = 0.9;
    spec.corrections.recovery.period = Time::Microseconds(50);
    ExpectAFluid(spec);
}

/**
 * The capacity that a correction withholds from the fluid is not available to packets either:
 * acknowledgments use it. Of two flows on a link of 12500 B/us, the packet flow has half and ends
 * after 200 us. The fluid flow, on 0.8 of the rate, has 5000 B/us until then and 10000 B/us for its
 * remaining 250000 B.
 */
TEST(HybridTransport, PacketsHaveNothingOfWhatAcknowledgmentsTake)
{
    TransportSpec spec = PlainSpec();
    spec.corrections.utilization.ofLink = 0.8;
    PacketBench bench;
    const Dumbbell net(bench);
    bench.OpenHybrid(spec);
    const Bytes size(1250000);
    const std::size_t packets = bench.AddFlowAs(FlowForm::Packets, net.from[0], net.to[0], size);
    const std::size_t fluid = bench.AddFlowAs(FlowForm::Fluid, net.from[1], net.to[1], size);
    bench.Run();
    EXPECT_NEAR(bench.End(packets).ToMicroseconds(), 3 + 200, 3.0);
    EXPECT_NEAR(bench.End(fluid).ToMicroseconds(), 3 + 200 + 25, 3.0);
}

/**
 * Packets and a fluid flow share a port; the fluid flow is cut when the sum of both exceeds the
 * port's rate (CorrectedTransport, CutFlowsWaitAPeriodAndGoOnAtHalfTheirRate). 125000 B of each are
 * through after 20 us; then the fluid has 1250 B/us for one period, and the packets 11250 B/us for
 * 100 us.
 */
TEST(HybridTransport, PacketsCutAFluidThatRecovers)
{
    TransportSpec spec = PlainSpec();
    spec.corrections.recovery.period = Time::Microseconds(300);
    spec.corrections.recovery.markFrom = Bytes(125000);
    spec.corrections.recovery.floor = 0.1;
    PacketBench bench;
    const Dumbbell net(bench);
    bench.OpenHybrid(spec);
    const Bytes size(1250000);
    const std::size_t packets = bench.AddFlowAs(FlowForm::Packets, net.from[0], net.to[0], size);
    bench.AddFlowAs(FlowForm::Fluid, net.from[1], net.to[1], size);
    bench.Run();
    EXPECT_NEAR(bench.End(packets).ToMicroseconds(), 3 + 20 + 100, 4.0);
}

TEST(HybridTransport, RefusesSharingByIngress)
{
    TransportSpec spec = PlainSpec();
    spec.corrections.ingress.shares = true;
    PacketBench bench;
    const Dumbbell net(bench);
    EXPECT_THROW(bench.OpenHybrid(spec), std::invalid_argument);
}

/** Without fluid flows, flows end at the same picosecond as in a packet simulation. */
TEST(HybridTransport, WithoutAFluidIsPackets)
{
    for (uint64_t seed = 1; seed <= 10; seed++)
    {
        TransportSpec spec = PlainSpec();
        spec.packets->switches.marks = true;
        spec.packets->congestionControl = Dcqcn();
        PacketBench packets;
        RandomPlay ofPackets(packets, seed);
        packets.Open(*spec.packets);
        ofPackets.AddFlows(packets, 1);
        packets.Run();
        PacketBench both;
        RandomPlay ofBoth(both, seed);
        both.OpenHybrid(spec);
        ofBoth.AddFlows(both, 1);
        both.Run();
        for (std::size_t i = 0; i < ofBoth.sizes.size(); i++)
        {
            ASSERT_EQ(both.End(i), packets.End(i)) << "seed " << seed << ", flow " << i;
        }
        EXPECT_EQ(both.Hybrid().GetCoupling().windows, 0u);
    }
}

/**
 * A packet flow and a fluid flow of equal size share a link evenly: both end when the link has
 * carried both, plus 3 us of path latency. Two switches store packets, and the result may be one
 * packet off.
 */
TEST(HybridTransport, PacketsAndFluidShareALinkEvenly)
{
    PacketBench bench;
    const Dumbbell net(bench);
    bench.OpenHybrid(PlainSpec());
    const Bytes size = Bytes(12500000);
    const std::size_t packets = bench.AddFlowAs(FlowForm::Packets, net.from[0], net.to[0], size);
    const std::size_t fluid = bench.AddFlowAs(FlowForm::Fluid, net.from[1], net.to[1], size);
    bench.Run();
    const double expected = 2000 + 3; // us
    EXPECT_NEAR(bench.End(packets).ToMicroseconds(), expected, 2.0);
    EXPECT_NEAR(bench.End(fluid).ToMicroseconds(), expected, 2.0);
}

/**
 * One of n equal flows over one link is a packet flow, with unbounded queues. All flows end when
 * the link has carried all of them, after n times the uncontended time; a packet flow that ended
 * earlier would have had more than its share.
 */
TEST(HybridTransport, PacketsHaveNoMoreThanTheirShare)
{
    for (const int flows : {2, 3, 4, 5, 8})
    {
        PacketBench bench;
        std::vector<uint32_t> hosts;
        const uint32_t center = bench.AddSwitch();
        for (int i = 0; i <= flows; i++)
        {
            hosts.push_back(bench.AddHost());
            bench.Join(hosts.back(), center, Rate::Gbps(100), Time::Microseconds(1));
        }
        bench.OpenHybrid(PlainSpec());
        const Bytes size = Bytes(12500000); // 1 ms
        std::vector<std::size_t> ids;
        for (int i = 0; i < flows; i++)
        {
            const FlowForm form = i == 0 ? FlowForm::Packets : FlowForm::Fluid;
            ids.push_back(bench.AddFlowAs(form, hosts[i], hosts[flows], size));
        }
        bench.Run();
        for (const std::size_t id : ids)
        {
            EXPECT_NEAR(bench.End(id).ToMicroseconds(), 1000.0 * flows, 30.0 * flows) << flows;
        }
    }
}

/**
 * Flows of one route in two traffic classes are two connections, between which ports take turns.
 * With a fluid flow as large as each, they share a link in three: all end when it has carried all.
 */
TEST(HybridTransport, EachTrafficClassHasItsShare)
{
    PacketBench bench;
    const Dumbbell net(bench);
    TransportSpec spec = PlainSpec();
    spec.packets->trafficClasses = 2;
    spec.packets->switches.losslessClasses = 2;
    bench.OpenHybrid(spec);
    FlowRequest request;
    request.route = bench.RouteOf(net.from[0], net.to[0]);
    request.bytes = Bytes(12500000); // 1 ms
    request.form = FlowForm::Packets;
    bench.AddFlow(request);
    request.trafficClass = 2;
    bench.AddFlow(request);
    bench.AddFlowAs(FlowForm::Fluid, net.from[1], net.to[1], request.bytes);
    bench.Run();
    for (std::size_t flow = 0; flow < 3; flow++)
    {
        EXPECT_NEAR(bench.End(flow).ToMicroseconds(), 3000, 90) << flow;
    }
}

/** Packets generated at rate r take r of a link, and the fluid gets the rest. */
TEST(HybridTransport, FluidHasWhatSteadyPacketsLeave)
{
    for (const double gbps : {5.0, 20.0, 45.0})
    {
        PacketBench bench;
        const Dumbbell net(bench);
        bench.OpenHybrid(PlainSpec());
        const Rate rate = Rate::Gbps(gbps);
        bench.AddFlowAs(FlowForm::Packets, net.from[0], net.to[0], Bytes(100000000), Time(), rate);
        const Bytes size = Bytes(12500000);
        const std::size_t fluid = bench.AddFlowAs(FlowForm::Fluid, net.from[1], net.to[1], size);
        bench.RunUntil(Time::Milliseconds(5));
        const double expected = 1000 * 100 / (100 - gbps) + 3;
        EXPECT_NEAR(bench.End(fluid).ToMicroseconds(), expected, 0.002 * expected) << gbps;
    }
}

/** Sends datagrams over one route, one per interval; all at once if the interval is 0. */
class DatagramSender : public DatagramClient, public PassiveEngine
{
  public:
    static constexpr unsigned TRAFFIC_CLASS = 2;

    DatagramSender(
        PacketBench& bench, RouteId route, unsigned count, Time every, uint32_t bytes = 1000)
        : m_bench(bench),
          m_route(route),
          m_count(count),
          m_every(every),
          m_bytes(bytes)
    {
        bench.Transport().SetDatagramClient(*this);
        bench.AddEngine(*this);
    }

    std::optional<Datagram> NextDatagram(LinkId, unsigned, Time) override
    {
        if (m_sent == m_due)
        {
            return std::nullopt;
        }
        return Datagram{m_route, m_bytes, m_sent++};
    }

    void OnDatagram(uint64_t, bool, Time now) override
    {
        ends.push_back(now);
    }

    void OnDatagramLost(uint64_t, LinkId, Time) override
    {
        ADD_FAILURE() << "a datagram was lost";
    }

    Time NextEventTime() override
    {
        return m_due < m_count ? m_next : Time::Infinite();
    }

    void AdvanceTo(Time now) override
    {
        if (m_due < m_count && m_next <= now)
        {
            m_due = m_every == Time() ? m_count : m_due + 1;
            m_next += m_every;
            const LinkId link = m_bench.GetRouting().Links(m_route).front().link;
            m_bench.Transport().OfferDatagrams(link, TRAFFIC_CLASS, now);
        }
    }

    std::vector<Time> ends;

  private:
    PacketBench& m_bench;
    RouteId m_route;
    unsigned m_count;
    Time m_every;
    uint32_t m_bytes;
    Time m_next;
    unsigned m_due{0};
    uint64_t m_sent{0};
};

TransportSpec
WithDatagrams()
{
    TransportSpec spec = PlainSpec();
    spec.packets->trafficClasses = 2;
    spec.packets->switches.losslessClasses = 2;
    return spec;
}

/**
 * Backlogged datagrams alternate with the packets of flows, whatever the number of flows: with the
 * packets' length of 1000 bytes they get half of a link, with half that length a third, next to one
 * fluid flow or two. 12500 datagrams end when the fluid has sent as many packets.
 */
TEST(HybridTransport, DatagramsTakeTurnsWithTheFluid)
{
    for (const uint32_t bytes : {1000, 500})
    {
        for (const int64_t flows : {1, 2})
        {
            PacketBench bench;
            const Dumbbell net(bench);
            bench.OpenHybrid(WithDatagrams());
            const RouteId route = bench.RouteOf(net.from[0], net.to[0]);
            DatagramSender sender(bench, route, 12500, Time(), bytes);
            for (int64_t i = 0; i < flows; i++)
            {
                bench.AddFlowAs(FlowForm::Fluid, net.from[1], net.to[1], Bytes(12500000 / flows));
            }
            bench.Run();
            const double expected = 12500.0 * (1000 + bytes) * 8e-5 + 3; // us
            ASSERT_EQ(sender.ends.size(), 12500u);
            EXPECT_NEAR(sender.ends.back().ToMicroseconds(), expected, 0.005 * expected);
            EXPECT_NEAR(bench.End(0).ToMicroseconds(), expected, 0.005 * expected);
        }
    }
}

/**
 * Datagrams at 20 Gb/s, one per 400 ns, take that rate of the trunk; the fluid gets the rest, and
 * 100 Gb/s after they stop. They carry 1.25 MB in 500 us, so 12.5 MB of fluid end at 1100 us.
 */
TEST(HybridTransport, FluidHasWhatDatagramsLeave)
{
    PacketBench bench;
    const Dumbbell net(bench);
    bench.OpenHybrid(WithDatagrams());
    DatagramSender sender(
        bench, bench.RouteOf(net.from[0], net.to[0]), 1250, Time::Nanoseconds(400));
    const std::size_t fluid =
        bench.AddFlowAs(FlowForm::Fluid, net.from[1], net.to[1], Bytes(12500000));
    const std::size_t late = bench.AddFlowAs(
        FlowForm::Fluid, net.from[1], net.to[1], Bytes(12500000), Time::Milliseconds(2));
    bench.Run();
    ASSERT_EQ(sender.ends.size(), 1250u);
    EXPECT_NEAR(sender.ends.back().ToMicroseconds(), 1249 * 0.4 + 3 + 3 * 0.08, 1.0);
    EXPECT_NEAR(bench.End(fluid).ToMicroseconds(), 1103, 0.005 * 1103);
    EXPECT_EQ(bench.End(late), Time::Microseconds(3003)); // as in isolation
}

/** Without fluid flows, datagrams arrive at the same picosecond as in a packet simulation. */
TEST(HybridTransport, DatagramsAloneArePackets)
{
    std::vector<std::vector<Time>> ends;
    for (const bool isHybrid : {false, true})
    {
        PacketBench bench;
        const Dumbbell net(bench);
        isHybrid ? bench.OpenHybrid(WithDatagrams()) : bench.Open(*WithDatagrams().packets);
        DatagramSender sender(
            bench, bench.RouteOf(net.from[0], net.to[0]), 1000, Time::Nanoseconds(150));
        bench.AddFlowAs(FlowForm::Packets, net.from[1], net.to[1], Bytes(1000000));
        bench.Run();
        ends.push_back(sender.ends);
        ends.back().push_back(bench.End(0));
    }
    EXPECT_EQ(ends[0], ends[1]);
}

/**
 * Completion time, us, of a fluid flow of 10 MB next to packets that a static window limits. @param
 * window of the coupling
 */
double
TimeBesideHeldPackets(Time window)
{
    PacketBench bench;
    const Dumbbell net(bench);
    TransportSpec spec = PlainSpec();
    StaticWindow held;
    held.window = Bytes(15000);
    spec.packets->congestionControl = held;
    spec.coupling->window = window;
    bench.OpenHybrid(spec);
    bench.AddFlowAs(FlowForm::Packets, net.from[0], net.to[0], Bytes(10000000));
    const std::size_t fluid =
        bench.AddFlowAs(FlowForm::Fluid, net.from[1], net.to[1], Bytes(10000000));
    bench.Run();
    return bench.End(fluid).ToMicroseconds();
}

/**
 * Packets limited by their window w to r = w / RTT are assumed to be greedy until the first
 * coupling window ends: the fluid gets C / 2 in that window, then C - r. So the fluid is late by (C
 * / 2 - r) / (C - r) of the coupling window: half the window gives half the error, and the limit
 * has none.
 */
TEST(HybridTransport, ErrorIsOfFirstOrderInTheWindow)
{
    const double c = 100.0 / 8 * 1000; // bytes/us
    // RTT: 6 us of latency, three transmissions of a packet and three of its acknowledgment.
    const double r = 15000 / (6 + 3 * 1000 / c + 3 / c);
    const double exact = 3 + 10000000 / (c - r);
    const double slope = (c / 2 - r) / (c - r);
    for (const double us : {10.0, 20.0, 40.0, 80.0, 160.0})
    {
        const double error = TimeBesideHeldPackets(Time::Microseconds(us)) - exact;
        EXPECT_NEAR(error, slope * us, 0.1 * slope * us + 0.002 * exact) << us;
    }
    const double e1 = TimeBesideHeldPackets(Time::Microseconds(40)) -
                      TimeBesideHeldPackets(Time::Microseconds(20));
    const double e2 = TimeBesideHeldPackets(Time::Microseconds(80)) -
                      TimeBesideHeldPackets(Time::Microseconds(40));
    EXPECT_NEAR(e2 / e1, 2, 0.2);
}

/**
 * A PFC pause waits for the frame in transmission, which takes longer on a link shared with a
 * fluid. The lossless network still drops nothing.
 */
TEST(HybridTransport, PausesLoseNothingBesideAFluid)
{
    PacketBench bench;
    const uint32_t middle = bench.AddSwitch();
    std::vector<uint32_t> hosts;
    for (int i = 0; i < 30; i++)
    {
        hosts.push_back(bench.AddHost());
        bench.Join(hosts.back(), middle, Rate::Gbps(i == 2 ? 10 : 100), Time::Microseconds(1));
    }
    bench.OpenHybrid(PlainSpec());
    for (int i = 4; i < 30; i++)
    {
        bench.AddFlowAs(FlowForm::Fluid, hosts[i], hosts[0], Bytes(20'000'000));
    }
    const auto addPackets = [&](int from, int to, int64_t bytes, double microseconds) {
        bench.AddFlowAs(FlowForm::Packets,
                        hosts[from],
                        hosts[to],
                        Bytes(bytes),
                        Time::Microseconds(microseconds));
    };
    addPackets(3, 0, 3'000'000, 50);
    addPackets(0, 2, 20'000'000, 100);
    addPackets(1, 2, 20'000'000, 100);
    bench.Run();
    EXPECT_EQ(bench.Transport().GetQueuePairs().Counters().lost, 0u);
}

/**
 * While packets and a fluid share a queue, packets are marked as if the fluid's bytes were queued,
 * too.
 */
TEST(HybridTransport, MarksSeeTheDelayOfTheWholeQueue)
{
    uint64_t marks[2];
    for (const int flows : {0, 3})
    {
        PacketBench bench;
        const Dumbbell net(bench);
        TransportSpec spec = PlainSpec();
        StaticWindow held;
        held.window = Bytes(120000); // 75 kB are in flight; the 45 kB queued are below Kmin
        spec.packets->congestionControl = held;
        spec.packets->switches.marks = true;
        spec.packets->switches.markFrom = Bytes(60000);
        spec.packets->switches.markAll = Bytes(60000);
        bench.OpenHybrid(spec);
        bench.AddFlowAs(FlowForm::Packets, net.from[0], net.to[0], Bytes(2000000));
        for (int i = 0; i < flows; i++)
        {
            bench.AddFlowAs(FlowForm::Fluid, net.from[1], net.to[1], Bytes(20000000));
        }
        bench.Run();
        marks[flows > 0] = bench.Any().GetPortCounters(net.trunk)->marks;
    }
    EXPECT_EQ(marks[0], 0u);
    EXPECT_GT(marks[1], 500u);
}

/**
 * All flows end. Links have carried exactly the bytes that crossed them, with one byte per
 * acknowledgment. The excess over a link's rate stays below three round trips (8 us each) at the
 * highest rate, 200 Gb/s.
 */
TEST(HybridTransport, BytesAreConserved)
{
    for (uint64_t seed = 1; seed <= 10; seed++)
    {
        PacketBench bench;
        RandomPlay play(bench, seed);
        TransportSpec spec = PlainSpec();
        bench.OpenHybrid(spec);
        play.AddFlows(bench, 3);
        bench.Run();
        double carried = 0;
        for (std::size_t i = 0; i < bench.GetTopology().LinkCount(); i++)
        {
            carried += bench.Any().GetLinkUsage(LinkId(i)).bytes;
        }
        double expected = 0;
        for (std::size_t i = 0; i < play.sizes.size(); i++)
        {
            ASSERT_FALSE(bench.End(i).IsInfinite()) << "seed " << seed << ", flow " << i;
            const auto hops = static_cast<double>(bench.Hops(i));
            const double packets = i % 3 == 0 ? std::ceil(play.sizes[i] / 1000.0) : 0;
            expected += hops * (static_cast<double>(play.sizes[i]) + packets);
        }
        EXPECT_NEAR(carried, expected, 1e-9 * expected) << "seed " << seed;
        EXPECT_EQ(bench.Any().ActiveFlows(), 0u);
        EXPECT_LT(bench.Hybrid().GetCoupling().largestDebt, 3 * 8e-6 * 200e9 / 8);
    }
}

/**
 * The debt of a link is what it has carried beyond its rate, also in the part of a window that is
 * left when its first stream enters. Until a stream shares in the fluid, one path latency (3 us)
 * after its start, the fluid has all of the trunk, and the packets, which reach it after 1 us, have
 * their fair half: 2 us at 50 Gb/s. Another stream, on links of its own, keeps the windows.
 */
TEST(HybridTransport, DebtCountsFromTheEntryOfAStream)
{
    PacketBench bench;
    const Dumbbell net(bench);
    const uint32_t middle = bench.AddSwitch();
    const uint32_t others[2]{bench.AddHost(), bench.AddHost()};
    for (const uint32_t host : others)
    {
        bench.Join(host, middle, Rate::Gbps(100), Time::Microseconds(1));
    }
    TransportSpec spec = PlainSpec();
    spec.coupling->window = Time::Microseconds(50);
    bench.OpenHybrid(spec);
    const Bytes much(100000000);
    const Time entry = Time::Microseconds(1010); // within the window that ends at 1050 us
    bench.AddFlowAs(FlowForm::Packets, others[0], others[1], much);
    bench.AddFlowAs(FlowForm::Fluid, net.from[0], net.to[0], much);
    bench.AddFlowAs(FlowForm::Packets, net.from[1], net.to[1], much, entry);
    bench.RunUntil(entry);
    const double before = bench.Any().GetLinkUsage(net.trunk).bytes;
    bench.RunUntil(Time::Microseconds(1050));
    const double beyond = bench.Any().GetLinkUsage(net.trunk).bytes - before - 40e-6 * 12.5e9;
    constexpr double PACKET = 1000;
    EXPECT_NEAR(beyond, 2e-6 * 50e9 / 8, 2 * PACKET);
    EXPECT_NEAR(bench.Hybrid().GetCoupling().largestDebt, beyond, PACKET);
}

/**
 * Link usage contains the bytes that the fluid carried before, during and after packet flows,
 * including links on which the fluid rate never changes, here in the reverse direction.
 */
TEST(HybridTransport, UsageHasWhatAFluidCarriedBeforePackets)
{
    PacketBench bench;
    const Dumbbell net(bench);
    bench.OpenHybrid(PlainSpec());
    const Bytes size(1250000); // 100 us
    const std::size_t early = bench.AddFlowAs(FlowForm::Fluid, net.from[0], net.to[0], size);
    bench.AddFlowAs(FlowForm::Fluid, net.to[1], net.from[1], Bytes(12500000));
    const Time later = Time::Microseconds(200);
    const std::size_t packets =
        bench.AddFlowAs(FlowForm::Packets, net.from[1], net.to[1], size, later);
    bench.RunUntil(Time::Microseconds(150));
    EXPECT_FALSE(bench.End(early).IsInfinite());
    EXPECT_DOUBLE_EQ(bench.Any().GetLinkUsage(net.trunk).bytes, 1250000);
    bench.Run();
    EXPECT_FALSE(bench.End(packets).IsInfinite());
    EXPECT_DOUBLE_EQ(bench.Any().GetLinkUsage(net.trunk).bytes, 2 * 1250000);
    const LinkId back = bench.GetTopology().GetLink(net.trunk).opposite;
    EXPECT_DOUBLE_EQ(bench.Any().GetLinkUsage(back).bytes, 12500000 + 1250); // with acknowledgments
}

/** Integrates the reported rates of links over time. */
class RateSum : public TransportObserver
{
  public:
    void OnLinkRate(LinkId link, Rate rate, Time now) override
    {
        Told& told = links[link.Index()];
        told.bytes += told.rate * (now - told.since).ToSeconds();
        told.rate = rate.ToBytesPerSecond();
        told.since = now;
    }

    struct Told
    {
        double bytes{0};
        double rate{0};
        Time since;
    };

    std::map<std::size_t, Told> links;
};

/**
 * A link first carries 1000 acknowledgments of 1000 bytes, of which the fluid knows nothing, then a
 * fluid flow of 10^6 bytes, at 80 ps per byte: it is busy for 80 us each. Acknowledgments during
 * another fluid flow do not add to the time of that.
 */
TEST(HybridTransport, ALinkIsBusyWithPacketsAndFluid)
{
    PacketBench bench;
    const Dumbbell net(bench);
    TransportSpec spec = PlainSpec();
    spec.packets->format.controlSize = Bytes(1000);
    bench.OpenHybrid(spec);
    const LinkId back = bench.GetTopology().GetLink(net.trunk).opposite;
    const auto busy = [&] { return bench.Hybrid().GetLinkUsage(back).busy.ToMicroseconds(); };
    bench.AddFlowAs(FlowForm::Packets, net.from[0], net.to[0], Bytes(1000000));
    bench.AddFlowAs(
        FlowForm::Fluid, net.to[0], net.from[0], Bytes(1000000), Time::Microseconds(200));
    bench.AddFlowAs(
        FlowForm::Fluid, net.to[0], net.from[0], Bytes(2000000), Time::Microseconds(400));
    bench.AddFlowAs(
        FlowForm::Packets, net.from[0], net.to[0], Bytes(100000), Time::Microseconds(450));
    bench.RunUntil(Time::Microseconds(150));
    EXPECT_NEAR(busy(), 80, 1e-6);
    bench.RunUntil(Time::Microseconds(350));
    EXPECT_NEAR(busy(), 160, 1e-6);
    EXPECT_NEAR(bench.Hybrid().GetLinkUsage(back).bytes, 2e6, 1);
    bench.Run();
    const double fluid = bench.Duration(2).ToMicroseconds() - 3; // it shares after its latency
    EXPECT_GE(fluid, 160);
    EXPECT_NEAR(busy(), 160 + fluid, 1e-3);
}

/**
 * The rates of links reported to observers integrate to the bytes that the fluid carried, and are
 * zero at its end, also where the last fluid flow ends at the instant at which the first packets
 * start.
 */
TEST(HybridTransport, LinkRatesToldAddUpToWhatTheFluidCarried)
{
    for (const double start : {102.99, 103.0, 103.01})
    {
        PacketBench bench;
        const Dumbbell net(bench);
        bench.OpenHybrid(PlainSpec());
        RateSum sum;
        bench.Any().AddObserver(sum, true);
        const Bytes size(1250000); // 100 us, plus the latency of three links
        bench.AddFlowAs(FlowForm::Fluid, net.from[0], net.to[0], size);
        bench.AddFlowAs(FlowForm::Packets, net.from[1], net.to[1], size, Time::Microseconds(start));
        const Time later = Time::Microseconds(150);
        bench.AddFlowAs(FlowForm::Fluid, net.from[0], net.to[0], size, later);
        bench.RunUntil(Time::Microseconds(140));
        EXPECT_EQ(sum.links.at(net.trunk.Index()).rate, 0) << start;
        bench.Run();
        EXPECT_EQ(sum.links.at(net.trunk.Index()).rate, 0) << start;
        EXPECT_NEAR(sum.links.at(net.trunk.Index()).bytes, 2 * 1250000, 1) << start;
    }
}

/**
 * A flow that crosses one of the configured links is simulated as packets, whatever its request
 * says.
 */
TEST(HybridTransport, FlowsOverChosenLinksArePackets)
{
    PacketBench bench;
    const Dumbbell net(bench);
    TransportSpec spec = PlainSpec();
    spec.coupling->links = {bench.GetTopology().LinkName(net.trunk)};
    bench.OpenHybrid(spec);
    const Bytes size(1000000);
    bench.AddFlowAs(FlowForm::Fluid, net.from[0], net.to[0], size);
    bench.AddFlowAs(FlowForm::Fluid, net.to[1], net.to[0], size);
    bench.Run();
    EXPECT_EQ(bench.Any().GetPortCounters(net.trunk)->packets, 1000u);
    uint64_t packets = 0;
    for (std::size_t i = 0; i < bench.GetTopology().LinkCount(); i++)
    {
        packets += bench.Any().GetPortCounters(LinkId(i))->packets;
    }
    EXPECT_EQ(packets, 6000u); // three hops, with an acknowledgment for each packet
    spec.coupling->links = {"switch9->*"};
    PacketBench other;
    const Dumbbell same(other);
    EXPECT_THROW(other.OpenHybrid(spec), std::invalid_argument);
}

/**
 * When a link fails that has no alternative path, flows of both forms stall; they resume when it is
 * restored.
 */
TEST(HybridTransport, BothFormsWaitForALinkThatFails)
{
    PacketBench bench;
    const Dumbbell net(bench);
    bench.OpenHybrid(PlainSpec());
    const Bytes size(1250000);
    const std::size_t packets = bench.AddFlowAs(FlowForm::Packets, net.from[0], net.to[0], size);
    const std::size_t fluid = bench.AddFlowAs(FlowForm::Fluid, net.from[1], net.to[1], size);
    bench.RunUntil(Time::Microseconds(50));
    bench.Any().SetLinksUp({net.trunk}, false, Time::Microseconds(50));
    bench.RunUntil(Time::Milliseconds(1));
    EXPECT_EQ(bench.Any().StalledFlows().size(), 2u);
    EXPECT_EQ(bench.Any().ActiveFlows(), 2u);
    bench.Any().SetLinksUp({net.trunk}, true, Time::Milliseconds(1));
    bench.Run();
    EXPECT_NEAR(bench.End(fluid).ToMicroseconds(), 1000 + 153, 5);
    EXPECT_GT(bench.End(packets).ToMicroseconds(), 1000 + 150);
}

/** Cancelled flows, started or not, release their share. */
TEST(HybridTransport, CancelledFlowsLeaveTheirShare)
{
    PacketBench bench;
    const Dumbbell net(bench);
    TransportSpec spec = PlainSpec();
    StaticWindow window; // bounds the packets in flight, which still arrive
    window.window = Bytes(150000);
    spec.packets->congestionControl = window;
    bench.OpenHybrid(spec);
    FlowRequest request;
    request.route = bench.RouteOf(net.from[0], net.to[0]);
    request.bytes = Bytes(100000000);
    request.form = FlowForm::Packets;
    const FlowId first = bench.Any().Start(request, Time());
    request.overhead = Time::Milliseconds(1);
    const FlowId second = bench.Any().Start(request, Time());
    const std::size_t fluid =
        bench.AddFlowAs(FlowForm::Fluid, net.from[1], net.to[1], Bytes(12500000));
    bench.RunUntil(Time::Microseconds(500));
    EXPECT_TRUE(bench.Any().Cancel(first, Time::Microseconds(500)));
    EXPECT_TRUE(bench.Any().Cancel(second, Time::Microseconds(500)));
    EXPECT_FALSE(bench.Any().Cancel(second, Time::Microseconds(500)));
    bench.Run();
    EXPECT_EQ(bench.Any().ActiveFlows(), 0u);
    EXPECT_NEAR(bench.End(fluid).ToMicroseconds(),
                500 + 3 + 750,
                20); // three quarters of the bytes at the full rate
}

/**
 * A stream is described by its active flows. The first flow sends a window of 10000 B per round
 * trip (6 us, and the storing of a packet in two switches and of its acknowledgment), so that the
 * fluid gets the rest of the link, at least 10800 B/us. The second flow of the connection is
 * canceled, and a flow on another route, inside its window, reuses its slot.
 */
TEST(HybridTransport, CanceledFlowsDoNotDescribeTheirStream)
{
    PacketBench bench;
    const Dumbbell net(bench);
    TransportSpec spec = PlainSpec();
    StaticWindow window;
    window.window = Bytes(10000);
    spec.packets->congestionControl = window;
    bench.OpenHybrid(spec);
    FlowRequest request;
    request.route = bench.RouteOf(net.from[0], net.to[0]);
    request.bytes = Bytes(100000000);
    request.form = FlowForm::Packets;
    const FlowId first = bench.Any().Start(request, Time());
    request.overhead = Time::Milliseconds(9);
    const FlowId second = bench.Any().Start(request, Time());
    EXPECT_TRUE(bench.Any().Cancel(second, Time()));
    request.route = bench.RouteOf(net.to[0], net.from[0]);
    const FlowId other = bench.Any().Start(request, Time());
    const std::size_t fluid =
        bench.AddFlowAs(FlowForm::Fluid, net.from[1], net.to[1], Bytes(12500000));
    bench.RunUntil(Time::Milliseconds(2));
    EXPECT_LT(bench.End(fluid).ToMicroseconds(), 12500000 / 10800);
    EXPECT_TRUE(bench.Any().CurrentPath(first).path.IsValid());
    EXPECT_TRUE(bench.Any().CurrentPath(other).path.IsValid());
    EXPECT_FALSE(bench.Any().CurrentPath(second).path.IsValid());
    EXPECT_EQ(bench.Any().GetFlowCounters(second), nullptr);
}

/** Transports of every kind know no path and no counters of an id whose slot is used again. */
TEST(HybridTransport, NoTransportDescribesAStaleFlow)
{
    for (const int kind : {0, 1, 2, 3})
    {
        PacketBench bench;
        const Dumbbell net(bench);
        switch (kind)
        {
        case 0:
            bench.OpenFluid();
            break;
        case 1:
            bench.Open(PlainPackets());
            break;
        case 2:
            bench.OpenReplay(PlainPackets());
            break;
        default:
            bench.OpenHybrid(PlainSpec());
        }
        FlowRequest request;
        request.route = bench.RouteOf(net.from[0], net.to[0]);
        request.bytes = Bytes(1000000);
        request.overhead = Time::Microseconds(10);
        request.form = FlowForm::Packets;
        const FlowId stale = bench.Any().Start(request, Time());
        EXPECT_TRUE(bench.Any().CurrentPath(stale).path.IsValid()) << kind;
        EXPECT_TRUE(bench.Any().Cancel(stale, Time())) << kind;
        request.route = bench.RouteOf(net.from[1], net.to[1]);
        const FlowId flow = bench.Any().Start(request, Time());
        EXPECT_TRUE(bench.Any().CurrentPath(flow).path.IsValid()) << kind;
        for (const FlowId id : {stale, FlowId{stale.value + 1000}})
        {
            EXPECT_FALSE(bench.Any().CurrentPath(id).path.IsValid()) << kind;
            EXPECT_EQ(bench.Any().GetFlowCounters(id), nullptr) << kind;
        }
    }
}

} // namespace
} // namespace weir

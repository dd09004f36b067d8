// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/packet/congestion/hpcc.h"
#include "fabric/transport/packet/congestion/rccc.h"
#include "fabric/transport/packet/congestion/static-window.h"
#include "packet-bench.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace weir
{
namespace
{

/**
 * Starts a flow on each of the given routes when it is notified that another flow has been sent.
 */
class Follower : public FlowClient
{
  public:
    explicit Follower(PacketTransport& transport)
        : m_transport(transport)
    {
    }

    void OnFlowSent(uint64_t token, Time now) override
    {
        for (const RouteId route : routes)
        {
            FlowRequest request;
            request.route = route;
            request.bytes = Bytes(10000);
            request.client = this;
            request.token = token + 1;
            m_transport.Start(request, now);
        }
        routes.clear();
    }

    void OnFlowDone(uint64_t token, Time now) override
    {
        done++;
    }

    std::vector<RouteId> routes;
    unsigned done{0};

  private:
    PacketTransport& m_transport;
};

int64_t
Nanoseconds(Time time)
{
    return std::llround(static_cast<double>(time.ToPicoseconds()) / 1000);
}

/**
 * Uncontended, over h links of capacity C and latency l, a flow of n packets has arrived when all n
 * have left the first link and the last one has crossed the others: wire / C + (h - 1) p / C + h l,
 * where p is the size of the last packet if all packets are equally long. The sender learns of it h
 * (l + a / C) later, with a the size of an acknowledgment.
 */
TEST(PacketTransport, FlowAloneTakesWhatUltraEthernetsSimulatorPrints)
{
    // one.cm of htsim: 2 MB, 100 Gb/s, 6 links of 1 us, 4086 + 64 bytes; it prints 176.2 us.
    PacketBench bench;
    const auto [from, to] = bench.AddChain(5, Rate::Gbps(100), Time::Microseconds(1));
    PacketSpec spec = PlainPackets();
    spec.format.mtu = Bytes(4086);
    spec.format.header = 64;
    spec.format.controlSize = Bytes(64);
    spec.queuePair.flowEnd = FlowEnd::Acknowledged;
    spec.queuePair.ackEvery = 1;
    bench.Open(spec);
    const Bytes size(2000000);
    const std::size_t flow = bench.AddFlow(from, to, size);
    bench.Run();
    const int64_t packets = (size.Count() + 4085) / 4086;
    const int64_t last = size.Count() - (packets - 1) * 4086 + 64;
    const double perByte = 0.08; // ns
    // The last packet is shorter than the others, and waits for the full packet before it at each
    // hop.
    const double expected = static_cast<double>((packets - 1) * 4150) * perByte +
                            5 * 4150 * perByte + static_cast<double>(last) * perByte + 12000 +
                            6 * 64 * perByte;
    EXPECT_EQ(Nanoseconds(bench.Duration(flow)), std::llround(expected));
    EXPECT_NEAR(bench.Duration(flow).ToMicroseconds(), 176.2, 0.05);
}

/** With cut-through a packet is on all links at once: only its header is stored at each switch. */
TEST(PacketTransport, CutThroughWaitsForHeadersOnly)
{
    PacketBench bench;
    const auto [from, to] = bench.AddChain(3, Rate::Gbps(80), Time::Microseconds(1));
    PacketSpec spec = PlainPackets();
    spec.switches.cutThrough = true;
    bench.Open(spec);
    const std::size_t flow = bench.AddFlow(from, to, Bytes(1000));
    bench.Run();
    // 0.1 ns per byte: the packet once, its header at each of three switches, four links of 1 us.
    EXPECT_EQ(bench.Duration(flow).ToPicoseconds(), 104800 + 3 * 4800 + 4000000);
}

/** A flow of no bytes is one packet of headers only. */
TEST(PacketTransport, EmptyFlowIsOneHeader)
{
    PacketBench bench;
    const auto [from, to] = bench.AddChain(1, Rate::Gbps(80), Time::Microseconds(1));
    bench.Open(PlainPackets());
    const std::size_t flow = bench.AddFlow(from, to, Bytes(0));
    bench.Run();
    EXPECT_EQ(bench.Duration(flow).ToPicoseconds(), 2 * 4800 + 2000000);
}

/**
 * Queue pairs of one port are served round-robin, so equal flows that start at one instant end at
 * about the same time.
 */
TEST(PacketTransport, QueuePairsOfAPortShareIt)
{
    PacketBench bench;
    const auto [from, to] = bench.AddChain(1, Rate::Gbps(80), Time::Microseconds(1));
    bench.Open(PlainPackets());
    for (int i = 0; i < 4; i++)
    {
        bench.AddFlow(from, to, Bytes(100000));
    }
    bench.Run();
    std::vector<double> durations;
    for (std::size_t i = 0; i < 4; i++)
    {
        durations.push_back(bench.Duration(i).ToMicroseconds());
    }
    std::sort(durations.begin(), durations.end());
    const double packet = 0.1048; // us
    for (std::size_t i = 0; i < 4; i++)
    {
        // The last packets of the four flows are the last four to leave.
        EXPECT_NEAR(durations[i], packet * static_cast<double>(397 + i) + packet + 2, 1e-6);
    }
}

/**
 * Under a dynamic threshold a (S - used), one egress queue of a shared buffer S settles at a S / (1
 * + a), and n queues at a S / (1 + n a) each (Choudhury and Hahne).
 */
TEST(PacketTransport, DynamicThresholdsSettleWhereTheyShould)
{
    for (const unsigned ports : {1u, 2u, 8u})
    {
        PacketBench bench;
        const uint32_t middle = bench.AddSwitch();
        PacketSpec spec = PlainPackets();
        spec.switches.flowControl = FlowControl::None;
        spec.switches.buffer = Bytes(1000000);
        spec.switches.alpha = 0.5;
        spec.queuePair.retransmissionTimeout = Time::Infinite();
        std::vector<std::pair<uint32_t, uint32_t>> pairs;
        std::vector<LinkId> out;
        for (unsigned i = 0; i < ports; i++)
        {
            const uint32_t from = bench.AddHost();
            const uint32_t to = bench.AddHost();
            bench.Join(from, middle, Rate::Gbps(800), Time::Nanoseconds(100));
            out.push_back(bench.Join(middle, to, Rate::Gbps(8), Time::Nanoseconds(100)));
            pairs.emplace_back(from, to);
        }
        bench.Open(spec);
        for (const auto& [from, to] : pairs)
        {
            bench.AddFlow(from, to, Bytes(20000000));
        }
        bench.RunUntil(Time::Microseconds(100));
        const double expected = 0.5 * 1e6 / (1 + 0.5 * ports);
        for (const LinkId link : out)
        {
            EXPECT_NEAR(
                static_cast<double>(bench.Network().QueuedBytes(link.Index())), expected, 2 * 1048)
                << ports << " ports";
            EXPECT_GT(bench.Network().Counters(link.Index()).drops, 0u);
        }
    }
}

/** A switch with a small shared buffer that pauses its senders. */
PacketSpec
PausingSpec(Bytes headroom)
{
    PacketSpec spec = PlainPackets();
    spec.switches.buffer = Bytes(400000);
    spec.switches.reserve = Bytes(0);
    spec.switches.headroom = headroom;
    spec.switches.alpha = 0.125;
    return spec;
}

/**
 * Packets of a host that a switch drops when the host starts at @p phase ns, with a cable of @p
 * meters.
 */
uint64_t
LostBeyondHeadroom(int meters, int64_t headroom, int phase)
{
    PacketBench bench;
    const Time latency = Time::Nanoseconds(5.0 * meters);
    const uint32_t middle = bench.AddSwitch();
    const uint32_t sink = bench.AddHost();
    const uint32_t host = bench.AddHost();
    const uint32_t other = bench.AddHost();
    bench.Join(middle, sink, Rate::Gbps(0.01), latency); // nothing drains in the meantime
    bench.Join(host, middle, Rate::Gbps(100), latency);
    bench.Join(other, middle, Rate::Gbps(100), latency);
    PacketSpec spec = PausingSpec(Bytes(headroom));
    spec.switches.buffer = spec.switches.headroom * 3 + Bytes(20000);
    spec.queuePair.ackEvery = 1000; // no acknowledgment displaces data
    spec.queuePair.ackDelay = Time::Milliseconds(1);
    bench.Open(spec);
    bench.AddFlow(other, host, Bytes(400000)); // pauses have to wait for its packets
    bench.AddFlow(host, sink, Bytes(400000), Time::Nanoseconds(phase));
    bench.RunUntil(Time::Microseconds(15));
    return bench.Transport().GetQueuePairs().Counters().lost;
}

/**
 * With the headroom of 802.1Qbb (two packets, the pause frame and both directions of the wire)
 * nothing is lost at any cable length. With one packet less, the worst case loses packets: the
 * pause waits for a whole packet in transmission, and the sender has just begun another one.
 * Because packets are whole, this case occurs only in the fraction of phases left over when packets
 * fill both directions of the wire and the pause. Lengths at which less than 3 ns of a packet's 84
 * ns are left over are skipped.
 */
TEST(PacketTransport, HeadroomLosesNothingAndOnePacketLessDoes)
{
    int shortOnes = 0;
    for (int meters = 1; meters <= 500; meters++)
    {
        // Both directions of the wire at 12.5 bytes/ns, two packets of 1048, a pause of 84.
        const auto wire = static_cast<int64_t>(std::ceil(2 * 5 * meters * 12.5));
        const int64_t headroom = wire + 2 * 1048 + 84;
        for (const int phase : {0, 17, 34, 51, 68})
        {
            ASSERT_EQ(LostBeyondHeadroom(meters, headroom, (phase + meters) % 84), 0u)
                << meters << " m, " << phase << " ns";
        }
        if ((wire + 84) % 1048 < 38)
        {
            continue;
        }
        shortOnes++;
        bool loses = false;
        for (int i = 0; i < 84 && !loses; i++) // ns: transmission time of a packet
        {
            loses = LostBeyondHeadroom(meters, headroom - 1048, i * 31 % 84) > 0;
        }
        EXPECT_TRUE(loses) << meters << " m";
    }
    EXPECT_GT(shortOnes, 470);
}

/**
 * k hosts share an uplink; k - 1 of them send to a hot port and one to a victim elsewhere. Pauses
 * stop the whole uplink, which serves packets in order of arrival: the victim gets the same rate as
 * each of the others, C / (k - 1) of the hot port, not the rest of the uplink.
 */
TEST(PacketTransport, PausesSpreadToVictims)
{
    constexpr unsigned SENDERS = 5;
    PacketBench bench;
    const uint32_t left = bench.AddSwitch();
    const uint32_t right = bench.AddSwitch();
    std::vector<uint32_t> hosts;
    for (unsigned i = 0; i < SENDERS; i++)
    {
        hosts.push_back(bench.AddHost());
        bench.Join(hosts.back(), left, Rate::Gbps(80), Time::Nanoseconds(500));
    }
    bench.Join(left, right, Rate::Gbps(80), Time::Nanoseconds(500));
    const uint32_t hot = bench.AddHost();
    const uint32_t cold = bench.AddHost();
    const LinkId slow = bench.Join(right, hot, Rate::Gbps(16), Time::Nanoseconds(500));
    const LinkId victim = bench.Join(right, cold, Rate::Gbps(80), Time::Nanoseconds(500));
    bench.Open(PausingSpec(Bytes(0)));
    for (unsigned i = 0; i + 1 < SENDERS; i++)
    {
        bench.AddFlow(hosts[i], hot, Bytes(100000000));
    }
    bench.AddFlow(hosts[SENDERS - 1], cold, Bytes(100000000));
    bench.RunUntil(Time::Milliseconds(10));
    const double hotBytes = static_cast<double>(bench.Network().Counters(slow.Index()).bytes);
    const double victimBytes = static_cast<double>(bench.Network().Counters(victim.Index()).bytes);
    EXPECT_NEAR(hotBytes, 2e9 * 10e-3, 0.01 * 2e9 * 10e-3);
    EXPECT_NEAR(victimBytes, hotBytes / (SENDERS - 1), 0.05 * hotBytes / (SENDERS - 1));
    EXPECT_EQ(bench.Transport().GetQueuePairs().Counters().lost, 0u);
}

/** Notes the pauses that a flow has counted when it is done. */
class PauseClient : public FlowClient
{
  public:
    explicit PauseClient(PacketTransport& transport)
        : m_transport(transport)
    {
    }

    void OnFlowDone(uint64_t, Time) override
    {
        paused = m_transport.GetFlowCounters(id)->paused;
    }

    FlowId id;
    int64_t paused{-1};

  private:
    PacketTransport& m_transport;
};

/**
 * The pauses of a flow are those of its sender's port since its start, whether it is active or has
 * ended, with or without observers.
 */
TEST(PacketTransport, FlowsCountThePausesOfTheirPort)
{
    PacketBench bench;
    const uint32_t middle = bench.AddSwitch();
    const uint32_t sink = bench.AddHost();
    bench.Join(middle, sink, Rate::Gbps(16), Time::Nanoseconds(500));
    std::vector<uint32_t> hosts;
    std::vector<LinkId> ports;
    for (int i = 0; i < 2; i++)
    {
        hosts.push_back(bench.AddHost());
        ports.push_back(bench.Join(hosts.back(), middle, Rate::Gbps(80), Time::Nanoseconds(500)));
    }
    bench.Open(PausingSpec(Bytes(0)));
    bench.AddFlow(hosts[0], sink, Bytes(100000000));
    bench.AddFlow(hosts[1], sink, Bytes(100000000));
    const auto portPaused = [&] { return bench.Transport().GetPortCounters(ports[0])->paused; };
    bench.RunUntil(Time::Milliseconds(1));
    const int64_t before = portPaused();
    EXPECT_GT(before, 0);
    PauseClient client(bench.Transport());
    FlowRequest request;
    request.route = bench.RouteOf(hosts[0], sink);
    request.bytes = Bytes(1000000);
    request.client = &client;
    client.id = bench.Transport().Start(request, Time::Milliseconds(1));
    EXPECT_EQ(bench.Transport().GetFlowCounters(client.id)->paused, 0);
    bench.RunUntil(Time::Milliseconds(1.5));
    const int64_t during = portPaused() - before;
    EXPECT_GT(during, 0);
    EXPECT_EQ(bench.Transport().GetFlowCounters(client.id)->paused, during);
    while (client.paused < 0)
    {
        bench.RunUntil(bench.Any().NextEventTime());
    }
    EXPECT_EQ(client.paused, portPaused() - before);
}

/**
 * Three switches in a ring, each flow over two of its links: a PFC deadlock, whose links
 * DescribeWaiting() names.
 */
TEST(PacketTransport, DeadlockIsNamed)
{
    PacketBench bench;
    std::vector<uint32_t> switches;
    std::vector<uint32_t> hosts;
    for (int i = 0; i < 3; i++)
    {
        switches.push_back(bench.AddSwitch());
        hosts.push_back(bench.AddHost());
        hosts.push_back(bench.AddHost());
        bench.Join(
            hosts[hosts.size() - 2], switches.back(), Rate::Gbps(80), Time::Nanoseconds(500));
        bench.Join(hosts.back(), switches.back(), Rate::Gbps(80), Time::Nanoseconds(500));
    }
    std::vector<LinkId> ring;
    for (int i = 0; i < 3; i++)
    {
        ring.push_back(
            bench.Join(switches[i], switches[(i + 1) % 3], Rate::Gbps(80), Time::Nanoseconds(500)));
    }
    bench.Open(PausingSpec(Bytes(0)));
    const auto linkFrom = [&](uint32_t a, uint32_t b) {
        for (const LinkId link : bench.GetTopology().LinksFrom(DeviceId(a)))
        {
            if (bench.GetTopology().GetLink(link).to == DeviceId(b))
            {
                return link;
            }
        }
        return LinkId();
    };
    for (int i = 0; i < 3; i++)
    {
        for (int k = 0; k < 2; k++)
        {
            const uint32_t from = hosts[2 * i + k];
            const uint32_t to = hosts[2 * ((i + 2) % 3)];
            const RouteId route =
                bench.GetRouting().AddPinned({linkFrom(from, switches[i]),
                                              ring[i],
                                              ring[(i + 1) % 3],
                                              linkFrom(switches[(i + 2) % 3], to)});
            bench.AddFlow(route, Bytes(10000000));
        }
    }
    bench.RunUntil(Time::Milliseconds(3));
    const std::string text = bench.Transport().DescribeWaiting();
    for (const LinkId link : ring)
    {
        EXPECT_NE(text.find(bench.GetTopology().LinkName(link)), std::string::npos) << text;
    }
    EXPECT_TRUE(bench.Duration(0).IsInfinite());
    bench.Run(); // senders give up after their retries, and the deadlock is still the cause
    EXPECT_EQ(bench.Transport().DescribeWaiting(), text);
}

/**
 * The default buffer suffices for the full rate, also where packets take up to half as many bytes
 * again in whole units of 64 (129 bytes take 3 units): a flow takes no longer than without credits.
 */
TEST(PacketTransport, DefaultCreditsCarryTheWholeRate)
{
    for (const int64_t mtu : {81, 145, 272, 1000, 4096})
    {
        double seconds[2];
        for (const bool hasCredits : {false, true})
        {
            PacketBench bench;
            const auto [from, to] = bench.AddChain(1, Rate::Gbps(80), Time::Microseconds(1));
            PacketSpec spec = PlainPackets();
            spec.format.mtu = Bytes(mtu);
            spec.switches.flowControl = hasCredits ? FlowControl::Credits : FlowControl::None;
            bench.Open(spec);
            const std::size_t flow = bench.AddFlow(from, to, Bytes(1000 * mtu));
            bench.Run();
            seconds[hasCredits] = bench.Duration(flow).ToSeconds();
        }
        EXPECT_NEAR(seconds[1], seconds[0], 1e-12) << mtu;
    }
}

/**
 * Credits of b bytes over a round trip r limit the throughput to b / r, and the link to its rate.
 */
TEST(PacketTransport, CreditsBoundThroughput)
{
    for (const int64_t buffer : {4192, 8384, 16768, 33536, 67072})
    {
        PacketBench bench;
        const auto [from, to] = bench.AddChain(1, Rate::Gbps(80), Time::Microseconds(1));
        PacketSpec spec = PlainPackets();
        spec.switches.flowControl = FlowControl::Credits;
        spec.switches.creditUnit = Bytes(1);
        spec.switches.creditBuffer = Bytes(buffer);
        bench.Open(spec);
        const Bytes size(4000000);
        const std::size_t flow = bench.AddFlow(from, to, size);
        bench.Run();
        // A packet's credits are returned when it has left the switch for the host, which it does
        // at once because no other traffic exists. The round trip is one transmission plus twice
        // the latency of the link.
        const double roundTrip = 0.1048e-6 + 2e-6;
        const double wire = 4000.0 * 1048;
        const double rate = std::min(1e10, static_cast<double>(buffer) / roundTrip);
        EXPECT_NEAR(bench.Duration(flow).ToSeconds(), wire / rate, 0.01 * wire / rate) << buffer;
        EXPECT_EQ(bench.Transport().GetQueuePairs().Counters().lost, 0u);
    }
}

/**
 * After a loss, go-back-N retransmits everything in flight, a window; selective repeat retransmits
 * only the lost packets.
 */
TEST(PacketTransport, RecoveryWastesAWindowOrAPacket)
{
    for (const LossRecovery recovery : {LossRecovery::GoBackN, LossRecovery::Selective})
    {
        PacketBench bench;
        const auto [from, to] = bench.AddChain(1, Rate::Gbps(80), Time::Microseconds(1));
        const LinkId second = bench.LinkTo(to);
        PacketSpec spec = PlainPackets();
        spec.queuePair.recovery = recovery;
        StaticWindow window;
        window.window = Bytes(50000);
        spec.congestionControl = window;
        bench.Open(spec);
        const std::size_t flow = bench.AddFlow(from, to, Bytes(1000000));
        bench.RunUntil(Time::Microseconds(20));
        // A link that fails for an instant loses the packets on it: a latency of 1 us holds 9 to 10
        // packets of 104.8 ns, one of them in transmission.
        bench.Transport().SetLinksUp({second}, false, Time::Microseconds(20));
        bench.Transport().SetLinksUp({second}, true, Time::Microseconds(20));
        bench.Run();
        const QueuePairCounters& counters = bench.Transport().GetQueuePairs().Counters();
        EXPECT_FALSE(bench.Duration(flow).IsInfinite());
        EXPECT_GE(counters.lost, 9u);
        EXPECT_LE(counters.lost, 11u);
        EXPECT_EQ(counters.timeouts, 0u);
        if (recovery == LossRecovery::Selective)
        {
            EXPECT_EQ(counters.retransmissions, counters.lost);
        }
        else
        {
            // Go-back-N also retransmits the packets that followed the loss, at most the window.
            EXPECT_GT(counters.retransmissions, counters.lost + 10);
            EXPECT_LE(counters.retransmissions, 50u);
        }
    }
}

/**
 * A lossy link drops the configured fraction of all packets that cross it, retransmissions
 * included, within five standard deviations. Selective repeat retransmits as many packets;
 * go-back-N retransmits for each loss what was in flight, too: 4 us at 80 Gb/s. The flow takes the
 * transmission time of all packets, plus a timeout for each packet that is lost twice.
 */
TEST(PacketTransport, LossyLinksLosePacketsByChance)
{
    constexpr double LOSS = 0.01;
    constexpr double PACKETS = 20000;
    for (const LossRecovery recovery : {LossRecovery::GoBackN, LossRecovery::Selective})
    {
        PacketBench bench;
        const auto [from, to] = bench.AddChain(1, Rate::Gbps(80), Time::Microseconds(1));
        const LinkId second = bench.LinkTo(to);
        PacketSpec spec = PlainPackets();
        spec.queuePair.recovery = recovery;
        bench.Open(spec);
        const std::size_t flow = bench.AddFlow(from, to, Bytes(20'000'000));
        bench.Transport().SetLinkLoss(second, LOSS, Time());
        bench.Run();
        EXPECT_FALSE(bench.Duration(flow).IsInfinite());
        const QueuePairCounters& counters = bench.Transport().GetQueuePairs().Counters();
        const PortCounters& port = bench.Network().Counters(second.Index());
        const double crossed = static_cast<double>(port.packets);
        const auto lost = static_cast<double>(port.drops);
        EXPECT_NEAR(lost, LOSS * crossed, 5 * std::sqrt(LOSS * crossed));
        EXPECT_GE(crossed, PACKETS + lost);
        constexpr double PACKET_TIME = 1048 / 1e10;
        const double time = bench.Duration(flow).ToSeconds();
        const double timeouts = static_cast<double>(counters.timeouts) *
                                spec.queuePair.retransmissionTimeout.ToSeconds();
        EXPECT_GE(time, crossed * PACKET_TIME);
        EXPECT_LE(time, 1.05 * crossed * PACKET_TIME + timeouts);
        if (recovery == LossRecovery::Selective)
        {
            EXPECT_EQ(crossed, PACKETS + lost);
            EXPECT_EQ(static_cast<double>(counters.retransmissions), lost);
        }
        else
        {
            const double inFlight = 4e-6 / PACKET_TIME;
            EXPECT_GT(crossed, PACKETS + 0.5 * lost * inFlight);
            EXPECT_LT(crossed, PACKETS + 1.5 * lost * inFlight);
        }
        EXPECT_THROW(bench.Transport().SetLinkLoss(second, 1, Time()), std::invalid_argument);
        EXPECT_THROW(bench.Transport().SetLinkLoss(second, -0.1, Time()), std::invalid_argument);
    }
    PacketBench fluid;
    const LinkId link =
        fluid.Join(fluid.AddHost(), fluid.AddHost(), Rate::Gbps(80), Time::Microseconds(1));
    fluid.OpenFluid();
    EXPECT_THROW(fluid.Any().SetLinkLoss(link, 0.1, Time()), std::invalid_argument);
}

/**
 * Flows are rerouted around a failed link; without another path they stall, and resume when a link
 * is restored.
 */
TEST(PacketTransport, FailedLinksAreReroutedOrWaitedFor)
{
    PacketBench bench;
    const uint32_t from = bench.AddHost();
    const uint32_t left = bench.AddSwitch();
    const uint32_t right = bench.AddSwitch();
    const uint32_t to = bench.AddHost();
    bench.Join(from, left, Rate::Gbps(80), Time::Microseconds(1));
    const LinkId a = bench.Join(left, right, Rate::Gbps(80), Time::Microseconds(1));
    const LinkId b = bench.Join(left, right, Rate::Gbps(80), Time::Microseconds(1));
    bench.Join(right, to, Rate::Gbps(80), Time::Microseconds(1));
    bench.Open(PlainPackets());
    const std::size_t flow = bench.AddFlow(from, to, Bytes(1000000));
    bench.RunUntil(Time::Microseconds(20));
    const bool tookA = bench.Network().Counters(a.Index()).packets > 0;
    bench.Transport().SetLinksUp({tookA ? a : b}, false, Time::Microseconds(20));
    bench.RunUntil(Time::Microseconds(60));
    EXPECT_GT(bench.Network().Counters((tookA ? b : a).Index()).packets, 0u);
    EXPECT_TRUE(bench.Transport().StalledFlows().empty());
    bench.Transport().SetLinksUp({tookA ? b : a}, false, Time::Microseconds(60));
    ASSERT_EQ(bench.Transport().StalledFlows().size(), 1u);
    bench.RunUntil(Time::Milliseconds(1));
    EXPECT_TRUE(bench.Duration(flow).IsInfinite());
    bench.Transport().SetLinksUp({a, b}, true, Time::Milliseconds(1));
    EXPECT_TRUE(bench.Transport().StalledFlows().empty());
    bench.Run();
    EXPECT_FALSE(bench.Duration(flow).IsInfinite());
}

/** A client notified that a flow was sent may start flows on any port, and all of them end. */
TEST(PacketTransport, FlowsStartedWhenOneIsSentTakeTheirOwnPorts)
{
    constexpr unsigned HOSTS = 12;
    PacketBench bench;
    const uint32_t middle = bench.AddSwitch();
    std::vector<uint32_t> hosts;
    for (unsigned i = 0; i < HOSTS; i++)
    {
        hosts.push_back(bench.AddHost());
        bench.Join(hosts.back(), middle, Rate::Gbps(80), Time::Microseconds(1));
    }
    bench.Open(PlainPackets());
    const auto routeFrom = [&](unsigned i, uint16_t port) {
        RouteRequest request;
        request.source = request.outNic = DeviceId(hosts[i]);
        request.destination = request.inNic = DeviceId(hosts[(i + 1) % HOSTS]);
        request.sourcePort = port;
        return bench.GetRouting().Add(request);
    };
    Follower follower(bench.Transport());
    FlowRequest first;
    first.route = routeFrom(0, 0);
    first.bytes = Bytes(5000);
    first.client = &follower;
    for (unsigned i = 0; i < HOSTS; i++) // two each: the second finds the first one queued
    {
        follower.routes.push_back(routeFrom(i, 1));
        follower.routes.push_back(routeFrom(i, 2));
    }
    bench.Transport().Start(first, Time());
    bench.Run();
    EXPECT_EQ(follower.done, 1 + 2 * HOSTS);
}

/**
 * A link that loses all but one packet in 2^52 delivers nothing, so the message is retransmitted
 * after each timeout. After a thousand retries the simulation has no further events and names the
 * flow; when the link stops losing packets, the flow resumes.
 */
TEST(PacketTransport, LivelocksEndAndAreNamed)
{
    for (const LossRecovery recovery : {LossRecovery::GoBackN, LossRecovery::Selective})
    {
        PacketBench bench;
        const auto [from, to] = bench.AddChain(1, Rate::Gbps(80), Time::Microseconds(1));
        const LinkId second = bench.LinkTo(to);
        PacketSpec spec = PlainPackets();
        spec.queuePair.recovery = recovery;
        bench.Open(spec);
        const std::size_t flow = bench.AddFlow(from, to, Bytes(5000));
        bench.Transport().SetLinkLoss(second, 1 - 0x1p-52, Time());
        bench.Run();
        EXPECT_TRUE(bench.Duration(flow).IsInfinite());
        const QueuePairCounters& counters = bench.Transport().GetQueuePairs().Counters();
        EXPECT_EQ(counters.timeouts, QueuePairs::MAX_RETRIES);
        const std::string text = bench.Transport().DescribeWaiting();
        EXPECT_EQ(
            text.rfind(
                "livelock: packet 0 from host0->switch1 to switch1->host2 was retransmitted ", 0),
            0u)
            << text;
        const Time later = spec.queuePair.retransmissionTimeout * (QueuePairs::MAX_RETRIES + 1);
        bench.Transport().SetLinkLoss(second, 0, later);
        EXPECT_EQ(bench.Transport().DescribeWaiting(), "");
        bench.Run();
        EXPECT_FALSE(bench.Duration(flow).IsInfinite());
    }
}

/**
 * A full packet has 1048 bytes; a lossy class may use alpha of the buffer while the buffer is
 * empty.
 */
TEST(PacketTransport, RefusesLossyQueuesThatHoldNoPacket)
{
    const auto refusal = [](const PacketSpec& spec) {
        PacketBench bench;
        bench.AddChain(1, Rate::Gbps(100), Time::Microseconds(1));
        try
        {
            bench.Open(spec);
        }
        catch (const std::invalid_argument& error)
        {
            const std::string text = error.what();
            return text.substr(0, text.find(','));
        }
        return std::string();
    };
    PacketSpec lossy = PlainPackets();
    lossy.switches.flowControl = FlowControl::None;
    EXPECT_EQ(refusal(lossy), "");
    PacketSpec spec = lossy;
    spec.switches.portQueue = Bytes(1048);
    EXPECT_EQ(refusal(spec), "");
    spec.switches.portQueue = Bytes(1047);
    EXPECT_EQ(refusal(spec), "switch.portQueue: found 1047 bytes");
    spec.switches.flowControl = FlowControl::Pfc;
    EXPECT_EQ(refusal(spec), ""); // no class is lossy
    spec.trafficClasses = 2;
    EXPECT_EQ(refusal(spec), "switch.portQueue: found 1047 bytes");
    spec = lossy;
    spec.switches.buffer = Bytes(8 * 1048);
    EXPECT_EQ(refusal(spec), "");
    spec.switches.buffer = Bytes(8 * 1048 - 1);
    EXPECT_EQ(refusal(spec), "switch.buffer: found 8383 bytes at switch1");
    spec = lossy;
    spec.switches.alpha = 1e-6;
    EXPECT_EQ(refusal(spec), "switch.buffer: found 33554432 bytes at switch1");
    spec = lossy;
    spec.switches.trim = true;
    spec.switches.controlQueue = Bytes(59);
    EXPECT_EQ(refusal(spec), "switch.controlQueue: found 59 bytes");
}

/** Two links of 1 us at 100 Gb/s, 1048 bytes forward and 60 bytes back over each: 4.17728 us. */
TEST(PacketTransport, KnowsTheLongestIdlePath)
{
    PacketBench bench;
    const auto ends = bench.AddChain(1, Rate::Gbps(100), Time::Microseconds(1));
    const uint32_t near = bench.AddHost();
    bench.Join(ends.second, near, Rate::Gbps(100), Time::Nanoseconds(1));
    bench.Open(PlainPackets());
    EXPECT_EQ(bench.Transport().LongestIdlePath().roundTrip, Time());
    const std::size_t longest = bench.AddFlow(ends.first, ends.second, Bytes(1));
    bench.AddFlow(ends.second, near, Bytes(1));
    bench.Run();
    const PacketTransport::IdlePath& path = bench.Transport().LongestIdlePath();
    EXPECT_EQ(path.roundTrip, Time::Microseconds(4.17728));
    EXPECT_EQ(path.route, bench.RouteIdOf(longest));
    EXPECT_EQ(path.hops, 2u);
}

/** Counts the flows that finish. */
struct FinishCount : TransportObserver
{
    void OnFlowFinished(FlowId, const FlowRequest&, Time, Time) override
    {
        finished++;
    }

    unsigned finished{0};
};

/**
 * A canceled flow ends at once for its observers. Its packets in flight still arrive, and it leaves
 * nothing behind.
 */
TEST(PacketTransport, CancelledFlowsEnd)
{
    PacketBench bench;
    const auto [from, to] = bench.AddChain(1, Rate::Gbps(80), Time::Microseconds(1));
    PacketSpec spec = PlainPackets();
    StaticWindow window;
    window.window = Bytes(1000); // one packet at a time: at most instants none has just been sent
    spec.congestionControl = window;
    bench.Open(spec);
    FinishCount observer;
    bench.Transport().AddObserver(observer, false);
    RouteRequest route;
    route.source = route.outNic = DeviceId(from);
    route.destination = route.inNic = DeviceId(to);
    FlowRequest request;
    request.route = bench.GetRouting().Add(route);
    request.bytes = Bytes(1000000);
    for (int phase = 0; phase < 40; phase++) // covers the round trip of 4.3 us
    {
        const Time start = Time::Microseconds(100 * phase);
        bench.RunUntil(start);
        const FlowId id = bench.Transport().Start(request, start);
        const Time end = start + Time::Microseconds(20) + Time::Nanoseconds(150 * phase);
        bench.RunUntil(end);
        EXPECT_TRUE(bench.Transport().Cancel(id, end));
        EXPECT_FALSE(bench.Transport().Cancel(id, end));
        EXPECT_EQ(bench.Transport().ActiveFlows(), 0u) << phase;
        EXPECT_EQ(bench.Transport().BytesLeft(id), 0) << phase;
        bench.RunUntil(end + Time::Microseconds(10));
        EXPECT_TRUE(bench.Transport().IsAtRest()) << phase;
    }
    EXPECT_EQ(observer.finished, 0u);
    const uint64_t sent = bench.Transport().GetQueuePairs().Counters().dataPackets;
    EXPECT_LT(sent, 40u * 10);
}

/**
 * A receiver grants credit for the bytes posted and not yet received. After a cancel, these are the
 * bytes in flight, which already have their credit, so that it grants no more. Its port sends
 * credits and acknowledgments only. At the cancel, the credits of one round trip of 4.3 us may wait
 * there at most: 43 kB of credit at 10 GB/s, 11 credits of 4 packets. The 9 MB withdrawn would be
 * 2250 credits.
 */
TEST(PacketTransport, CanceledFlowsGetNoCredit)
{
    PacketBench bench;
    const auto [from, to] = bench.AddChain(1, Rate::Gbps(80), Time::Microseconds(1));
    const LinkId back = bench.GetTopology().LinksFrom(DeviceId(to)).front();
    PacketSpec spec = PlainPackets();
    spec.congestionControl = Rccc();
    bench.Open(spec);
    FlowRequest request;
    request.route = bench.RouteOf(from, to);
    request.bytes = Bytes(10000000);
    const auto credits = [&] {
        return bench.Network().Counters(back.Index()).packets -
               bench.Transport().GetQueuePairs().Counters().acknowledgments;
    };
    const FlowId id = bench.Transport().Start(request, Time());
    const Time end = Time::Microseconds(100);
    bench.RunUntil(end);
    const uint64_t before = credits();
    EXPECT_GT(before, 11u);
    EXPECT_TRUE(bench.Transport().Cancel(id, end));
    bench.RunUntil(Time::Milliseconds(2));
    EXPECT_LE(credits(), before + 11);
}

/**
 * Of two flows on one queue pair of 10 GB/s, the second has the rate from its first packet on, also
 * while the last packets of the first are in flight: the first has 1000 packets of 1048 bytes, sent
 * within 104.8 us, which arrive 2 us and one packet later.
 */
TEST(PacketTransport, ConsecutiveFlowsOfAQueuePairHaveItsRateOnce)
{
    PacketBench bench;
    const auto [from, to] = bench.AddChain(1, Rate::Gbps(80), Time::Microseconds(1));
    bench.Open(PlainPackets());
    const auto rateOf = [&](FlowId id) { return bench.Transport().CurrentRate(id).ToGBps(); };
    FlowRequest request;
    request.route = bench.RouteOf(from, to);
    request.bytes = Bytes(1000000);
    const FlowId first = bench.Transport().Start(request, Time());
    const FlowId second = bench.Transport().Start(request, Time());
    bench.RunUntil(Time::Microseconds(100));
    EXPECT_NEAR(rateOf(first), 10, 1e-9);
    EXPECT_EQ(rateOf(second), 0);
    bench.RunUntil(Time::Nanoseconds(105500));
    EXPECT_EQ(bench.Any().ActiveFlows(), 2u);
    EXPECT_EQ(rateOf(first), 0);
    EXPECT_NEAR(rateOf(second), 10, 1e-9);
    bench.RunUntil(Time::Microseconds(211)); // nothing follows it: it has its rate until its end
    EXPECT_NEAR(rateOf(second), 10, 1e-9);
    bench.Run();
    EXPECT_EQ(rateOf(second), 0);
}

/**
 * The rate of a flow is that of its own queue pairs, 10 GB/s each here without congestion control,
 * from its first byte until its end. The second flow has two parts. One of them waits behind the
 * 1000 packets of the first flow, which take turns with those of the other part: 209.6 us.
 */
TEST(PacketTransport, RatesAreThoseOfTheFlowsQueuePairs)
{
    PacketBench bench;
    const auto [from, to] = bench.AddChain(1, Rate::Gbps(80), Time::Microseconds(1));
    bench.Open(PlainPackets());
    const auto rateOf = [&](FlowId id) { return bench.Transport().CurrentRate(id).ToGBps(); };
    FlowRequest request;
    request.route = bench.RouteOf(from, to);
    request.bytes = Bytes(1000000);
    request.overhead = Time::Nanoseconds(10);
    const FlowId first = bench.Transport().Start(request, Time());
    request.connections = 2;
    request.bytes = Bytes(10000000);
    const FlowId second = bench.Transport().Start(request, Time());
    const FlowId third = bench.Transport().Start(request, Time());
    EXPECT_EQ(rateOf(first), 0); // in its overhead
    bench.RunUntil(Time::Microseconds(50));
    EXPECT_NEAR(rateOf(first), 10, 1e-9);
    EXPECT_NEAR(rateOf(second), 10, 1e-9);
    EXPECT_EQ(rateOf(third), 0); // queued in both
    bench.RunUntil(Time::Microseconds(300));
    EXPECT_EQ(rateOf(first), 0); // it has ended
    EXPECT_NEAR(rateOf(second), 20, 1e-9);
    EXPECT_EQ(rateOf(third), 0);
    bench.Run();
    EXPECT_EQ(rateOf(second), 0);
    EXPECT_EQ(rateOf(third), 0);
}

/** A link at rate zero, set before the flow starts, holds the flow until its rate is restored. */
TEST(PacketTransport, FlowsWaitForALinkWithoutRate)
{
    PacketBench bench;
    const auto [from, to] = bench.AddChain(1, Rate::Gbps(80), Time::Microseconds(1));
    const LinkId second = bench.LinkTo(to);
    bench.Open(PlainPackets());
    bench.Transport().SetLinkRate(second, Rate(), Time());
    const std::size_t flow = bench.AddFlow(from, to, Bytes(10000));
    bench.RunUntil(Time::Milliseconds(1));
    EXPECT_TRUE(bench.Duration(flow).IsInfinite());
    bench.Transport().SetLinkRate(second, Rate::Gbps(80), Time::Milliseconds(1));
    bench.Run();
    // The switch then sends ten packets.
    EXPECT_EQ(bench.End(flow), Time::Milliseconds(1) + Time::Picoseconds(10 * 104800 + 1000000));
}

/**
 * A flow of any size is split exactly into parts: 2^60 bytes over 16 queue pairs are accepted, and
 * only a small part is sent here.
 */
TEST(PacketTransport, HugeFlowsAreCutIntoParts)
{
    PacketBench bench;
    const auto [from, to] = bench.AddChain(1, Rate::Gbps(80), Time::Microseconds(1));
    bench.Open(PlainPackets());
    RouteRequest route;
    route.source = route.outNic = DeviceId(from);
    route.destination = route.inNic = DeviceId(to);
    FlowRequest request;
    request.route = bench.GetRouting().Add(route);
    request.bytes = Bytes(int64_t{1} << 60);
    request.connections = 16;
    bench.Transport().Start(request, Time());
    bench.RunUntil(Time::Milliseconds(1));
    EXPECT_EQ(bench.Transport().ActiveFlows(), 1u);
    // The port is never idle: it sends packets for a full millisecond, within one packet.
    EXPECT_NEAR(static_cast<double>(bench.Transport().GetQueuePairs().Counters().dataPackets),
                1e9 / 104800,
                1);
}

/**
 * A flow of no bytes is one header. If a link loses it by failing, the sender retransmits it after
 * the timeout, and it arrives as it would have in an idle network.
 */
TEST(PacketTransport, EmptyFlowsAreRetransmitted)
{
    for (const bool hasCredit : {false, true})
    {
        for (const LossRecovery recovery : {LossRecovery::GoBackN, LossRecovery::Selective})
        {
            Time uncontended;
            for (const bool fails : {false, true})
            {
                PacketBench bench;
                const auto [from, to] = bench.AddChain(1, Rate::Gbps(80), Time::Microseconds(1));
                PacketSpec spec = PlainPackets();
                spec.queuePair.recovery = recovery;
                if (hasCredit)
                {
                    spec.congestionControl = Rccc();
                }
                bench.Open(spec);
                const std::size_t flow = bench.AddFlow(from, to, Bytes(0));
                if (fails)
                {
                    const LinkId second = bench.LinkTo(to);
                    const LinkId back = bench.GetTopology().GetLink(second).opposite;
                    bench.RunUntil(Time::Nanoseconds(1500)); // it is on the second link
                    bench.Transport().SetLinksUp({second, back}, false, Time::Nanoseconds(1500));
                    bench.RunUntil(Time::Microseconds(100));
                    bench.Transport().SetLinksUp({second, back}, true, Time::Microseconds(100));
                }
                bench.Run();
                uncontended = fails ? uncontended : bench.End(flow);
                EXPECT_EQ(bench.End(flow),
                          uncontended + (fails ? spec.queuePair.retransmissionTimeout : Time()));
            }
        }
    }
}

/**
 * The last data arrive after the first link has failed, so there is no path back for their
 * acknowledgment, which then takes no time. The flow ends when they arrive, also where flows end
 * with an acknowledgment.
 */
TEST(PacketTransport, FlowsWithoutAWayBackEnd)
{
    for (const FlowEnd end : {FlowEnd::Received, FlowEnd::Acknowledged})
    {
        PacketBench bench;
        const auto [from, to] = bench.AddChain(1, Rate::Gbps(80), Time::Microseconds(1));
        PacketSpec spec = PlainPackets();
        spec.queuePair.flowEnd = end;
        bench.Open(spec);
        const LinkId back = bench.LinkTo(from);
        const LinkId first = bench.GetTopology().GetLink(back).opposite;
        const std::size_t flow = bench.AddFlow(from, to, Bytes(1000));
        bench.RunUntil(Time::Nanoseconds(1500)); // the packet is on the second link
        bench.Transport().SetLinksUp({first, back}, false, Time::Nanoseconds(1500));
        bench.Run();
        EXPECT_EQ(bench.End(flow), Time::Picoseconds(2 * (104800 + 1000000)));
    }
}

/**
 * A window in proportion to the rate falls below a byte where the path is much slower than the
 * port: at the minimum rate of 0.1 Gb/s, a port of 400 Gb/s has 1/4000 of a bandwidth-delay product
 * of less than 4000 bytes. One packet may still be in flight, so that all flows end, not before the
 * slow link has carried their bytes.
 */
TEST(PacketTransport, WindowsBelowAByteLetAPacketPass)
{
    PacketBench bench;
    const uint32_t from = bench.AddHost();
    const uint32_t middle = bench.AddSwitch();
    const uint32_t to = bench.AddHost();
    bench.Join(from, middle, Rate::Gbps(400), Time::Nanoseconds(300));
    bench.Join(middle, to, Rate::Gbps(10), Time::Nanoseconds(300));
    PacketSpec spec = PlainPackets();
    spec.congestionControl = Hpcc();
    bench.Open(spec);
    Time last;
    for (int i = 0; i < 4; i++)
    {
        bench.AddFlow(from, to, Bytes(100000));
    }
    bench.Run();
    for (std::size_t flow = 0; flow < 4; flow++)
    {
        EXPECT_FALSE(bench.Duration(flow).IsInfinite());
        last = std::max(last, bench.End(flow));
    }
    EXPECT_GE(last, Time::Nanoseconds(4 * 100000 * 0.8));
}

/**
 * With one pace timer per port, queue pairs wait at the port for credit, too. They request it after
 * losses and resume when it comes: all flows end, though the queue is lossy and a link fails.
 */
TEST(PacketTransport, PortTimersWaitForCredit)
{
    for (const LossRecovery recovery : {LossRecovery::GoBackN, LossRecovery::Selective})
    {
        PacketBench bench;
        const uint32_t middle = bench.AddSwitch();
        const uint32_t to = bench.AddHost();
        bench.Join(middle, to, Rate::Gbps(80), Time::Microseconds(1));
        PacketSpec spec = PlainPackets();
        spec.congestionControl = Rccc();
        spec.queuePair.recovery = recovery;
        spec.queuePair.paceTimer = PaceTimer::Port;
        spec.switches.flowControl = FlowControl::None;
        spec.switches.portQueue = Bytes(20000);
        std::vector<uint32_t> senders;
        for (int i = 0; i < 4; i++)
        {
            senders.push_back(bench.AddHost());
            bench.Join(senders.back(), middle, Rate::Gbps(80), Time::Microseconds(1));
        }
        bench.Open(spec);
        for (const uint32_t sender : senders)
        {
            bench.AddFlow(sender, to, Bytes(300000));
        }
        const LinkId back = bench.LinkTo(senders[0]);
        const LinkId first = bench.GetTopology().GetLink(back).opposite;
        bench.RunUntil(Time::Microseconds(20));
        bench.Transport().SetLinksUp({first, back}, false, Time::Microseconds(20));
        bench.RunUntil(Time::Milliseconds(9)); // longer than the timeout
        bench.Transport().SetLinksUp({first, back}, true, Time::Milliseconds(9));
        bench.Run();
        for (std::size_t flow = 0; flow < senders.size(); flow++)
        {
            EXPECT_FALSE(bench.Duration(flow).IsInfinite());
        }
    }
}

/**
 * A link of 10 B/s takes 104.8 s for a packet, in which 26 200 timeouts of 4 ms pass. The two
 * packets of the flow are retransmitted until their copies fill the buffer and pause the sender.
 * Nothing is lost, so this is no livelock: the first copies leave one after the other.
 */
TEST(PacketTransport, SlowLinksAreNoLivelock)
{
    PacketBench bench;
    const auto [from, to] = bench.AddChain(1, Rate::Gbps(80), Time::Microseconds(1));
    bench.Open(PlainPackets());
    bench.Transport().SetLinkRate(bench.LinkTo(to), Rate::BytesPerSecond(10), Time());
    const std::size_t flow = bench.AddFlow(from, to, Bytes(2000));
    bench.Run();
    EXPECT_GT(bench.Transport().GetQueuePairs().Counters().timeouts, QueuePairs::MAX_RETRIES);
    EXPECT_NEAR(bench.End(flow).ToSeconds(), 2 * 104.8 + 104.8e-9 + 2e-6, 1e-9);
}

/**
 * On a link of 100 Mb/s, 20 packets in flight take 16 timeouts of 100 us. The queue fills with
 * copies, behind which packets wait for longer than a thousand timeouts. Nothing is lost, so this
 * is no livelock.
 */
TEST(PacketTransport, PacketsBehindCopiesAreNoLivelock)
{
    PacketBench bench;
    const auto [from, to] = bench.AddChain(2, Rate::Gbps(10), Time::Microseconds(2));
    PacketSpec spec = PlainPackets();
    spec.format.header = 82;
    spec.queuePair.recovery = LossRecovery::Selective;
    spec.queuePair.retransmissionTimeout = Time::Microseconds(100);
    spec.queuePair.window = Bytes(20000);
    bench.Open(spec);
    bench.Transport().SetLinkRate(bench.LinkTo(to), Rate::Gbps(0.1), Time());
    const std::size_t flow = bench.AddFlow(from, to, Bytes(65536));
    bench.Run();
    EXPECT_EQ(bench.Transport().DescribeWaiting(), "");
    ASSERT_FALSE(bench.Duration(flow).IsInfinite());
    EXPECT_GE(bench.Duration(flow).ToSeconds(), (65536 + 66 * 82) * 8e-8);
}

/**
 * A sender of 400 Gb/s that nothing slows sends to a link of 10 Gb/s, whose switch trims. The
 * headers by themselves exceed the link, which transmits a packet of data after each `controlRun`
 * headers. Most packets are trimmed several times, none a thousand times: this is no livelock, and
 * the flow ends within the time of n runs and packets, and of the timeouts for headers that were
 * dropped.
 */
TEST(PacketTransport, TrimmedPacketsThatGetThroughAreNoLivelock)
{
    PacketBench bench;
    const uint32_t from = bench.AddHost();
    const uint32_t middle = bench.AddSwitch();
    const uint32_t to = bench.AddHost();
    bench.Join(from, middle, Rate::Gbps(400), Time::Microseconds(1));
    bench.Join(middle, to, Rate::Gbps(10), Time::Microseconds(1));
    PacketSpec spec = PlainPackets();
    spec.queuePair.recovery = LossRecovery::Selective;
    spec.queuePair.reordering = 1000;
    spec.switches.flowControl = FlowControl::None;
    spec.switches.trim = true;
    spec.switches.portQueue = Bytes(50000);
    bench.Open(spec);
    const int packets = 200;
    const std::size_t flow = bench.AddFlow(from, to, Bytes(packets * 1000));
    bench.Run();
    EXPECT_EQ(bench.Transport().DescribeWaiting(), "");
    ASSERT_FALSE(bench.Duration(flow).IsInfinite());
    const double run = (spec.switches.controlRun * 60 + 1048) * 0.8e-9;
    EXPECT_GT(bench.Duration(flow).ToSeconds(), packets * 1048 * 0.8e-9);
    EXPECT_LT(bench.Duration(flow).ToSeconds(),
              packets * run + 4 * spec.queuePair.retransmissionTimeout.ToSeconds());
}

/**
 * A link of 10 B/s needs 121 days for 10^8 bytes, more than the 106 days that 64-bit picoseconds
 * represent: the run ends, and the flow does not.
 */
TEST(PacketTransport, FlowsThatOutlastTimeDoNotEnd)
{
    PacketBench bench;
    const auto [from, to] = bench.AddChain(1, Rate::Gbps(80), Time::Microseconds(1));
    PacketSpec spec = PlainPackets();
    spec.queuePair.retransmissionTimeout = Time::Infinite();
    bench.Open(spec);
    bench.Transport().SetLinkRate(bench.LinkTo(to), Rate::BytesPerSecond(10), Time());
    const std::size_t flow = bench.AddFlow(from, to, Bytes(100000000));
    bench.Run();
    EXPECT_TRUE(bench.Duration(flow).IsInfinite());
}

} // namespace
} // namespace weir

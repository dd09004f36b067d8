// SPDX-License-Identifier: GPL-2.0-only

// Ports of packets: which class they serve, cells and links of switch models, credits of PCI
// Express, what trimming makes room for.

#include "fabric/transport/packet/class-arbiter.h"
#include "fabric/transport/packet/congestion/hpcc.h"
#include "fabric/transport/packet/congestion/no-congestion-control.h"
#include "packet-bench.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

namespace weir
{
namespace
{

/** Packets that each class has sent of @p count, where each has packets of so many bytes always. */
std::map<unsigned, int>
Served(const ArbitrationSpec& spec, const std::map<unsigned, int64_t>& sizes, int count)
{
    const ClassArbiter arbiter(spec, static_cast<unsigned>(sizes.rbegin()->first));
    ClassArbiter::State state = arbiter.Begin();
    std::map<unsigned, int> served;
    for (int i = 0; i < count; i++)
    {
        arbiter.Serve(state, [&](unsigned c) {
            const auto found = sizes.find(c);
            const int64_t size = found == sizes.end() ? 0 : found->second;
            served[c] += size > 0 ? 1 : 0;
            return size;
        });
    }
    return served;
}

ArbitrationSpec
Tables(const std::string& high, const std::string& low, Bytes limit = Bytes(0))
{
    ArbitrationSpec spec;
    spec.highTable = high;
    spec.lowTable = low;
    spec.highLimit = limit;
    return spec;
}

/**
 * An entry of w units sends ceil(w / u) packets of u units in its turn, since the last one is sent
 * whole: saturated lanes share a port as their weights where these are whole packets.
 */
TEST(ClassArbiter, SaturatedLanesShareByTheirWeights)
{
    // 1024 bytes are 16 units: 4 and 8 packets a round.
    const auto equal = Served(Tables("", "1:64,2:128"), {{1, 1024}, {2, 1024}}, 1200);
    EXPECT_EQ(equal.at(1), 400);
    EXPECT_EQ(equal.at(2), 800);
    // Bytes, not packets, are shared: 16 packets of 4 units against one of 64.
    const auto unequal = Served(Tables("", "1:64,2:64"), {{1, 256}, {2, 4096}}, 17 * 50);
    EXPECT_EQ(unequal.at(1), 16 * 50);
    EXPECT_EQ(unequal.at(2), 50);
    // 65 units are 5 packets of 16; 1000 bytes take 16 units, too.
    const auto overrun = Served(Tables("", "1:65,2:16"), {{1, 1000}, {2, 1000}}, 600);
    EXPECT_EQ(overrun.at(1), 500);
    EXPECT_EQ(overrun.at(2), 100);
    // A class may have several entries, one without weight has none.
    const auto twice =
        Served(Tables("", "1:16,2:16,1:16,3:0,3:16"), {{1, 1024}, {2, 1024}, {3, 1024}}, 400);
    EXPECT_EQ(twice.at(1), 200);
    EXPECT_EQ(twice.at(2), 100);
    EXPECT_EQ(twice.at(3), 100);
}

/** Without tables classes take turns packet by packet, whatever their sizes. */
TEST(ClassArbiter, ClassesTakeTurnsWithoutTables)
{
    const auto served = Served({}, {{1, 64}, {2, 9000}, {3, 1500}}, 300);
    EXPECT_EQ(served.at(1), 100);
    EXPECT_EQ(served.at(2), 100);
    EXPECT_EQ(served.at(3), 100);
}

/**
 * The high table sends packets of p bytes until it comes to its limit L, then the low table sends
 * one: max(1, ceil(L / p)) for one. Where the low table has nothing, nothing waits for it.
 */
TEST(ClassArbiter, HighTableIsHeldToItsLimit)
{
    for (const int64_t limit : {0, 1, 1024, 4096, 5000})
    {
        const int64_t ofHigh = std::max<int64_t>(1, (limit + 1023) / 1024);
        const auto served = Served(Tables("2:255", "1:1", Bytes(limit)),
                                   {{1, 1024}, {2, 1024}},
                                   static_cast<int>(100 * (ofHigh + 1)));
        EXPECT_EQ(served.at(1), 100) << limit;
        EXPECT_EQ(served.at(2), 100 * ofHigh) << limit;
    }
    EXPECT_EQ(Served(Tables("2:255", "1:1"), {{1, 0}, {2, 1024}}, 100).at(2), 100);
    EXPECT_EQ(Served(Tables("1:255", ""), {{1, 0}, {2, 1024}}, 100).at(2), 100);
}

TEST(ClassArbiter, RefusesWrongTables)
{
    const auto refusal = [](const ArbitrationSpec& spec) -> std::string {
        try
        {
            ClassArbiter(spec, 2);
            return "";
        }
        catch (const std::invalid_argument& error)
        {
            return error.what();
        }
    };
    EXPECT_EQ(refusal(Tables("", "1:4,3:4")),
              "arbitration.lowTable: found '3:4', expected class:weight of class 1 to 2 and weight "
              "0 to 255, such as 1:64");
    EXPECT_NE(refusal(Tables("1", "")).find("highTable: found '1'"), std::string::npos);
    EXPECT_NE(refusal(Tables("1:256", "")).find("found '1:256'"), std::string::npos);
    EXPECT_NE(refusal(Tables("1:-4", "")).find("found '1:-4'"), std::string::npos);
    EXPECT_NE(refusal(Tables("1:4,,2:4", "")).find("found ''"), std::string::npos);
    EXPECT_EQ(refusal(Tables("", "1:4")),
              "arbitration: found no weight of class 2, expected one in highTable or lowTable");
    EXPECT_EQ(refusal(Tables("2:4", "1:4")), "");
}

/** As many datagrams as a port takes, and what each class has sent over a link. */
class Lanes : public DatagramClient, public PortObserver
{
  public:
    explicit Lanes(RouteId route)
        : m_route(route)
    {
    }

    std::optional<Datagram> NextDatagram(LinkId, unsigned, Time) override
    {
        return Datagram{m_route, 1048, m_sent++, false};
    }

    void OnDatagram(uint64_t, bool, Time) override
    {
    }

    void OnDatagramLost(uint64_t, LinkId, Time) override
    {
        ADD_FAILURE() << "a datagram is lost";
    }

    void OnTransmit(LinkId, unsigned trafficClass, uint32_t bytes, Time, Time) override
    {
        transmitted.at(trafficClass) += bytes;
    }

    std::array<int64_t, 3> transmitted{};

  private:
    RouteId m_route;
    uint64_t m_sent{0};
};

/**
 * Two hosts saturate two virtual lanes of a switch's port with packets of 1048 bytes, 17 units:
 * with 51 and 17 units the lanes have three packets and one in turns.
 */
TEST(PacketPorts, VirtualLanesShareAPortByTheirWeights)
{
    PacketBench bench;
    const uint32_t middle = bench.AddSwitch();
    const uint32_t flows = bench.AddHost();
    const uint32_t datagrams = bench.AddHost();
    const uint32_t sink = bench.AddHost();
    bench.Join(flows, middle, Rate::Gbps(80), Time::Nanoseconds(100));
    const LinkId first = bench.Join(datagrams, middle, Rate::Gbps(80), Time::Nanoseconds(100));
    const LinkId last = bench.Join(middle, sink, Rate::Gbps(80), Time::Nanoseconds(100));
    PacketSpec spec = PlainPackets();
    spec.trafficClasses = 2;
    spec.switches.flowControl = FlowControl::Credits;
    spec.arbitration = Tables("", "1:51,2:17");
    bench.Open(spec);
    Lanes lanes(bench.RouteOf(datagrams, sink));
    bench.Transport().SetDatagramClient(lanes);
    bench.Network().AddObserver(last.Index(), lanes);
    bench.AddFlow(flows, sink, Bytes(100000000));
    bench.Transport().OfferDatagrams(first, 2, Time());
    bench.RunUntil(Time::Microseconds(500));
    const auto packets = [&](unsigned c) {
        return static_cast<double>(lanes.transmitted.at(c)) / 1048;
    };
    EXPECT_GT(packets(1) + packets(2), 0.98 * 500e-6 * 1e10 / 1048);
    EXPECT_NEAR(packets(1), 3 * packets(2), 30); // the first packets come before both are saturated
}

/** Every switch on the path adds its latency. */
TEST(PacketPorts, SwitchesAddTheirLatency)
{
    Time durations[2];
    for (const int i : {0, 1})
    {
        PacketBench bench;
        const auto [from, to] = bench.AddChain(3, Rate::Gbps(80), Time::Microseconds(1));
        PacketSpec spec = PlainPackets();
        spec.switches.latency = Time::Nanoseconds(700 * i);
        bench.Open(spec);
        const std::size_t flow = bench.AddFlow(from, to, Bytes(1000));
        bench.Run();
        durations[i] = bench.Duration(flow);
    }
    EXPECT_EQ((durations[1] - durations[0]).ToPicoseconds(), 3 * 700000);
}

/**
 * Where packets take whole cells, a dynamic threshold counts cells: a packet of 1048 bytes takes
 * two of 1000, so that n queues settle at a S / (1 + n a) of cells, 1048 / 2000 of it bytes.
 */
TEST(PacketPorts, ThresholdsCountCells)
{
    for (const unsigned ports : {1u, 4u})
    {
        PacketBench bench;
        const uint32_t middle = bench.AddSwitch();
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
        PacketSpec spec = PlainPackets();
        spec.switches.flowControl = FlowControl::None;
        spec.switches.buffer = Bytes(1000000);
        spec.switches.cell = Bytes(1000);
        spec.switches.alpha = 0.5;
        spec.queuePair.retransmissionTimeout = Time::Infinite();
        bench.Open(spec);
        for (const auto& [from, to] : pairs)
        {
            bench.AddFlow(from, to, Bytes(20000000));
        }
        bench.RunUntil(Time::Microseconds(100));
        const double cells = 0.5 * 1e6 / (1 + 0.5 * ports);
        for (const LinkId link : out)
        {
            EXPECT_NEAR(static_cast<double>(bench.Network().QueuedBytes(link.Index())),
                        cells * 1048 / 2000,
                        2 * 1048)
                << ports << " ports";
        }
    }
}

/** Packets lost of flows of @p bytes each from a host to one that takes next to nothing. */
uint64_t
LostOf(const PacketSpec& spec, Bytes bytes, int flows)
{
    PacketBench bench;
    const uint32_t middle = bench.AddSwitch();
    const uint32_t host = bench.AddHost();
    const uint32_t sink = bench.AddHost();
    bench.Join(middle, sink, Rate::Gbps(0.01), Time::Nanoseconds(500));
    bench.Join(host, middle, Rate::Gbps(100), Time::Nanoseconds(500));
    bench.Open(spec);
    for (int i = 0; i < flows; i++)
    {
        bench.AddFlow(host, sink, bytes);
    }
    bench.RunUntil(Time::Microseconds(60));
    return bench.Transport().GetQueuePairs().Counters().lost;
}

/**
 * The headroom holds what comes after a pause however short the packets are: of 49 bytes each takes
 * a cell of 254. Headroom for so many bytes only loses some; so do pauses that a switch's latency
 * delays where the headroom knows nothing of it.
 */
TEST(PacketPorts, HeadroomHoldsCells)
{
    PacketSpec spec = PlainPackets();
    spec.switches.cell = Bytes(254);
    spec.switches.latency = Time::Nanoseconds(700);
    spec.switches.reserve = Bytes(0);
    spec.switches.alpha = 0.125;
    spec.switches.buffer = Bytes(800000);
    EXPECT_EQ(LostOf(spec, Bytes(1), 6000), 0u);
    EXPECT_EQ(LostOf(spec, Bytes(400000), 2), 0u);
    // Two packets of 1048 and a pause of 84, 12.5 bytes/ns both directions of the cable and once
    // through.
    const int64_t ofBytes = 2 * 1048 + 84 + static_cast<int64_t>(12.5 * (2 * 500 + 700));
    spec.switches.headroom = Bytes(ofBytes);
    EXPECT_GT(LostOf(spec, Bytes(1), 6000), 0u);
    spec.switches.cell = Bytes(1);
    EXPECT_EQ(LostOf(spec, Bytes(400000), 2), 0u);
    spec.switches.headroom = Bytes(ofBytes - 8750);
    EXPECT_GT(LostOf(spec, Bytes(400000), 2), 0u);
}

/** A switch has no more links, and no faster ones, than its model. */
TEST(PacketPorts, RefusesMoreLinksThanASwitchHas)
{
    const auto refusal = [](uint32_t ports, Rate capacity) -> std::string {
        PacketBench bench;
        bench.AddChain(1, Rate::Gbps(400), Time::Microseconds(1));
        PacketSpec spec = PlainPackets();
        spec.switches.ports = ports;
        spec.switches.capacity = capacity;
        try
        {
            bench.Open(spec);
            return "";
        }
        catch (const std::invalid_argument& error)
        {
            return error.what();
        }
    };
    EXPECT_EQ(refusal(2, Rate::Gbps(800)), "");
    EXPECT_EQ(refusal(1, Rate()), "switch.ports: found 2 links at switch1, expected at most 1");
    EXPECT_EQ(refusal(0, Rate::Gbps(799)),
              "switch.capacity: found links of 800 Gb/s at switch1, expected at most 799 Gb/s");
}

/** How long @p bytes take from a GPU over PCI Express, the network and PCI Express to another. */
Time
DurationOverPcie(const NodeLinkSpec& links, Bytes bytes, Bytes burst = Bytes(1024))
{
    PacketBench bench;
    const uint32_t gpu = bench.AddHost();
    const uint32_t nic = bench.AddHost();
    const uint32_t farNic = bench.AddHost();
    const uint32_t farGpu = bench.AddHost();
    bench.Join(gpu, nic, Rate::Gbps(512), Time::Nanoseconds(500), LinkKind::Pcie);
    bench.Join(nic, farNic, Rate::Gbps(2000), Time::Nanoseconds(500));
    bench.Join(farNic, farGpu, Rate::Gbps(512), Time::Nanoseconds(500), LinkKind::Pcie);
    PacketSpec spec = PlainPackets();
    spec.format.mtu = Bytes(1024);
    spec.nodeLinks = links;
    spec.nodeLinks.burst = burst;
    bench.Open(spec);
    RouteRequest request;
    request.source = DeviceId(gpu);
    request.outNic = DeviceId(nic);
    request.inNic = DeviceId(farNic);
    request.destination = DeviceId(farGpu);
    const std::size_t flow = bench.AddFlow(bench.GetRouting().Add(request), bytes);
    bench.Run();
    EXPECT_EQ(bench.Transport().GetQueuePairs().Counters().lost, 0u);
    return bench.Duration(flow);
}

/**
 * Credits for w packets of 1024 bytes over a link of C = 64 GB/s and latency l carry
 * min(C, 1024 w / r), the round trip r being a packet's transmission and 2 l: for writes at the
 * receiving end, for what reads return at the sending one, and for either of the other kind not at
 * all.
 */
TEST(PacketPorts, PcieCreditsBoundEachKind)
{
    const Bytes size(4096000);
    const double whole = 64e9;
    const double roundTrip = 1024 / whole + 2 * 500e-9;
    const auto expectRate =
        [&](const NodeLinkSpec& links, double packets, const std::string& what) {
            const double rate = std::min(whole, packets * 1024 / roundTrip);
            const double expected = size.ToDouble() / rate;
            EXPECT_NEAR(
                DurationOverPcie(links, size).ToSeconds(), expected + 2e-6, 0.02 * expected + 1e-6)
                << what;
        };
    for (const uint32_t headers : {4u, 32u, 127u, 512u}) // four packets of 256 bytes in 1024
    {
        NodeLinkSpec links;
        links.pciePostedHeaders = headers;
        expectRate(links, std::floor(headers / 4.0), "posted headers " + std::to_string(headers));
        links = {};
        links.pcieCompletionHeaders = headers;
        expectRate(
            links, std::floor(headers / 4.0), "completion headers " + std::to_string(headers));
    }
    for (const uint32_t data : {64u, 640u, 2047u}) // 64 units of 16 bytes in 1024
    {
        NodeLinkSpec links;
        links.pciePostedData = data;
        expectRate(links, std::floor(data / 64.0), "posted data " + std::to_string(data));
        links = {};
        links.pcieCompletionData = data;
        expectRate(links, std::floor(data / 64.0), "completion data " + std::to_string(data));
    }
    NodeLinkSpec links;
    links.pcieMaxPayload = Bytes(512); // two headers a packet
    links.pciePostedHeaders = 20;
    expectRate(links, 10, "payload of 512");
}

/**
 * A network adapter that may have t reads of m bytes under way reads t m bytes a round trip, which
 * is a request's way, its answer's transmission and way.
 */
TEST(PacketPorts, PcieTagsBoundReads)
{
    const Bytes size(4096000);
    for (const uint32_t tags : {2u, 8u, 32u, 256u})
    {
        NodeLinkSpec links;
        links.pcieReadTags = tags;
        links.pcieReadRequest = Bytes(512);
        const double roundTrip = 1024 / 64e9 + 2 * 500e-9;
        const double expected = size.ToDouble() / std::min(64e9, tags * 512 / roundTrip);
        EXPECT_NEAR(
            DurationOverPcie(links, size).ToSeconds(), expected + 2e-6, 0.02 * expected + 1e-6)
            << tags;
        if (tags * 512 >= 16384) // what stays in the node may be in larger packets
        {
            EXPECT_EQ(DurationOverPcie(links, size, Bytes(16384)), DurationOverPcie(links, size));
        }
    }
}

/**
 * What a node keeps and what it sends to the network share a PCIe link by bytes, whatever the sizes
 * of their packets: of equal parts both end when the link has carried all.
 */
TEST(PacketPorts, BurstsAndPacketsOfTheNetworkShareByBytes)
{
    PacketBench bench;
    const uint32_t gpu = bench.AddHost();
    const uint32_t nic = bench.AddHost();
    const uint32_t far = bench.AddHost();
    const LinkId pcie =
        bench.Join(gpu, nic, Rate::Gbps(200), Time::Nanoseconds(500), LinkKind::Pcie);
    const LinkId network = bench.Join(nic, far, Rate::Gbps(2000), Time::Nanoseconds(500));
    PacketSpec spec = PlainPackets();
    spec.nodeLinks.burst = Bytes(16000);
    bench.Open(spec);
    const Bytes bytes(10'000'000);
    const std::size_t inside = bench.AddFlow(bench.GetRouting().AddPinned({pcie}), bytes);
    const std::size_t outside = bench.AddFlow(bench.GetRouting().AddPinned({pcie, network}), bytes);
    bench.Run();
    const double whole = 2 * bytes.ToDouble() / 25e9;
    EXPECT_NEAR(bench.Duration(inside).ToSeconds() / whole, 1, 0.02);
    EXPECT_NEAR(bench.Duration(outside).ToSeconds() / whole, 1, 0.02);
}

/**
 * Writes and what reads return have credits of their own: while 16 000 bytes of the latter in a
 * round trip are all that the adapter has room for, writes have the rest of the link.
 */
TEST(PacketPorts, WritesDoNotWaitForCreditsOfReads)
{
    PacketBench bench;
    const uint32_t gpu = bench.AddHost();
    const uint32_t nic = bench.AddHost();
    const uint32_t far = bench.AddHost();
    const LinkId pcie =
        bench.Join(gpu, nic, Rate::Gbps(200), Time::Microseconds(2), LinkKind::Pcie);
    const LinkId network = bench.Join(nic, far, Rate::Gbps(2000), Time::Nanoseconds(500));
    PacketSpec spec = PlainPackets();
    spec.nodeLinks.burst = Bytes(16000);
    spec.nodeLinks.pcieCompletionData = 1000; // of 16 bytes
    bench.Open(spec);
    const double reads = 16000 / (2 * 2e-6 + 1000 / 25e9);
    bench.AddFlow(bench.GetRouting().AddPinned({pcie, network}), Bytes(100'000'000));
    const Bytes written(20'000'000);
    const std::size_t writes = bench.AddFlow(bench.GetRouting().AddPinned({pcie}), written);
    bench.RunUntil(Time::Milliseconds(4));
    EXPECT_NEAR(
        bench.Duration(writes).ToSeconds() / (written.ToDouble() / (25e9 - reads)), 1, 0.03);
}

/** A device takes turns between what it forwards and what it sends itself. */
TEST(PacketPorts, DevicesShareAPortWithWhatTheyForward)
{
    PacketBench bench;
    const uint32_t first = bench.AddHost();
    const uint32_t relay = bench.AddHost();
    const uint32_t last = bench.AddHost();
    const LinkId here =
        bench.Join(first, relay, Rate::Gbps(800), Time::Nanoseconds(100), LinkKind::NvLink);
    const LinkId on =
        bench.Join(relay, last, Rate::Gbps(800), Time::Nanoseconds(100), LinkKind::NvLink);
    bench.Open(PlainPackets());
    const Bytes bytes(10'000'000);
    const std::size_t forwarded = bench.AddFlow(bench.GetRouting().AddPinned({here, on}), bytes);
    const std::size_t own = bench.AddFlow(bench.GetRouting().AddPinned({on}), bytes);
    bench.Run();
    EXPECT_NEAR(bench.Duration(forwarded) / bench.Duration(own), 1, 0.02);
    EXPECT_NEAR(bench.Duration(own).ToSeconds(), 2 * bytes.ToDouble() / 100e9, 5e-6);
}

/**
 * Credits for w packets carry w packets a round trip, whatever larger packets there could be: 64
 * bytes and a header of 48 take two units of 64, of which 4224 bytes are 33 packets.
 */
TEST(PacketPorts, SmallPacketsTakeWhatTheyNeedOfCredits)
{
    PacketBench bench;
    const auto [from, to] = bench.AddChain(1, Rate::Gbps(100), Time::Microseconds(3));
    PacketSpec spec = PlainPackets();
    spec.format.mtu = Bytes(4096);
    spec.switches.flowControl = FlowControl::Credits;
    spec.switches.creditBuffer = Bytes(4224);
    bench.Open(spec);
    constexpr int FLOWS = 2000;
    std::size_t flow = 0;
    for (int i = 0; i < FLOWS; i++)
    {
        flow = bench.AddFlow(from, to, Bytes(64));
    }
    bench.Run();
    const double roundTrip = 2 * 3e-6 + 112 / 12.5e9;
    EXPECT_NEAR(bench.End(flow).ToSeconds(), FLOWS / 33.0 * roundTrip, 0.03 * FLOWS / 33 * 6e-6);
}

/**
 * A switch stores what comes more slowly than it would leave, and sends it at the port's rate: a
 * flow of 1 Gb/s takes a hundredth of a port of 100 Gb/s, with cut-through as without.
 */
TEST(PacketPorts, CutThroughHoldsNoPortForASlowLink)
{
    for (const bool cuts : {false, true})
    {
        PacketBench bench;
        const uint32_t left = bench.AddSwitch();
        const uint32_t right = bench.AddSwitch();
        bench.Join(left, right, Rate::Gbps(100), Time::Microseconds(1));
        const auto hostOn = [&](uint32_t device, double gbps) {
            const uint32_t host = bench.AddHost();
            bench.Join(host, device, Rate::Gbps(gbps), Time::Microseconds(1));
            return host;
        };
        const uint32_t slow = hostOn(left, 1);
        const uint32_t fast = hostOn(left, 50);
        const uint32_t slowSink = hostOn(right, 1);
        const uint32_t fastSink = hostOn(right, 50);
        PacketSpec spec = PlainPackets();
        spec.switches.cutThrough = cuts;
        bench.Open(spec);
        bench.AddFlow(slow, slowSink, Bytes(1'000'000));
        const std::size_t flow =
            bench.AddFlow(fast, fastSink, Bytes(10'000'000), Time::Microseconds(100));
        bench.RunUntil(Time::Milliseconds(20));
        EXPECT_NEAR(bench.Duration(flow).ToSeconds(), 10e6 * 1.048 / 6.25e9, 10e-6) << cuts;
    }
}

/** A packet that is trimmed takes a port for its header alone, cut through or not. */
TEST(PacketPorts, TrimmedPacketsLeaveAtOnce)
{
    for (const bool cuts : {false, true})
    {
        PacketBench bench;
        const uint32_t middle = bench.AddSwitch();
        const uint32_t sink = bench.AddHost();
        const LinkId last = bench.Join(middle, sink, Rate::Gbps(100), Time::Microseconds(1));
        std::vector<uint32_t> hosts;
        for (int i = 0; i < 8; i++)
        {
            hosts.push_back(bench.AddHost());
            bench.Join(hosts.back(), middle, Rate::Gbps(100), Time::Microseconds(1));
        }
        PacketSpec spec = PlainPackets();
        spec.queuePair.recovery = LossRecovery::Selective;
        spec.switches.flowControl = FlowControl::None;
        spec.switches.portQueue = Bytes(100'000);
        spec.switches.trim = true;
        spec.switches.cutThrough = cuts;
        bench.Open(spec);
        for (const uint32_t host : hosts)
        {
            bench.AddFlow(host, sink, Bytes(500'000));
        }
        bench.RunUntil(Time::Milliseconds(50));
        const PortCounters port = bench.Network().Counters(last.Index());
        EXPECT_GT(port.trims, 100u);
        EXPECT_NEAR(
            static_cast<double>(port.busy) * 1e-12, static_cast<double>(port.bytes) / 12.5e9, 1e-6)
            << cuts;
    }
}

/** Why a network of one host on each side of @p switches is refused; nothing where it is not. */
std::string
RefusalOfChain(unsigned switches, const PacketSpec& spec)
{
    PacketBench bench;
    const auto [from, to] = bench.AddChain(switches, Rate::Gbps(10), Time::Microseconds(1));
    try
    {
        bench.Open(spec);
        bench.AddFlow(from, to, Bytes(1000));
        bench.Run();
        return "";
    }
    catch (const std::invalid_argument& error)
    {
        return error.what();
    }
}

/** A pause is renewed after half its time, and may wait behind a packet: 1048 bytes at 10 Gb/s. */
TEST(PacketPorts, RefusesPausesThatExpireBehindAPacket)
{
    PacketSpec spec = PlainPackets();
    spec.switches.pauseTime = Time::Nanoseconds(2 * (838.4 + 67.2));
    EXPECT_EQ(RefusalOfChain(1, spec), "");
    spec.switches.pauseTime = Time::Nanoseconds(1800);
    EXPECT_NE(RefusalOfChain(1, spec).find("switch.pauseTime: found 1800 ns, expected at least the "
                                           "1812 ns"),
              std::string::npos)
        << RefusalOfChain(1, spec);
}

/** Senders that look at every switch of a path must be told of all of them. */
TEST(PacketPorts, RefusesMoreSwitchesThanTelemetryTellsOf)
{
    PacketSpec spec = PlainPackets();
    spec.congestionControl = Hpcc();
    EXPECT_EQ(RefusalOfChain(Telemetry::MAX_HOPS, spec), "");
    EXPECT_EQ(
        RefusalOfChain(Telemetry::MAX_HOPS + 1, spec),
        "congestionControl: found hpcc on a path of 17 switches, expected at most the 16 that "
        "a packet's telemetry covers");
    spec.congestionControl = NoCongestionControl();
    EXPECT_EQ(RefusalOfChain(Telemetry::MAX_HOPS + 1, spec), "");
}

/** Credits that a packet or burst can never have are refused. */
TEST(PacketPorts, RefusesTooFewPcieCredits)
{
    NodeLinkSpec links;
    links.pciePostedHeaders = 3;
    try
    {
        DurationOverPcie(links, Bytes(1024));
        ADD_FAILURE() << "3 headers are taken";
    }
    catch (const std::invalid_argument& error)
    {
        EXPECT_STREQ(error.what(),
                     "nodeLinks.pciePostedHeaders: found 3, expected at least the 4 of a packet or "
                     "burst");
    }
}

/** Keeps the books of a port's queues by what it is told. */
class QueueBooks : public PortObserver
{
  public:
    void OnTransmit(LinkId, unsigned trafficClass, uint32_t bytes, Time, Time) override
    {
        m_sent = {trafficClass, bytes};
        m_hasSent = true;
    }

    /** After a packet is sent the queue is that much shorter; else a packet came, or was trimmed.
     */
    void OnQueue(LinkId, unsigned trafficClass, int64_t bytes, Time) override
    {
        const int64_t change = bytes - m_bytes.at(trafficClass);
        m_bytes.at(trafficClass) = bytes;
        if (std::exchange(m_hasSent, false))
        {
            EXPECT_EQ(trafficClass, m_sent.first);
            EXPECT_EQ(change, -int64_t{m_sent.second});
            return;
        }
        if (trafficClass == 1 && change < 0)
        {
            trimmed -= change;
        }
        else if (trafficClass == 1 && trimmed > came)
        {
            came += change;
            EXPECT_EQ(came, trimmed);
        }
    }

    int64_t trimmed{0}; //!< bytes of packets that were trimmed in the queue
    int64_t came{0};    //!< bytes of those that took their places

  private:
    std::array<int64_t, 3> m_bytes{};
    std::pair<unsigned, uint32_t> m_sent;
    bool m_hasSent{false};
};

/**
 * Two ports of a switch share its buffer: the queue of the first one has the whole threshold until
 * the second one's grows, too, and is then far above it. Packets that come to it then have no room,
 * whatever is trimmed; so each of them alone is. Where a queue's newest packet is trimmed, the one
 * that comes takes its place, and observers are told of the queues of both.
 */
TEST(PacketPorts, ATrimmedTailMakesRoomForOnePacket)
{
    PacketBench bench;
    const uint32_t middle = bench.AddSwitch();
    const std::array<uint32_t, 2> sinks{bench.AddHost(), bench.AddHost()};
    std::array<LinkId, 2> ports;
    for (int i = 0; i < 2; i++)
    {
        ports.at(i) = bench.Join(middle, sinks.at(i), Rate::Gbps(40), Time::Nanoseconds(500));
    }
    PacketSpec spec = PlainPackets();
    spec.queuePair.recovery = LossRecovery::Selective;
    spec.queuePair.reordering = 100000;
    spec.switches.flowControl = FlowControl::None;
    spec.switches.buffer = Bytes(400'000);
    spec.switches.alpha = 8;
    spec.switches.trim = true;
    spec.switches.trimTail = 1;
    std::vector<uint32_t> hosts;
    for (int i = 0; i < 4; i++)
    {
        hosts.push_back(bench.AddHost());
        bench.Join(hosts.back(), middle, Rate::Gbps(80), Time::Nanoseconds(500));
    }
    bench.Open(spec);
    std::array<QueueBooks, 2> books;
    for (int i = 0; i < 2; i++)
    {
        bench.Network().AddObserver(ports.at(i).Index(), books.at(i));
    }
    for (int i = 0; i < 4; i++)
    {
        bench.AddFlow(
            hosts[i], sinks.at(i / 2), Bytes(1'000'000), Time::Microseconds(100.0 * (i / 2)));
    }
    bench.RunUntil(Time::Milliseconds(5));
    for (const QueueBooks& each : books)
    {
        EXPECT_GT(each.trimmed, 0);
        EXPECT_EQ(each.trimmed, each.came);
    }
}

} // namespace
} // namespace weir

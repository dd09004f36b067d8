// SPDX-License-Identifier: GPL-2.0-only

// Ports of packet switches: arbitration of traffic classes, buffer cells and link limits of switch
// models, PCI Express credits, and the room that trimming makes.

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

/**
 * Packets served of each class, out of @p count, with backlogged classes of constant packet sizes.
 */
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
 * An entry of w units sends ceil(w / u) packets of u units per turn, because the last packet is
 * sent whole. Backlogged lanes share a port by their weights where the weights are multiples of the
 * packet size.
 */
TEST(ClassArbiter, SaturatedLanesShareByTheirWeights)
{
    // 1024 bytes are 16 units: 4 and 8 packets per round.
    const auto equal = Served(Tables("", "1:64,2:128"), {{1, 1024}, {2, 1024}}, 1200);
    EXPECT_EQ(equal.at(1), 400);
    EXPECT_EQ(equal.at(2), 800);
    // The lanes share bytes, not packets: 16 packets of 4 units against one of 64.
    const auto unequal = Served(Tables("", "1:64,2:64"), {{1, 256}, {2, 4096}}, 17 * 50);
    EXPECT_EQ(unequal.at(1), 16 * 50);
    EXPECT_EQ(unequal.at(2), 50);
    // 65 units are 5 packets of 16 units; 1000 bytes also take 16 units.
    const auto overrun = Served(Tables("", "1:65,2:16"), {{1, 1000}, {2, 1000}}, 600);
    EXPECT_EQ(overrun.at(1), 500);
    EXPECT_EQ(overrun.at(2), 100);
    // A class may have several entries; an entry of weight 0 gets nothing.
    const auto twice =
        Served(Tables("", "1:16,2:16,1:16,3:0,3:16"), {{1, 1024}, {2, 1024}, {3, 1024}}, 400);
    EXPECT_EQ(twice.at(1), 200);
    EXPECT_EQ(twice.at(2), 100);
    EXPECT_EQ(twice.at(3), 100);
}

/** Without tables the port serves the classes round-robin by packets, whatever their sizes. */
TEST(ClassArbiter, ClassesTakeTurnsWithoutTables)
{
    const auto served = Served({}, {{1, 64}, {2, 9000}, {3, 1500}}, 300);
    EXPECT_EQ(served.at(1), 100);
    EXPECT_EQ(served.at(2), 100);
    EXPECT_EQ(served.at(3), 100);
}

/**
 * The high table sends packets of p bytes until it reaches its limit L, max(1, ceil(L / p))
 * packets; then the low table sends one. If the low table is idle, the high table continues.
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

/** Supplies datagrams without end and records the bytes of each class on a link. */
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
 * Two hosts saturate two virtual lanes of a switch port with packets of 1048 bytes, 17 units: with
 * weights of 51 and 17 units the lanes alternate three packets and one.
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
    EXPECT_NEAR(packets(1), 3 * packets(2), 30); // the first packets precede saturation
}

/** Every switch on the path adds its forwarding latency. */
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
 * Where packets occupy whole cells, the dynamic threshold counts cells: a packet of 1048 bytes
 * takes two cells of 1000 bytes, so n queues settle at a S / (1 + n a) of cells each, of which 1048
 * / 2000 are bytes.
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

/**
 * Packets lost of @p flows flows of @p bytes each from one host to a host with a very slow link.
 */
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
 * The headroom holds the packets that arrive after a pause, however short they are: each packet of
 * 49 bytes takes a cell of 254. A headroom computed from bytes instead of cells loses some, and so
 * does one that ignores the latency by which a switch delays its pauses.
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
    // Two packets of 1048 and a pause of 84 bytes; 12.5 bytes/ns times both directions of the cable
    // and the switch latency.
    const int64_t ofBytes = 2 * 1048 + 84 + static_cast<int64_t>(12.5 * (2 * 500 + 700));
    spec.switches.headroom = Bytes(ofBytes);
    EXPECT_GT(LostOf(spec, Bytes(1), 6000), 0u);
    spec.switches.cell = Bytes(1);
    EXPECT_EQ(LostOf(spec, Bytes(400000), 2), 0u);
    spec.switches.headroom = Bytes(ofBytes - 8750);
    EXPECT_GT(LostOf(spec, Bytes(400000), 2), 0u);
}

/** A switch has no more links, and no more total rate, than its model allows. */
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

/** Time of @p bytes from a GPU to another over PCI Express, the network and PCI Express. */
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
 * Credits for w packets of 1024 bytes on a link of C = 64 GB/s and latency l limit it to min(C,
 * 1024 w / r), with the round trip r = one transmission + 2 l. Posted credits limit writes at the
 * receiving node, completion credits limit read data at the sending node.
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
    for (const uint32_t headers : {4u, 32u, 127u, 512u}) // four TLPs of 256 bytes in 1024
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
    links.pcieMaxPayload = Bytes(512); // two headers per packet
    links.pciePostedHeaders = 20;
    expectRate(links, 10, "payload of 512");
}

/**
 * A network adapter with at most t outstanding reads of m bytes reads t m bytes per round trip: the
 * latency of the request, and the transmission and latency of its completion.
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
        if (tags * 512 >= 16384) // traffic inside the node may use larger packets
        {
            EXPECT_EQ(DurationOverPcie(links, size, Bytes(16384)), DurationOverPcie(links, size));
        }
    }
}

/**
 * Traffic inside a node and traffic to the network share a PCIe link by bytes, whatever their
 * packet sizes: two equal flows both end when the link has carried both.
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
 * Writes and read completions have separate credits: while completion credits limit reads to 16 000
 * bytes per round trip, writes get the rest of the link.
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
    spec.nodeLinks.pcieCompletionData = 1000; // units of 16 bytes
    bench.Open(spec);
    const double reads = 16000 / (2 * 2e-6 + 1000 / 25e9);
    bench.AddFlow(bench.GetRouting().AddPinned({pcie, network}), Bytes(100'000'000));
    const Bytes written(20'000'000);
    const std::size_t writes = bench.AddFlow(bench.GetRouting().AddPinned({pcie}), written);
    bench.RunUntil(Time::Milliseconds(4));
    EXPECT_NEAR(
        bench.Duration(writes).ToSeconds() / (written.ToDouble() / (25e9 - reads)), 1, 0.03);
}

/**
 * Writes pass read completions in the queue of a PCIe port: a link of 20 Gb/s in the network slows
 * the reads of an adapter to that by credits, and the writes over the same PCIe link of 200 Gb/s
 * get the rest.
 */
TEST(PacketPorts, WritesPassReadsThatWaitForTheNetwork)
{
    PacketBench bench;
    const uint32_t reader = bench.AddHost();
    const uint32_t writer = bench.AddHost();
    const uint32_t in = bench.AddHost();
    const uint32_t out = bench.AddHost();
    const uint32_t gpu = bench.AddHost();
    const uint32_t nic = bench.AddHost();
    const uint32_t leaf = bench.AddSwitch();
    const uint32_t far = bench.AddHost();
    const auto join = [&bench](uint32_t from, uint32_t to, LinkKind kind) {
        return bench.Join(from, to, Rate::Gbps(200), Time::Nanoseconds(500), kind);
    };
    const LinkId shared = join(in, out, LinkKind::Pcie);
    const std::vector<LinkId> read{join(reader, in, LinkKind::Pcie),
                                   shared,
                                   join(out, nic, LinkKind::Pcie),
                                   join(nic, leaf, LinkKind::Network),
                                   bench.Join(leaf, far, Rate::Gbps(20), Time::Nanoseconds(500))};
    const std::vector<LinkId> write{
        join(writer, in, LinkKind::Pcie), shared, join(out, gpu, LinkKind::Pcie)};
    PacketSpec spec = PlainPackets();
    spec.switches.flowControl = FlowControl::Credits;
    bench.Open(spec);
    bench.AddFlow(bench.GetRouting().AddPinned(read), Bytes(10'000'000));
    const Bytes written(20'000'000);
    const std::size_t writes = bench.AddFlow(bench.GetRouting().AddPinned(write), written);
    bench.RunUntil(Time::Milliseconds(20));
    EXPECT_NEAR(
        bench.Duration(writes).ToSeconds() / (written.ToDouble() / (25e9 - 2.5e9)), 1, 0.03);
}

/** A device alternates between forwarded packets and its own. */
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
 * Credits for w packets carry w packets per round trip, whatever the MTU: 64 bytes plus a header of
 * 48 take two units of 64, so 4224 bytes are credits for 33 packets.
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
 * A switch stores a packet that arrives more slowly than it can leave, and sends it at the port's
 * rate: a flow of 1 Gb/s occupies a hundredth of a 100 Gb/s port, with and without cut-through.
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

/**
 * A trimmed packet occupies a port for the time of its header only, with and without cut-through.
 */
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

/** Error message for a network of one host on each side of @p switches; empty if it is accepted. */
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

/**
 * A pause is renewed after half its time and may have to wait for a packet of 1048 bytes at 10
 * Gb/s.
 */
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

/**
 * Controls that use the telemetry of every switch refuse paths with more switches than it can
 * record.
 */
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

/** Fewer credits than one packet or burst needs are refused. */
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

/** Tracks the queues of a port from observer calls. */
class QueueBooks : public PortObserver
{
  public:
    void OnTransmit(LinkId, unsigned trafficClass, uint32_t bytes, Time, Time) override
    {
        m_sent = {trafficClass, bytes};
        m_hasSent = true;
    }

    /**
     * After a transmission the queue must shrink by that packet; otherwise a packet arrived or was
     * trimmed.
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

    int64_t trimmed{0}; //!< bytes of packets trimmed in the queue
    int64_t came{0};    //!< bytes of packets that replaced them

  private:
    std::array<int64_t, 3> m_bytes{};
    std::pair<unsigned, uint32_t> m_sent;
    bool m_hasSent{false};
};

/**
 * Two ports of a switch share its buffer. The first queue has the whole threshold until the second
 * queue grows; then it is far above its threshold. Packets that arrive there have no room, whatever
 * is trimmed, so only they are trimmed. Where the newest packet of a queue is trimmed, the arriving
 * packet replaces it, and observers are told of both changes of the queue.
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
